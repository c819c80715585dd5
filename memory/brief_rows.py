"""What a brief is made of, read in two statements, and the row that says it was served, written in one."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from memory import pauses
from memory.models import BriefServed, Fact
from memory.models.subject import PROJECT, lookup_hmac
from memory.prepared import about, fetch, visible
from memory.rendering import SAYS_WHO
from memory.retractions import RETRACTED_FOR
from memory.supposed import Suppose
from projects.models import ActorKind, Agent, Person

# Work happens in these; what was learned there is chosen by the task. Everything else is about somebody.
PLACES = ("repo", PROJECT)


class About(NamedTuple):
    """A subject as a brief needs it."""

    pk: int
    entity_type: str
    entity_id: str
    lookup_hmac: str

    @property
    def is_place(self) -> bool:
        return self.entity_type in PLACES


@dataclass(slots=True)
class Context:
    """Whom and what the brief is about: subjects in the order of their sections; the session, if it is known.

    `agent` is as it stands now, whatever the caller's row says. `withdrawn` are facts noted as no longer holding for
    it, the latest first; `told` is what its last brief (of this session) held. `system` is the system memory deployed
    for it: {"version", "deployed_at", "config"}."""

    agent: Agent
    subjects: list[About]
    session_id: int | None
    withdrawn: list[int]
    told: list[int]
    system: dict[str, Any] | None = None

    @property
    def ids(self) -> list[int]:
        return [subject.pk for subject in self.subjects]


class Row(NamedTuple):
    """A visible fact. Days are the project's, as ISO dates by Postgres: reading sixty datetimes cost more than a query.

    `age_days` counts since it was last seen or confirmed. `said_by` is the role whose words are its first evidence and
    `agent` who proposed it, both only where the line says so (rendering.SAYS_WHO).
    """

    pk: int
    subject_id: int
    type: str
    key: str
    value: Any
    text: str
    standing: bool
    everyone: bool
    source: str
    times_seen: int
    first_seen_on: str
    last_seen_on: str
    confirmed_on: str | None
    age_days: int
    said_by: str | None
    agent: str | None
    use: str
    helped_count: int


# With it: what this agent was told before, in the order of its index: by the id alone, an agent that was told nothing
# yet would have every brief of the others read. A fact that holds for it again is no longer withdrawn, noted or not.
_CONTEXT = """
WITH run AS (
    SELECT (SELECT id FROM memory_session WHERE agent_id = %(agent)s::bigint AND external_id = %(session)s) AS id,
        a.paused_at, a.archived_at, p.paused_at AS all_paused_at, c.version, c.deployed_at, c.content
    FROM projects_agent a JOIN projects_project p ON p.id = a.project_id
    LEFT JOIN LATERAL (SELECT version, deployed_at, content::text AS content FROM projects_agentconfig
        WHERE agent_id = a.id AND deployed_at IS NOT NULL ORDER BY deployed_at DESC, version DESC LIMIT 1) c ON true
    WHERE a.id = %(agent)s::bigint
)
SELECT run.paused_at, run.archived_at, run.all_paused_at, run.version, run.deployed_at, run.content, run.id,
    ARRAY(SELECT r.fact_id FROM memory_retraction r JOIN memory_fact f ON f.id = r.fact_id
        WHERE r.agent_id = %(agent)s::bigint AND r.at >= %(since)s::timestamptz AND NOT (
            f.status = 'approved' AND (f.expires_at IS NULL OR f.expires_at > %(now)s::timestamptz)
            AND (f.everyone OR f.agent_ids @> ARRAY[%(agent)s::bigint]))
        ORDER BY r.at DESC, r.id DESC),
    CASE WHEN run.id IS NULL THEN (SELECT fact_ids FROM memory_briefserved WHERE agent_id = %(agent)s::bigint
        AND session_id IS NULL AND at >= %(since)s::timestamptz AND NOT paused
        ORDER BY session_id, id DESC LIMIT 1)
    ELSE (SELECT fact_ids FROM memory_briefserved WHERE agent_id = %(agent)s::bigint
        AND session_id = run.id AND at >= %(since)s::timestamptz AND NOT paused ORDER BY id DESC LIMIT 1) END,
    s.id, s.entity_type, s.entity_id, s.lookup_hmac
FROM run LEFT JOIN memory_subject s ON s.project_id = %(project)s::bigint AND (
    s.lookup_hmac = ANY (%(named)s::text[])
    OR s.id IN (SELECT subject_id FROM memory_sessionsubject WHERE session_id = run.id)
    OR (%(nobody)s AND run.id IS NULL AND (s.entity_type = 'repo' OR s.lookup_hmac = %(person)s))
)
"""

_FACTS_OF = """
SELECT v.id, v.subject_id, v.type, v.key, v.value::text, v.text, v.standing, v.everyone, v.source, v.times_seen,
    to_char(v.first_seen_at AT TIME ZONE %(zone)s::text, 'YYYY-MM-DD'),
    to_char(v.last_seen_at AT TIME ZONE %(zone)s::text, 'YYYY-MM-DD'),
    to_char(v.confirmed_at AT TIME ZONE %(zone)s::text, 'YYYY-MM-DD'),
    (%(now)s::timestamptz AT TIME ZONE %(zone)s::text)::date
        - (greatest(v.last_seen_at, v.confirmed_at) AT TIME ZONE %(zone)s::text)::date,
    CASE WHEN v.type = ANY (%(says_who)s::text[]) THEN (
        SELECT o.role FROM memory_evidence e JOIN memory_observation o ON o.id = e.observation_id
        WHERE e.fact_id = v.id ORDER BY e.id LIMIT 1) END,
    CASE WHEN v.type = ANY (%(says_who)s::text[]) THEN (
        SELECT a.slug FROM projects_agent a WHERE a.id = v.proposed_by_agent_id) END,
    v.use, v.helped_count
