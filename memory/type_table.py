"""Changes a project's type table, and says first what that would do to the memories there are.

A memory whose end its type gave it moves with the table: sooner, later, or to none. An end that somebody named stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Case, DateTimeField, ExpressionWrapper, F, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce, Greatest, Least

from memory.models import Fact, Status
from memory.models.lifetimes import ASKED_BEFORE_THE_END
from memory.types import FactType, type_of, with_row, without_row
from projects import audit
from projects.models import Person, Project

MOMENT = DateTimeField()
# `None` for the cells: the row goes back to what is shipped, or goes away.
Cells = Mapping[str, Any] | None


class ChangedMeanwhile(Exception):
    """Somebody else changed this row since the caller saw it."""


@dataclass(frozen=True, slots=True)
class Effects:
    """How many memories of the type a change would move: their end, or when a person is asked about them."""

    sooner: int = 0
    over: int = 0  # of the sooner ones those that end at once
    later: int = 0
    asked: int = 0  # at once

    @property
    def are_felt(self) -> bool:
        """Whether somebody should be told before it is done: something ends or is asked about."""
        return bool(self.sooner or self.asked)


def preview(project: Project, name: str, cells: Cells, now: datetime) -> Effects:
    """What `change` would do. Raises BadType."""
    before, after = _rows(project, name, cells)
    if not _moves(before, after):
        return Effects()
    ending = _ending(project, name, before, after)
    sooner = ending.filter(Q(new_end__lt=F("expires_at")) | Q(expires_at=None, new_end__isnull=False))
    later = ending.filter(Q(new_end__gt=F("expires_at")) | Q(expires_at__isnull=False, new_end=None))
    moved = Case(When(ends_by_type=True, then=_new_end(before, after)), default=F("expires_at"), output_field=MOMENT)
    return Effects(
        sooner=sooner.count(),
        over=sooner.filter(new_end__lte=now).count(),
        later=later.count(),
        asked=_asked(project, name, after, moved, now).filter(new_ask__lte=now).count(),
    )


@transaction.atomic
def change(project: Project, name: str, cells: Cells, *, seen: FactType, by: Person, now: datetime) -> Effects:
    """Keeps these cells of one row (see memory.types.with_row) and moves the memories of the type.

    `seen` is the row that the person had before them. Raises BadType, ChangedMeanwhile.
    """
    locked = Project.objects.select_for_update().get(pk=project.pk)
    if type_of(name, locked.types) != seen:
        raise ChangedMeanwhile
    effects = preview(locked, name, cells, now)
    before, after = _rows(locked, name, cells)
    locked.types = _changed(locked, name, cells)
    locked.save(update_fields=["types"])
    if _moves(before, after):
        _ending(locked, name, before, after).update(expires_at=F("new_end"))
        _asked(locked, name, after, F("expires_at"), now).update(review_due_at=F("new_ask"))
    audit.record(
        "types.change",
        by,
        project_id=locked.pk,
        object_kind="project",
        object_ids=[locked.pk],
        count=effects.sooner + effects.later,
        now=now,
    )
    project.types = locked.types
    return effects


def _changed(project: Project, name: str, cells: Cells) -> dict[str, Any]:
    return without_row(project.types, name) if cells is None else with_row(project.types, name, cells)


def _rows(project: Project, name: str, cells: Cells) -> tuple[FactType, FactType]:
    return type_of(name, project.types), type_of(name, _changed(project, name, cells))


def _moves(before: FactType, after: FactType) -> bool:
    cells = ("lifetime_days", "after_due_days", "ask_again_days")
    return any(getattr(before, cell) != getattr(after, cell) for cell in cells)


def _ending(project: Project, name: str, before: FactType, after: FactType) -> QuerySet[Any]:
    """Memories that wait or live and end when their type says so, with the end that it would say now."""
    states = [Status.PROPOSED, Status.APPROVED]
    found = Fact.objects.filter(project=project, type=name, status__in=states, ends_by_type=True)
    return found.order_by().annotate(new_end=_new_end(before, after))


def _new_end(before: FactType, after: FactType) -> Any:
    """As far from its beginning as the table says now; of what never ended, from its last sight or confirmation."""
    # Postgres passes over a NULL among these.
    last = Greatest("first_seen_at", "last_seen_at", "confirmed_at")
    if after.lifetime_days is None:
        plain: Any = Value(None, MOMENT)
    else:
        plain = last + timedelta(days=after.lifetime_days)
        if before.lifetime_days is not None:
            plain = Coalesce(F("expires_at") + timedelta(days=after.lifetime_days - before.lifetime_days), plain)
    # What is due ends by that day; a row that counts from it for the first time does so for new memories.
    if before.after_due_days is None:
        return plain
    shift = (after.after_due_days or before.after_due_days) - before.after_due_days
    return Case(
        When(value__has_key="due_on", then=F("expires_at") + timedelta(days=shift)), default=plain, output_field=MOMENT
    )


def _asked(project: Project, name: str, after: FactType, end: Any, now: datetime) -> QuerySet[Any]:
    """Live memories that nobody is asked about yet, with the day when it would be: as
    memory.models.lifetimes.ask_again_at, from the last confirmation. What is due already stays due."""
    live = Fact.objects.filter(project=project, type=name, status=Status.APPROVED).order_by()
    waiting = live.filter(Q(review_due_at=None) | Q(review_due_at__gt=now))
    if after.ask_again_days is None:
        return waiting.annotate(new_ask=Value(None, MOMENT))
    confirmed = Coalesce("confirmed_at", "approved_at", "first_seen_at") + timedelta(days=after.ask_again_days)
    warned = waiting.annotate(warned=ExpressionWrapper(end - ASKED_BEFORE_THE_END, output_field=MOMENT))
    too_late = When(warned__lte=now, then=Value(None, MOMENT))
    return warned.annotate(new_ask=Case(too_late, default=Least(confirmed, "warned"), output_field=MOMENT))
