"""What stood in a Claude Code file, counted before anything is interpreted: `docs/importers.md` names every count."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

# Lines in which the harness keeps its own state: known, hence not "unknown_type" in the books.
HARNESS_TYPES = re.compile(
    "file-history-snapshot|queue-operation|attachment|progress|last-prompt|mode|permission-mode|agent-name"
    "|agent-setting|ai-title|custom-title|pr-link|bridge-session|system"
)
_TYPE_CHARACTERS = 80


class RawCounts:
    """Counts of one file. Those at zero are left out, but for the four that are always told."""

    def __init__(self) -> None:
        self.counter: Counter[str] = Counter()
        self._session_ids: set[str] = set()

    def bad_json(self) -> None:
        self.counter["bad_json_lines"] += 1

    def value(self, value: Any) -> None:
        """Count one line that is valid JSON."""
        if not isinstance(value, dict):
            self.counter["non_object_lines"] += 1
            return
        self.counter["records"] += 1
        self.counter[f"type:{type_of(value)}"] += 1
        if session_id := value.get("sessionId"):
            self._session_ids.add(scalar(session_id))
        for name, field in (("sidechain", "isSidechain"), ("meta", "isMeta"), ("compact_summary", "isCompactSummary")):
            if value.get(field):
                self.counter[name] += 1
        message = value.get("message")
        if isinstance(message, dict):
            self._content(message.get("content"))
        elif message is not None:
            self.counter["message_not_object"] += 1

    def _content(self, content: Any) -> None:
        if isinstance(content, str):
            self.counter["content_string"] += 1
        elif isinstance(content, list):
            for block in content:
                self._block(block)
        else:
            self.counter["content_missing"] += 1

    def _block(self, block: Any) -> None:
        if not isinstance(block, dict):
            self.counter["block:non_object"] += 1
            return
        kind = block.get("type")
        self.counter[f"block:{scalar(kind)}"[:_TYPE_CHARACTERS]] += 1
        if kind == "tool_result":
            self.counter[f"tool_result_content:{type(block.get('content')).__name__}"] += 1
            if block.get("is_error"):
                self.counter["tool_errors"] += 1

    def result(self) -> Counter[str]:
        always = {name: self.counter[name] for name in ("records", "bad_json_lines", "non_object_lines")}
        rest = {name: number for name, number in self.counter.items() if name not in always}
        return Counter({**always, **rest, "session_ids": len(self._session_ids)})


def type_of(record: dict[str, Any]) -> str:
    """The line's type, with its subtype behind a slash: "user", "system/api_error", "None"."""
    name, subtype = scalar(record.get("type")), record.get("subtype")
    return (f"{name}/{scalar(subtype)}" if subtype else name)[:_TYPE_CHARACTERS]


def scalar(value: Any) -> str:
    """`value` as text; of a list or an object only the word, for its text may be too deep to print."""
    return type(value).__name__ if isinstance(value, list | dict) else str(value)
