"""One person's day at one pile: how many cards are done, how fast they go, and how many more they asked for."""

from __future__ import annotations

import itertools
import statistics
from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from memory.models import Decision, Verb
from projects.models import Person, Project
from review.models import Sitting
from review.piles.reading import rows

# 60 words of sentence and quote at an ordinary reading speed, and a moment to think.
SECONDS_A_CARD = 15.0
# Of a person's own pace: the last decisions, once there are enough of them; a longer gap was a break.
LOOKED_AT, ENOUGH, LONGEST = 100, 10, timedelta(minutes=5)

ENDS_A_CARD = (Verb.APPROVE, Verb.FIRST_YES, Verb.REJECT, Verb.PUT_OFF, Verb.MERGE, Verb.RECONFIRM, Verb.REMOVE)

# An act on many ends as many cards; a question about a proposal and a live memory is one.
_DONE = """
SELECT coalesce(sum(greatest(cards, 1)), 0)::int FROM (
    SELECT count(*) FILTER (
        WHERE before ->> 'status' = 'proposed' OR verb IN ('put off', 'reconfirm', 'first yes')) AS cards
    FROM memory_decision d
    WHERE project_id = %(project)s::bigint AND person_id = %(person)s::bigint
        AND at >= %(start)s::timestamptz AND at < %(end)s::timestamptz
        AND (verb = ANY (%(verbs)s::text[]) OR (verb = 'edit' AND jsonb_exists(after, 'confirmed_at')))
        AND NOT EXISTS (SELECT 1 FROM memory_decision u WHERE u.undoes_id = d.id)
    GROUP BY batch
) acts
"""


def bounds(project: Project, now: datetime) -> tuple[datetime, datetime]:
    """Midnight and the next one in the project's zone."""
    zone = ZoneInfo(project.timezone)
    today = now.astimezone(zone).date()
    return datetime.combine(today, time(), zone), datetime.combine(today + timedelta(days=1), time(), zone)


def done_today(project: Project, person: Person, now: datetime) -> int:
    """Cards this person ended since midnight in the project's zone, those taken back not counted. One query."""
    start, end = bounds(project, now)
    named = {"project": project.pk, "person": person.pk, "start": start, "end": end, "verbs": list(ENDS_A_CARD)}
    return int(rows(_DONE, named)[0][0])


def decided_between(project: Project, person: Person, start: datetime, end: datetime):  # type: ignore[no-untyped-def]
    """This person's decisions of that time that end a card and still stand, in their order."""
    ends = Decision.objects.filter(verb__in=ENDS_A_CARD) | Decision.objects.filter(
        verb=Verb.EDIT, after__has_key="confirmed_at"
    )
    return ends.filter(project=project, person=person, at__gte=start, at__lt=end, undone_by__isnull=True).order_by("pk")


def decided_today(project: Project, person: Person, now: datetime):  # type: ignore[no-untyped-def]
    return decided_between(project, person, *bounds(project, now))


def more_today(project: Project, person: Person, now: datetime) -> int:
    """How many cards beyond one sitting they asked for today."""
    day = bounds(project, now)[0].date()
    found = Sitting.objects.filter(project=project, person=person, day=day).values_list("more", flat=True)
    return found.first() or 0


def take_more(project: Project, person: Person, now: datetime) -> None:
    """Another sitting, counted from what is done by now."""
    done = done_today(project, person, now)
    Sitting.objects.update_or_create(
        project=project, person=person, day=bounds(project, now)[0].date(), defaults={"more": done}
    )


def seconds_a_card(project: Project, person: Person) -> float:
    """How long this person takes for a card: the median of their last gaps; before they have enough, 15 s."""
    taken = gaps(list(_moments(project, person)))
    return statistics.median(taken) if len(taken) >= ENOUGH else SECONDS_A_CARD


def gaps(moments: list[datetime]) -> list[float]:
    """Seconds between one act and the next, breaks left out. Decisions of one act have one moment."""
    ordered = sorted(set(moments))
    pairs = itertools.pairwise(ordered)
    return [(after - before).total_seconds() for before, after in pairs if after - before <= LONGEST]


def _moments(project: Project, person: Person) -> Any:
    latest = Decision.objects.filter(project=project, person=person).order_by("-pk")
    return latest.values_list("at", flat=True)[:LOOKED_AT]
