"""What a reading becomes: candidates grounded, refused or placed as facts with evidence, and the session's new state.

All of it in the caller's transaction, which holds the job's row: everything a reading found, or nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from memory import privacy, rendering
from memory.grounding import Dropped, Grounded, ground
from memory.lint import faults
from memory.models import DistillJob, Fact, JobStatus, Observation, Session, SessionStatus, Subject
from memory.reconciliation import Cited, Learned, lock, place, subject_for
from memory.transcript import Candidate
from memory.types import Overrides, type_of
from memory.weighing import weigh
from projects import audit

CONTEXT_CHARACTERS = 200
UNFINISHED = (JobStatus.QUEUED, JobStatus.RUNNING, JobStatus.RETRY)
# In the statement itself. In its quote alone they are a flag: the reviewer sees what it was said beside.
NEVER_PROPOSED = frozenset({"secret", "payment"})
# What reconciliation calls a proposal that stands beside a known fact.
RELATED = ("changes", "conflicts", "same_thing")
COUNTED = ("proposed", "same", "suppressed", *RELATED)


def keep(
    job: DistillJob,
    rows: Sequence[Observation],
    candidates: Sequence[Candidate],
    *,
    reader: str,
    version: str,
    now: datetime,
    read: Sequence[Observation] | None = None,
    dropped: Counter[str] | None = None,
    gap: str = "",
    fell_back: str = "",
) -> list[Fact]:
    """Writes down what a reading found, and ends its job: `partial` where a `gap` names what could not be read.

    `rows` are the observations as they are now: only these can be evidence. `read` are those that were read, where
    some may be gone since. Returns the new facts.
    """
    session = job.session
    counts: Counter[str] = Counter()
    left_out = Counter(dropped or {})
    kept: list[Grounded] = []
    by_ref = {row.pk: row.seen() for row in rows}
    for candidate in candidates:
        result = ground(candidate, by_ref)
        reason = result.reason if isinstance(result, Dropped) else _refusal(candidate, session.project.types)
        if reason:
            left_out[reason] += 1
        elif isinstance(result, Grounded):
            kept.append(result)
    facts = _placed(kept, rows, session, (reader, version), counts, left_out, now)
    job.status, job.error = (JobStatus.PARTIAL, gap) if gap else (JobStatus.DONE, "")
    job.finished_at, job.waits, job.fell_back = now, 0, fell_back
    # Read again, only what could not be read is asked for again.
    job.parts, job.raw_reply = (job.parts, job.raw_reply) if gap else ({}, "")
    job.distiller, job.prompt_version = reader[:40], version[:20]
    job.counts = {name: counts[name] for name in COUNTED} | {"dropped": dict(left_out)}
    job.save(
        update_fields=[
            *("status", "error", "finished_at", "waits", "parts", "fell_back", "raw_reply"),
            *("distiller", "prompt_version", "counts"),
        ]
    )
    audit.record("distill", None, project_id=job.project_id, object_kind="session", object_ids=[session.pk], now=now)
    _close(session, job, rows if read is None else read, now)
    return facts


def _placed(
    kept: Sequence[Grounded],
    rows: Sequence[Observation],
    session: Session,
    reader: tuple[str, str],
    counts: Counter[str],
    dropped: Counter[str],
    now: datetime,
) -> list[Fact]:
    """Reconciles what is left, and counts what became of it. Returns the new facts."""
    agent = session.agent
    chosen: list[tuple[Grounded, Subject]] = []
    for grounded in kept:
        quoted = " ".join(quote.quote.text for quote in grounded.quotes)
        subject = subject_for(grounded.candidate.about, session, quoted)
        if subject.frozen_at:
            dropped["subject_frozen"] += 1
        else:
            chosen.append((grounded, subject))
    lock(subject for _, subject in chosen)
    facts, touched = [], set()
    for grounded, subject in chosen:
        placed = place(_learned(grounded, rows, reader), subject=subject, agent=agent, now=now, session=session)
        touched.add(placed.fact.pk)
        if placed.outcome == "new" or placed.outcome in RELATED:
            counts["proposed"] += 1
            facts.append(placed.fact)
        if placed.outcome != "new":
            counts[placed.outcome] += 1
    weigh(session.project_id, touched, now)
    return facts


def _refusal(candidate: Candidate, types: Overrides) -> str:
    """Why a grounded candidate is not even shown to a reviewer, or ""."""
    said = rendering.canonical(candidate.type, candidate.key, candidate.value, candidate.text).decode()
    found = {finding.category for finding in privacy.clean_text(said).findings}
    if found & NEVER_PROPOSED:
        return "secret" if "secret" in found else "payment"
    sought = type_of(candidate.type, types).is_sought
    if "sentiment" in (candidate.nature, candidate.type) and not type_of("sentiment", types).is_sought:
        return "sentiment_off"
    if not sought:
        return "type_off"
    return f"wording_{wrong[0]}" if (wrong := faults(candidate.text)) else ""


def _learned(grounded: Grounded, rows: Sequence[Observation], reader: tuple[str, str]) -> Learned:
    candidate = grounded.candidate
    places = {row.pk: index for index, row in enumerate(rows)}
    return Learned(
        type=candidate.type,
        key=privacy.without_invisible(candidate.key)[:300],
        value=candidate.value,
        text=privacy.without_invisible(candidate.text),
        cited=tuple(
            Cited(
                rows[places[one.quote.ref]],
                one.quote.start,
                one.quote.end,
                before=_turn_beside(rows, places[one.quote.ref], -1),
                after=_turn_beside(rows, places[one.quote.ref], 1),
            )
            for one in grounded.quotes
        ),
        nature=candidate.nature,
        use=candidate.use,
        expires_at=candidate.expires_at,
        distiller=reader[0],
        version=reader[1],
    )


def _turn_beside(rows: Sequence[Observation], place_: int, step: int) -> str:
    """The nearest turn before (-1) or after (1) that says something, on one line, shortened."""
    index = place_ + step
    while 0 <= index < len(rows):
        if rows[index].may_be_evidence and rows[index].text.strip():
            line = rendering.one_line(rows[index].text)
            return line if len(line) <= CONTEXT_CHARACTERS else f"{line[: CONTEXT_CHARACTERS - 1].rstrip()}…"
        index += step
    return ""


def _close(session: Session, job: DistillJob, rows: Sequence[Observation], now: datetime) -> None:
    """Marks the session as read, unless more came in meanwhile: then it stays unread."""
    # Locked first, looked at second: a capture under way is either seen here or reopens the session after us.
    current = Session.objects.select_for_update(no_key=True).get(pk=session.pk)
    status = SessionStatus.DISTILLED
    if set(current.observations.values_list("pk", flat=True)) - {row.pk for row in rows}:
        another = DistillJob.objects.filter(session=current, status__in=UNFINISHED).exclude(pk=job.pk).exists()
        status = SessionStatus.IDLE if another else SessionStatus.OPEN
    current.mark(status, distilled_through=max(row.pk for row in rows) if rows else 0, distilled_at=now)
