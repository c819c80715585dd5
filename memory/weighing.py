"""Weighs proposals: reads what `memory.worth` multiplies, and keeps the figure by which the pile is ordered.

A proposal is weighed when it is made and when it is seen again; when its subject was asked for and, in turns, all of
them again by the schedule, for the project's own decisions move how likely each is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db import connections

from memory import served
from memory.models import Fact, Session, SessionKind, SessionSubject, Status
from memory.models.subject import PROJECT
from memory.worth import WAITING, Rates, Signals, worth
from projects import tenancy
from projects.models import Project

# Decisions that are looked at, the latest of each kind.
DECIDED = 1_000
# How long a session counts as "lately", and how many of a subject's are looked at.
LATELY = timedelta(days=30)
SESSIONS_OF_A_SUBJECT = 200
AT_ONCE = 500
# A change smaller than this part is not written: the row stays where the indexes have it.
LEAST_CHANGE = 0.02
# Of each project, every run: those at the front, those whose subjects were asked for, and one part in so many of all.
FRONT, OF_A_SUBJECT, TURNS, RUN_MINUTES = 200, 200, 144, 10
MOST_OF_A_TURN = 5_000
PLACES = ("repo", PROJECT)
# What part of a session a proposal counts that says nearly the same: of another session (or file), and of the same one,
# where many lines are often written to one pattern.
NEAR_ELSEWHERE, NEAR_HERE = 0.5, 0.1

# What was approved and what was rejected over the same stretch: where one kind reaches back further than is read, the
# other is cut off there too, or the share of the two would be wrong.
_RATES = """
WITH approved AS (
    SELECT best.* FROM unnest(ARRAY['approved', 'superseded', 'expired', 'removed']) was(status) CROSS JOIN LATERAL (
        SELECT id, type, source, distiller FROM memory_fact f WHERE f.project_id = %(project)s
            AND f.status = was.status AND f.approved_by_id IS NOT NULL ORDER BY f.id DESC LIMIT %(most)s
    ) best
), rejected AS (
    SELECT id, type, source, distiller FROM memory_fact WHERE project_id = %(project)s AND status = 'rejected'
    ORDER BY id DESC LIMIT %(most)s
), since AS (
    SELECT greatest(
        (SELECT CASE WHEN count(*) >= %(most)s THEN min(id) END FROM approved),
        (SELECT CASE WHEN count(*) >= %(most)s THEN min(id) END FROM rejected), 0) AS id
)
SELECT type, source, distiller, count(*) FILTER (WHERE yes), count(*) FILTER (WHERE NOT yes) FROM (
    SELECT id, type, source, distiller, true AS yes FROM approved
    UNION ALL SELECT id, type, source, distiller, false FROM rejected
) decided WHERE id >= (SELECT id FROM since) GROUP BY 1, 2, 3
"""

# A line of an import is a telling of its own: the session that brought it is only the file. A quote whose source is
# gone was said in some session.
_PROPOSALS = """
SELECT f.id, f.type, f.source, f.distiller, f.relation, f.findings::text <> '[]', length(f.text), f.worth, f.everyone,
    f.agent_ids, f.subject_id, s.entity_type, f.standing, told.sessions, told.quotes,
    nearly.elsewhere, nearly.here, f.relation = 'same_thing' AND EXISTS (
        SELECT 1 FROM memory_fact k WHERE k.id = f.related_id AND k.status = 'proposed')