FROM ({visible}) v
WHERE v.subject_id = ANY (%(subjects)s::bigint[])
ORDER BY v.standing DESC, v.last_seen_at DESC, v.id DESC LIMIT %(limit)s::int
"""
_COLUMNS = (
    *("id", "subject_id", "type", "key", "value", "text", "standing", "everyone", "source", "times_seen"),
    *("first_seen_at", "last_seen_at", "confirmed_at", "proposed_by_agent_id", "use", "helped_count"),
)

# One statement: three would be three round trips. Its last commits may be lost when the machine dies; to wait for the
# disk would double the brief's time. The agent's row is touched once in ten seconds, so that clients of one agent do
# not wait for each other.
_SERVED = """
WITH settled AS (SELECT set_config('synchronous_commit', 'off', true)),
served AS (
    INSERT INTO memory_briefserved (project_id, agent_id, session_id, subject_ids, etag, fact_ids, items, left_out,
        text, tokens, budget, task, unchanged, paused, at)
    SELECT %(project)s::bigint, %(agent)s::bigint, %(session)s::bigint, %(subjects)s::bigint[], %(etag)s,
        %(facts)s::bigint[], %(items)s::jsonb, %(left_out)s::jsonb, %(text)s, %(tokens)s::int, %(budget)s::int,
        %(task)s, %(unchanged)s, %(paused)s, %(now)s::timestamptz
    FROM settled
    RETURNING id
),
audited AS (
    INSERT INTO projects_auditevent (at, project_id, actor_kind, actor_id, action, object_kind, object_ids, count)
    VALUES (%(now)s::timestamptz, %(project)s::bigint, %(actor)s, %(agent)s::bigint, 'brief.serve', 'fact',
        %(ids)s::jsonb, %(count)s::int)
),
told AS (
    UPDATE projects_agent SET last_brief_at = %(now)s::timestamptz WHERE id = %(agent)s::bigint
        AND (last_brief_at IS NULL OR last_brief_at < %(now)s::timestamptz - interval '10 seconds')
)
SELECT id FROM served
"""


def context(
    agent: Agent,
    session: str | None,
    named: Sequence[tuple[str, str]],
    person: Person | None,
    now: datetime,
    suppose: Suppose | None = None,
) -> Context:
    """The named subjects as they were named, the session's, then repositories, then the project."""
    project_id = agent.project_id
    hashes = [lookup_hmac(project_id, kind, ident) for kind, ident in named]
    rows = fetch(
        Fact.objects.db,
        _CONTEXT,
        {
            "agent": agent.pk,
            "project": project_id,
            "session": session,
            "now": now,
            "since": now - RETRACTED_FOR,
            "named": [*hashes, lookup_hmac(project_id, PROJECT, agent.project.slug)],
            "nobody": not named,
            "person": lookup_hmac(project_id, "person", person.email) if person else None,
        },
        suppose,
    )
    place = {value: number for number, value in enumerate(hashes)}
    found = [About(*row[9:]) for row in rows if row[9] is not None]
    found.sort(
        key=lambda one: (
            PLACES.index(one.entity_type) + 1 if one.is_place else 0,
            place.get(one.lookup_hmac, len(place)),
            one.pk,
        )
    )
    version, deployed_at, content, session_id, withdrawn, told = rows[0][3:9]
    if suppose is not None:
        withdrawn = [*suppose.retracted.get(agent.pk, ()), *withdrawn]
    system = None
    if version is not None:
        system = {
            "version": version,
            "deployed_at": deployed_at.astimezone(UTC).isoformat(),
            "config": json.loads(content),
        }
    return Context(pauses.stood(agent, *rows[0][:3]), found, session_id, withdrawn, told or [], system)


def facts(agent: Agent, subject_ids: list[int], limit: int, now: datetime, suppose: Suppose | None = None) -> list[Row]:
    """Visible facts about these subjects, standing ones first, then the latest; at most `limit`."""
    asked = {
        **about(agent, now),
        "zone": agent.project.timezone,
        "says_who": list(SAYS_WHO),
        "subjects": subject_ids,
        "limit": limit,
    }
    rows = fetch(Fact.objects.db, _FACTS_OF.format(visible=visible(agent, *_COLUMNS)), asked, suppose)
    return [Row._make((*row[:4], json.loads(row[4]) if row[4] else None, *row[5:])) for row in rows]


def record(agent: Agent, served: BriefServed) -> int:
    """Writes the row, its audit event and when the agent was last heard of; gives the row's id."""
    rows = fetch(
        BriefServed.objects.db,
        _SERVED,
        {
            "project": agent.project_id,
            "agent": agent.pk,
            "actor": ActorKind.AGENT.value,
            "session": served.session_id,
            "subjects": served.subject_ids,
            "etag": served.etag,
            "facts": served.fact_ids,
            "ids": json.dumps(served.fact_ids),
            "count": len(served.fact_ids),
            "items": json.dumps(served.items),
            "left_out": json.dumps(served.left_out),
            "text": served.text,
            "tokens": served.tokens,
            "budget": served.budget,
            "task": served.task,
            "unchanged": served.unchanged,
            "paused": served.paused,
            "now": served.at,
        },
    )
    return int(rows[0][0])
