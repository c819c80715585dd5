"""The order of the pile: what already reaches agents and may be wrong, then proposals by their worth.

Complaints, conflicts with a live memory and doubtful confirmations come by reach × severity. A proposal harms nobody
while it waits, so it comes by what it is worth (memory/worth.py); those of a subject with an open session come first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from memory import served
from projects.models import Agent
from review.piles import samples
from review.piles.reading import rows

# Of each sort, as many as are weighed against each other; what lies further back comes when these are decided.
LOOKED_AT = 100
COMPLAINTS_LOOKED_AT = 300
OPEN_SESSIONS, OPEN_FOR = 50, timedelta(days=1)
# A memory that misled an agent, one called out of date, one that something learned speaks against, one that is due.
MISLED, STALE, CONFLICT, DUE = 4.0, 3.0, 2.0, 1.0
# Each further complaint weighs one more, up to this many.
MOST_COMPLAINTS = 5


@dataclass(frozen=True, slots=True)
class Place:
    """One card on its place: a memory's id, whether it is a proposal, and whether it never lay in a pile before."""

    pk: int
    is_proposal: bool = True
    is_new_here: bool = False


# What the statements below have in common, by the name it has there.
_PARTS = {
    "{waits}": """(f.put_off_until IS NULL OR f.put_off_until <= %(now)s::timestamptz)
        AND f.subject_id <> ALL (ARRAY(
            SELECT id FROM memory_subject WHERE project_id = %(project)s::bigint AND frozen_at IS NOT NULL))""",
    "{live}": """f.status = 'approved' AND f.review_due_at <= %(now)s::timestamptz
        AND (f.expires_at IS NULL OR f.expires_at > %(now)s::timestamptz)""",
    "{readers of f}": "CASE WHEN f.everyone THEN %(agents)s::int ELSE cardinality(f.agent_ids) END",
    "{readers of r}": "CASE WHEN r.everyone THEN %(agents)s::int ELSE cardinality(r.agent_ids) END",
}

# (id, the live memory it is about, misled, stale, readers, is it new here)
_URGENT = """
(SELECT f.id, f.id, count(*) FILTER (WHERE c.verdict = 'misled'), count(*) FILTER (WHERE c.verdict = 'stale'),
    {readers of f}, false
FROM (
    SELECT fact_id, verdict, at FROM memory_feedback
    WHERE project_id = %(project)s::bigint AND verdict IN ('misled', 'stale') ORDER BY at DESC LIMIT %(complaints)s::int
) c JOIN memory_fact f ON f.id = c.fact_id
WHERE {live} AND {waits} AND c.at >= coalesce(f.confirmed_at, f.approved_at) GROUP BY f.id)
UNION ALL
(SELECT f.id, f.id, 0, 0, {readers of f}, false FROM memory_fact f
WHERE f.project_id = %(project)s::bigint AND {live} AND {waits} ORDER BY f.review_due_at, f.id LIMIT %(most)s::int)
UNION ALL
(SELECT f.id, r.id, 0, 0, {readers of r}, f.piled_at IS NULL
FROM memory_fact f JOIN memory_fact r ON r.id = f.related_id
WHERE f.project_id = %(project)s::bigint AND f.status = 'proposed' AND f.relation = 'conflicts'
    AND r.status = 'approved' AND (r.expires_at IS NULL OR r.expires_at > %(now)s::timestamptz) AND {waits}
ORDER BY f.worth DESC, f.id LIMIT %(most)s::int)
"""

_BY_WORTH = """
SELECT f.id, f.piled_at IS NULL FROM memory_fact f
WHERE f.project_id = %(project)s::bigint AND f.status = 'proposed' AND {waits}
ORDER BY f.worth DESC, f.id LIMIT %(most)s::int
"""

_OF_OPEN_SESSIONS = """
WITH open AS (
    SELECT id FROM memory_session
    WHERE project_id = %(project)s::bigint AND status = 'open' AND kind = 'run'
        AND last_seen_at >= %(since)s::timestamptz
    ORDER BY last_seen_at DESC, id DESC LIMIT %(open)s::int
), about AS (SELECT DISTINCT subject_id FROM memory_sessionsubject WHERE session_id IN (SELECT id FROM open))
SELECT best.id, best.new FROM about CROSS JOIN LATERAL (
    SELECT f.id, f.worth, f.piled_at IS NULL AS new FROM memory_fact f
    WHERE f.subject_id = about.subject_id AND f.status = 'proposed' AND {waits}
    ORDER BY f.worth DESC, f.id LIMIT %(most)s::int
) best ORDER BY best.worth DESC, best.id LIMIT %(most)s::int
"""

