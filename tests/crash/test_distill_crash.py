"""Workers killed with SIGKILL in the middle of a reading: nothing is lost, nothing is there twice.

Each reading runs in a process of its own, forked with no open connection, and is killed at a place chosen beforehand
(so that ten rounds take seconds and the same way each time) or, by the clock, anywhere. The lease is ended by passing a
later `now`: no test waits for it.
"""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connections

from memory import distillation, embedding_store, job_notes, readings
from memory.distillers.local import LocalDistiller
from memory.models import DistillJob, Evidence, Fact, JobStatus, ModelCall, Session, SessionStatus
from memory.transcript import Candidate, Quote, Seen
from projects import tenancy
from tests import factories
from tests.factories import Cast
from tests.providers import fake_provider

pytestmark = [pytest.mark.crash, pytest.mark.django_db(transaction=True)]

SESSIONS = 12
SAID = ("Parcels go to Mill Lane.", "The warehouse closes at five.", "Offers are sent in EUR.")


class Slow:
    """Proposes one fact per message, and gives a killer time to come."""

    NAME = "slow"
    VERSION = "1"

    def __init__(self, before: Callable[[], None] = lambda: None) -> None:
        self.before = before

    def read(self, observations: Sequence[Seen], *, timezone: str, now: datetime) -> list[Candidate]:
        self.before()
        return [
            Candidate(
                "user_preference",
                f"user_preference:wish.{number}",
                seen.text,
                f"The customer said {seen.text}",
                (Quote(seen.ref, 0, len(seen.text), seen.text),),
                "customer",
            )
            for number, seen in enumerate(observations)
        ]


@pytest.fixture
def cast(transactional_db: None) -> Cast:
    return factories.cast()


@pytest.fixture
def no_embedding(monkeypatch: pytest.MonkeyPatch) -> None:
    """The model's threads do not survive a fork; vectors are the sweep's business anyway."""
    monkeypatch.setattr(embedding_store, "embed_facts", lambda facts: 0)


def in_a_process(work: Callable[[], object]) -> int:
    """The pid of a forked child that does the work and ends."""
    connections.close_all()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return pid


def ended(pid: int) -> int:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def kill_me() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def quiet_sessions(cast: Cast, now: datetime, count: int) -> list[int]:
    with tenancy.project(cast.project.pk):
        made = []
        for number in range(count):
            session = factories.session(cast.support, f"call-{number}", last_seen_at=now - timedelta(hours=1))
            session.subjects.add(
                factories.subject(cast.project, f"customer:c{number % 2}"),
                through_defaults={"project_id": cast.project.pk},
            )
            for text in SAID:
                factories.observation(session, text)
            made.append(session.pk)
    return made


def job_ids(now: datetime) -> list[int]:
    return distillation.sweep(now, ring=False)


