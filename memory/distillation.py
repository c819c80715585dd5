"""Reads sessions that went quiet and proposes what they taught.

A job is one reading of one session. Its attempts are counted, and committed, before the work: a session that kills its
worker three times ends as failed instead of being read for ever. The queue is only a doorbell that carries an id; the
sweep rings again for a job whose worker died, or whose ring was lost.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol

from django.db import transaction
from django.db.models import Count, Max
from django_q.tasks import async_task

from memory import embedding_store, embeddings, providers, readings, waiting
from memory.distillers.hosted import HostedDistiller
from memory.distillers.hosted.calls import WAITS, Trouble
from memory.distillers.local import LocalDistiller
from memory.examples import examples
from memory.job_notes import ChosenAnew, JobNotes, OutOfTime, TakenOver
from memory.models import MAX_ATTEMPTS, DistillJob, Fact, JobStatus, Observation, Session, SessionKind, SessionStatus
from memory.providers import Choice
from memory.readings import UNFINISHED
from memory.transcript import Candidate, Seen
from memory.types import table
from projects import tenancy
from projects.models import Project

log = logging.getLogger(__name__)

# Covers the moment between counting a start and taking the row lock that a living worker holds until it is done. (A
# provider is called without that lock: there the lease is renewed before each call, see memory/job_notes.py.)
LEASE = timedelta(minutes=1)
RING_AGAIN_AFTER = timedelta(minutes=5)
FIRST_PAUSE = timedelta(minutes=1)  # after a failed start; four times as long after the next
# Of the ten minutes after which the queue ends a task (config/settings.py), so that a last call fits in.
START_SECONDS = 400.0
SWEEP_LIMIT = 200  # sessions of one sweep: about a second of row locks
READ = (JobStatus.DONE, JobStatus.PARTIAL)
DIED = "WorkerDied"


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
    if session.kind == SessionKind.IMPORT:
        # Its lines were proposed as they stand; there is nothing to read between them.
        session.mark(SessionStatus.DISTILLED)
        return None
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
    """A person wants it read again: three more starts. One that waits for its next start gets it now, and where that
    was for a provider, the others of its project after it; one that is queued or runs stays as it is."""
    job = DistillJob.objects.select_for_update(of=("self",)).select_related("session").get(pk=job.pk)
    if job.status == JobStatus.RETRY:
        if job.error in WAITS:
            waiting.wake(job.project_id, now)
            job.lease_until = now
        _ring(job, now, ring)
    if job.status not in UNFINISHED:
        job.status, job.attempts, job.waits, job.error, job.finished_at = JobStatus.QUEUED, 0, 0, "", None
        job.save(update_fields=["status", "attempts", "waits", "error", "finished_at"])
        job.session.mark(SessionStatus.IDLE)
        _ring(job, now, ring)
    return job


def read_again(session: Session, now: datetime) -> DistillJob | None:
    """A person wants this session read now: as it is, or again where that went wrong or waits."""
    job = request(session, now)
    if job is not None and job.status in (JobStatus.FAILED, JobStatus.PARTIAL, JobStatus.RETRY):
        return retry(job, now)
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
    waits = job.status == JobStatus.RETRY and job.error in WAITS
    # A provider that asked to be left alone is, whoever asks for the session meanwhile.
    if job.status == JobStatus.RUNNING or (waits and job.lease_until is not None and job.lease_until > now):
        return
    job.lease_until = now + RING_AGAIN_AFTER
    job.save(update_fields=["lease_until"])
    if ring:
        transaction.on_commit(partial(async_task, "memory.tasks.distill_job", job.pk), using="default", robust=True)


# Reading -------------------------------------------------------------------------------------------------------------


def run(
    job_id: int, now: datetime, reader: Reader | None = None, *, seconds: float | None = START_SECONDS
) -> DistillJob | None:
    """Does one job, if nobody else does it and it is not done. Returns it as it ended, None when left to others.

    Without a `reader` the project's choice decides. A reading by a provider that takes longer than `seconds` goes on in
    a later start. Never raises what a session provokes: the class of the error is kept on the job, its text nowhere.
    """
    with tenancy.system("worker"):
        project_id = DistillJob.objects.filter(pk=job_id).values_list("project_id", flat=True).first()
    if project_id is None:
        return None
    with tenancy.project(project_id):
        choice = Choice(providers.LOCAL)
        if reader is None:
            choice = providers.choose(Project.objects.get(pk=project_id), now)
        attempt = _start(job_id, now, choice)
    if attempt is None:
        return None
    facts: list[Fact] = []
    try:
        if choice.is_hosted:
            facts = _read_outside(project_id, job_id, choice, now, seconds)
        else:
            with tenancy.project(project_id):
                facts = _read(job_id, attempt, reader or LocalDistiller(), now, choice.fell_back)
    # Whatever a session's content does to a distiller must end on the job, and not, with its text, in the queue's
    # tables and the log.
    except Exception as problem:
        _end_badly(project_id, job_id, attempt, problem, now)
    with tenancy.project(project_id):
        try:
            embedding_store.embed_facts(facts)
        except embeddings.EmbedderUnavailable as missing:
            log.warning("%s Memories are found by their words until then.", missing)
        return DistillJob.objects.filter(pk=job_id).first()


def _start(job_id: int, now: datetime, choice: Choice | None = None) -> int | None:
    """Counts a start and takes the lease; None when it is done, taken, out of starts, or put off."""
    job = DistillJob.objects.select_for_update(of=("self",), skip_locked=True).filter(pk=job_id).first()
    if job is None or job.status not in UNFINISHED:
        return None
    if job.status == JobStatus.RUNNING and job.lease_until is not None and job.lease_until > now:
        return None
    if job.attempts >= MAX_ATTEMPTS:
        _fail(job, job.error or DIED, now)
        return None
    if choice is not None and choice.is_hosted and waiting.put_off(job, choice.provider, now):
        return None
    job.status, job.attempts, job.lease_until = JobStatus.RUNNING, job.attempts + 1, now + LEASE
    job.save(update_fields=["status", "attempts", "lease_until"])
    return job.attempts


def _own(job_id: int, attempt: int) -> DistillJob | None:
    """The job, locked until the transaction ends; None when it is gone or another start has it."""
    jobs = DistillJob.objects.select_for_update(of=("self",)).select_related("session__project", "session__agent")
    return jobs.filter(pk=job_id, attempts=attempt, status=JobStatus.RUNNING).first()


def _held(job_id: int, attempt: int) -> tuple[DistillJob, list[Observation]] | None:
    """The start's own job, locked, and its session as it is now."""
    job = _own(job_id, attempt)
    return None if job is None else (job, list(job.session.observations.order_by("seq", "pk")))


