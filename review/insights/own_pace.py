"""One person's own pace and accuracy, for their eyes alone: how fast, how often yes, what was taken back, what of the
planted cards was caught. No page shows it of anybody else, and nothing ranks people by it.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Q

from memory.models import Decision, Verb
from projects.models import Person
from projects.prepared import Statement, run
from review.deciding.pace import gaps
from review.insights import bounds
from review.models import GoldAnswer

# Of the last days, and no more decisions than these.
DAYS, LOOKED_AT = timedelta(days=30), 500
# Fewer say nothing about a person.
ENOUGH, ENOUGH_PLANTED = 20, 5
# After so long at it without a pause of this length a break is worth more than the next card.
SITTING, PAUSE = timedelta(minutes=25), timedelta(minutes=5)

YES = (Verb.APPROVE, Verb.FIRST_YES, Verb.RECONFIRM)
NO = (Verb.REJECT, Verb.REMOVE)
_ENDS = (*YES, *NO, Verb.MERGE, Verb.PUT_OFF)
# Seconds are enough, and read faster than hundreds of dates.
_MOMENTS = """
SELECT ARRAY(SELECT extract(epoch FROM at)::float8 FROM memory_decision
    WHERE project_id = %(project)s::bigint AND person_id = %(person)s::bigint AND at > %(since)s::timestamptz
    ORDER BY id DESC LIMIT {most})
""".replace("{most}", str(LOOKED_AT))
_COUNTED = ("approve", "edit", "reject")


@dataclass(frozen=True)
class Pace:
    """Counts of the last 30 days. Seconds are None while there are too few gaps between decisions to tell."""

    yes: int = 0
    no: int = 0
    median_seconds: float | None = None
    quick_seconds: float | None = None  # one in ten was faster
    taken_back: int = 0
    overturned: int = 0
    planted_right: int = 0
    planted: int = 0

    @property
    def decided(self) -> int:
        return self.yes + self.no

    @property
    def is_enough(self) -> bool:
        return self.decided >= ENOUGH

    @property
    def seconds(self) -> str:
        """`8`, `< 1`: what a card takes, in whole seconds; "" while there is too little to tell."""
        if self.median_seconds is None:
            return ""
        return "< 1" if self.median_seconds < 1 else str(round(self.median_seconds))

    @property
    def quick(self) -> int:
        """The whole second below which one card in ten stayed: never 0, for nothing takes less than that."""
        return max(1, math.ceil(self.quick_seconds or 0))

    @property
    def yes_share(self) -> int:
        """Approved, of what was approved or rejected, in per cent."""
        return round(100 * self.yes / self.decided) if self.decided else 0

    @property
    def planted_interval(self) -> tuple[int, int] | None:
        """Between which shares, in per cent, they are right about planted cards, with 95 % confidence; None while there
        are too few to tell."""
        if self.planted < ENOUGH_PLANTED:
            return None
        low, high = bounds.interval(self.planted_right, self.planted)
        return round(100 * low), round(100 * high)


def of(person: Person, projects: Iterable[int], now: datetime) -> Pace:
    """This person's pace in these projects. Three queries."""
    ids = list(projects)
    mine = Decision.objects.filter(project__in=ids, person=person, at__gt=now - DAYS, verb__in=_ENDS)
    rows = list(mine.order_by("-pk").values_list("at", "verb", "undone_by__person_id")[:LOOKED_AT])
    seconds = gaps(at.timestamp() for at, _verb, _by in rows)
    standing = [verb for _at, verb, by in rows if by is None]
    is_told = len(seconds) >= ENOUGH
    right, planted = _planted(person, ids)
    return Pace(
        yes=sum(verb in YES for verb in standing),
        no=sum(verb in NO for verb in standing),
        median_seconds=statistics.median(seconds) if is_told else None,
        quick_seconds=statistics.quantiles(seconds, n=10)[0] if is_told else None,
        taken_back=sum(by == person.pk for _at, _verb, by in rows),
        overturned=sum(by not in (None, person.pk) for _at, _verb, by in rows) + _withdrawn(person, ids, now),
        planted_right=right,
        planted=planted,
    )


def minutes_at_it(person: Person, project_id: int, now: datetime) -> int:
    """How many minutes this person has been deciding without a pause, once that is long enough to mention; else 0.
    One query."""
    moments = run(Decision.objects.db, *asked(person, project_id, now))[0][0]
    spent = _unbroken(moments, now.timestamp())
    return round(spent / 60) if spent >= SITTING.total_seconds() else 0


def asked(person: Person, project_id: int, now: datetime) -> Statement:
    """The statement behind `minutes_at_it`, to be asked ahead with others."""
    return _MOMENTS, {"project": project_id, "person": person.pk, "since": now - 6 * SITTING}


def _unbroken(latest_first: Sequence[float], now: float) -> float:
    """Seconds since the last pause, of moments in seconds."""
    start = now
    for at in latest_first:
        if start - at > PAUSE.total_seconds():
            break
        start = min(start, at)
    return now - start


def _withdrawn(person: Person, projects: list[int], now: datetime) -> int:
    """What this person approved and another one withdrew since."""
    taken = Decision.objects.filter(
        project__in=projects, verb=Verb.REMOVE, at__gt=now - DAYS, undone_by__isnull=True, person__isnull=False
    )
    return taken.filter(fact__approved_by=person).exclude(person=person).count()


def _planted(person: Person, projects: list[int]) -> tuple[int, int]:
    counted = GoldAnswer.objects.filter(person=person, project__in=projects, verb__in=_COUNTED)
    found = counted.aggregate(right=Count("pk", filter=Q(is_right=True)), all=Count("pk"))
    return found["right"], found["all"]
