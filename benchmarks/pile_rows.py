"""Rows for job `review`, written by Postgres itself: a project with so many proposals, observations, live memories,
briefs and decisions. A hundred thousand proposals with a million observations take about two minutes."""

from __future__ import annotations

from dataclasses import dataclass

# What stands beside each proposal: as many live memories, briefs and past decisions as a busy project has.
OBSERVATIONS_OF_A_SESSION = 25
PROPOSALS_OF_A_SUBJECT = 10


@dataclass(frozen=True, slots=True)
class Size:
    """How much one project holds."""

    proposals: int
    observations: int
    briefs: int


# In the order in which the rows need each other. Sixty-four hex digits stand in for what only the product computes:
# a decision writes the real ones.
_STEPS = (
    """INSERT INTO memory_subject (project_id, entity_type, entity_id, label, link, lookup_hmac, created_at)
    SELECT %(project)s, 'customer', 'c' || n, 'Customer ' || n, '', md5('s' || n) || md5('t' || n), now()
    FROM generate_series(1, %(subjects)s) n""",
    """INSERT INTO memory_session (project_id, agent_id, external_id, kind, timezone, source_format, cwd, first_seen_at,
        last_seen_at, status, distilled_through, observation_count, turn_count, summary, summary_by, summary_through)
    SELECT %(project)s, %(agent)s, 'call-' || n, 'run', 'UTC', 'api', '', now() - n * %(spread)s,
        now() - n * %(spread)s,
        CASE WHEN n <= 10 THEN 'open' ELSE 'distilled' END, 0, %(of_session)s, %(of_session)s, '', '', 0
    FROM generate_series(1, %(sessions)s) n""",
    """CREATE TEMP TABLE a_session AS SELECT row_number() OVER (ORDER BY id) - 1 AS n, id FROM memory_session
    WHERE project_id = %(project)s""",
    """CREATE TEMP TABLE a_subject AS SELECT row_number() OVER (ORDER BY id) - 1 AS n, id FROM memory_subject
    WHERE project_id = %(project)s AND entity_type = 'customer'""",
    """INSERT INTO memory_sessionsubject (project_id, session_id, subject_id)
    SELECT %(project)s, s.id, t.id FROM a_session s JOIN a_subject t ON t.n = s.n %% %(subjects)s""",
    """INSERT INTO memory_observation (project_id, session_id, seq, kind, role, text, original_length, tool, call_id,
        is_error, paths, sidechain, occurred_at, occurred_source, received_at, findings)
    SELECT %(project)s, s.id, i, 'message', CASE WHEN i %% 2 = 0 THEN 'user' ELSE 'assistant' END,
        'We talked about order ' || s.n || ' for a while. Branch ' || i || ' takes deliveries before noon only.'
        || repeat(' And so it went on.', 6), 220, '', '', false, '{}', false, now() - interval '20 days', 'sent',
        now() - interval '20 days', '[]'
    FROM a_session s CROSS JOIN generate_series(1, %(of_session)s) i""",
    """CREATE TEMP TABLE an_observation AS SELECT row_number() OVER (ORDER BY id) - 1 AS n, id, text
    FROM memory_observation WHERE project_id = %(project)s ORDER BY id LIMIT %(proposals)s""",
    """INSERT INTO memory_fact (project_id, subject_id, type, key, value, text, nature, use, standing, status, everyone,
        agent_ids, source, proposed_by_agent_id, distiller, prompt_version, findings, times_seen, first_seen_at,
        last_seen_at, helped_count, ends_by_type, worth, relation, tokens, revision, served_sha256, fingerprint)
    SELECT %(project)s, t.id, (ARRAY['fix', 'failed_command', 'user_preference', 'error'])[1 + i %% 4],
        'fix:branch.' || i,
        to_jsonb('Branch ' || i || ' takes deliveries before noon only.'),
        'Branch ' || i || ' takes deliveries before noon only.', 'factual', 'actionable', false, 'proposed', true, '{}',
        'extraction', %(agent)s, 'local', '3', '[]', 1, now() - interval '20 days', now() - interval '20 days', 0, true,
        random() * 4, '', 0, 1, md5('f' || i) || md5('g' || i), md5('f' || i) || md5('h' || i)
    FROM generate_series(1, %(proposals)s) i JOIN a_subject t ON t.n = i %% %(subjects)s""",
    """CREATE TEMP TABLE a_proposal AS SELECT row_number() OVER (ORDER BY id) - 1 AS n, id, subject_id FROM memory_fact
    WHERE project_id = %(project)s AND status = 'proposed'""",
    # A proposal has its vector from the day it came; which one makes no difference here.
    """INSERT INTO memory_factembedding (project_id, fact_id, model, precision, text_sha256, vector)
    SELECT %(project)s, f.id, %(model)s, %(precision)s, encode(sha256(convert_to(f.text, 'UTF8')), 'hex'), v.one
    FROM memory_fact f JOIN a_proposal p ON p.id = f.id
    CROSS JOIN (SELECT array_fill(0.051::real, ARRAY[384])::halfvec AS one) v""",
    """INSERT INTO memory_evidence (project_id, fact_id, observation_id, start, "end", quote, before, after, sha256,
        checked_at)
    SELECT %(project)s, p.id, o.id, 0, 40, substr(o.text, 1, 40), '', '',
        encode(sha256(convert_to(substr(o.text, 1, 40), 'UTF8')), 'hex'), now()
    FROM a_proposal p JOIN an_observation o ON o.n = p.n""",
    """INSERT INTO memory_decision (project_id, fact_id, verb, reason, note, before, after, revision_before,
        revision_after, batch, at)
    SELECT %(project)s, id, 'propose', '', '', '{}', '{"status": "proposed"}', 0, 1, gen_random_uuid(), now()
    FROM a_proposal""",
    # Live memories: each fiftieth is due, and some proposals stand against one.
    """INSERT INTO memory_fact (project_id, subject_id, type, key, value, text, nature, use, standing, status, everyone,
        agent_ids, source, proposed_by_agent_id, distiller, prompt_version, findings, times_seen, first_seen_at,
        last_seen_at, helped_count, ends_by_type, worth, relation, tokens, revision, served_sha256, fingerprint,
        approved_at, approved_by_id, confirmed_at, review_due_at)
    SELECT %(project)s, t.id, 'fix', 'fix:live.' || i, to_jsonb('Gate ' || i || ' closes at noon.'),
        'Gate ' || i || ' closes at noon.', 'factual', 'actionable', false, 'approved', true, '{}', 'extraction',
        %(agent)s, 'local', '3', '[]', 1, now() - interval '60 days', now() - interval '30 days', 0, true, 0, '', 12, 2,
        md5('l' || i) || md5('m' || i), md5('l' || i) || md5('o' || i), now() - interval '50 days', %(person)s,
        now() - interval '50 days',
        CASE WHEN i %% 50 = 0 THEN now() - interval '1 day' ELSE now() + interval '90 days' END
    FROM generate_series(1, %(live)s) i JOIN a_subject t ON t.n = i %% %(subjects)s""",
    """CREATE TEMP TABLE a_live AS SELECT row_number() OVER (ORDER BY id) - 1 AS n, id, subject_id FROM memory_fact
    WHERE project_id = %(project)s AND status = 'approved'""",
    "CREATE UNIQUE INDEX ON a_live (n)",
    """UPDATE memory_fact f SET relation = 'conflicts', related_id = l.id FROM a_proposal p JOIN a_live l
        ON l.subject_id = p.subject_id AND l.n %% 97 = 0 WHERE f.id = p.id AND p.n %% 97 = 0""",
    """INSERT INTO memory_briefserved (project_id, agent_id, session_id, subject_ids, etag, fact_ids, items, left_out,
        text, tokens, budget, task, unchanged, paused, at)
    SELECT %(project)s, %(agent)s, NULL, ARRAY[t.id], md5(i::text),
        ARRAY(SELECT l.id FROM a_live l WHERE l.n BETWEEN (i * 7) %% %(live)s AND (i * 7) %% %(live)s + 14), '[]', '[]',
        repeat('A line of a brief. ', 20), 400, 2000, '', false, false, now() - i * interval '30 seconds'
    FROM generate_series(%(briefs)s, 1, -1) i JOIN a_subject t ON t.n = i %% %(subjects)s ORDER BY i DESC""",
    """INSERT INTO memory_decision (project_id, fact_id, person_id, verb, reason, note, before, after, revision_before,
        revision_after, batch, at)
    SELECT %(project)s, id, %(person)s, 'approve', '', '', '{"status": "proposed"}', '{"status": "approved"}', 1, 2,
        gen_random_uuid(), now() - interval '2 days' - n * interval '12 seconds' FROM a_live""",
    """INSERT INTO memory_feedback (project_id, fact_id, agent_id, verdict, said_on, at)
    SELECT %(project)s, id, %(agent)s, CASE WHEN n %% 3 = 0 THEN 'misled' ELSE 'helped' END, current_date,
        now() - interval '1 hour' FROM a_live WHERE n %% 100 = 49""",
    "DROP TABLE a_session, a_subject, an_observation, a_proposal, a_live",
)


def write(project: int, agent: int, person: int, size: Size) -> None:
    """Writes the rows of one project, as their owner."""
    from django.db import connections

    from memory import embeddings

    subjects = max(10, size.proposals // PROPOSALS_OF_A_SUBJECT)
    sessions = size.observations // OBSERVATIONS_OF_A_SESSION
    named = {
        "project": project,
        "agent": agent,
        "person": person,
        "subjects": subjects,
        "sessions": sessions,
        "of_session": OBSERVATIONS_OF_A_SESSION,
        "spread": f"{40 * 86_400 / sessions} seconds",
        "proposals": size.proposals,
        "live": max(100, size.proposals // 5),
        "briefs": size.briefs,
        "model": embeddings.MODEL_ID,
        "precision": embeddings.PRECISION,
    }
    with connections["owner"].cursor() as cursor:
        for step in _STEPS:
            cursor.execute(step.replace("%(spread)s", "%(spread)s::interval"), named)
    with connections["owner"].cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
