"""One person's day at one pile: how many cards are done, how fast they go, and how many more they asked for."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from memory.models import Decision, Verb
from projects.models import Person, Project
from projects.prepared import Rows, Statement
from review.deciding.pace import gaps
from review.models import Sitting
from review.piles.reading import rows

# 60 words of sentence and quote at an ordinary reading speed, and a moment to think.
SECONDS_A_CARD = 15.0
# Of a person's own pace: the last decisions, once there are enough of them.
ENOUGH = 10

ENDS_A_CARD = (Verb.APPROVE, Verb.FIRST_YES, Verb.REJECT, Verb.PUT_OFF, Verb.MERGE, Verb.RECONFIRM, Verb.REMOVE)

# An act on many ends as many cards; a question about a proposal and a live memory is one. With it, how many more they
# asked for, and when their last decisions were.
_SAT = """
SELECT coalesce(sum(greatest(cards, 1)), 0)::int, coalesce((
        SELECT more FROM review_sitting
        WHERE project_id = %(project)s::bigint AND person_id = %(person)s::bigint AND day = %(day)s::date), 0),
    ARRAY(SELECT extract(epoch FROM at)::float8 FROM memory_decision
        WHERE project_id = %(project)s::bigint AND person_id = %(person)s::bigint ORDER BY id DESC LIMIT 100)
FROM (
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


@dataclass(frozen=True, slots=True)
class Sat:
    """How far one person is today: cards ended (those taken back not counted), cards asked for beyond one sitting, and
    how many seconds a card takes them: the median of their last gaps; before they have enough, 15 s."""

    done: int
    more: int
    seconds_a_card: float


def sat(project: Project, person: Person, now: datetime) -> Sat:
    """One query."""
    return told(rows(*asked(project, person, now)))


def asked(project: Project, person: Person, now: datetime) -> Statement:
    """The statement behind `sat`, to be read with others."""
    start, end = bounds(project, now)
    named = {
        "project": project.pk,
        "person": person.pk,
        "start": start,
        "end": end,
        "day": start.date(),
        "verbs": [verb.value for verb in ENDS_A_CARD],
    }
    return _SAT, named


def told(found: Rows) -> Sat:
    """What its rows say."""
    done, more, moments = found[0]
    taken = gaps(moments)
    return Sat(done, more, statistics.median(taken) if len(taken) >= ENOUGH else SECONDS_A_CARD)


def decided_between(project: Project, person: Person, start: datetime, end: datetime):  # type: ignore[no-untyped-def]
    """This person's decisions of that time that end a card and still stand, in their order."""
    ends = Decision.objects.filter(verb__in=ENDS_A_CARD) | Decision.objects.filter(
        verb=Verb.EDIT, after__has_key="confirmed_at"
    )
    return ends.filter(project=project, person=person, at__gte=start, at__lt=end, undone_by__isnull=True).order_by("pk")


def decided_today(project: Project, person: Person, now: datetime):  # type: ignore[no-untyped-def]
    return decided_between(project, person, *bounds(project, now))


def take_more(project: Project, person: Person, now: datetime) -> None:
    """Another sitting, counted from what is done by now."""
    done = sat(project, person, now).done
    Sitting.objects.update_or_create(
        project=project, person=person, day=bounds(project, now)[0].date(), defaults={"more": done}
    )
