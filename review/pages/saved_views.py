"""Names for filters that stand in the list's address: what is kept of an address, and the line of links with counts.

The address alone reproduces a view: a name adds nothing to it, so a link may be sent to somebody who has not saved it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from types import SimpleNamespace
from typing import Any, cast

from django.db.models import Q
from django.http import HttpRequest, QueryDict

from projects.models import Agent, Membership
from review.models import SavedView
from review.pages import memory_filters

PAGE = "memory"
# Of one person, and of one project: each is counted each time the list is opened.
MOST = 10
COUNT_CAP = 1000
# What may stand in the address of a view, how long each value may be, and whether it may come more than once.
KNOWN: dict[str, tuple[int, bool]] = {
    "view": (20, False),
    "q": (300, False),
    "type": (40, False),
    "agent": (50, True),
    "by": (18, True),
    "subject": (300, False),
    "flag": (20, False),
    "seen": (8, False),
    "ends": (10, False),
}
MOST_VALUES = 20


@dataclass(frozen=True)
class Named:
    """One saved view as a link: how many are in it (`COUNT_CAP` for that or more) and whether it is the one shown."""

    pk: int
    name: str
    count: int
    address: str
    is_here: bool
    is_shared: bool
    may_change: bool


def cleaned(found: QueryDict) -> str:
    """What is kept of an address: known parameters alone, in one order. "" where nothing narrows the list."""
    kept = QueryDict(mutable=True)
    for name, (longest, many) in KNOWN.items():
        values = [value.replace("\x00", "").strip() for value in found.getlist(name)]
        values = [value for value in values if value and len(value) <= longest][:MOST_VALUES]
        if values:
            kept.setlist(name, sorted(set(values)) if many else values[-1:])
    if kept.get("view") == "approved":
        del kept["view"]
    return kept.urlencode()


def saved(membership: Membership) -> list[SavedView]:
    """This person's and the project's, by name, those of the project first."""
    mine = Q(person=membership.person) | Q(person__isnull=True)
    found = list(SavedView.objects.filter(mine, project=membership.project, page=PAGE).order_by("name", "pk"))
    shared = [view for view in found if view.person_id is None][:MOST]
    return shared + [view for view in found if view.person_id is not None][:MOST]


def context(request: HttpRequest, membership: Membership, agents: Sequence[Agent], now: datetime) -> dict[str, Any]:
    """The saved views for the line of links, and what can be done about the one that is shown."""
    here = cleaned(request.GET)
    line = []
    for view in saved(membership):
        # The filters read an address; this one is the view's own.
        asked = cast(HttpRequest, SimpleNamespace(GET=QueryDict(view.query), path=request.path))
        found = memory_filters.shown(asked, membership, agents, now).found
        line.append(
            Named(
                view.pk,
                view.name,
                found.order_by()[:COUNT_CAP].count(),
                f"?{view.query}",
                cleaned(asked.GET) == here,
                view.person_id is None,
                may_change(view, membership),
            )
        )
    return {
        "saved_views": line,
        "saved_here": next((view for view in line if view.is_here), None),
        "can_be_saved": bool(here) and not any(view.is_here for view in line),
        "view_query": here,
    }


def may_change(view: SavedView, membership: Membership) -> bool:
    return membership.can_review if view.person_id is None else view.person_id == membership.person_id
