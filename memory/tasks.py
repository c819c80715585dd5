"""What the queue and the schedules call: one line each, ids only, further keyword arguments tolerated."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from memory import distillation, embedding_store, expiry


def distill_job(job_id: int, **kwargs: Any) -> None:
    distillation.run(job_id, timezone.now())


def sweep_sessions(**kwargs: Any) -> None:
    distillation.sweep(timezone.now())


def expire_facts(**kwargs: Any) -> None:
    expiry.expire(timezone.now())


def renew_used_facts(**kwargs: Any) -> None:
    expiry.renew_used(timezone.now())


def embed_missing(**kwargs: Any) -> None:
    embedding_store.embed_missing()