def _zone(job: DistillJob) -> str:
    return job.session.timezone or job.session.project.timezone


def _read(job_id: int, attempt: int, reader: Reader, now: datetime, fell_back: str = "") -> list[Fact]:
    """The whole reading in one transaction: all of its facts and the session's new state, or nothing.

    The job's row is locked until the commit: a lease that ends meanwhile lets nobody else in.
    """
    held = _held(job_id, attempt)
    if held is None:
        return []
    job, rows = held
    found = reader.read([row.seen() for row in rows], timezone=_zone(job), now=now)
    return readings.keep(job, rows, found, reader=reader.NAME, version=reader.VERSION, now=now, fell_back=fell_back)


def _read_outside(project_id: int, job_id: int, choice: Choice, now: datetime, seconds: float | None) -> list[Fact]:
    """As `_read`, by a provider's model, which is called outside of every transaction."""
    with tenancy.project(project_id):
        job = DistillJob.objects.select_related("project").get(pk=job_id)
        notes = JobNotes(job, choice, now, seconds)
        reader = HostedDistiller(
            providers.model_of(choice), notes=notes, examples=examples(job.project), types=table(job.project.types)
        )
    try:
        return _asked(notes, reader)
    except ChosenAnew as anew:
        return _read_instead(notes, anew.choice)
    except TakenOver:
        return []
    except OutOfTime:
        with tenancy.project(project_id):
            _hand_on(job_id, notes.attempt, notes.clock())
    except Exception as problem:
        _end_badly(project_id, job_id, notes.attempt, problem, notes.clock())
    return []


def _asked(notes: JobNotes, reader: HostedDistiller) -> list[Fact]:
    """Rows out of one transaction, facts into another, and between them the model."""
    notes.read_as(reader.NAME, reader.VERSION)
    with tenancy.project(notes.project_id):
        held = _held(notes.job_id, notes.attempt)
    if held is None:
        return []
    job, rows = held
    found = reader.read([row.seen() for row in rows], timezone=_zone(job), now=notes.clock())
    with tenancy.project(notes.project_id):
        held = _held(notes.job_id, notes.attempt)
        if held is None:
            return []
        was_read = {row.pk for row in rows}
        # As they are now: what was erased while the model read is no evidence.
        job, current = held
        return readings.keep(
            job,
            [row for row in current if row.pk in was_read],
            found,
            reader=reader.NAME,
            version=reader.VERSION,
            now=notes.clock(),
            read=rows,
            dropped=reader.dropped,
            gap=next(iter(reader.gaps), ""),
        )


def _read_instead(notes: JobNotes, choice: Choice) -> list[Fact]:
    """The local reader takes over in the middle, and reads the whole session."""
    try:
        with tenancy.project(notes.project_id):
            return _read(notes.job_id, notes.attempt, LocalDistiller(), notes.clock(), choice.fell_back)
    except Exception as problem:
        _end_badly(notes.project_id, notes.job_id, notes.attempt, problem, notes.clock())
        return []


# How a reading ends badly --------------------------------------------------------------------------------------------


def _end_badly(project_id: int, job_id: int, attempt: int, problem: Exception, now: datetime) -> None:
    """Keeps the word for what went wrong. A provider's trouble is waited for, anything else counts as a start."""
    word = str(getattr(problem, "outcome", "")) or type(problem).__name__
    log.warning("Distilling job %s ended at start %s: %s", job_id, attempt, word)
    with tenancy.project(project_id):
        if isinstance(problem, Trouble) and problem.outcome in WAITS:
            _wait(job_id, attempt, problem, now)
        else:
            _stumble(job_id, attempt, word, now)


def _wait(job_id: int, attempt: int, trouble: Trouble, now: datetime) -> None:
    """The provider's fault, not the session's: the start is given back, the next one comes after a longer pause."""
    job = _own(job_id, attempt)
    if job is None:
        return
    job.attempts, job.waits = job.attempts - 1, job.waits + 1
    job.status, job.error = JobStatus.RETRY, trouble.outcome
    job.lease_until = now + waiting.pause(job.waits, trouble.retry_after)
    job.save(update_fields=["status", "attempts", "waits", "error", "lease_until"])
    if job.waits >= waiting.MOST_WAITS:
        _fail(job, trouble.outcome, now)


def _hand_on(job_id: int, attempt: int, now: datetime) -> None:
    """The rest of a long session is for another start; what was read of it is kept."""
    job = _own(job_id, attempt)
    if job is not None:
        job.status, job.attempts = JobStatus.QUEUED, job.attempts - 1
        job.save(update_fields=["status", "attempts"])
        _ring(job, now, True)


def _stumble(job_id: int, attempt: int, error: str, now: datetime) -> None:
    job = _own(job_id, attempt)
    if job is None:
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
