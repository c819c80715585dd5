"""One message in any of the shapes that providers and frameworks write, as its role and its parts.

OpenAI (chat and Responses), Anthropic, LangChain (its objects, `messages_to_dict`, `dumpd`, pairs of role and text) and
what looks like them. Nothing is interpreted here: whose words a text holds is for `turns` to say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from memory.importers.counts import scalar
from memory.importers.reasons import as_reason

ROLES = {
    **dict.fromkeys(("user", "human", "customer", "client"), "user"),
    **dict.fromkeys(("assistant", "ai", "agent", "bot", "model", "chatbot", "gemini"), "assistant"),
    **dict.fromkeys(("tool", "function"), "tool"),
    **dict.fromkeys(("system", "developer"), "system"),
}
# Items of the Responses API that are no message, and what they are here.
CALL_ITEMS = frozenset({"function_call", "custom_tool_call", "mcp_call", "tool_search_call"})
# Calls that the provider itself answers: there is something to read of them, and no answer to wait for.
OWN_CALL_ITEMS = frozenset(
    {"web_search_call", "file_search_call", "image_generation_call", "code_interpreter_call", "computer_call"}
    | {"local_shell_call", "shell_call", "apply_patch_call"}
)
RESULT_ITEMS = frozenset(
    {"function_call_output", "custom_tool_call_output", "mcp_tool_call_output", "local_shell_call_output"}
    | {"shell_call_output", "computer_call_output", "apply_patch_call_output", "tool_search_output"}
)
THOUGHTS = frozenset({"thinking", "redacted_thinking", "reasoning", "reasoning_text", "reasoning_content"})
ITEMS = CALL_ITEMS | OWN_CALL_ITEMS | RESULT_ITEMS | THOUGHTS | {"item_reference"}

_TEXTS = frozenset({"text", "input_text", "output_text", "summary_text", "refusal"})
_CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use", "tool_call"})
_MEDIA = {
    **dict.fromkeys(("image", "image_url", "input_image"), "[image]"),
    **dict.fromkeys(("document", "file", "input_file"), "[document]"),
    **dict.fromkeys(("audio", "input_audio", "output_audio"), "[audio]"),
    **dict.fromkeys(("video", "video_url"), "[video]"),
}
# "HumanMessage", "AIMessageChunk": LangChain's class names.
_CLASS = re.compile(r"([A-Za-z]{2,20}?)Message(?:Chunk)?")


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Media:
    """A picture, document or recording, of which only a mark in brackets stays."""

    mark: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    name: str
    call_id: Any
    arguments: Any


@dataclass(frozen=True, slots=True)
class ToolResult:
    call_id: Any
    content: Any
    name: str = ""
    is_error: bool = False


Part = Text | Media | ToolCall | ToolResult


@dataclass(slots=True)
class Message:
    """`role` is user, assistant, tool or system, or "" for one that is not known; `written` is the role as it stood.

    `left_out` names what the message held beside its parts: "thinking", "block:…".
    """

    role: str
    written: str
    parts: list[Part] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def is_message(value: Any) -> bool:
    """Whether this is one message: it has a role that is known, is an item of the Responses API, or a pair of both."""
    if isinstance(value, list):
        return len(value) == 2 and isinstance(value[1], str) and scalar(value[0]).casefold() in ROLES
    if not isinstance(value, dict):
        return False
    plain = unwrapped(value)
    return bool(ROLES.get(role_of(plain))) or scalar(plain.get("type")) in ITEMS


def unwrapped(value: Any) -> dict[str, Any]:
    """The message itself, out of what LangChain puts around it; {} for what is none."""
    if isinstance(value, list):
        return {"role": value[0], "content": value[1]} if len(value) == 2 else {}
    if not isinstance(value, dict):
        return {}
    inner = value.get("kwargs")
    if isinstance(inner, dict) and "lc" in value:
        names = value.get("id")
        name = names[-1] if isinstance(names, list) and names else ""
        return {"type": name, **inner}
    inner = value.get("data")
    if isinstance(inner, dict) and "content" in inner and "content" not in value:
        return {**inner, "type": value.get("type")}
    return value


def role_of(message: dict[str, Any]) -> str:
    """The role as written, in small letters: `role`, else LangChain's `type`."""
    role = message.get("role")
    if not isinstance(role, str):
        role = message.get("type")
        if not isinstance(role, str) or ("content" not in message and "tool_calls" not in message):
            return ""
        if named := _CLASS.fullmatch(role):
            role = named.group(1)
    return role.strip().casefold()


