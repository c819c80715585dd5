"""Reads sessions that went quiet and proposes what they taught.

A job is one reading of one session. Its attempts are counted, and committed, before the work: a session that kills its
worker three times ends as failed instead of being read for ever. The queue is only a doorbell that carries an id; the
sweep rings again for a job whose worker died, or whose ring was lost.
"""

from __future__ import annotations

import hashlib
import logging
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol

from django.db import transaction
from django.db.models import Count, Max
from django_q.tasks import async_task

from memory import embedding_store, embeddings, privacy, rendering
from memory.distillers.local import LocalDistiller
from memory.grounding import Dropped, Grounded, ground
from memory.lint import faults
from memory.models import MAX_ATTEMPTS, DistillJob, Fact, JobStatus, Observation, Session, SessionStatus, Subject
from memory.reconciliation import Cited, Learned, lock, place, subject_for
from memory.transcript import Candidate, Seen
from memory.types import Overrides, type_of
from projects import audit, tenancy

log = logging.getLogger(__name__)

# Covers the moment between counting a start and taking the row lock that a living worker holds until it is done.
LEASE = timedelta(minutes=1)
RING_AGAIN_AFTER = timedelta(minutes=5)
FIRST_PAUSE = timedelta(minutes=1)  # after a failed start; four times as long after the next
SWEEP_LIMIT = 200  # sessions of one sweep: about a second of row locks
CONTEXT_CHARACTERS = 200
UNFINISHED = (JobStatus.QUEUED, JobStatus.RUNNING, JobStatus.RETRY)
READ = (JobStatus.DONE, JobStatus.PARTIAL)
DIED = "WorkerDied"
# In the statement itself. In its quote alone they are a flag: the reviewer sees what it was said beside.
NEVER_PROPOSED = frozenset({"secret", "payment"})


class Reader(Protocol):
    """A distiller: plain values in and out."""

    NAME: str
    VERSION: str

    def read(self, observations: Sequence[Seen], *, timezone: str, now: datetime) -> list[Candidate]: ...


# Asking for a reading ------------------------------------------------------------------------------------------------


def request(session: Session, now: datetime, *, ring: bool = True) -> DistillJob | None:
    """The job that reads the session as it is now: a new one, or the one that did or will. None for an empty session.

    Runs in the caller's transaction; the doorbell rings after its commit (`ring=False`: the caller runs the job).
    """
    session = Session.objects.select_for_update(of=("self",), no_key=True).get(pk=session.pk)
    held = session.observations.aggregate(count=Count("pk"), last=Max("pk"))
    if not held["count"]:
        return None
    job, _ = DistillJob.objects.get_or_create(
        session=session,
        # Ids are not given in the order of commits: the count tells that an earlier one came in late.
        input_hash=hashlib.sha256(f"{session.pk}:{held['last']}:{held['count']}".encode()).hexdigest(),
        defaults={"project_id": session.project_id, "through": held["last"], "distiller": LocalDistiller.NAME},
    )
    if job.status in UNFINISHED:
        session.mark(SessionStatus.IDLE)
        _ring(job, now, ring)
    else:
        session.mark(SessionStatus.DISTILLED if job.status in READ else SessionStatus.FAILED)
    return job


def retry(job: DistillJob, now: datetime, *, ring: bool = True) -> DistillJob:
    """A person wants it read again: three more starts. A job that waits or runs stays as it is."""
    job = DistillJob.objects.select_for_update(of=("self",)).select_related("session").get(pk=job.pk)
    if job.status not in UNFINISHED:
        job.status, job.attempts, job.error, job.finished_at = JobStatus.QUEUED, 0, "", None
        job.save(update_fields=["status", "attempts", "error", "finished_at"])
        job.session.mark(SessionStatus.IDLE)
        _ring(job, now, ring)
    return job


