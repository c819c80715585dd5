"""Which format a file is in, told from its beginning; and what to say of one that is in none."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from memory.importers.counts import HARNESS_TYPES, scalar
from memory.importers.documents import read_values
from memory.importers.exchanges import ANTHROPIC, OPENAI, is_exchange, provider_of
from memory.importers.plain_fields import is_plain_line
from memory.importers.reading import WHERE_TRANSCRIPTS_LIVE, Line, Source, too_long
from memory.importers.shapes import is_message

CLAUDE_CODE, CODEX, JSONL = "claude_code", "codex", "jsonl"
FORMATS = (CLAUDE_CODE, CODEX, OPENAI, ANTHROPIC, JSONL)

_PROBE_VALUES = 200
_PROBE_ITEMS = 50
_CODEX_TYPES = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state"})


def detect(source: Source) -> str:
    """The format's name, or "" when the beginning of the file does not look like one we read."""
    return next(filter(None, (_format_of(line.value) for line in _head(source))), "")


def why_not(source: Source) -> str:
    """One sentence for a file that `detect` does not know."""
    name = source.label
    with source.open() as handle:
        start = handle.read(4096)
    if not start.strip():
        return f"{name} is empty: there is nothing to import."
    if start.startswith((b"\xff\xfe", b"\xfe\xff")):
        return f"{name} is UTF-16; save it as UTF-8 and import it again."
    if b"\x00" in start:
        return f"{name} is a binary file, no transcript. {WHERE_TRANSCRIPTS_LIVE}"
    head = list(_head(source))
    if [line.problem for line in head] == [too_long()]:
        return f"{name} is one value and {too_long()}. Write it one value a line, or in several files."
    if not any(isinstance(line.value, dict | list) for line in head):
        return f"{name} is no transcript: no line of its beginning is a JSON object. {WHERE_TRANSCRIPTS_LIVE}"
    formats = ", ".join(FORMATS)
    return f"{name} is JSON, but no transcript in a format that is read ({formats}). {WHERE_TRANSCRIPTS_LIVE}"


def _head(source: Source) -> Iterator[Line]:
    return islice(read_values(source), _PROBE_VALUES)


def _format_of(value: Any) -> str:
    if isinstance(value, dict):
        if _looks_like_codex(value):
            return CODEX
        if _looks_like_claude(value):
            return CLAUDE_CODE
        if is_exchange(value):
            return provider_of(value)
        return JSONL if is_plain_line(value) else ""
    if isinstance(value, list):
        return _format_of_list(value)
    return ""


def _format_of_list(values: list[Any]) -> str:
    if any(map(is_message, values[:_PROBE_ITEMS])):
        return provider_of({"messages": values})
    for value in values[:_PROBE_ITEMS]:
        if isinstance(value, list):
            if found := _format_of_list(value):
                return found
        elif is_exchange(value):
            return provider_of(value)
    return ""


def _looks_like_codex(record: dict[str, Any]) -> bool:
    if isinstance(record.get("payload"), dict):
        return scalar(record.get("type")) in _CODEX_TYPES or (
            "timestamp" in record and isinstance(record.get("type"), str)
        )
    # Codex of early 2025 wrote items without an envelope, below a line with its session.
    return "record_type" in record or ("instructions" in record and "timestamp" in record and "id" in record)


def _looks_like_claude(record: dict[str, Any]) -> bool:
    if "payload" in record:
        return False
    if record.get("type") in ("user", "assistant"):
        return "message" in record
    kind = scalar(record.get("type"))
    if kind == "summary" or HARNESS_TYPES.fullmatch(kind):
        # LangChain's system message has nothing but its words.
        return not is_message(record) or any(key in record for key in ("uuid", "sessionId", "subtype"))
    return isinstance(record.get("message"), dict) and "sessionId" in record
