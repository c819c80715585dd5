"""How a reading waits for a provider that is busy or away: longer each time, never shorter than it was told.

While one reading of a project waits, the others are put off without a call: a provider that is dead costs one call per
pause, and not the worker's time.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta

from django.db.models import Min

from memory.distillers.hosted.calls import WAITS
from memory.models import DistillJob, JobStatus, ModelCall

FIRST_PAUSE = timedelta(minutes=1)
LONGEST_PAUSE = timedelta(minutes=30)
LONGEST_TOLD = timedelta(hours=12)  # a provider that says "in a year" is asked earlier
JITTER = 0.25
MOST_WAITS = 150  # about three days of the longest pause


def pause(waits: int, told: timedelta | None, chance: float | None = None) -> timedelta:
    """How long the `waits`-th pause in a row lasts: doubled each time, at least what the provider said, and up to a
    quarter more by chance (0..1), so that what stopped together does not start together."""
    told = min(told or timedelta(), LONGEST_TOLD)
    first = max(FIRST_PAUSE, min(told, 2 * FIRST_PAUSE))
    least = max(min(first * 2 ** min(max(waits, 1) - 1, 10), LONGEST_PAUSE), told)
    return least * (1 + JITTER * (random.random() if chance is None else chance))  # noqa: S311 (no secret)


def put_off(job: DistillJob, provider: str, now: datetime) -> bool:
    """Whether the job was put off without a call, because another of its project waits for the provider. Its row is
    locked by the caller. It takes no attempt, and waits under the word that the other one got. One that was told to
    wait itself is never put off: two of them would put each other off for ever."""
    if job.waits:
        return False
    last = ModelCall.objects.filter(project_id=job.project_id, provider=provider).order_by("-at", "-pk").first()
    if last is None or last.outcome not in WAITS:
        return False
    told = _waiting(job.project_id).filter(waits__gt=0, lease_until__gt=now)
    first = told.aggregate(first=Min("lease_until"))["first"]
    if first is None:
        return False
    job.status, job.error = JobStatus.RETRY, last.outcome
    job.lease_until = first + FIRST_PAUSE * JITTER * random.random()  # noqa: S311 (no secret)
    job.save(update_fields=["status", "error", "lease_until"])
    return True


def wake(project_id: int, now: datetime, *, told_to_wait: bool = True) -> int:
    """Lets the waiting readings of a project go on at the next sweep; without `told_to_wait` only those that were put
    off beside another. Returns how many."""
    waiting = _waiting(project_id).filter(lease_until__gt=now)
    if not told_to_wait:
        waiting = waiting.filter(waits=0)
    return waiting.update(lease_until=now)


def _waiting(project_id: int):  # type: ignore[no-untyped-def]
    return DistillJob.objects.filter(project_id=project_id, status=JobStatus.RETRY, error__in=WAITS)
