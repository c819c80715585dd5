"""Lines that were read before in another session: a resumed session begins with a copy of an earlier one.

Counted twice they would make one lesson look like two.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from memory.importers.identity import UNTIMED, record_of
from memory.transcript import COPYING, Incoming, IncomingSession, ReadResult

# Under one id, what else must agree: short ids ("u1") are unique in their own transcript only.
_Trace = tuple[str, datetime | None]


class Copies:
    """Remembers what the files of one run brought in. What earlier runs did, the store itself leaves out."""

    def __init__(self) -> None:
        self._first: dict[str, tuple[str, _Trace]] = {}

    def leave_out(self, result: ReadResult) -> None:
        """Takes copied observations out of `result`; a record that loses all of them is skipped as "copied"."""
        for session in result.sessions:
            if session.source_format in COPYING:
                places = {place for place, one in enumerate(session.observations) if self._is_copy(session, one)}
                take_out(result, session, places)
        result.sessions = [session for session in result.sessions if session.observations]

    def _is_copy(self, session: IncomingSession, one: Incoming) -> bool:
        if not one.id or one.id.startswith(UNTIMED):
            return False
        owner, trace = self._first.setdefault(one.id, (session.external_id, _trace(one)))
        return owner != session.external_id and trace == _trace(one)


def take_out(result: ReadResult, session: IncomingSession, places: Collection[int]) -> None:
    """Takes the observations at these places out of `session`, and out of the books what is left with none."""
    kept = [one for place, one in enumerate(session.observations) if place not in places]
    before = {record_of(one.id or "") for one in session.observations}
    lost = len(before - {record_of(one.id or "") for one in kept})
    result.mapped -= lost
    if lost:
        result.skipped["copied"] += lost
    session.observations = kept


def _trace(one: Incoming) -> _Trace:
    return one.kind, one.occurred_at
