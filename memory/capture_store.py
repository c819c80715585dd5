"""Writes batches of one project in one transaction. Accepted = committed; the same id is never stored twice."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from django.db import InterfaceError, OperationalError, connections
from django.db.backends.utils import CursorWrapper

from memory.capture_batch import Batch, Receipt, Row
from memory.models import Subject
from memory.models.subject import lookup_hmac
from projects import tenancy

ROWS_AT_ONCE = 5_000
# Of so many ids the index is asked one by one (5 ms with 1,000,000 observations); of more at once the planner reads the
# whole table instead (0.4 s).
IDS_AT_ONCE = 500
# One row of an agent is not worth a write, and a lock, in every commit.
HEARD_IS_NOTED_EVERY = timedelta(seconds=5)
_NEVER = datetime.min.replace(tzinfo=UTC)
# When this process noted it last. Another process may have noted it since: the statement looks again.
_heard: dict[int, datetime] = {}

_LOCK = """
SELECT s.id, s.agent_id, s.external_id
FROM memory_session s
JOIN unnest(%s::bigint[], %s::text[]) AS wanted (agent_id, external_id)
  ON s.agent_id = wanted.agent_id AND s.external_id = wanted.external_id
ORDER BY s.id FOR NO KEY UPDATE OF s
"""
_MAKE = """
INSERT INTO memory_session (project_id, agent_id, external_id, timezone, source_format, cwd, first_seen_at,
    last_seen_at, status, distilled_through, observation_count, turn_count, kind, summary, summary_by, summary_through)
SELECT p.id, n.agent_id, n.external_id, coalesce(nullif(n.timezone, ''), p.timezone), n.source_format, n.cwd, n.at,
    n.at, 'open', 0, 0, 0, 'run', '', '', 0
FROM unnest(%s::bigint[], %s::text[], %s::text[], %s::text[], %s::text[], %s::timestamptz[])
    AS n (agent_id, external_id, timezone, source_format, cwd, at)
JOIN projects_project p ON p.id = %s
ORDER BY n.agent_id, n.external_id
ON CONFLICT (agent_id, external_id) DO NOTHING
"""
# One JSON document, not 18 arrays: a third of the work for the writer. The ids are drawn first, so that each payload
# finds its observation and the answer says which input became a row.
_INSERT = """
WITH top AS (
    SELECT s.id, coalesce((SELECT max(o.seq) FROM memory_observation o WHERE o.session_id = s.id), 0) AS seq
    FROM unnest(%s::bigint[]) AS s (id)
), input AS MATERIALIZED (
    SELECT nextval('memory_observation_id_seq') AS id, i.*
    FROM ROWS FROM (
        json_to_recordset(%s::json) AS (external_id text, seq bigint, kind text, role text, text text,
            original_length int, tool text, call_id text, exit_code int, is_error bool, paths text[], sidechain bool,
            occurred_at timestamptz, occurred_source text, received_at timestamptz, findings jsonb, payload jsonb),
        unnest(%s::bigint[])
    ) WITH ORDINALITY AS i (external_id, seq, kind, role, text, original_length, tool, call_id, exit_code, is_error,
        paths, sidechain, occurred_at, occurred_source, received_at, findings, payload, session_id, place)
), stored AS (
    INSERT INTO memory_observation (id, project_id, session_id, seq, external_id, kind, role, text, original_length,
        tool, call_id, exit_code, is_error, paths, sidechain, occurred_at, occurred_source, received_at, findings)
    SELECT input.id, %s, input.session_id, coalesce(input.seq, top.seq + input.place), external_id, kind, role, text,
        original_length, tool, call_id, exit_code, is_error, paths, sidechain, occurred_at, occurred_source,
        received_at, findings
    FROM input JOIN top ON top.id = input.session_id
    ORDER BY input.place
    ON CONFLICT (session_id, external_id) WHERE external_id IS NOT NULL DO NOTHING
    RETURNING id
), bodies AS (
    INSERT INTO memory_payload (project_id, observation_id, body, received_at)
    SELECT %s, input.id, payload, received_at FROM input JOIN stored USING (id) WHERE payload IS NOT NULL
)
SELECT input.place FROM input JOIN stored USING (id)
"""
# Only the id of a line holds "#", and only such ids are in the index that this asks: see Observation.
_COPIED = """
SELECT w.place
FROM unnest(%s::text[], %s::text[], %s::timestamptz[]) WITH ORDINALITY AS w (external_id, kind, occurred_at, place)
JOIN memory_observation o
  ON o.external_id = w.external_id AND o.external_id LIKE '%%#%%' AND o.kind = w.kind AND o.occurred_at = w.occurred_at
