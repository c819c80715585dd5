"""Calls that wait for their answers while a transcript is read."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass

# As many as any agent runs at once, so that a file of calls alone stays quick to read.
_MAX_PENDING = 256


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    call_id: str
    text: str
    paths: tuple[str, ...]


class Calls:
    """The calls without an answer yet, oldest first."""

    __slots__ = ("_pending",)

    def __init__(self, pending: Iterable[Call] = ()) -> None:
        self._pending = deque(pending, maxlen=_MAX_PENDING)

    def copy(self) -> Calls:
        return Calls(self._pending)

    def __contains__(self, call: Call) -> bool:
        return call in self._pending

    def open(self, call: Call) -> None:
        self._pending.append(call)

    def answered(self, call_id: str, name: str = "") -> Call | None:
        """The call that a result answers: the nearest one before it with that id, for ids are reused in real runs.

        A result without an id answers the oldest call of the tool it names, else the nearest of all.
        """
        pending = self._pending
        places = range(len(pending) - 1, -1, -1)
        if not call_id and name:
            named = next((place for place in range(len(pending)) if pending[place].name == name), None)
            places = range(named, named + 1) if named is not None else places
        for place in places:
            if not call_id or pending[place].call_id == call_id:
                call = pending[place]
                del pending[place]
                return call
        return None