FROM memory_fact f JOIN memory_subject s ON s.id = f.subject_id CROSS JOIN LATERAL (
    SELECT count(DISTINCT CASE WHEN x.kind = 'import' THEN -o.id ELSE o.session_id END) AS sessions, count(*) AS quotes
    FROM memory_evidence e LEFT JOIN memory_observation o ON o.id = e.observation_id
        LEFT JOIN memory_session x ON x.id = o.session_id
    WHERE e.fact_id = f.id
) told CROSS JOIN LATERAL (
    SELECT count(*) FILTER (WHERE r.is_elsewhere) AS elsewhere, count(*) FILTER (WHERE NOT r.is_elsewhere) AS here
    FROM (
        SELECT EXISTS (
            SELECT 1 FROM memory_evidence e JOIN memory_observation o ON o.id = e.observation_id
            WHERE e.fact_id = n.id AND NOT EXISTS (
                SELECT 1 FROM memory_evidence own JOIN memory_observation heard ON heard.id = own.observation_id
                WHERE own.fact_id = f.id AND heard.session_id = o.session_id)
        ) AS is_elsewhere
        FROM memory_fact n WHERE n.related_id = f.id AND n.relation = 'same_thing' AND n.status = 'proposed' LIMIT 10
    ) r
) nearly
WHERE f.project_id = %(project)s AND f.status = 'proposed' AND f.id = ANY (ARRAY(
    SELECT unnest(%(facts)s::bigint[]) UNION
    SELECT related_id FROM memory_fact WHERE id = ANY (%(facts)s::bigint[]) AND related_id IS NOT NULL))
