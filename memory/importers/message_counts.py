"""What stood in a log of messages, counted before anything is interpreted: `docs/importers.md` names every count."""

from __future__ import annotations

from collections import Counter
from typing import Any

from memory.importers.counts import scalar
from memory.importers.shapes import ITEMS, role_of, unwrapped

_NAME_CHARACTERS = 80
_ALWAYS = ("records", "bad_json_lines", "non_object_lines")


class MessageCounts:
    """Counts of one file. Those at zero are left out, but for the three that are always told."""

    def __init__(self) -> None:
        self.counter: Counter[str] = Counter()

    def add(self, name: str, number: int = 1) -> None:
        self.counter[name] += number

    def message(self, value: Any) -> None:
        """Count one message or item."""
        plain = unwrapped(value)
        self.add("records")
        kind = scalar(plain.get("type"))
        if "role" not in plain and kind in ITEMS:
            self.add(f"item:{kind}")
            return
        self.add(f"role:{role_of(plain)}"[:_NAME_CHARACTERS])
        self._content(plain.get("content"))
        calls = plain.get("tool_calls")
        if isinstance(calls, list) and calls:
            self.add("tool_calls", len(calls))
        if plain.get("is_error") or plain.get("status") == "error":
            self.add("tool_errors")

    def _content(self, content: Any) -> None:
        if isinstance(content, str):
            self.add("content_string")
        elif not isinstance(content, list):
            self.add("content_missing" if content is None else "content_object")
        else:
            for block in content:
                kind = scalar(block.get("type")) if isinstance(block, dict) else type(block).__name__
                self.add(f"block:{kind}"[:_NAME_CHARACTERS])
                if isinstance(block, dict) and block.get("type") == "tool_result" and block.get("is_error"):
                    self.add("tool_errors")

    def result(self) -> Counter[str]:
        always = {name: self.counter[name] for name in _ALWAYS}
        return Counter({**always, **{name: number for name, number in self.counter.items() if name not in always}})
