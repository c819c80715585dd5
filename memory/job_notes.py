"""What a reading by a provider's model writes down as it goes, each note in a transaction of its own."""

from __future__ import annotations

import time
from datetime import datetime, timedelta
from typing import Any

from django.db.models import F

from memory import privacy, providers, spending, waiting
from memory.distillers.hosted.calls import Reply
from memory.models import MAX_ATTEMPTS, DistillJob, JobStatus
from memory.providers import Choice
from projects import tenancy
from projects.models import Project

# Longer than a call may take: a worker that still holds it after that is taken for dead.
CALL_LEASE = timedelta(minutes=5)
RAW_REPLY_CHARACTERS = 4_000


class TakenOver(Exception):
    """Somebody else works on this job by now, or it is gone."""


class OutOfTime(Exception):
    """The start has had its share of the worker's time; the next one goes on where it stopped."""


class ChosenAnew(Exception):
    """The provider may not be called any more: the day's limit, or its owner chose otherwise. Carries the choice."""

    def __init__(self, choice: Choice) -> None:
        super().__init__(choice.fell_back)
        self.choice = choice


class JobNotes:
    """Notes of one start of a job. `attempt` moves when a bad reply is shown again: that counts as a start."""

    def __init__(self, job: DistillJob, choice: Choice, now: datetime, seconds: float | None) -> None:
        self.job_id, self.project_id, self.attempt = job.pk, job.project_id, job.attempts
        self._choice, self._now, self._seconds = choice, now, seconds
        self._started = time.monotonic()
        self._parts: dict[str, Any] = dict(job.parts)
        self._was_waiting = job.waits > 0
        self._has_called = False

    def clock(self) -> datetime:
        """The time, by the clock the start was given."""
        return self._now + timedelta(seconds=time.monotonic() - self._started)

    def read_as(self, reader: str, version: str) -> None:
        """Who reads, so that a run that ends badly says it too."""
        with tenancy.project(self.project_id):
            self._write(distiller=reader[:40], prompt_version=version[:20])

    def may_call(self, tokens: int) -> None:
        """Renews the lease. Raises OutOfTime, TakenOver, ChosenAnew."""
        # At least one call a start, so that every start gets on.
        if self._has_called and self._seconds is not None and time.monotonic() - self._started > self._seconds:
            raise OutOfTime
        with tenancy.project(self.project_id):
            self._write(lease_until=self.clock() + CALL_LEASE)
            choice = providers.choose(Project.objects.get(pk=self.project_id), self.clock(), tokens=tokens)
        if choice != self._choice:
            raise ChosenAnew(choice)
        self._has_called = True

    def called(self, outcome: str, reply: Reply | None, milliseconds: int) -> None:
        spending.record(
            self.project_id,
            purpose="distill",
            provider=self._choice.provider,
            model=self._choice.model,
            outcome=outcome,
            reply=reply,
            milliseconds=milliseconds,
            at=self.clock(),
            job_id=self.job_id,
        )
        if reply is not None and self._was_waiting:
            self._was_waiting = False
            with tenancy.project(self.project_id):
                self._write(waits=0)
                waiting.wake(self.project_id, self.clock(), told_to_wait=False)

    def part(self, key: str) -> list[dict[str, Any]] | None:
        return self._parts.get(key)

    def keep(self, key: str, facts: list[dict[str, Any]]) -> None:
        self._parts[key] = facts
        with tenancy.project(self.project_id):
            self._write(parts=self._parts)

    def unusable(self, reply: str) -> None:
        said = privacy.clean_text(reply).text
        if len(said) > RAW_REPLY_CHARACTERS:
            said = f"{said[:RAW_REPLY_CHARACTERS].rstrip()} …"
        with tenancy.project(self.project_id):
            self._write(raw_reply=said)

    def may_show_again(self) -> bool:
        if self.attempt >= MAX_ATTEMPTS:
            return False
        with tenancy.project(self.project_id):
            self._write(attempts=F("attempts") + 1)
        self.attempt += 1
        return True

    def _write(self, **fields: Any) -> None:
        mine = DistillJob.objects.filter(pk=self.job_id, attempts=self.attempt, status=JobStatus.RUNNING)
        if not mine.update(**fields):
            raise TakenOver