"""

_SESSIONS = """
SELECT asked.id, x.agent_id, count(*) FROM unnest(%(subjects)s::bigint[]) asked(id) CROSS JOIN LATERAL (
    SELECT session_id FROM memory_sessionsubject WHERE subject_id = asked.id ORDER BY id DESC LIMIT %(most)s
) link JOIN memory_session x ON x.id = link.session_id
WHERE x.project_id = %(project)s AND x.kind = 'run' AND x.last_seen_at >= %(since)s GROUP BY 1, 2
"""


class _Row(NamedTuple):
    pk: int
    type: str
    source: str
    reader: str
    relation: str
    is_flagged: bool
    length: int
    worth: float
    everyone: bool
    agent_ids: list[int]
    subject_id: int
    entity_type: str
    standing: bool
    sessions: int
    quotes: int
    near_elsewhere: int
    near_here: int
    beside_waiting: bool


def weigh(project_id: int, fact_ids: Iterable[int], now: datetime) -> int:
    """Weighs those of these facts that are proposals, and what they stand beside; how many figures changed.

    Five queries for each 500."""
    ids = sorted(set(fact_ids))
    if not ids:
        return 0
    known = rates(project_id)
    changed = 0
    for start in range(0, len(ids), AT_ONCE):
        named = {"project": project_id, "facts": ids[start : start + AT_ONCE]}
        rows = [_Row(*row) for row in _fetch(_PROPOSALS, named)]
        told = activity(project_id, {row.subject_id for row in rows}, now)
        changed += _write(
            project_id, [(row.pk, figure) for row in rows if _moved(row, figure := _worth(row, known, told))]
        )
    return changed


def rates(project_id: int) -> Rates:
    """How this project decided lately, by type, source and reader. One query over at most 5,000 facts."""
    rows = _fetch(_RATES, {"project": project_id, "most": DECIDED})
    return Rates({(type_, source, reader): (yes, no) for type_, source, reader, yes, no in rows})


def activity(project_id: int, subject_ids: Iterable[int], now: datetime) -> dict[int, dict[int, float]]:
    """Subject id → agent id → its sessions of the last 30 days and its briefs lately. Two queries."""
    ids = sorted(set(subject_ids))
    told: dict[int, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    if not ids:
        return told
    named = {"project": project_id, "subjects": ids, "since": now - LATELY, "most": SESSIONS_OF_A_SUBJECT}
    for subject_id, agent_id, count in _fetch(_SESSIONS, named):
        told[subject_id][agent_id] += count
    for (subject_id, agent_id), weight in served.subjects_lately(project_id, ids, now).items():
        told[subject_id][agent_id] += weight
    return told


def refresh(now: datetime) -> int:
    """What the schedule does each ten minutes, a bounded number of proposals a project: the front, whatever is about
    subjects that were asked for, and a part of all, so that each is weighed anew once a day."""
    asked = served.tally(now)
    with tenancy.system("sweeper"):
        projects = list(Project.objects.order_by("pk").values_list("pk", flat=True))
    changed = 0
    for project_id in projects:
        with tenancy.project(project_id):
            ids = _front(project_id) | _about(project_id, asked.get(project_id, set()) | _heard(project_id, now))
            ids |= _turn(project_id, now)
        for start in range(0, len(chosen := sorted(ids)), AT_ONCE):
            with tenancy.project(project_id):
                changed += weigh(project_id, chosen[start : start + AT_ONCE], now)
    return changed


def _front(project_id: int) -> set[int]:
    waiting = Fact.objects.filter(project_id=project_id, status=Status.PROPOSED).order_by("-worth", "pk")
    return set(waiting.values_list("pk", flat=True)[:FRONT])


def _heard(project_id: int, now: datetime) -> set[int]:
    """Subjects of sessions that said something since the last run."""
    lately = Session.objects.filter(
        project_id=project_id, kind=SessionKind.RUN, last_seen_at__gte=now - timedelta(minutes=2 * RUN_MINUTES)
    )
    ids = lately.order_by("-last_seen_at", "-pk").values_list("pk", flat=True)[:AT_ONCE]
    found = SessionSubject.objects.filter(session__in=list(ids))
    return set(found.values_list("subject_id", flat=True))


def _about(project_id: int, subjects: set[int]) -> set[int]:
    """The best proposals of each of these subjects."""
    sql = """
        SELECT best.id FROM unnest(%(subjects)s::bigint[]) asked(id) CROSS JOIN LATERAL (
            SELECT f.id FROM memory_fact f WHERE f.subject_id = asked.id AND f.status = 'proposed'
            ORDER BY f.worth DESC, f.id LIMIT %(most)s
        ) best LIMIT %(all)s
    """
    named = {"subjects": sorted(subjects), "most": OF_A_SUBJECT, "all": MOST_OF_A_TURN}
    return {row[0] for row in _fetch(sql, named)}


def _turn(project_id: int, now: datetime) -> set[int]:
    """The part of all whose turn it is: an index is read, no row."""
    turn = int(now.timestamp() // (RUN_MINUTES * 60)) % TURNS
    sql = """
        SELECT id FROM memory_fact WHERE project_id = %(project)s AND status = 'proposed' AND id %% %(turns)s = %(turn)s
        LIMIT %(most)s
    """
    named = {"project": project_id, "turns": TURNS, "turn": turn, "most": MOST_OF_A_TURN}
    return {row[0] for row in _fetch(sql, named)}


def _worth(row: _Row, known: Rates, told: dict[int, dict[int, float]]) -> float:
    by_agent = told[row.subject_id]
    agents = by_agent if row.everyone else [pk for pk in row.agent_ids if pk in by_agent]
    return worth(
        Signals(
            likely=known.of(row.type, row.source, row.reader),
            served=sum(by_agent[pk] for pk in agents),
            sessions=row.sessions + NEAR_ELSEWHERE * row.near_elsewhere + NEAR_HERE * row.near_here,
            relation=WAITING if row.beside_waiting else row.relation,
            is_flagged=row.is_flagged,
            is_quoted=row.quotes > 0 or row.source == "manual",
            length=row.length,
            is_place=row.entity_type in PLACES and not row.standing,
        )
    )


def _moved(row: _Row, figure: float) -> bool:
    return abs(figure - row.worth) > LEAST_CHANGE * max(row.worth, figure)


def _write(project_id: int, figures: Sequence[tuple[int, float]]) -> int:
    """Rows that somebody decides at this moment are left: they leave the pile, or have another turn."""
    if not figures:
        return 0
    sql = """
        WITH free AS (
            SELECT id FROM memory_fact WHERE project_id = %(project)s AND id = ANY (%(ids)s::bigint[])
                AND status = 'proposed' ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
        )
        UPDATE memory_fact f SET worth = told.worth
        FROM free JOIN unnest(%(ids)s::bigint[], %(figures)s::float8[]) told(id, worth) ON told.id = free.id
        WHERE f.id = free.id
        RETURNING f.id
    """
    named = {"project": project_id, "ids": [pk for pk, _ in figures], "figures": [figure for _, figure in figures]}
    return len(_fetch(sql, named))


def _fetch(sql: str, named: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connections[Fact.objects.db].cursor() as cursor:
        cursor.execute(sql, named)
        return cursor.fetchall()
