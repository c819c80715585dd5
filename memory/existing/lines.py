"""One memory that was kept elsewhere, and what a file held of them (values)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

# What a column of a table may stand for.
FIELDS = ("text", "type", "key", "subject", "expires_at")


class Unreadable(ValueError):
    """A file that holds no memories we can read; the message says what to do about it."""


@dataclass(frozen=True, slots=True)
class MemoryLine:
    """One memory as the file has it. `number` is its line, or its place in a list, from 1; what a file does not say is
    empty. `value` is None where the file gives a sentence and nothing else. `agents` None: nothing is said of scope.

    `own_id` is the short id in an export of ours.
    """

    number: int
    text: str
    type: str = ""
    key: str = ""
    value: Any = None
    subject: str = ""
    agents: tuple[str, ...] | None = None
    nature: str = ""
    use: str = ""
    standing: bool = False
    expires_at: datetime | None = None
    own_id: str = ""


@dataclass(slots=True)
class Found:
    """What one file held: records = lines + skipped by reason. `columns` are those of a table, `guessed` which of them
    stands for which field, `sample` its first rows for a person who corrects that."""

    format: str
    lines: list[MemoryLine] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    columns: list[str] = field(default_factory=list)
    guessed: dict[str, str] = field(default_factory=dict)
    sample: list[list[str]] = field(default_factory=list)

    @property
    def records(self) -> int:
        return len(self.lines) + self.skipped.total()
