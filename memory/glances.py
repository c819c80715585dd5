"""A page of subjects in numbers: one statement, capped, however much is known about one of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from memory.models import Subject
from memory.prepared import fetch

# Counted up to here; beyond it is "1,000+" on screen.
MOST_COUNTED = 1_000

_GLANCES = """
SELECT s.id,
    (SELECT count(*) FROM (SELECT FROM memory_fact f WHERE f.subject_id = s.id AND f.status = 'approved'
        AND (f.expires_at IS NULL OR f.expires_at > %(now)s::timestamptz) LIMIT %(most)s::int) counted),
    (SELECT count(*) FROM (SELECT FROM memory_fact f WHERE f.subject_id = s.id AND f.status = 'proposed'
        LIMIT %(most)s::int) counted),
    (SELECT count(*) FROM (SELECT FROM memory_sessionsubject l JOIN memory_session r ON r.id = l.session_id
        WHERE l.subject_id = s.id AND r.status = 'open' LIMIT %(most)s::int) counted),
    (SELECT max(r.last_seen_at) FROM (SELECT session_id FROM memory_sessionsubject WHERE subject_id = s.id
        ORDER BY id DESC LIMIT %(most)s::int) l JOIN memory_session r ON r.id = l.session_id)
FROM unnest(%(subjects)s::bigint[]) s(id)
"""


@dataclass(frozen=True)
class Glance:
    """Live memories, waiting proposals and open sessions of one subject, each at most MOST_COUNTED, and when a session
    about it was last heard (of its newest 1,000)."""

    live: int
    waiting: int
    open_sessions: int
    last_heard_at: datetime | None


def glances(subjects: Iterable[Subject], now: datetime) -> dict[int, Glance]:
    """Subject id → its numbers."""
    ids = [one.pk for one in subjects]
    rows = fetch(Subject.objects.db, _GLANCES, {"subjects": ids, "now": now, "most": MOST_COUNTED}) if ids else []
    return {row[0]: Glance(*row[1:]) for row in rows}
