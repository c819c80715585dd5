"""The fields of a plain line: under which names its role, text, time, session and the rest may stand."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from memory.importers.counts import scalar
from memory.importers.identity import plain_id, session_id
from memory.importers.shapes import ITEMS, ROLES, is_message, unwrapped
from memory.importers.times import parse_time, zone_of
from memory.transcript import KINDS

ROLE_KEYS = ("role", "speaker", "from", "author", "sender")
TEXT_KEYS = ("content", "text", "message", "value", "body", "utterance")
TIME_KEYS = ("timestamp", "time", "ts", "at", "created_at", "createdAt", "occurred_at", "datetime", "date")
SESSION_KEYS = ("session", "session_id", "sessionId", "conversation_id", "conversationId", "thread_id", "threadId")
ID_KEYS = ("id", "uuid", "message_id", "messageId")


def is_plain_line(value: Any) -> bool:
    """Whether this object is one message of a talk: it has a role that is known, and something said."""
    if not isinstance(value, dict):
        return False
    return is_message(value) or (bool(ROLES.get(_role(value))) and any(key in value for key in TEXT_KEYS))


def message_of(line: dict[str, Any]) -> dict[str, Any]:
    """The line as a message in a provider's shape: what stands under another name is put under `role` and `content`."""
    plain = unwrapped(line)
    if "role" not in plain and scalar(plain.get("type")) in ITEMS:
        return plain
    inner = plain.get("message")
    if isinstance(inner, dict):
        plain = {**inner, **{key: value for key, value in plain.items() if key != "message"}}
    found = {**plain, "role": _role(plain)}
    if found.get("content") is None:
        found["content"] = next((plain[key] for key in TEXT_KEYS if isinstance(plain.get(key), str | list)), None)
    found.setdefault("tool_call_id", plain.get("call_id"))
    if tool := tool_of(plain):
        found["name"] = tool
    return found


def kind_of(line: dict[str, Any]) -> str:
    """What the line says it is, where it says so in our words; a text that names a tool is that tool's call."""
    kind = line.get("kind")
    if isinstance(kind, str) and kind in KINDS:
        return kind
    is_call = tool_of(line) and ROLES.get(_role(line)) == "assistant" and not line.get("tool_calls")
    return "tool_call" if is_call and isinstance(text_of(line), str) else ""


def text_of(line: dict[str, Any]) -> Any:
    return next((line[key] for key in TEXT_KEYS if line.get(key) is not None), None)


def tool_of(line: dict[str, Any]) -> str:
    named = next((line[key] for key in ("tool", "tool_name") if isinstance(line.get(key), str)), "")
    return named.strip()[:200]


def time_of(line: dict[str, Any]) -> datetime | None:
    """A time without a zone of its own is in the line's `timezone`, else UTC."""
    zone = zone_of(line.get("timezone"))
    return next((at for key in TIME_KEYS if (at := parse_time(line.get(key), zone)) is not None), None)


def id_of(line: dict[str, Any]) -> str:
    return next((found for key in ID_KEYS if (found := plain_id(line.get(key)))), "")


def session_of(line: dict[str, Any]) -> str:
    return next((found for key in SESSION_KEYS if (found := session_id(line.get(key)))), "")


def _role(line: dict[str, Any]) -> str:
    """The role as written, in small letters; LangChain's `type` counts where there is none."""
    for key in (*ROLE_KEYS, "type"):
        written = line.get(key)
        if isinstance(written, dict):
            written = written.get("role")
        if isinstance(written, str) and written.strip():
            role = written.strip().casefold().removesuffix("chunk").removesuffix("message")
            if key == "role" or role in ROLES:
                return role
    return ""
