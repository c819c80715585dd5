"""Which memories a list shows: a view, and filters that stand in the address as chips."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.postgres.search import SearchQuery
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext as _

from memory import short_ids
from memory.models import BadSubject, Fact, Feedback, Status, Subject, Verdict
from memory.models.subject import split
from memory.types import table
from projects.models import Agent, Membership, Person

# How often a memory was seen, as the list offers it; any other number may stand in the address.
SEEN_OFTEN = (2, 5, 10)
_ENDED = (Status.SUPERSEDED, Status.EXPIRED, Status.LAPSED, Status.MERGED)
SOON = timedelta(days=14)
THIS_WEEK = timedelta(days=7)


@dataclass(frozen=True)
class View:
    """One of the views: its name in the address, its words, and what is in it."""

    name: str
    words: str
    condition: Q | Combinable


@dataclass(frozen=True)
class Chip:
    """One filter that is set: its words, and the address without it."""

    words: str
    without: str


@dataclass(frozen=True)
class Shown:
    """What an address shows: the view, the memories in it that pass the filters, and the chips of those."""

    view: View
    found: QuerySet[Fact]
    chips: tuple[Chip, ...]


def views(now: datetime) -> tuple[View, ...]:
    """Each view, the first by default. What the clock has ended is over, whether a sweep said so or not."""
    over = Q(status=Status.APPROVED, expires_at__isnull=False, expires_at__lte=now)
    live = Q(status=Status.APPROVED) & (Q(expires_at__isnull=True) | Q(expires_at__gt=now))
    against = Feedback.objects.filter(
        fact=OuterRef("pk"),
        verdict__in=[Verdict.MISLED, Verdict.STALE],
        # What a rule let in nobody has confirmed.
        at__gte=Coalesce(OuterRef("confirmed_at"), OuterRef("approved_at")),
        at__lte=now,
    )
    week = Q(status=Status.APPROVED, expires_at__gt=now, expires_at__lte=now + THIS_WEEK)
    return (
        View("approved", _("Approved"), live),
        View("proposed", _("Proposed"), Q(status=Status.PROPOSED)),
        View("week", _("Ends this week"), week),
        View("complaints", _("Complaints"), live & Q(review_due_at__lte=now) & Exists(against)),
        View("rejected", _("Rejected"), Q(status=Status.REJECTED)),
        View("withdrawn", _("Withdrawn"), Q(status=Status.REMOVED)),
        View("ended", _("Ended"), Q(status__in=_ENDED) | over),
    )


def shown(request: HttpRequest, membership: Membership, agents: Sequence[Agent], now: datetime) -> Shown:
    """What this address shows. Whatever else stands in it is passed over."""
    every = views(now)
    wanted = request.GET.get("view", "")
    view = next((one for one in every if one.name == wanted), every[0])
    everything = Fact.objects.filter(project=membership.project).filter(view.condition)
    found, chips = _filtered(everything, request, membership, agents, now)
    return Shown(view, found, tuple(chips))


def viewed(request: HttpRequest, membership: Membership, now: datetime) -> QuerySet[Fact]:
    """The memories of the view and the filters in this address."""
    return shown(request, membership, list(membership.project.agents.all()), now).found


def address(request: HttpRequest, **changes: str | None) -> str:
    """This page's address with some parameters changed (None drops one); its first page."""
    query = kept(request)
    for name, value in changes.items():
        if value is None:
            query.pop(name, None)
        else:
            query[name] = value
    return f"?{query.urlencode()}" if query else request.path


def kept(request: HttpRequest) -> QueryDict:
    """What of the address says which memories are shown: not the place in the list, nor what was just done."""
    query = request.GET.copy()
    for name in ("before", "done"):
        query.pop(name, None)
    return query


def _filtered(
    found: QuerySet[Fact], request: HttpRequest, membership: Membership, agents: Iterable[Agent], now: datetime
) -> tuple[QuerySet[Fact], list[Chip]]:
    chips: list[Chip] = []
    query = request.GET.get("q", "").replace("\x00", "").strip()[:500]
    if query:
        found = found.filter(_said(query))
        chips.append(Chip(f"“{query}”", address(request, q=None)))
    wanted = request.GET.get("type", "")
    types = table(membership.project.types)
    if wanted in types:
        found = found.filter(type=wanted)
        chips.append(Chip(types[wanted].words, address(request, type=None)))
    slugs = set(request.GET.getlist("agent"))
    chosen = [agent for agent in agents if agent.slug in slugs]
    if chosen:
        found = found.filter(Q(everyone=True) | Q(agent_ids__overlap=[agent.pk for agent in chosen]))
        names = _(" or ").join(agent.slug for agent in chosen)
        chips.append(Chip(_("goes to %(names)s") % {"names": names}, address(request, agent=None)))
    people = signers(membership, request.GET.getlist("by"))
    if people:
        found = found.filter(approved_by__in=people)
        names = ", ".join(person.short_name for person in people)
        chips.append(Chip(_("countersigned by %(names)s") % {"names": names}, address(request, by=None)))
    written = request.GET.get("subject", "")
    if written:
        try:
            subject = Subject.objects.find(membership.project_id, *split(written))
        except BadSubject:
            subject = None
        found = found.filter(subject=subject) if subject else found.none()
        chips.append(Chip(subject.words if subject else written[:80], address(request, subject=None)))
    if request.GET.get("flag") == "personal":
        found = found.exclude(findings=[])
        chips.append(Chip(_("personal data"), address(request, flag=None)))
    seen = request.GET.get("seen", "")
    if seen.isascii() and seen.isdigit() and len(seen) < 9:
        found = found.filter(times_seen__gte=int(seen))
        chips.append(Chip(_("seen %(times)d times or more") % {"times": int(seen)}, address(request, seen=None)))
    if request.GET.get("ends") == "soon":
        found = found.filter(expires_at__gt=now, expires_at__lte=now + SOON)
        chips.append(Chip(_("ends within two weeks"), address(request, ends=None)))
    return found, chips


def _said(query: str) -> Q:
    """Memories with these words, this key or this id."""
    typed = short_ids.decode(query.lower())
    if typed:
        return Q(pk=typed)
    return (
        Q(search=SearchQuery(query, config="english", search_type="plain"))
        | Q(search=SearchQuery(query, config="simple", search_type="plain"))
        | Q(text__icontains=query)
        | Q(key__icontains=query)
    )


def signers(membership: Membership, ids: Iterable[Any] | None = None) -> list[Person]:
    """The people of this project, or those of them with these ids, by name."""
    people = Person.objects.filter(memberships__project=membership.project).order_by(F("name"), "pk")
    if ids is None:
        return list(people)
    wanted = {int(pk) for pk in ids if str(pk).isascii() and str(pk).isdigit() and len(str(pk)) < 19}
    return list(people.filter(pk__in=wanted)) if wanted else []