def sweep(now: datetime, *, ring: bool = True, everything: bool = False) -> list[int]:
    """Asks for every session that went quiet (`everything`: for every unread one) and sees after jobs left behind.

    Returns the ids of the jobs it rang for. Two sweeps at once share the work.
    """
    with tenancy.system("sweeper"):
        unread = Session.objects.filter(status=SessionStatus.OPEN, observation_count__gt=0)
        waiting = unread if everything else Session.objects.idle(now)
        quiet = waiting.select_for_update(of=("self",), skip_locked=True, no_key=True).order_by("last_seen_at", "pk")
        asked = [request(session, now, ring=ring) for session in quiet[:SWEEP_LIMIT]]
        rung = {job.pk for job in asked if job is not None and job.status in UNFINISHED}
        left = DistillJob.objects.filter(status__in=UNFINISHED, lease_until__lte=now).exclude(pk__in=rung)
        for job in left.select_for_update(of=("self",), skip_locked=True).order_by("pk")[:SWEEP_LIMIT]:
            if job.attempts >= MAX_ATTEMPTS:
                _fail(job, job.error or DIED, now)
                continue
            if job.status == JobStatus.RUNNING:
                job.status, job.error = JobStatus.RETRY, DIED
                job.save(update_fields=["status", "error"])
            _ring(job, now, ring)
            rung.add(job.pk)
    return sorted(rung)


def _ring(job: DistillJob, now: datetime, ring: bool) -> None:
    if job.status == JobStatus.RUNNING:
        return
    job.lease_until = now + RING_AGAIN_AFTER
    job.save(update_fields=["lease_until"])
    if ring:
        transaction.on_commit(partial(async_task, "memory.tasks.distill_job", job.pk), using="default", robust=True)


# Reading -------------------------------------------------------------------------------------------------------------


def run(job_id: int, now: datetime, reader: Reader | None = None) -> DistillJob | None:
    """Does one job, if nobody else does it and it is not done. Returns it as it ended, None when left to others.

    Never raises what a session provokes: the class of the error is kept on the job, its text nowhere.
    """
    reader = reader or LocalDistiller()
    with tenancy.system("worker"):
        project_id = DistillJob.objects.filter(pk=job_id).values_list("project_id", flat=True).first()
    if project_id is None:
        return None
    with tenancy.project(project_id):
        attempt = _start(job_id, now)
    if attempt is None:
        return None
    facts: list[Fact] = []
    try:
        with tenancy.project(project_id):
            facts = _read(job_id, attempt, reader, now)
    # Whatever a session's content does to a distiller must end on the job, and not, with its text, in the queue's
    # tables and the log.
    except Exception as problem:
        log.warning("Distilling job %s failed at start %s: %s", job_id, attempt, type(problem).__name__)
        with tenancy.project(project_id):
            _stumble(job_id, attempt, type(problem).__name__, now)
    with tenancy.project(project_id):
        try:
            embedding_store.embed_facts(facts)
        except embeddings.EmbedderUnavailable as missing:
            log.warning("%s Memories are found by their words until then.", missing)
        return DistillJob.objects.get(pk=job_id)


def _start(job_id: int, now: datetime) -> int | None:
    """Counts a start and takes the lease; None when it is done, taken, or out of starts."""
    job = DistillJob.objects.select_for_update(of=("self",), skip_locked=True).filter(pk=job_id).first()
    if job is None or job.status not in UNFINISHED:
        return None
    if job.status == JobStatus.RUNNING and job.lease_until is not None and job.lease_until > now:
        return None
    if job.attempts >= MAX_ATTEMPTS:
        _fail(job, job.error or DIED, now)
        return None
    job.status, job.attempts, job.lease_until = JobStatus.RUNNING, job.attempts + 1, now + LEASE
    job.save(update_fields=["status", "attempts", "lease_until"])
    return job.attempts