PLACES = {
    "after its start was counted": (distillation, "_read", "before"),
    "before the first fact": (readings, "_placed", "before"),
    "between two facts": (readings, "place", "after"),
    "when all facts are written": (readings, "_placed", "after"),
    "before the session is closed": (readings, "_close", "before"),
    "before the commit": (readings, "_close", "after"),
    "before the vectors": (embedding_store, "embed_facts", "before"),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_reading_killed_at_any_place_is_finished_by_the_next_worker_once(
    cast: Cast, now: datetime, no_embedding: None, place: str
) -> None:
    quiet_sessions(cast, now, 1)
    [job_id] = job_ids(now)
    module, name, when = PLACES[place]
    real = getattr(module, name)

    def deadly(*args: object, **kwargs: object) -> object:
        if when == "before":
            kill_me()
        real(*args, **kwargs)
        return kill_me()

    def work() -> None:
        setattr(module, name, deadly)
        distillation.run(job_id, now, Slow())

    assert ended(in_a_process(work)) == -signal.SIGKILL
    later = now + timedelta(minutes=10)
    left = job_ids(later)
    # Committed before it died: nothing is left to do.
    assert left == ([] if place == "before the vectors" else [job_id])
    for left_id in left:
        assert distillation.run(left_id, later, Slow()) is not None
    with tenancy.project(cast.project.pk):
        job = DistillJob.objects.get()
        assert (job.status, job.attempts) == (JobStatus.DONE, 1 if not left else 2)
        assert Fact.objects.count() == len(SAID)
        assert set(Fact.objects.values_list("times_seen", flat=True)) == {1}
        assert Evidence.objects.count() == len(SAID)
        assert Session.objects.get().status == SessionStatus.DISTILLED


def test_ten_rounds_of_killed_workers_lose_nothing_and_double_nothing(
    cast: Cast, now: datetime, no_embedding: None
) -> None:
    """Two workers on the same jobs in each round; one is killed at a moment nobody chose."""
    quiet_sessions(cast, now, SESSIONS)
    chance = random.Random(7)
    kills = 0
    for round_ in range(10):
        later = now + timedelta(minutes=10 * round_)
        ids = job_ids(later)
        # Not the same one each time: killed three times, a job counts as poison.
        chance.shuffle(ids)
        reading, told = os.pipe()

        def doomed(ids: list[int] = ids, later: datetime = later, told: int = told) -> None:
            def before() -> None:
                os.write(told, b"1")
                time.sleep(0.04)

            for job_id in ids:
                distillation.run(job_id, later, Slow(before))

        def steady(ids: list[int] = ids, later: datetime = later) -> None:
            # One job a life, so that there is work left for the next round.
            distillation.run(ids[-1], later, Slow())

        pids = [in_a_process(doomed), in_a_process(steady)] if ids else []
        os.close(told)
        if pids:
            os.read(reading, 1)
            time.sleep(chance.uniform(0.0, 0.08))
            os.kill(pids[0], signal.SIGKILL)
            codes = [ended(pid) for pid in pids]
            kills += codes[0] == -signal.SIGKILL
            assert codes[1] == 0
        os.close(reading)
    assert kills >= 3
    # What is left after the tenth: read in peace.
    later = now + timedelta(days=1)
    for job_id in job_ids(later):
        distillation.run(job_id, later, Slow())
    with tenancy.project(cast.project.pk):
        poison = [distillation.retry(job, later, ring=False) for job in DistillJob.objects.filter(status="failed")]
    for job in poison:
        distillation.run(job.pk, later, Slow())
    with tenancy.project(cast.project.pk):
        assert set(DistillJob.objects.values_list("status", flat=True)) == {JobStatus.DONE}
        assert Session.objects.filter(status=SessionStatus.DISTILLED).count() == SESSIONS
        # Two customers said the same three things in three sessions each.
        facts = Fact.objects.order_by("pk")
        assert facts.count() == 2 * len(SAID)
        assert set(facts.values_list("times_seen", flat=True)) == {SESSIONS // 2}
        assert Evidence.objects.count() == SESSIONS * len(SAID)


def test_a_session_that_kills_every_worker_is_failed_after_three_starts_and_can_be_tried_again(
    cast: Cast, now: datetime, no_embedding: None
) -> None:
    quiet_sessions(cast, now, 1)
    starts = 0
    for round_ in range(20):
        later = now + timedelta(minutes=10 * round_)
        for job_id in job_ids(later):
            starts += 1

            def work(job_id: int = job_id, later: datetime = later) -> None:
                distillation.run(job_id, later, Slow(before=kill_me))

            assert ended(in_a_process(work)) == -signal.SIGKILL
    assert starts == 3
    with tenancy.project(cast.project.pk):
        job = DistillJob.objects.get()
        assert (job.status, job.attempts, job.error) == (JobStatus.FAILED, 3, "WorkerDied")
        assert Session.objects.get().status == SessionStatus.FAILED
        assert Fact.objects.count() == 0
        distillation.retry(job, later, ring=False)
    assert distillation.run(job.pk, later, LocalDistiller()) is not None
    with tenancy.project(cast.project.pk):
        assert Session.objects.get().status == SessionStatus.DISTILLED


def test_a_living_worker_keeps_its_job_when_its_lease_ends(cast: Cast, now: datetime, no_embedding: None) -> None:
    """The row lock, not the lease, says that somebody works on it."""
    quiet_sessions(cast, now, 1)
    [job_id] = job_ids(now)
    reading, finish = os.pipe(), os.pipe()

    def hold() -> None:
        os.write(reading[1], b"1")
        os.read(finish[0], 1)

    pid = in_a_process(lambda: distillation.run(job_id, now, Slow(before=hold)))
    os.read(reading[0], 1)
    later = now + timedelta(hours=2)
    assert job_ids(later) == []
    assert distillation.run(job_id, later, Slow()) is None
    connections.close_all()
    os.write(finish[1], b"1")
    assert ended(pid) == 0
    with tenancy.project(cast.project.pk):
        assert (DistillJob.objects.get().attempts, Fact.objects.count()) == (1, len(SAID))


# By a provider -------------------------------------------------------------------------------------------------------

WISH = {
    "type": "user_preference",
    "key": "parcels",
    "value": "Mill Lane",
    "text": "Parcels go to Mill Lane.",
    "about": "customer",
    "quotes": [{"observation": 1, "quote": "Parcels go to Mill Lane."}],
}
# Where a worker dies, and how often the provider is asked in all: what a piece gave is kept before anything else.
HOSTED_PLACES = {
    "before the call": (job_notes.JobNotes, "may_call", "after", 1),
    "when the model has answered": (job_notes.JobNotes, "called", "before", 2),
    "when the call is in the books": (job_notes.JobNotes, "called", "after", 2),
    "when the answer is kept": (job_notes.JobNotes, "keep", "after", 1),
    "before the first fact": (readings, "_placed", "before", 1),
    "when all facts are written": (readings, "_placed", "after", 1),
    "before the commit": (readings, "_close", "after", 1),
}


@pytest.mark.parametrize("place", HOSTED_PLACES)
def test_a_reading_by_a_provider_killed_at_any_place_is_finished_once_and_not_paid_twice_where_it_was_kept(
    cast: Cast, now: datetime, no_embedding: None, settings: Any, place: str
) -> None:
    where, name, when, calls = HOSTED_PLACES[place]
    quiet_sessions(cast, now, 1)
    [job_id] = job_ids(now)
    with fake_provider() as provider:
        with tenancy.project(cast.project.pk):
            provider.connect(settings, cast.project, "anthropic")
        provider.gives([WISH])
        real = getattr(where, name)

        def deadly(*args: object, **kwargs: object) -> object:
            if when == "before":
                kill_me()
            real(*args, **kwargs)
            return kill_me()

        def work() -> None:
            setattr(where, name, deadly)
            distillation.run(job_id, now)

        assert ended(in_a_process(work)) == -signal.SIGKILL
        # Nobody else starts while a call may be under way.
        assert job_ids(now + timedelta(seconds=50)) == []
        later = now + timedelta(minutes=10)
        assert job_ids(later) == [job_id]
        assert distillation.run(job_id, later) is not None
        assert len(provider.calls) == calls
    with tenancy.project(cast.project.pk):
        job = DistillJob.objects.get()
        assert (job.status, job.attempts, job.parts) == (JobStatus.DONE, 2, {})
        assert (Fact.objects.count(), Evidence.objects.count()) == (1, 1)
        # A worker that died between the answer and the books is the one call that is missing there.
        assert ModelCall.objects.count() == calls - (place == "when the model has answered")


def test_a_session_that_kills_every_worker_of_a_provider_is_failed_after_three_starts(
    cast: Cast, now: datetime, no_embedding: None, settings: Any
) -> None:
    quiet_sessions(cast, now, 1)
    with fake_provider() as provider:
        with tenancy.project(cast.project.pk):
            provider.connect(settings, cast.project, "openai")
        provider.gives([WISH])
        for round_ in range(20):
            later = now + timedelta(minutes=10 * round_)
            for job_id in job_ids(later):

                def work(job_id: int = job_id, later: datetime = later) -> None:
                    job_notes.JobNotes.called = lambda *args: kill_me()  # type: ignore[method-assign]
                    distillation.run(job_id, later)

                assert ended(in_a_process(work)) == -signal.SIGKILL
        assert len(provider.calls) == 3
    with tenancy.project(cast.project.pk):
        job = DistillJob.objects.get()
        assert (job.status, job.attempts, job.error) == (JobStatus.FAILED, 3, "WorkerDied")
