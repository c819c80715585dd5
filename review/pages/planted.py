"""A planted card at the desk: it looks like any other, its answer changes nothing, and is told at once.

It stands at the address that a memory of its number would have. There is no such memory, so no other door knows it.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from memory import rendering, short_ids
from memory.models import Evidence, Fact, Status
from projects.models import Membership
from review.cards import card, impact_masked
from review.cards.card import Card
from review.deciding.decisions import REASONS
from review.models import GoldItem
from review.piles import gold

DIGITS = {digit: code for digit, code, _words in REASONS}


@dataclass(frozen=True)
class Planted:
    """A planted card as the desk shows it: `fact` is no row of any table."""

    item: GoldItem
    source: Fact
    fact: Fact
    quotes: list[Evidence]

    def card(self, membership: Membership, now: datetime, is_opened: bool) -> Card:
        view = card.build(self.fact, membership, now, is_opened=is_opened, quotes=self.quotes)
        # What it was made from would give the answer away.
        known = tuple(one for one in view.known if one.fact.pk != self.source.pk)
        return replace(view, known=known, known_count=view.known_count - 1)

    def impact(self, view: Card, now: datetime) -> dict[str, Any]:
        return {"impact": impact_masked.of_new(self.source, view.agents, now), "impact_url": ""}


def due(membership: Membership, wanted: int | None, now: datetime) -> Planted | None:
    """The planted card that lies on top now, or the one that was asked for by its number. One that no longer can be
    shown as it was made goes."""
    item = gold.next_for(membership, now) if wanted is None else gold.asked(membership, wanted)
    if item is None:
        return None
    source = gold.sources(membership.project, now).filter(pk=item.card.get("source")).first()
    quotes = list(source.evidence.select_related("observation__session__agent").order_by("pk")) if source else []
    if source is None or not quotes or any(row.verdict() != "holds" for row in quotes):
        GoldItem.objects.filter(pk=item.pk).update(retired_at=now)
        return None
    return Planted(item, source, _as_fact(item, source), quotes)


def answered(request: HttpRequest, short_id: str) -> HttpResponse | None:
    """What the desk answers to a decision about a planted card; None where there is none of this id."""
    from review.pages.desk_context import desk_context

    number = short_ids.decode(short_id)
    if number is None:
        return None
    now = timezone.now()
    for membership in request.memberships:  # type: ignore[attr-defined]
        item = gold.asked(membership, number)
        if item is None:
            continue
        request.membership = membership  # type: ignore[attr-defined]
        verb, reason = _said(request, item)
        said = gold.answer(membership, item, verb, reason, now)
        told = gold.feedback(said)
        if request.htmx:  # type: ignore[attr-defined]
            # The last real decision is not what U would be pressed for now.
            context = desk_context(membership, None, told=told, told_right=said.is_right, announce=told, last=None)
            return render(request, "review/_desk.html", context)
        messages.info(request, told)
        return redirect("review:pile", membership.project.slug)
    return None


def _said(request: HttpRequest, item: GoldItem) -> tuple[str, str]:
    """(what the answer means, its reason): approving other words is an edit."""
    verb, reason = request.POST.get("verb", ""), request.POST.get("reason", "")
    typed = rendering.clean_line(request.POST.get("text", ""))
    if verb in ("approve", "edit") and typed and typed != item.card.get("text"):
        verb = "edit"
    return verb, DIGITS.get(reason, reason)


def _as_fact(item: GoldItem, source: Fact) -> Fact:
    looks = copy.copy(source)
    looks.pk = item.card["number"]
    looks.text = item.card["text"]
    looks.value = item.card["text"] if isinstance(source.value, str) else source.value
    looks.status, looks.relation, looks.related = Status.PROPOSED, "", None
    looks.approved_at = looks.approved_by = looks.confirmed_at = looks.review_due_at = None
    looks.revision = 1
    return looks
