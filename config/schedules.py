"""Every periodic job, in one table."""

from __future__ import annotations

from dataclasses import dataclass

from django.db import transaction
from django_q.models import Schedule

PREFIX = "countersign: "


@dataclass(frozen=True, slots=True)
class Job:
    """One line of the table: what people read, the task, and how often. A minute is the queue's finest grain."""

    words: str
    task: str
    every_minutes: int


JOBS = (
    Job("read quiet sessions", "memory.tasks.sweep_sessions", 1),
    Job("embed what has no vector", "memory.tasks.embed_missing", 1),
    Job("sum up sessions that go on", "memory.tasks.sum_up_sessions", 1),
    Job("expire by the clock", "memory.tasks.expire_facts", 5),
    Job("let live on what is used", "memory.tasks.renew_used_facts", 30),
    Job("approve on arrival", "review.tasks.approve_on_arrival", 1),
    Job("make planted cards", "review.tasks.make_planted_cards", 60),
    Job("gather what to tell people", "review.tasks.gather_notices", 1),
    Job("send notices", "review.tasks.send_notices", 1),
    Job("count what was served, weigh what waits", "review.tasks.weigh_proposals", 10),
    Job("let lapse what nobody decided", "review.tasks.let_proposals_lapse", 1440),
    Job("propose standing lessons", "memory.tasks.propose_standing", 1440),
    Job("forget sign-ins that are over", "review.tasks.forget_ended_sign_ins", 60),
    Job("forget words that nobody came back for", "review.tasks.forget_typed_words", 10),
)


def ensure_schedules() -> None:
    """The queue's schedules are this table: added, changed, and removed when a line is gone. Any number of times."""
    with transaction.atomic(using="default"):
        Schedule.objects.filter(name__startswith=PREFIX).exclude(name__in=[PREFIX + job.words for job in JOBS]).delete()
        for job in JOBS:
            Schedule.objects.update_or_create(
                name=PREFIX + job.words,
                defaults={
                    "func": job.task,
                    "schedule_type": Schedule.MINUTES,
                    "minutes": job.every_minutes,
                    "repeats": -1,
                },
            )
