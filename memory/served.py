"""How often memories were served, and briefs asked for about subjects, as the record of what was served says.

A record of a million briefs cannot be searched for a memory while somebody waits, and to count at the moment of
serving would slow every brief down. So a tally counts in the background, up to a brief; what came later is few, and is
counted where it is asked. Together they are exact.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import connections, transaction

from memory.models import BriefServed, Fact
from memory.models.served_count import FactServed, ServedThrough
from projects import tenancy
from projects.models import Project
from projects.prepared import Statement, run

# "Lately" halves in this time.
HALF_LIFE = timedelta(days=14)
# A brief gets its id before it is visible to others; one this old is there, or never will be.
SETTLED = timedelta(minutes=2)
# Counted in one step: about 0.2 s.
BRIEFS_A_STEP = 5_000
STEPS_A_RUN = 40

# The tail that no tally has counted yet. A project without a tally has only a tail. In the order of its index: not
# knowing where it starts, Postgres would else read the whole record.
_TAIL = """
    SELECT b.agent_id, b.fact_ids, b.subject_ids, b.unchanged, b.at FROM (
        SELECT coalesce(max(brief), 0) AS brief FROM memory_servedthrough WHERE project_id = %(project)s::bigint
    ) counted CROSS JOIN LATERAL (
        SELECT agent_id, fact_ids, subject_ids, unchanged, at FROM memory_briefserved
        WHERE project_id = %(project)s::bigint AND NOT paused AND id > counted.brief ORDER BY id DESC LIMIT 1000000
    ) b
"""

_BRIEFS_OF = """
SELECT id, sum(briefs)::bigint FROM (
    SELECT fact_id AS id, briefs FROM memory_factserved
        WHERE project_id = %(project)s::bigint AND fact_id = ANY (%(facts)s::bigint[])
    UNION ALL
    SELECT told.id, 1 FROM ({tail}) tail CROSS JOIN LATERAL unnest(fact_ids) told(id)
        WHERE NOT unchanged AND told.id = ANY (%(facts)s::bigint[])
) counted GROUP BY id
"""

_LATELY_OF = """
SELECT id, sum(weight)::float8 FROM (
    SELECT fact_id AS id,
            lately * 0.5 ^ (extract(epoch FROM %(now)s::timestamptz - last_at) / %(half_life)s::float8) AS weight
        FROM memory_factserved WHERE project_id = %(project)s::bigint AND fact_id = ANY (%(facts)s::bigint[])
    UNION ALL
    SELECT told.id, 1 FROM ({tail}) tail CROSS JOIN LATERAL unnest(fact_ids) told(id)
        WHERE told.id = ANY (%(facts)s::bigint[])
) counted GROUP BY id
"""

_TOLD = """
SELECT fact_id, agent_id FROM memory_factserved
    WHERE project_id = %(project)s::bigint AND fact_id = ANY (%(facts)s::bigint[]) AND last_at >= %(since)s::timestamptz
UNION
SELECT told.id, agent_id FROM ({tail}) tail CROSS JOIN LATERAL unnest(fact_ids) told(id)
    WHERE at >= %(since)s::timestamptz AND told.id = ANY (%(facts)s::bigint[])
"""

_SUBJECTS_LATELY = """
SELECT id, agent_id, sum(weight)::float8 FROM (
    SELECT subject_id AS id, agent_id,
            lately * 0.5 ^ (extract(epoch FROM %(now)s::timestamptz - last_at) / %(half_life)s::float8) AS weight
        FROM memory_subjectserved WHERE project_id = %(project)s::bigint AND subject_id = ANY (%(subjects)s::bigint[])
    UNION ALL
    SELECT asked.id, agent_id, 1 FROM ({tail}) tail CROSS JOIN LATERAL unnest(subject_ids) asked(id)
        WHERE asked.id = ANY (%(subjects)s::bigint[])
) counted GROUP BY id, agent_id
"""

# Facts, subjects and agents that are gone by now count nothing.
_COUNT = """
WITH part AS (
    SELECT agent_id, fact_ids, subject_ids, unchanged, at FROM memory_briefserved
    WHERE project_id = %(project)s::bigint AND NOT paused AND id > %(after)s::bigint AND id <= %(through)s::bigint
),
facts AS (
    INSERT INTO memory_factserved AS old (project_id, fact_id, agent_id, briefs, lately, last_at)
    SELECT %(project)s::bigint, f.id, agent_id, count(*) FILTER (WHERE NOT unchanged), count(*), max(at)
        FROM part CROSS JOIN LATERAL unnest(fact_ids) told(id) JOIN memory_fact f ON f.id = told.id
        GROUP BY f.id, agent_id
    ON CONFLICT (fact_id, agent_id) DO UPDATE SET briefs = old.briefs + excluded.briefs,
        lately = excluded.lately + old.lately
            * 0.5 ^ (greatest(extract(epoch FROM excluded.last_at - old.last_at), 0) / %(half_life)s::float8),
        last_at = greatest(old.last_at, excluded.last_at)
)
INSERT INTO memory_subjectserved AS old (project_id, subject_id, agent_id, lately, last_at)
SELECT %(project)s::bigint, s.id, agent_id, count(*), max(at)
    FROM part CROSS JOIN LATERAL unnest(subject_ids) asked(id) JOIN memory_subject s ON s.id = asked.id
    GROUP BY s.id, agent_id
