"""The order of the pile: what already reaches agents and may be wrong, then proposals by their worth.

Complaints, conflicts with a live memory and doubtful confirmations come by reach × severity. A proposal harms nobody
while it waits, so it comes by what it is worth (memory/worth.py); those of a subject with an open session come first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any

from memory import served
from projects.prepared import Rows, Statement
from review.piles import samples
from review.piles.reading import rows_of

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
    "{readers of f}": "CASE WHEN f.everyone THEN {agents} ELSE cardinality(f.agent_ids) END",
    "{readers of r}": "CASE WHEN r.everyone THEN {agents} ELSE cardinality(r.agent_ids) END",
    "{agents}": "(SELECT count(*) FROM projects_agent WHERE project_id = %(project)s::bigint AND archived_at IS NULL)",
}

# (id, the live memory it is about, misled, stale, readers, is it new here)
_URGENT = """
(SELECT f.id, f.id, count(*) FILTER (WHERE c.verdict = 'misled'), count(*) FILTER (WHERE c.verdict = 'stale'),
    {readers of f}, false
FROM (
    SELECT fact_id, verdict, at FROM memory_feedback
    WHERE project_id = %(project)s::bigint AND verdict IN ('misled', 'stale') ORDER BY at DESC LIMIT {complaints}
) c JOIN memory_fact f ON f.id = c.fact_id
WHERE {live} AND {waits} AND c.at >= coalesce(f.confirmed_at, f.approved_at) GROUP BY f.id)
UNION ALL
(SELECT f.id, f.id, 0, 0, {readers of f}, false FROM memory_fact f
WHERE f.project_id = %(project)s::bigint AND {live} AND {waits} ORDER BY f.review_due_at, f.id LIMIT {most})
UNION ALL
(SELECT f.id, r.id, 0, 0, {readers of r}, f.piled_at IS NULL
FROM memory_fact f JOIN memory_fact r ON r.id = f.related_id
WHERE f.project_id = %(project)s::bigint AND f.status = 'proposed' AND f.relation = 'conflicts'
    AND r.status = 'approved' AND (r.expires_at IS NULL OR r.expires_at > %(now)s::timestamptz) AND {waits}
ORDER BY f.worth DESC, f.id LIMIT {most})
"""

_BY_WORTH = """
SELECT f.id, f.piled_at IS NULL FROM memory_fact f
WHERE f.project_id = %(project)s::bigint AND f.status = 'proposed' AND {waits}
ORDER BY f.worth DESC, f.id LIMIT {most}
"""

_OF_OPEN_SESSIONS = """
WITH open AS (
    SELECT id FROM memory_session
    WHERE project_id = %(project)s::bigint AND status = 'open' AND kind = 'run'
        AND last_seen_at >= %(since)s::timestamptz
    ORDER BY last_seen_at DESC, id DESC LIMIT {open}
), about AS (SELECT DISTINCT subject_id FROM memory_sessionsubject WHERE session_id IN (SELECT id FROM open))
SELECT best.id, best.new FROM about CROSS JOIN LATERAL (
    SELECT f.id, f.worth, f.piled_at IS NULL AS new FROM memory_fact f
    WHERE f.subject_id = about.subject_id AND f.status = 'proposed' AND {waits}
    ORDER BY f.worth DESC, f.id LIMIT {most}
) best ORDER BY best.worth DESC, best.id LIMIT {most}
"""

# What others have to do with: leased by them, put before this person or another, said yes to by this person before.
_BESIDE = """
(SELECT 'lease', l.fact_id, false, false FROM review_lease l
WHERE l.project_id = %(project)s::bigint AND l.until > %(now)s::timestamptz AND l.person_id <> %(person)s::bigint)
UNION ALL
(SELECT 'yes', f.id, true, false FROM memory_fact f
WHERE f.first_yes_by_id = %(person)s::bigint AND f.project_id = %(project)s::bigint AND f.status = 'proposed')
UNION ALL
(SELECT CASE WHEN a.person_id = %(person)s::bigint THEN 'mine' ELSE 'other' END, f.id, f.status = 'proposed',
    f.piled_at IS NULL
FROM review_assignment a JOIN memory_fact f ON f.id = a.fact_id
WHERE a.project_id = %(project)s::bigint AND (f.status = 'proposed' OR ({live})) AND {waits}
    AND (f.confirmed_at IS NULL OR f.confirmed_at < a.at) AND f.first_yes_by_id IS DISTINCT FROM a.person_id
ORDER BY a.at, a.id LIMIT 1000)
"""


@dataclass(frozen=True, slots=True)
class Beside:
    """What other people have to do with the cards: `mine` were put before this person, `looked_at` others are on now,
    `skipped` is all that is not this person's to decide at the moment."""

    mine: tuple[Place, ...]
    looked_at: frozenset[int]
    skipped: frozenset[int]


