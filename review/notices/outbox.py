"""What is to be told to whom, as rows: written with what happened, sent afterwards, each once.

A row holds ids and counts only. Whoever is told opens the page that the link names; no text leaves the database here.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import connections

from memory.models import Fact
from projects.models import Person, Project, Role
from review.models import Assignment, Notice, NoticeKind, Webhook

# What was told about a memory is not told again for so long, whatever becomes of it.
REMEMBERED = timedelta(days=14)
KEPT = timedelta(days=60)
# One gathering at a time, in the whole installation ("notices" as a number).
_LOCK = 0x6E6F7469


def assigned(assignment: Assignment, now: datetime) -> None:
    """A card was put before somebody: they are told at once, and the project's webhook is."""
    about = f"{assignment.fact.short_id}:{int(assignment.at.timestamp())}"
    tell(assignment.project, [assignment.person], NoticeKind.ASSIGNMENT, about, {"assigned": 1}, now)


def tell(
    project: Project, people: Iterable[Person], kind: NoticeKind, about: str, counts: dict[str, Any], now: datetime
) -> int:
    """One row for each of these people who wants to be told, and one for the webhook; the number of new ones."""
    wanted = [person.pk for person in people if person.is_active and _wants(person, kind)]
    to: list[int | None] = [*wanted]
    if Webhook.objects.filter(project=project).exists():
        to.append(None)
    rows = [
        Notice(project=project, person_id=pk, kind=kind, about=about[:40], counts=counts, created_at=now) for pk in to
    ]
    before = Notice.objects.filter(project=project, kind=kind, about=about[:40]).count()
    Notice.objects.bulk_create(rows, ignore_conflicts=True)
    return Notice.objects.filter(project=project, kind=kind, about=about[:40]).count() - before


def reviewers(project: Project) -> list[Person]:
    """Who can decide in this project."""
    roles = [Role.REVIEWER, Role.OWNER]
    return list(
        Person.objects.filter(memberships__project=project, memberships__role__in=roles, is_active=True).order_by("pk")
    )


def tell_about_memories(
    project: Project, kind: NoticeKind, name: str, facts: Iterable[Fact], since: dict[int, int], now: datetime
) -> int:
    """One notice for those of `facts` that nobody was told about yet; `since`: from when on each is a new matter."""
    known: set[tuple[int, int]] = set()
    for counts in Notice.objects.filter(
        project=project, kind=kind, created_at__gte=now - REMEMBERED, created_at__lte=now
    ).values_list("counts", flat=True):
        known |= {(int(pk), int(at)) for pk, at in counts.get("about", [])}
    fresh = sorted((fact.pk, since[fact.pk]) for fact in facts if (fact.pk, since[fact.pk]) not in known)
    if not fresh:
        return 0
    about = f"{fresh[0][0]}:{fresh[0][1]}:{len(fresh)}"
    return tell(project, reviewers(project), kind, about, {name: len(fresh), "about": fresh}, now)


def hold() -> bool:
    """Whether this transaction is the only one that gathers notices now."""
    with connections[Notice.objects.db].cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_LOCK])
        return bool(cursor.fetchone()[0])


def forget(now: datetime) -> None:
    """Takes away what was told long ago."""
    Notice.objects.filter(created_at__lt=now - KEPT).delete()


def is_still_wanted(notice: Notice) -> bool:
    """Whether whoever is to be told may still see it, and wants to be told."""
    person = notice.person
    if person is None:
        return True
    reviews = person.memberships.filter(project=notice.project_id, role__in=[Role.REVIEWER, Role.OWNER]).exists()
    return person.is_active and _wants(person, notice.kind) and reviews


def _wants(person: Person, kind: str) -> bool:
    return person.wants_digest if kind == NoticeKind.DIGEST else person.wants_alerts