ON CONFLICT (subject_id, agent_id) DO UPDATE SET
    lately = excluded.lately + old.lately
        * 0.5 ^ (greatest(extract(epoch FROM excluded.last_at - old.last_at), 0) / %(half_life)s::float8),
    last_at = greatest(old.last_at, excluded.last_at)
RETURNING subject_id
"""


def briefs_with(fact: Fact) -> int:
    """In how many briefs this memory was; an answer "unchanged" is none."""
    return briefs_of(fact.project_id, [fact.pk])[fact.pk]


def briefs_of(project_id: int, fact_ids: Iterable[int]) -> dict[int, int]:
    """Fact id → in how many briefs it was. One query."""
    ids = list(fact_ids)
    found = _fetch(_BRIEFS_OF, {"project": project_id, "facts": ids}) if ids else []
    return dict.fromkeys(ids, 0) | dict(found)


def lately_asked(project_id: int, fact_ids: Iterable[int], now: datetime) -> Statement:
    """How often each of these was served lately, each brief counting half after 14 days: rows of a fact's id and that
    number; what was not served is left out."""
    named = {"project": project_id, "facts": sorted(fact_ids), "now": now, "half_life": HALF_LIFE.total_seconds()}
    return _LATELY_OF.replace("{tail}", _TAIL), named


def told_since(project_id: int, fact_ids: Iterable[int], since: datetime) -> dict[int, set[int]]:
    """Fact id → the ids of the agents that were served it since then, "unchanged" included. One query."""
    told: dict[int, set[int]] = {}
    ids = list(fact_ids)
    for fact_id, agent_id in _fetch(_TOLD, {"project": project_id, "facts": ids, "since": since}) if ids else ():
        told.setdefault(fact_id, set()).add(agent_id)
    return told


def subjects_lately(project_id: int, subject_ids: Iterable[int], now: datetime) -> dict[tuple[int, int], float]:
    """(subject id, agent id) → briefs about it lately, each half after 14 days. One query."""
    ids = list(subject_ids)
    named = {"project": project_id, "subjects": ids, "now": now, "half_life": HALF_LIFE.total_seconds()}
    return {(subject, agent): weight for subject, agent, weight in _fetch(_SUBJECTS_LATELY, named)} if ids else {}


def tally(now: datetime) -> dict[int, set[int]]:
    """Counts what was served since the last run, a bounded number of briefs; (project id → subjects it was about)."""
    asked: dict[int, set[int]] = {}
    steps = STEPS_A_RUN
    with tenancy.system("sweeper"):
        projects = list(Project.objects.order_by("pk").values_list("pk", flat=True))
    for project_id in projects:
        while steps:
            subjects = _step(project_id, now)
            if subjects is None:
                break
            asked.setdefault(project_id, set()).update(subjects)
            steps -= 1
    return asked


def _step(project_id: int, now: datetime) -> Collection[int] | None:
    """Counts the next briefs of one project; None where there are none. Two at once count nothing twice."""
    with tenancy.project(project_id), transaction.atomic(using=ServedThrough.objects.db):
        ServedThrough.objects.get_or_create(project_id=project_id)
        through = ServedThrough.objects.select_for_update().get(project_id=project_id)
        later = BriefServed.objects.filter(project_id=project_id, pk__gt=through.brief).order_by("pk")
        settled: list[int] = []
        for pk, at in later.values_list("pk", "at")[:BRIEFS_A_STEP]:
            if at > now - SETTLED:
                break  # one before it may still be on its way
            settled.append(pk)
        if not settled:
            return None
        named = {
            "project": project_id,
            "after": through.brief,
            "through": settled[-1],
            "half_life": HALF_LIFE.total_seconds(),
        }
        with connections[FactServed.objects.db].cursor() as cursor:
            # Planned for these bounds: it is run once in a while, over thousands of briefs.
            cursor.execute(_COUNT, named)
            subjects = {row[0] for row in cursor.fetchall()}
        through.brief = settled[-1]
        through.save(update_fields=["brief"])
    return subjects


def _fetch(sql: str, named: dict[str, Any]) -> Sequence[tuple[Any, ...]]:
    return run(FactServed.objects.db, sql.replace("{tail}", _TAIL), named)