def _read(job_id: int, attempt: int, reader: Reader, now: datetime) -> list[Fact]:
    """The whole reading in one transaction: all of its facts and the session's new state, or nothing."""
    # Held until the commit: a lease that ends meanwhile lets nobody else in.
    job = (
        DistillJob.objects.select_for_update(of=("self",))
        .select_related("session__project", "session__agent")
        .get(pk=job_id)
    )
    if job.attempts != attempt or job.status != JobStatus.RUNNING:
        return []
    session = job.session
    rows = list(session.observations.order_by("seq", "pk"))
    seen = [row.seen() for row in rows]
    counts: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    kept: list[Grounded] = []
    by_ref = {one.ref: one for one in seen}
    for candidate in reader.read(seen, timezone=session.timezone or session.project.timezone, now=now):
        result = ground(candidate, by_ref)
        reason = result.reason if isinstance(result, Dropped) else _refusal(candidate, session.project.types)
        if reason:
            dropped[reason] += 1
        elif isinstance(result, Grounded):
            kept.append(result)
    facts = _placed(kept, rows, session, reader, counts, dropped, now)
    job.status, job.finished_at, job.error = JobStatus.DONE, now, ""
    job.distiller = f"{reader.NAME}-{reader.VERSION}"[:40]
    job.counts = {name: counts[name] for name in ("proposed", "same", "suppressed")} | {"dropped": dict(dropped)}
    job.save(update_fields=["status", "finished_at", "error", "distiller", "counts"])
    audit.record("distill", None, project_id=job.project_id, object_kind="session", object_ids=[session.pk], now=now)
    _close(session, job, rows, now)
    return facts


def _placed(
    kept: Sequence[Grounded],
    rows: Sequence[Observation],
    session: Session,
    reader: Reader,
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
    facts = []
    for grounded, subject in chosen:
        placed = place(_learned(grounded, rows, reader), subject=subject, agent=agent, now=now, session=session)
        counts["proposed" if placed.outcome == "new" else placed.outcome] += 1
        if placed.outcome == "new":
            facts.append(placed.fact)
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


def _learned(grounded: Grounded, rows: Sequence[Observation], reader: Reader) -> Learned:
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
        distiller=reader.NAME,
        version=reader.VERSION,
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


# How a reading ends --------------------------------------------------------------------------------------------------


def _close(session: Session, job: DistillJob, rows: Sequence[Observation], now: datetime) -> None:
    """Marks the session as read, unless more came in meanwhile: then it stays unread."""
    # Locked first, looked at second: a capture under way is either seen here or reopens the session after us.
    current = Session.objects.select_for_update(no_key=True).get(pk=session.pk)
    status = SessionStatus.DISTILLED
    if current.observations.count() > len(rows):
        another = DistillJob.objects.filter(session=current, status__in=UNFINISHED).exclude(pk=job.pk).exists()
        status = SessionStatus.IDLE if another else SessionStatus.OPEN
    current.mark(status, distilled_through=max(row.pk for row in rows) if rows else 0, distilled_at=now)


def _stumble(job_id: int, attempt: int, error: str, now: datetime) -> None:
    job = DistillJob.objects.select_for_update(of=("self",)).get(pk=job_id)
    if job.attempts != attempt or job.status != JobStatus.RUNNING:
        return
    if attempt >= MAX_ATTEMPTS:
        _fail(job, error, now)
        return
    job.status, job.error, job.lease_until = JobStatus.RETRY, error[:200], now + FIRST_PAUSE * 4 ** (attempt - 1)
    job.save(update_fields=["status", "error", "lease_until"])


def _fail(job: DistillJob, error: str, now: datetime) -> None:
    job.status, job.error, job.finished_at = JobStatus.FAILED, error[:200], now
    job.save(update_fields=["status", "error", "finished_at"])
    # A session that was reopened meanwhile has a reading of its own before it.
    Session.objects.filter(pk=job.session_id, status=SessionStatus.IDLE).update(status=SessionStatus.FAILED)