_ASSIGNED = """
SELECT a.fact_id, a.person_id, f.status = 'proposed', f.piled_at IS NULL
FROM review_assignment a JOIN memory_fact f ON f.id = a.fact_id
WHERE a.project_id = %(project)s::bigint AND (f.status = 'proposed' OR ({live})) AND {waits}
    AND (f.confirmed_at IS NULL OR f.confirmed_at < a.at) AND f.first_yes_by_id IS DISTINCT FROM a.person_id
ORDER BY a.at, a.id LIMIT 1000
"""


def front(project_id: int, person_id: int, room: int, passed_over: Iterable[int], now: datetime) -> list[Place]:
    """The first `room` cards for this person. `passed_over` are ids that others look at now. Six queries."""
    if room <= 0:
        return []
    named = {"project": project_id, "now": now}
    mine, others = _assigned(person_id, _read(_ASSIGNED, named))
    skipped = set(passed_over) | others
    chosen: dict[int, Place] = {}
    for place in _in_order(project_id, mine, room + len(skipped), now):
        if place.pk not in skipped:
            chosen.setdefault(place.pk, place)
        if len(chosen) == room:
            break
    return list(chosen.values())


def _in_order(project_id: int, mine: Sequence[Place], most: int, now: datetime) -> Iterator[Place]:
    """All sorts, one behind the other; each is asked for only when the ones before did not suffice."""
    yield from mine
    drawn = samples.drawn_in(project_id)
    urgent = [place for place in _urgent(project_id, now) if place.pk not in drawn]
    yield from urgent
    # What stands further up already is read once more here and left out.
    named = {"project": project_id, "now": now, "most": most + len(mine) + len(urgent)}
    opened = {**named, "since": now - OPEN_FOR, "open": OPEN_SESSIONS}
    of_open = [Place(pk, True, new) for pk, new in _read(_OF_OPEN_SESSIONS, opened)]
    yield from samples.woven(_proposals(of_open, named), [Place(pk, False) for pk in drawn])


def _proposals(of_open: Sequence[Place], named: dict[str, Any]) -> Iterator[Place]:
    yield from of_open
    named = {**named, "most": named["most"] + len(of_open)}
    yield from (Place(pk, True, new) for pk, new in _read(_BY_WORTH, named))


def _assigned(person_id: int, found: Iterable[Sequence[object]]) -> tuple[list[Place], set[int]]:
    """(what was put before this person, what was put before others)."""
    mine: list[Place] = []
    others: set[int] = set()
    for pk, whose, is_proposal, is_new in found:
        if whose == person_id:
            mine.append(Place(int(str(pk)), bool(is_proposal), bool(is_proposal and is_new)))
        else:
            others.add(int(str(pk)))
    return mine, others


def _urgent(project_id: int, now: datetime) -> list[Place]:
    """What agents have and what may be wrong, by reach × severity. Three queries."""
    named: dict[str, Any] = {"project": project_id, "now": now, "most": LOOKED_AT, "complaints": COMPLAINTS_LOOKED_AT}
    named["agents"] = Agent.objects.filter(project_id=project_id, archived_at__isnull=True).count()
    found = _read(_URGENT, named)
    lately = served.lately_of(project_id, {live for _, live, *_ in found}, now)
    scores: dict[int, float] = {}
    places: dict[int, Place] = {}
    for pk, live, misled, stale, readers, is_new in found:
        reach = math.log2(2.0 + lately[live] + readers)
        score = reach * severity(misled, stale, is_conflict=pk != live)
        # A complaint makes a memory due too: the graver of the two counts.
        scores[pk] = max(scores.get(pk, 0.0), score)
        places[pk] = Place(pk, pk != live, is_new)
    return sorted(places.values(), key=lambda place: (-scores[place.pk], place.pk))


def severity(misled: int, stale: int, *, is_conflict: bool = False) -> float:
    """How bad it is if it is wrong: from a memory that is only due to one that misled several agents."""
    further = min(misled + stale, MOST_COMPLAINTS)
    if misled:
        return MISLED + further - 1
    if stale:
        return STALE + further - 1
    return CONFLICT if is_conflict else DUE


def _read(sql: str, named: dict[str, Any]) -> list[tuple[Any, ...]]:
    for name, part in _PARTS.items():
        sql = sql.replace(name, part)
    return rows(sql, named)
