"""Ids for messages that come without any, and again with every request: what was said before keeps the id it had.

The id is made of what was said and of how often the same was said before in the same sending. So a history that is sent
again, however often, adds nothing; the same word said twice is two; and a turn that was edited or answered anew is one
more, while what stands around it stays what it was. (With a chain of hashes all that follows an edited turn were new.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from memory.importers.identity import digest
from memory.transcript import Incoming


def content_of(one: Incoming, when: str = "") -> str:
    """What makes two observations the same thing said: not the tool's name, which an answer has only from its call."""
    return digest("\x1f".join((one.kind, one.role, one.call_id, one.text.strip(), when)))[:24]


class Sending:
    """Counts what one sending of a history says, in order."""

    __slots__ = ("_alike",)

    def __init__(self, alike: Counter[str] | None = None) -> None:
        self._alike: Counter[str] = Counter(alike)

    def copy(self) -> Sending:
        return Sending(self._alike)

    def named(self, drafts: Iterable[Incoming], *, timed: bool = False) -> list[Incoming]:
        """`drafts` with their ids. `timed` where the time is part of what was said, and does not come again without."""
        found = []
        for draft in drafts:
            when = draft.occurred_at.isoformat() if timed and draft.occurred_at else ""
            content = content_of(draft, when)
            # The same instructions come with every request, and are one however often they do.
            self._alike[content] = 1 if draft.kind == "meta" else self._alike[content] + 1
            found.append(replace(draft, id=f"said-{content}-{self._alike[content]}"))
        return found
