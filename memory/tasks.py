"""What the queue and the schedules call: one line each, ids only, further keyword arguments tolerated."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from django.utils import timezone

from memory import compaction, distillation, embedding_store, expiry, session_memory
from projects.faults import described


class TaskFailed(Exception):
    """A task ended with an error, told by its class and place: the queue keeps and logs what an exception says."""


def task(work: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(work)
    def inner(*given: Any, **named: Any) -> None:
        try:
            work(*given, **named)
        except Exception as error:
            raise TaskFailed(described(error)) from None

    return inner


@task
def distill_job(job_id: int, **kwargs: Any) -> None:
    distillation.run(job_id, timezone.now())


@task
def sweep_sessions(**kwargs: Any) -> None:
    distillation.sweep(timezone.now())


@task
def sum_up_sessions(**kwargs: Any) -> None:
    session_memory.sweep(timezone.now())


@task
def expire_facts(**kwargs: Any) -> None:
    expiry.expire(timezone.now())


@task
def renew_used_facts(**kwargs: Any) -> None:
    expiry.renew_used(timezone.now())


@task
def propose_standing(**kwargs: Any) -> None:
    compaction.sweep(timezone.now())


@task
def embed_missing(**kwargs: Any) -> None:
    embedding_store.embed_missing()
