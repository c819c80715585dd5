"""Who has to be told what, now: what waits, once a day in the morning; a complaint, an assignment, a due date at once.

Runs each minute, one at a time, and writes rows of the outbox. Everything is counted, nothing is quoted.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from django.db.models import Count, F, Q
from django.db.models.functions import Coalesce

from memory.models import Fact, Feedback, Verdict
from memory.models.lifetimes import due_at
from memory.types import table
from projects import tenancy
from projects.models import Membership, Person, Project, Role
from review.deciding import assigning, sampling
from review.deciding.policy import Policy
from review.models import Notice, NoticeKind, Webhook
from review.notices import outbox

# A digest comes in the morning of whoever gets it: from eight to noon, so that a server that was down at eight still
# sends it, and what comes up at three waits for the next day.
MORNING, NOON = 8, 12
# As the pile counts before it knows a person's own pace.
SECONDS_A_CARD = 15
# A complaint older than that was in a digest since.
COMPLAINTS_SINCE = timedelta(days=1)


def gather(now: datetime) -> int:
    """Writes what is to be told now; the number of new notices. Safe to call twice, and from two workers at once."""
    with tenancy.system("worker"):
        if not outbox.hold():
            return 0
        outbox.forget(now)
        return complaints(now) + due_dates(now) + digests(now)


def complaints(now: datetime) -> int:
    """An agent said that a live memory misled it, or is out of date: once a memory, until a person stands behind it."""
    against = Feedback.objects.filter(
        verdict__in=[Verdict.MISLED, Verdict.STALE], at__gt=now - COMPLAINTS_SINCE, at__lte=now
    )
    ids = against.filter(Q(fact__confirmed_at__isnull=True) | Q(at__gte=F("fact__confirmed_at"))).values("fact_id")
    live = Fact.objects.live(now).filter(pk__in=ids).select_related("project")
    return sum(
        outbox.tell_about_memories(project, NoticeKind.COMPLAINT, "complaints", facts, _since_confirmed(facts), now)
        for project, facts in _by_project(live).items()
    )


def due_dates(now: datetime) -> int:
    """A commitment is due today, in its project's zone: told in the morning of that day."""
    told = 0
    for project in Project.objects.order_by("pk"):
        local = _local(now, project.timezone)
        if local.hour < MORNING:
            continue
        kinds = [row.name for row in table(project.types).values() if row.after_due_days is not None]
        promised = Fact.objects.filter(project=project, type__in=kinds, value__has_key="due_on").live(now)
        due = [
            fact
            for fact in promised
            if (at := due_at(fact.value, local)) and at.astimezone(local.tzinfo).date() == local.date()
        ]
        since = {fact.pk: local.date().toordinal() for fact in due}
        told += outbox.tell_about_memories(project, NoticeKind.DUE, "due", due, since, now)
    return told


def digests(now: datetime) -> int:
    """One a day for each person, only when something waits for them; and one for each webhook."""
    told = 0
    lines: dict[int, dict[str, int]] = {}

    def line_of(project: Project) -> dict[str, int]:
        if project.pk not in lines:
            lines[project.pk] = _line(project, now)
        return lines[project.pk]

    for person, projects in _reviewers_in_the_morning(now).items():
        day = _local(now, _zone_of(person, projects)).date().isoformat()
        if Notice.objects.filter(person=person, kind=NoticeKind.DIGEST, about=day).exists():
            continue
        waits = []
        for project in projects:
            line = {**line_of(project), "assigned": len(assigning.put_before_ids(project, person, now))}
            if any(line[name] for name in COUNTED):
                waits.append({"project": project.pk, **line})
        if waits:
            first = next(project for project in projects if project.pk == waits[0]["project"])
            row = Notice(
                project=first, person=person, kind=NoticeKind.DIGEST, about=day, counts={"lines": waits}, created_at=now
            )
            told += len(Notice.objects.bulk_create([row], ignore_conflicts=True))
    for hook in Webhook.objects.select_related("project").order_by("pk"):
        local = _local(now, hook.project.timezone)
        day = local.date().isoformat()
        mine = Notice.objects.filter(project=hook.project, person=None, kind=NoticeKind.DIGEST, about=day)
        if not _is_morning(local) or mine.exists():
            continue
        line = line_of(hook.project)
        if any(line.get(name) for name in COUNTED):
            counts = {"lines": [{"project": hook.project_id, **line}]}
            told += outbox.tell(hook.project, [], NoticeKind.DIGEST, day, counts, now)
    return told


# What a digest counts, in the order in which it says so.
COUNTED = ("assigned", "complaints", "still_true", "waiting")


def _line(project: Project, now: datetime) -> dict[str, int]:
    """What waits in one project, whoever asks: counts, and the minutes of the next sitting. Two queries."""
    facts = Fact.objects.filter(project=project)
    waiting = facts.waiting(now).count()
    stood_behind = Coalesce(F("confirmed_at"), F("approved_at"))
    against = Q(feedback__verdict__in=[Verdict.MISLED, Verdict.STALE]) & Q(feedback__at__gte=stood_behind)
    due = facts.due_for_review(now).annotate(said=Count("feedback", filter=against))
    complained = sum(1 for said in due.values_list("said", flat=True) if said)
    # What was drawn from "on arrival" lies there as a new card.
    drawn = due.filter(sampling.IS_OPEN, said=0).count()
    cards = min(waiting + due.count(), Policy.of(project).sitting)
    return {
        "complaints": complained,
        "still_true": due.count() - complained - drawn,
        "waiting": waiting + drawn,
        "minutes": max(1, round(cards * SECONDS_A_CARD / 60)) if cards else 0,
    }


def _reviewers_in_the_morning(now: datetime) -> dict[Person, list[Project]]:
    """Whoever wants a digest, can review, and has morning now: their projects by name."""
    found: dict[Person, list[Project]] = defaultdict(list)
    rows = Membership.objects.filter(
        role__in=[Role.REVIEWER, Role.OWNER], person__is_active=True, person__wants_digest=True
    )
    for row in rows.select_related("person", "project").order_by("person", "project__name", "pk"):
        found[row.person].append(row.project)
    return {
        person: projects for person, projects in found.items() if _is_morning(_local(now, _zone_of(person, projects)))
    }


def _zone_of(person: Person, projects: list[Project]) -> str:
    """The person's own zone, else that of their first project."""
    return person.timezone or projects[0].timezone


def _is_morning(local: datetime) -> bool:
    return MORNING <= local.hour < NOON


def _local(now: datetime, zone: str) -> datetime:
    try:
        return now.astimezone(ZoneInfo(zone or "UTC"))
    except (ZoneInfoNotFoundError, ValueError):
        return now.astimezone(ZoneInfo("UTC"))


def _by_project(facts: Any) -> dict[Project, list[Fact]]:
    found: dict[Project, list[Fact]] = defaultdict(list)
    for fact in facts.order_by("project", "pk"):
        found[fact.project].append(fact)
    return found


def _since_confirmed(facts: list[Fact]) -> dict[int, int]:
    """When a person last stood behind each: until they do again, it is one complaint."""
    return {fact.pk: int(fact.confirmed_at.timestamp()) if fact.confirmed_at else 0 for fact in facts}
