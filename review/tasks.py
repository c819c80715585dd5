"""What the queue and the schedules call for the desk: one line each, ids only, further keyword arguments tolerated."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from memory import lapsing, weighing
from memory.tasks import task
from projects import sign_ins
from review.deciding import arrival
from review.notices import delivery, gathering
from review.pages import drafts
from review.piles import gold


@task
def approve_on_arrival(**kwargs: Any) -> None:
    arrival.sweep(timezone.now())


@task
def make_planted_cards(**kwargs: Any) -> None:
    gold.sweep(timezone.now())


@task
def weigh_proposals(**kwargs: Any) -> None:
    weighing.refresh(timezone.now())


@task
def let_proposals_lapse(**kwargs: Any) -> None:
    lapsing.lapse(timezone.now())


@task
def forget_ended_sign_ins(**kwargs: Any) -> None:
    sign_ins.forget_ended(timezone.now())


@task
def forget_typed_words(**kwargs: Any) -> None:
    drafts.forget(timezone.now())


@task
def gather_notices(**kwargs: Any) -> None:
    gathering.gather(timezone.now())


@task
def send_notices(**kwargs: Any) -> None:
    delivery.send_waiting(timezone.now())
