"""Lines that were read before in another session: a resumed session begins with a copy of an earlier one.

Counted twice they would make one lesson look like two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from memory.importers.identity import UNTIMED, record_of
from memory.transcript import Incoming, IncomingSession, ReadResult

# Under one id, what else must agree: short ids ("u1") are unique in their own transcript only.
Trace = tuple[str, datetime | None]
# Asks the store which of these ids it holds outside the named session.
Stored = Callable[[str, list[str]], Mapping[str, Trace]]


class Copies:
    """Remembers what the files of one run brought in, and asks the store for what earlier runs did."""

    def __init__(self, stored: Stored | None = None) -> None:
        self._stored = stored
        self._first: dict[str, tuple[str, Trace]] = {}

    def leave_out(self, result: ReadResult) -> None:
        """Takes copied observations out of `result`; a record that loses all of them is skipped as "copied"."""
        for session in result.sessions:
            kept = [one for one in session.observations if not self._is_copy(session, one)]
            kept = self._not_stored(session, kept)
            before = {record_of(one.id or "") for one in session.observations}
            lost = len(before - {record_of(one.id or "") for one in kept})
            result.mapped -= lost
            if lost:
                result.skipped["copied"] += lost
            session.observations = kept
        result.sessions = [session for session in result.sessions if session.observations]

    def _is_copy(self, session: IncomingSession, one: Incoming) -> bool:
        if not one.id or one.id.startswith(UNTIMED):
            return False
        owner, trace = self._first.setdefault(one.id, (session.external_id, _trace(one)))
        return owner != session.external_id and trace == _trace(one)

    def _not_stored(self, session: IncomingSession, observations: list[Incoming]) -> list[Incoming]:
        if self._stored is None:
            return observations
        ids = [one.id for one in observations if one.id and not one.id.startswith(UNTIMED)]
        known = self._stored(session.external_id, ids) if ids else {}
        return [one for one in observations if not one.id or known.get(one.id) != _trace(one)]


def _trace(one: Incoming) -> Trace:
    return one.kind, one.occurred_at
