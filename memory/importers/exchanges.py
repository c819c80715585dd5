"""What a log of a model's API holds: what was sent and what was answered, out of whatever the logger put around it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memory.importers import streams
from memory.importers.identity import plain_id, session_id
from memory.importers.shapes import is_message
from memory.importers.times import parse_time

OPENAI, ANTHROPIC = "openai_chat", "anthropic_messages"

_SESSION_KEYS = (
    *("session_id", "sessionId", "conversation_id", "conversationId", "thread_id", "threadId"),
    *("session", "conversation", "thread", "Helicone-Session-Id"),
)
_TIME_KEYS = ("timestamp", "created_at", "created", "time", "ts", "startTime", "start_time", "request_created_at")
_USAGE = {"prompt_tokens": "input_tokens", "completion_tokens": "output_tokens"}
_USAGE_KEYS = ("input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
# Claude Code names its session inside the user id that it sends to Anthropic.
_SESSION_IN_USER = re.compile(r"_session_([0-9a-fA-F-]{36})\Z")
_MAX_NESTING = 4


@dataclass(slots=True)
class Exchange:
    """One request with its answer, or either of them alone, or a bare list of messages.

    `follows` is the id of the answer that this request continues without repeating what was said before it.
    """

    provider: str
    sent: list[Any] = field(default_factory=list)
    answered: list[Any] = field(default_factory=list)
    at: datetime | None = None
    session: str = ""
    follows: str = ""
    answer_id: str = ""
    usage: dict[str, int] = field(default_factory=dict)
    is_streamed: bool = False
    failed: bool = False


def exchanges_of(value: Any, depth: int = 0) -> Iterator[Exchange]:
    """The exchanges in one JSON value. A list of messages is one; of any other list each item is looked at."""
    if isinstance(value, dict):
        yield _exchange(value)
    elif isinstance(value, list) and value and any(map(is_message, value)):
        yield Exchange(provider_of({"messages": value}), value)
    elif isinstance(value, list) and depth < _MAX_NESTING:
        for item in value:
            if isinstance(item, dict | list):
                yield from exchanges_of(item, depth + 1)


def is_exchange(value: Any) -> bool:
    """Whether this object is a request, an answer or both: told by a list of messages, or by a question that has its
    answer beside it. A text under `input` or `output` alone is in many a file that is no log."""
    if not isinstance(value, dict) or is_message(value):
        return False
    found = _exchange(value)
    asked = _listed(_request(value))
    if any(map(is_message, asked if isinstance(asked, list) else ())):
        return True
    answer = _answer(value)
    is_body = isinstance(answer, dict) and isinstance(answer.get("choices", answer.get("output")), list)
    is_pair = answer is not value and bool(found.sent)
    return bool(found.answered or found.failed) and (is_body or is_pair)


def provider_of(value: dict[str, Any]) -> str:
    """Whose shape it is. Both are read alike; the name only says what the file was."""
    request, answer = _request(value), _answer(value)
    around = value.get("request")
    address = str(next((a["uri"] if "uri" in a else a.get("url") for a in (around, value) if isinstance(a, dict)), ""))
    if address.rstrip("/").endswith("/messages"):
        return ANTHROPIC
    if address.rstrip("/").endswith(("/completions", "/responses")):
        return OPENAI
    if isinstance(answer, dict) and (answer.get("type") == "message" or "stop_reason" in answer):
        return ANTHROPIC
    if isinstance(answer, dict) and ("choices" in answer or "output" in answer):
        return OPENAI
    tools = request.get("tools")
    has_schema = isinstance(tools, list) and any(isinstance(tool, dict) and "input_schema" in tool for tool in tools)
    is_anthropic = has_schema or "system" in request or "anthropic_version" in request
    return ANTHROPIC if is_anthropic or _has_anthropic_blocks(request.get("messages")) else OPENAI


def _has_anthropic_blocks(messages: Any) -> bool:
    for message in messages if isinstance(messages, list) else ():
        content = message.get("content") if isinstance(message, dict) and "role" in message else None
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict) and block.get("type") in ("tool_use", "tool_result", "thinking"):
                return True
    return False


def _exchange(value: dict[str, Any]) -> Exchange:
    request, answer = _request(value), _answer(value)
    body: dict[str, Any] = {}
    found = Exchange(provider_of(value), _sent(request))
    if isinstance(answer, str):
        found.is_streamed = streams.is_stream(answer)
        body = streams.assembled(answer) if found.is_streamed else {"content": answer} if answer.strip() else {}
    elif isinstance(answer, dict):
        body = answer
    elif isinstance(answer, list):
        body = {"output": answer}
    found.answered = _answered(body)
    found.failed = not found.answered and bool(body.get("error") or value.get("error"))
    found.at = _time(body, value, request)
    found.session = _session(value, request)
    found.follows = plain_id(request.get("previous_response_id"))
    found.answer_id = plain_id(body.get("id"))
    found.usage = _usage(body.get("usage"))
    return found


def _request(value: dict[str, Any]) -> dict[str, Any]:
    """What was sent: `request.body`, `request`, `body`, or the object itself."""
    around = value.get("request")
    if isinstance(around, dict):
        body = _object(around.get("body", around))
        return body if isinstance(body, dict) else {}
    body = _object(around if isinstance(around, str) else value.get("body"))
    return body if isinstance(body, dict) else value


def _answer(value: dict[str, Any]) -> Any:
    """What came back: `response.body`, `response`, or the object itself where it is an answer. None for nothing."""
    around = value.get("response", value.get("completion"))
    if isinstance(around, dict):
        return _object(around.get("body", around))
    if around is not None:
        return _object(around)
    is_answer = any(key in value for key in ("choices", "output")) or value.get("type") == "message"
    return value if is_answer else None


def _object(value: Any) -> Any:
    """A body that was logged as text, parsed; what is no JSON object or list stays as it is."""
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _sent(request: dict[str, Any]) -> list[Any]:
    """The messages of a request, the system's first."""
    said = _listed(request)
    messages = [{"role": "user", "content": said}] if isinstance(said, str) else list(said)
    rules = request.get("system") or request.get("instructions")
    return [{"role": "system", "content": rules}, *messages] if isinstance(rules, str | list) else messages


