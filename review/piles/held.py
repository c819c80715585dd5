"""What is held back: everything that waits beyond today's pile, in the same order, a page at a time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Q

from memory.models import Fact
from projects.models import Project
from review.deciding import sampling

PAGE = 50
SOON = timedelta(days=7)
SOON_CAP = 1_000


@dataclass(frozen=True)
class Page:
    """Some of what is held back, and the id behind which the next page starts (0: this was the last)."""

    facts: tuple[Fact, ...]
    next_after: int


def proposals(project: Project, left: Collection[int], after: int | None, now: datetime) -> Page:
    """Proposals that wait and are not in `left`, the most useful first. Two queries, each read off the index."""
    waiting = Fact.objects.filter(project=project).waiting(now).exclude(pk__in=left)
    waiting = waiting.select_related("subject", "lease__person", "assignment__person").defer("search")
    anchor = Fact.objects.filter(project=project, pk=after).only("worth").first() if after else None
    if anchor is None:
        found = list(waiting.order_by("-worth", "pk")[: PAGE + 1])
    else:
        # Two steps of one order: a condition with OR would be read from the top.
        level = waiting.filter(worth=anchor.worth, pk__gt=anchor.pk).order_by("pk")
        found = list(level[: PAGE + 1])
        if len(found) <= PAGE:
            below = waiting.filter(worth__lt=anchor.worth).order_by("-worth", "pk")
            found += list(below[: PAGE + 1 - len(found)])
    return _page(found)


def due(project: Project, after: int | None, now: datetime) -> Page:
    """Live memories that are asked about by the end of the next week, the longest due first; today's pile included."""
    live = Fact.objects.filter(project=project).live(now).filter(review_due_at__lte=now + SOON)
    live = live.exclude(sampling.IS_OPEN).select_related("subject", "approved_by", "sample__rule_by").defer("search")
    anchor = Fact.objects.filter(project=project, pk=after).only("review_due_at").first() if after else None
    if anchor is not None and anchor.review_due_at is not None:
        later = Q(review_due_at__gt=anchor.review_due_at) | Q(review_due_at=anchor.review_due_at, pk__gt=anchor.pk)
        live = live.filter(later, review_due_at__gte=anchor.review_due_at)
    return _page(list(live.order_by("review_due_at", "pk")[: PAGE + 1]))


def due_soon(project: Project, now: datetime) -> int:
    """How many are asked about by the end of the next week, up to 1,000."""
    live = Fact.objects.filter(project=project).live(now).filter(review_due_at__lte=now + SOON)
    live = live.exclude(sampling.IS_OPEN)
    return live[:SOON_CAP].count()


def _page(found: list[Fact]) -> Page:
    return Page(tuple(found[:PAGE]), found[PAGE - 1].pk if len(found) > PAGE else 0)
