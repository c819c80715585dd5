"""What the queue and the schedules call for the desk: one line each, ids only, further keyword arguments tolerated."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from memory.tasks import task
from review.deciding import arrival


@task
def approve_on_arrival(**kwargs: Any) -> None:
    arrival.sweep(timezone.now())
