"""`python -m benchmarks.kill_rounds [--rounds 200] [--cluster-rounds 10]`: readings killed with SIGKILL, at random.

Each round adds a session and kills the process that reads, at a moment nobody chose: a forked child that runs the job
body, or, in cluster rounds, a whole queue with its workers. Then the next one goes on, with a lease of one second.
At the end every session must have been read, each lesson be there once, with one quote, counted once; and a session
that kills whoever reads it must have failed after three starts. Prints one line of JSON, ends with 1 when it is not so.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from benchmarks.server import ROOT, data_folder

LEASE_SECONDS = 1
# Long enough that a reading takes a while, so that a kill often falls into it.
FILLERS = 120
CLUSTER_FILLERS = 1500
STARTS_AFTER = timedelta(minutes=10)  # the pause after two failed starts is shorter
PATIENCE_SECONDS = 90
WORKER = (
    "import django; django.setup(); from datetime import timedelta;"
    f" from memory import distillation; distillation.LEASE = timedelta(seconds={LEASE_SECONDS});"
    " from django.core.management import call_command; call_command('worker')"
)


@dataclass
class Outcome:
    """What was seen at the end; `in_work` are the kills that fell into a reading."""

    rounds: int = 0
    cluster_rounds: int = 0
    kills: int = 0
    in_work: int = 0
    lost: int = 0
    duplicates: int = 0
    # Sessions that were killed three times by chance, and read after a person asked again.
    unlucky: int = 0
    poison_status: str = ""
    poison_starts: int = 0

    @property
    def is_ok(self) -> bool:
        poison = (self.poison_status, self.poison_starts) == ("failed", 3)
        return self.lost == 0 and self.duplicates == 0 and self.kills == self.rounds + self.cluster_rounds and poison


class Shop:
    """The scratch project and its quiet sessions, one customer each, who says one thing to be remembered."""

    def __init__(self) -> None:
        from projects import tenancy
        from projects.models import Agent, Project

        with tenancy.system("command"):
            self.project = Project.objects.create(slug="shop", name="Shop")
            self.agent = Agent.objects.create(project=self.project, slug="support")

    def session(self, name: str, fillers: int, now: datetime) -> int:
        from memory.models import Observation, Session, SessionSubject, Subject
        from projects import tenancy

        said = ["From now on, please write to me by e-mail, never call."]
        said += [f"Order {number} left the warehouse on a Monday and came on a Friday." for number in range(fillers)]
        with tenancy.project(self.project.pk):
            made = Session.objects.create(
                project=self.project,
                agent=self.agent,
                external_id=name,
                first_seen_at=now,
                last_seen_at=now - timedelta(hours=1),
                observation_count=len(said),
            )
            subject = Subject.objects.resolve(self.project.pk, "customer", name)
            SessionSubject.objects.create(project=self.project, session=made, subject=subject)
            Observation.objects.bulk_create(
                Observation(
                    project=self.project,
                    session=made,
                    seq=seq,
                    kind="message",
                    role="user",
                    text=text,
                    original_length=len(text),
                    occurred_at=now,
                    occurred_source="server",
                    received_at=now,
                )
                for seq, text in enumerate(said)
            )
        return made.pk


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kill_rounds", description=__doc__)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--cluster-rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args(arguments)
    chance = random.Random(options.seed)
    begun = time.monotonic()
    with data_folder():
        from memory import distillation

        distillation.LEASE = timedelta(seconds=LEASE_SECONDS)
        shop, outcome = Shop(), Outcome(options.rounds, options.cluster_rounds)
        now = _forked_rounds(shop, outcome, chance)
        _cluster_rounds(shop, outcome, chance)
        _poison(shop, outcome, now)
        _read_the_rest(outcome)
        _count(outcome)
    seconds = round(time.monotonic() - begun, 1)
    print(json.dumps({"job": "kill_rounds", **asdict(outcome), "seconds": seconds, "ok": outcome.is_ok}))
    return 0 if outcome.is_ok else 1


# Rounds ---------------------------------------------------------------------------------------------------------------


def _forked_rounds(shop: Shop, outcome: Outcome, chance: random.Random) -> datetime:
    """The job body in forked children. The clock is passed in, so that no round waits for a pause."""
    from django.utils import timezone

    from memory import distillation

    now = timezone.now()
    alone = _seconds_of_one_reading(shop, now)
    for number in range(outcome.rounds):
        now += STARTS_AFTER
        shop.session(f"forked-{number}", FILLERS, now)
        ids = distillation.sweep(now, ring=False)
        chance.shuffle(ids)
        pid = _in_a_process(lambda ids=ids, now=now: [distillation.run(job_id, now) for job_id in ids])  # type: ignore[misc]
        time.sleep(chance.uniform(0, 1.5 * alone))
        os.kill(pid, signal.SIGKILL)
        outcome.kills += 1
        outcome.in_work += os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
        if len(ids) > 3:
            # Now and then somebody reads in peace, else chance alone would fail them all.
            now += STARTS_AFTER
            ids = distillation.sweep(now, ring=False)
            for job_id in ids[: len(ids) // 2]:
                distillation.run(job_id, now)
    return now


def _seconds_of_one_reading(shop: Shop, now: datetime) -> float:
    from memory import distillation

    shop.session("measured", FILLERS, now)
    ids = distillation.sweep(now, ring=False)
    begun = time.monotonic()
    os.waitpid(_in_a_process(lambda: [distillation.run(job_id, now) for job_id in ids]), 0)
    return time.monotonic() - begun


def _cluster_rounds(shop: Shop, outcome: Outcome, chance: random.Random) -> None:
    """A real queue: killed with all of its processes once it reads, and started again."""
    from django.utils import timezone

    from memory import distillation

    for number in range(outcome.cluster_rounds):
        session = shop.session(f"cluster-{number}", CLUSTER_FILLERS, timezone.now())
        queue = _queue()
        try:
            distillation.sweep(timezone.now())
            _wait_for(lambda session=session: _job_of(session).status != "queued")  # type: ignore[misc]
            time.sleep(chance.uniform(0, 1.5))
            outcome.in_work += _job_of(session).status == "running"
        finally:
            _kill_all(queue)
        outcome.kills += 1
        queue = _queue()
        try:
            _wait_for(lambda session=session: _job_of(session).status == "done" or _rung_again())  # type: ignore[misc]
        finally:
            _kill_all(queue)


def _rung_again() -> bool:
    """The schedule rings once a minute; here it is done as soon as the lease is over."""
    from django.utils import timezone

    from memory import distillation

    time.sleep(LEASE_SECONDS)
    distillation.sweep(timezone.now() + STARTS_AFTER)
    return False


def _poison(shop: Shop, outcome: Outcome, now: datetime) -> None:
    """A session that kills whoever reads it: its starts are counted, twenty sweeps long."""
    from memory import distillation
    from memory.distillers.local import LocalDistiller

    session = shop.session("poison", 1, now)

    class Deadly(LocalDistiller):
        def read(self, *args: Any, **kwargs: Any) -> Any:
            os.kill(os.getpid(), signal.SIGKILL)

    for _ in range(20):
        now += STARTS_AFTER
        distillation.sweep(now, ring=False)
        job = _job_of(session)
        if job.status in ("queued", "retry"):
            os.waitpid(_in_a_process(lambda job=job, now=now: distillation.run(job.pk, now, Deadly())), 0)  # type: ignore[misc]
            outcome.poison_starts += 1
    outcome.poison_status = _job_of(session).status


# The end --------------------------------------------------------------------------------------------------------------


def _read_the_rest(outcome: Outcome) -> None:
    from django.utils import timezone

    from memory import distillation
    from memory.models import DistillJob
    from projects import tenancy

    later = timezone.now() + timedelta(days=365)
    for job_id in distillation.sweep(later, ring=False):
        distillation.run(job_id, later)
    with tenancy.system("command"):
        failed = list(DistillJob.objects.filter(status="failed").exclude(session__external_id="poison"))
        outcome.unlucky = len(failed)
        again = [distillation.retry(job, later, ring=False).pk for job in failed]
    for job_id in again:
        distillation.run(job_id, later)


def _count(outcome: Outcome) -> None:
    from memory.models import Fact, Session
    from projects import tenancy

    with tenancy.system("command"):
        sessions = Session.objects.exclude(external_id="poison")
        facts = Counter(Fact.objects.values_list("subject__entity_id", flat=True))
        outcome.lost = sum(
            session.status != "distilled" or not facts[session.external_id] for session in sessions.iterator()
        )
        outcome.duplicates = sum(count - 1 for count in facts.values())
        outcome.duplicates += sum(
            fact.times_seen != 1 or fact.evidence.count() != 1 for fact in Fact.objects.all().iterator()
        )


# Processes ------------------------------------------------------------------------------------------------------------


def _in_a_process(work: Callable[[], object]) -> int:
    """The pid of a forked child that does the work without vectors: the model's threads do not survive a fork."""
    from django.db import connections

    connections.close_all()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            from memory import embedding_store, embeddings

            def refused(*args: Any) -> None:
                raise embeddings.EmbedderUnavailable("Not in a forked child.")

            embedding_store.embed_facts = refused  # type: ignore[assignment]
            work()
            code = 0
        finally:
            os._exit(code)
    return pid


def _queue() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", WORKER], cwd=ROOT, start_new_session=True, stdout=subprocess.DEVNULL, stderr=None
    )


def _kill_all(queue: subprocess.Popen[bytes]) -> None:
    os.killpg(queue.pid, signal.SIGKILL)
    queue.wait()


def _job_of(session: int) -> Any:
    from memory.models import DistillJob
    from projects import tenancy

    with tenancy.system("command"):
        return DistillJob.objects.filter(session=session).order_by("-pk")[0]


def _wait_for(so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not so():
        if time.monotonic() > deadline:
            raise RuntimeError("The queue did not do it in time.")
        time.sleep(0.02)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