def read_message(value: Any) -> Message:
    """The parts of one message, in order. Never raises."""
    plain = unwrapped(value)
    kind = scalar(plain.get("type"))
    if "role" not in plain and kind in ITEMS:
        return _item(plain, kind)
    written = role_of(plain)
    message = Message(ROLES.get(written, ""), written)
    if message.role == "tool":
        message.parts.append(_answer(plain))
        return message
    _read_content(message, plain.get("content"))
    for refusal in _texts(plain.get("refusal")):
        message.parts.append(Text(refusal))
    audio = plain.get("audio")
    for transcript in _texts(audio.get("transcript") if isinstance(audio, dict) else None):
        message.parts.append(Text(transcript))
    if plain.get("reasoning_content") or plain.get("reasoning"):
        message.left_out.append("thinking")
    known = {part.call_id for part in message.parts if isinstance(part, ToolCall) and isinstance(part.call_id, str)}
    # LangChain writes the calls of an Anthropic message twice, as blocks and as calls.
    message.parts += [call for call in _calls(plain) if not isinstance(call.call_id, str) or call.call_id not in known]
    return message


def _read_content(message: Message, content: Any) -> None:
    for block in _blocks(content):
        if isinstance(block, str):
            message.parts.append(Text(block))
            continue
        if not isinstance(block, dict):
            message.left_out.append("block:non_object")
            continue
        kind = scalar(block.get("type"))
        part = _part(block, kind)
        if part is not None:
            message.parts.append(part)
        else:
            message.left_out.append("thinking" if kind in THOUGHTS else f"block:{as_reason(kind)}")


def _blocks(content: Any) -> Iterable[Any]:
    if content is None:
        return ()
    return content if isinstance(content, list) else (content,)


def _part(block: dict[str, Any], kind: str) -> Part | None:
    text = block.get("refusal" if kind == "refusal" else "text")
    # OpenAI's threads: {"text": {"value": …, "annotations": […]}}.
    text = text.get("value") if isinstance(text, dict) else text
    if kind in _TEXTS or (kind == "None" and isinstance(text, str)):
        return Text(text) if isinstance(text, str) else None
    if kind in _MEDIA:
        return Media(_MEDIA[kind])
    if kind in _CALLS:
        arguments = block.get("input") if "input" in block else block.get("args")
        return ToolCall(_name(block.get("name")), block.get("id"), _arguments(arguments))
    if kind == "tool_result" or kind.endswith("_tool_result"):
        return ToolResult(block.get("tool_use_id"), block.get("content"), is_error=bool(block.get("is_error")))
    return None


def _calls(message: dict[str, Any]) -> Iterator[ToolCall]:
    extra = message.get("additional_kwargs")
    extra = extra if isinstance(extra, dict) else {}
    listed = message.get("tool_calls") or extra.get("tool_calls") or ()
    unusable = message.get("invalid_tool_calls") or ()
    for call in [*_blocks(listed), *_blocks(unusable)]:
        if not isinstance(call, dict):
            continue
        inner = next((call[key] for key in ("function", "custom") if isinstance(call.get(key), dict)), call)
        arguments = next((inner[key] for key in ("arguments", "args", "input") if key in inner), None)
        yield ToolCall(_name(inner.get("name")), call.get("id"), _arguments(arguments))
    legacy = message.get("function_call") or extra.get("function_call")
    if isinstance(legacy, dict):
        yield ToolCall(_name(legacy.get("name")), None, _arguments(legacy.get("arguments")))


def _answer(message: dict[str, Any]) -> ToolResult:
    failed = bool(message.get("is_error")) or message.get("status") == "error"
    call_id = message.get("tool_call_id") or message.get("call_id")
    return ToolResult(call_id, message.get("content"), _name(message.get("name")), failed)


def _item(item: dict[str, Any], kind: str) -> Message:
    """One item of the Responses API that is no message. Codex keeps them as they came."""
    if kind in RESULT_ITEMS:
        failed = item.get("status") in ("failed", "incomplete") or item.get("success") is False
        return Message("tool", kind, [ToolResult(item.get("call_id"), item.get("output"), is_error=failed)])
    if kind in CALL_ITEMS:
        arguments = item.get("input") if kind == "custom_tool_call" else item.get("arguments")
        name = _name(item.get("name") or kind.removesuffix("_call"))
        parts: list[Part] = [ToolCall(name, item.get("call_id") or item.get("id"), _arguments(arguments))]
        if kind == "mcp_call" and (item.get("output") is not None or item.get("error")):
            answer = item.get("error") or item.get("output")
            parts.append(ToolResult(item.get("id"), answer, name, bool(item.get("error"))))
        return Message("assistant", kind, parts)
    if kind in OWN_CALL_ITEMS:
        asked = next((item[key] for key in ("action", "queries", "code", "operation") if item.get(key)), None)
        return Message(
            "assistant", kind, [ToolCall(kind.removesuffix("_call"), item.get("call_id") or item.get("id"), asked)]
        )
    return Message("assistant", kind, left_out=["thinking" if kind in THOUGHTS else kind])


def _arguments(arguments: Any) -> Any:
    """Arguments are JSON in a text; what is no JSON stays the text it is."""
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments) if arguments.strip() else None
    except (ValueError, RecursionError):
        return arguments


def _texts(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) and value.strip() else ()


def _name(value: Any) -> str:
    return value.strip()[:200] if isinstance(value, str) else ""