JOIN memory_session s ON s.id = o.session_id AND s.agent_id = %s AND s.external_id <> %s
"""
_KNOWN = """
SELECT count(*) FROM memory_observation o JOIN memory_session s ON s.id = o.session_id
WHERE s.agent_id = %s AND s.external_id = %s AND o.external_id = ANY(%s)
"""
_REOPEN = """
UPDATE memory_session s
SET status = 'open', last_seen_at = greatest(s.last_seen_at, n.at),
    observation_count = s.observation_count + n.stored, turn_count = s.turn_count + n.turns,
    timezone = coalesce(nullif(n.timezone, ''), s.timezone), cwd = coalesce(nullif(n.cwd, ''), s.cwd)
FROM unnest(%s::bigint[], %s::timestamptz[], %s::int[], %s::int[], %s::text[], %s::text[])
    AS n (id, at, stored, turns, timezone, cwd)
WHERE s.id = n.id
"""
_HEARD = """
UPDATE projects_agent SET last_heard_at = %s
WHERE id IN (
    SELECT id FROM projects_agent
    WHERE id = ANY(%s) AND (last_heard_at IS NULL OR last_heard_at < %s)
    FOR NO KEY UPDATE SKIP LOCKED
)
"""


class Answered(NamedTuple):
    """What a named batch was answered, and the digest of what it held."""

    digest: str
    receipt: Receipt


class OutcomeUnknown(OperationalError):
    """The connection was lost around the commit: the batches may be stored, or not."""


def store(batches: Sequence[Batch]) -> list[Receipt]:
    """The receipts of these batches of one project, after their one commit. All of them are stored or none.

    Raises OutcomeUnknown, or what the database raised when nothing was stored.
    """
    project_id = batches[0].project_id
    receipts: list[Receipt] = []
    try:
        with tenancy.project(project_id), connections["default"].cursor() as cursor:
            for batch in batches:
                _leave_out_copies(cursor, batch)
            # What holds nothing but copies makes no session.
            new = [batch for batch in batches if batch.rows or not batch.copied]
            answers = iter(_Writing(cursor, project_id, new).receipts() if new else [])
            receipts = [next(answers) if batch.rows or not batch.copied else batch.receipt(0) for batch in batches]
    except (OperationalError, InterfaceError) as problem:
        if receipts:
            raise OutcomeUnknown(str(type(problem).__name__)) from problem
        raise
    return receipts


def rehearse(batch: Batch) -> Receipt:
    """The receipt that `store` would give for a transcript, which names each of its observations. Writes nothing."""
    with tenancy.project(batch.project_id), connections["default"].cursor() as cursor:
        _leave_out_copies(cursor, batch)
        ids = [json.loads(row.json)["external_id"] for row in batch.rows]
        known = 0
        for start in range(0, len(ids), ROWS_AT_ONCE):
            cursor.execute(_KNOWN, [batch.agent_id, batch.session, ids[start : start + ROWS_AT_ONCE]])
            known += cursor.fetchone()[0]
    return batch.receipt(len(batch.rows) - known)


def _leave_out_copies(cursor: CursorWrapper, batch: Batch) -> None:
    """Takes out of `batch` what another session of its agent holds: same id, kind and time."""
    if not batch.leaves_out_copies:
        return
    traced = [(place, row.trace) for place, row in enumerate(batch.rows) if row.trace and "#" in row.trace[0]]
    found: set[int] = set()
    for start in range(0, len(traced), IDS_AT_ONCE):
        some = traced[start : start + IDS_AT_ONCE]
        columns = zip(*(trace for _, trace in some), strict=True)
        cursor.execute(_COPIED, [*map(list, columns), batch.agent_id, batch.session])
        found.update(some[place - 1][0] for (place,) in cursor.fetchall())
    if found:
        batch.leave_out(found)


class _Writing:
    """One transaction. Locks are taken in one order (sessions by id, subjects by hash, agents by id)."""

    def __init__(self, cursor: CursorWrapper, project_id: int, batches: Sequence[Batch]) -> None:
        self.cursor = cursor
        self.project_id = project_id
        self.batches = batches

    def receipts(self) -> list[Receipt]:
        self.sessions = self._sessions()
        self._about()
        answered = self._answered()
        fresh, repeated = self._sorted_out(answered)
        stored = self._observations(fresh)
        self._reopen(fresh, stored)
        self._heard(fresh)
        answers = {
            number: batch.receipt(sum(stored[number])) for number, batch in enumerate(self.batches) if number in stored
        }
        self._remember(answers)
        return [
            answers[number] if number in answers else self._again(number, answered, answers, repeated)
            for number in range(len(self.batches))
        ]

    def _session_of(self, batch: Batch) -> int:
        return self.sessions[(batch.agent_id, batch.session)]

    def _sessions(self) -> dict[tuple[int, str], int]:
        wanted = {(batch.agent_id, batch.session): batch for batch in self.batches}
        found = self._locked(list(wanted))
        missing = [batch for key, batch in wanted.items() if key not in found]
        if missing:
            columns = zip(
                *((one.agent_id, one.session, one.timezone, one.source_format, one.cwd, one.now) for one in missing),
                strict=True,
            )
            self.cursor.execute(_MAKE, [*map(list, columns), self.project_id])
            found = self._locked(list(wanted))
        return found

    def _locked(self, keys: list[tuple[int, str]]) -> dict[tuple[int, str], int]:
        self.cursor.execute(_LOCK, [[agent for agent, _ in keys], [external for _, external in keys]])
        return {(agent_id, external_id): pk for pk, agent_id, external_id in self.cursor.fetchall()}

    def _about(self) -> None:
        """Which subjects the sessions are about; rows are written only for a pair that is new."""
        wanted = {
            (self._session_of(batch), lookup_hmac(self.project_id, *pair)): pair
            for batch in self.batches
            for pair in batch.subjects
        }
        if not wanted:
            return
        self.cursor.execute(
            "SELECT l.session_id, s.lookup_hmac FROM memory_sessionsubject l JOIN memory_subject s"
            " ON s.id = l.subject_id WHERE l.session_id = ANY(%s)",
            [list({session for session, _ in wanted})],
        )
        known = set(self.cursor.fetchall())
        new = sorted(key for key in wanted if key not in known)
        subjects = {
            hmac: Subject.objects.resolve(self.project_id, *wanted[(session, hmac)]).pk
            for session, hmac in sorted(new, key=lambda key: key[1])
        }
        if new:
            self.cursor.execute(
                "INSERT INTO memory_sessionsubject (project_id, session_id, subject_id)"
                " SELECT %s, session_id, subject_id"
                " FROM unnest(%s::bigint[], %s::bigint[]) AS n (session_id, subject_id)"
                " ON CONFLICT DO NOTHING",
                [self.project_id, [session for session, _ in new], [subjects[hmac] for _, hmac in new]],
            )

    def _answered(self) -> dict[tuple[int, str], Answered]:
        """What batches of these names were answered before."""
        named = [(self._session_of(batch), batch.batch_id) for batch in self.batches if batch.batch_id]
        if not named:
            return {}
        self.cursor.execute(
            "SELECT b.session_id, b.batch_id, b.answer::text FROM memory_capturebatch b"
            " JOIN unnest(%s::bigint[], %s::text[]) AS n (session_id, batch_id)"
            " ON b.session_id = n.session_id AND b.batch_id = n.batch_id",
            [[session for session, _ in named], [name for _, name in named]],
        )
        return {(session, name): Answered(**json.loads(answer)) for session, name, answer in self.cursor.fetchall()}

    def _sorted_out(self, answered: dict[tuple[int, str], Answered]) -> tuple[list[int], dict[int, int]]:
        """Numbers of the batches to write, and of those that repeat another batch of this very commit."""
        fresh: list[int] = []
        repeated: dict[int, int] = {}
        seen: dict[tuple[int, str], int] = {}
        for number, batch in enumerate(self.batches):
            if batch.batch_id:
                name = (self._session_of(batch), batch.batch_id)
                if name in answered:
                    continue
                if name in seen:
                    repeated[number] = seen[name]
                    continue
                seen[name] = number
            fresh.append(number)
        return fresh, repeated

    def _again(
        self,
        number: int,
        answered: dict[tuple[int, str], Answered],
        answers: dict[int, Receipt],
        repeated: dict[int, int],
    ) -> Receipt:
        batch = self.batches[number]
        if number in repeated:
            first = self.batches[repeated[number]]
            return answers[repeated[number]] if first.digest() == batch.digest() else batch.reused()
        before = answered[(self._session_of(batch), batch.batch_id or "")]
        return before.receipt if before.digest == batch.digest() else batch.reused()

    def _observations(self, fresh: list[int]) -> dict[int, list[bool]]:
        """For each batch, whether each of its rows was stored (else it was known)."""
        flat = [(number, place) for number in fresh for place in range(len(self.batches[number].rows))]
        stored = {number: [False] * len(self.batches[number].rows) for number in fresh}
        for start in range(0, len(flat), ROWS_AT_ONCE):
            part = flat[start : start + ROWS_AT_ONCE]
            rows = [self.batches[number].rows[place] for number, place in part]
            sessions = [self._session_of(self.batches[number]) for number, _ in part]
            for place in self._insert(sessions, rows):
                number, row = part[place - 1]
                stored[number][row] = True
        return stored

    def _insert(self, sessions: list[int], rows: list[Row]) -> list[int]:
        document = f"[{','.join(row.json for row in rows)}]"
        arguments: list[Any] = [list(set(sessions)), document, sessions, self.project_id, self.project_id]
        self.cursor.execute(_INSERT, arguments)
        return [place for (place,) in self.cursor.fetchall()]

    def _reopen(self, fresh: list[int], stored: dict[int, list[bool]]) -> None:
        """A session with something new is open again; one that only heard old things is left as it is."""
        news: dict[int, list[Any]] = {}
        for number in fresh:
            batch, count = self.batches[number], sum(stored[number])
            if not count:
                continue
            turns = sum(was and row.is_turn for was, row in zip(stored[number], batch.rows, strict=True))
            line = news.setdefault(self._session_of(batch), [batch.now, 0, 0, "", ""])
            line[0] = max(line[0], batch.now)
            line[1] += count
            line[2] += turns
            line[3] = batch.timezone or line[3]
            line[4] = batch.cwd or line[4]
        if news:
            columns = zip(*news.values(), strict=True)
            self.cursor.execute(_REOPEN, [list(news), *map(list, columns)])

    def _heard(self, fresh: list[int]) -> None:
        now = max(batch.now for batch in self.batches)
        agents = {batch.agent_id for batch in self.batches}
        quiet = [agent for agent in agents if abs(now - _heard.get(agent, _NEVER)) >= HEARD_IS_NOTED_EVERY]
        if quiet:
            self.cursor.execute(_HEARD, [now, quiet, now - HEARD_IS_NOTED_EVERY])
            _heard.update(dict.fromkeys(quiet, now))
        dropped: Counter[int] = Counter()
        for number in fresh:
            dropped[self.batches[number].agent_id] += self.batches[number].dropped.total()
        for agent, count in sorted(dropped.items()):
            if count:
                self.cursor.execute(
                    "UPDATE projects_agent SET dropped_count = dropped_count + %s WHERE id = %s", [count, agent]
                )

    def _remember(self, answers: dict[int, Receipt]) -> None:
        named = [
            (
                self._session_of(self.batches[number]),
                self.batches[number].batch_id,
                json.dumps({"digest": self.batches[number].digest(), "receipt": answer}),
            )
            for number, answer in answers.items()
            if self.batches[number].batch_id
        ]
        if named:
            sessions, names, bodies = (list(column) for column in zip(*named, strict=True))
            self.cursor.execute(
                "INSERT INTO memory_capturebatch (project_id, session_id, batch_id, answer, received_at)"
                " SELECT %s, session_id, batch_id, answer::jsonb, %s"
                " FROM unnest(%s::bigint[], %s::text[], %s::text[]) AS n (session_id, batch_id, answer)",
                [self.project_id, self.batches[0].now, sessions, names, bodies],
            )