def asked(project_id: int, person_id: int, now: datetime) -> list[Statement]:
    """What the order is made of and hangs on nothing else, to be read with others: what other people have to do with
    the cards, what was drawn, what is urgent."""
    named = {"project": project_id, "person": person_id, "now": now}
    return [
        (_written(_BESIDE, 0), named),
        samples.asked(project_id, now),
        (_written(_URGENT, LOOKED_AT), {"project": project_id, "now": now}),
    ]


def told(found: Rows) -> Beside:
    """What the first of them says."""
    mine, looked_at, skipped = [], set(), set()
    for what, pk, is_proposal, is_new in found:
        if what == "mine":
            mine.append(Place(pk, is_proposal, is_proposal and is_new))
            continue
        skipped.add(pk)
        if what == "lease":
            looked_at.add(pk)
    return Beside(tuple(mine), frozenset(looked_at), frozenset(skipped))


def front(project_id: int, room: int, others: Beside, drawn: Rows, urgent: Rows, now: datetime) -> list[Place]:
    """The first `room` cards for this person; `drawn` and `urgent` are the rows of what was `asked`. Three statements,
    waited for once."""
    if room <= 0:
        return []
    skipped = others.skipped
    chosen: dict[int, Place] = {}
    in_order = _in_order(project_id, others.mine, room + len(skipped), [row[0] for row in drawn], urgent, now)
    for place in in_order:
        if place.pk not in skipped:
            chosen.setdefault(place.pk, place)
        if len(chosen) == room:
            break
    return list(chosen.values())


def _in_order(
    project_id: int, mine: Sequence[Place], most: int, drawn: Sequence[int], urgent: Rows, now: datetime
) -> Iterator[Place]:
    """All sorts, one behind the other."""
    yield from mine
    named: dict[str, Any] = {"project": project_id, "now": now, "since": now - OPEN_FOR}
    # What stands further up already is read once more and left out; of open sessions too: where these are more than
    # `most`, no other is needed.
    further = most + len(mine) + len({row[0] for row in urgent})
    statements: list[Statement] = [(_cut(_OF_OPEN_SESSIONS, further), named), (_cut(_BY_WORTH, further + most), named)]
    if urgent:
        statements.append(served.lately_asked(project_id, {row[1] for row in urgent}, now))
    of_open, by_worth, *lately = rows_of(statements)
    was_drawn = set(drawn)
    yield from (place for place in _urgent(urgent, dict(*lately)) if place.pk not in was_drawn)
    proposals = [Place(pk, True, new) for pk, new in (*of_open, *by_worth)]
    yield from samples.woven(proposals, [Place(pk, False) for pk in drawn])


def _urgent(found: Rows, lately: Mapping[int, float]) -> list[Place]:
    """What agents have and what may be wrong, by reach × severity."""
    scores: dict[int, float] = {}
    places: dict[int, Place] = {}
    for pk, live, misled, stale, readers, is_new in found:
        reach = math.log2(2.0 + lately.get(live, 0.0) + readers)
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


def _cut(sql: str, most: int) -> str:
    # Rounded up, so that a handful of statements serves every length.
    return _written(sql, -(-most // 100) * 100)


@lru_cache(maxsize=256)
def _written(sql: str, most: int) -> str:
    """The statement with its parts and its limits, which a plan has to know."""
    limits = {"{most}": str(most), "{complaints}": str(COMPLAINTS_LOOKED_AT), "{open}": str(OPEN_SESSIONS)}
    for name, part in (_PARTS | limits).items():
        sql = sql.replace(name, part)
    return sql