def _listed(request: dict[str, Any]) -> list[Any] | str:
    """What a request says: `messages`, `input` or `prompt`, else the one list of messages it holds under any name."""
    said = next((request[key] for key in ("messages", "input", "prompt") if request.get(key)), None)
    if isinstance(said, list | str):
        return said
    lists = (item for key, item in request.items() if isinstance(item, list) and key not in ("output", "content"))
    return next((item for item in lists if item and all(map(is_message, item))), [])


def _answered(body: dict[str, Any]) -> list[Any]:
    choices = body.get("choices")
    if isinstance(choices, list) and choices:
        # Of several answers to one request the first is what the talk goes on with.
        first = choices[0] if isinstance(choices[0], dict) else {}
        if isinstance(first.get("message"), dict):
            return [{"role": "assistant", **first["message"]}]
        return [{"role": "assistant", "content": first["text"]}] if isinstance(first.get("text"), str) else []
    output = body.get("output")
    if isinstance(output, str):
        return [{"role": "assistant", "content": output}] if output.strip() else []
    if isinstance(output, list):
        return output
    message = body.get("message")
    if isinstance(message, dict) and is_message(message):
        return [message]
    is_message_body = body.get("content") or body.get("tool_calls")
    return [{**body, "role": "assistant"}] if is_message_body and body.get("role", "assistant") == "assistant" else []


def _time(body: dict[str, Any], *others: dict[str, Any]) -> datetime | None:
    for place in (body, *others):
        for key in _TIME_KEYS:
            if (at := parse_time(place.get(key))) is not None:
                return at
    return None


def _session(value: dict[str, Any], request: dict[str, Any]) -> str:
    for place in (value, request):
        for inside in (place, place.get("metadata"), place.get("properties"), place.get("request_properties")):
            if not isinstance(inside, dict):
                continue
            for key in _SESSION_KEYS:
                named = inside.get(key)
                if found := session_id(named.get("id") if isinstance(named, dict) else named):
                    return found
            user = inside.get("user_id")
            if isinstance(user, str) and (match := _SESSION_IN_USER.search(user)):
                return match.group(1)
    return ""


def _usage(usage: Any) -> dict[str, int]:
    found: dict[str, int] = {}
    for key, number in usage.items() if isinstance(usage, dict) else ():
        name = _USAGE.get(key, key)
        if name in _USAGE_KEYS and isinstance(number, int) and not isinstance(number, bool) and 0 <= number < 2**53:
            found[name] = number
    return found
