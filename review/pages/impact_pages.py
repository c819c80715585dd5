"""What a decision would do to briefs, beside the card: with a page where that is cheap, else asked for after it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from memory.models import Fact
from projects.models import Agent
from review.cards import impact, impact_masked
from review.cards.beside import beside
from review.cards.card import Card
from review.cards.kinds import Kind, kind_of
from review.pages import planted
from review.piles import samples


def beside_card(view: Card, now: datetime, at_once: bool, plant: planted.Planted | None = None) -> dict[str, Any]:
    """The context of `review/_impact.html`: the figures where they are wanted `at_once` and cheap; else their lines,
    and where the page finds them once the card is there. It tells of no card whether it is a new one, drawn or planted.
    """
    fact = view.fact
    address = reverse("review:impact", args=[fact.short_id])
    if not at_once or not impact.is_light(fact, view.kind, view.agents, view.known_count):
        lines = impact.awaited(fact, view.kind, view.agents, _labels(view.beside.claims, view.may_keep_both))
        return {"impact": lines, "impact_url": address}
    if plant is not None:
        return {"impact": plant.figures(view.agents, now), "impact_url": address}
    if samples.is_masked(fact):
        live = Fact.objects.select_related("subject", "project").get(pk=fact.pk)
        return {"impact": impact_masked.of_new(live, view.agents, now), "impact_url": address}
    labels = _labels(view.beside.claims, view.may_keep_both)
    return {"impact": impact.of_card(fact, view.kind, view.agents, labels, now), "impact_url": address}


@require_safe
@login_required
def consequences(request: HttpRequest, short_id: str) -> HttpResponse:
    """The figures of one card: the fragment for htmx, a page of its own without JavaScript."""
    now = timezone.now()
    fact, membership, plant = planted.find_shown(request, short_id, now)
    agents = list(membership.project.agents.filter(archived_at__isnull=True))
    figures = plant.figures(agents, now) if plant else _figures(fact, agents, now)
    context = {
        "section": "review",
        "fact": fact,
        "impact": figures,
        "impact_url": request.path,
    }
    return render(request, _template(request), context)


def _template(request: HttpRequest) -> str:
    return "review/_impact.html" if request.htmx else "review/impact.html"  # type: ignore[attr-defined]


def _figures(fact: Fact, agents: list[Agent], now: datetime) -> impact.Impact:
    if samples.is_masked(samples.shown(fact, now)):
        return impact_masked.of_new(fact, agents, now)
    rival = Fact.objects.rivals_of(fact).first() if fact.approved_at is None else None
    kind = kind_of(fact, rival, now)
    labels = _labels(beside(fact, kind, ()).claims, may_keep_both=True) if kind == Kind.CONFLICT else {}
    return impact.of_card(fact, kind, agents, labels, now)


def _labels(claims: Any, may_keep_both: bool) -> dict[str, str]:
    """The titles of a conflict's answers: what its buttons keep."""
    if not claims:
        return {}
    names = ("keep_first", "keep_second")
    titles = {
        name: _("If you %(answer)s") % {"answer": claim.button[:1].lower() + claim.button[1:]}
        for name, claim in zip(names, claims, strict=True)
    }
    return {**titles, **({"keep_both": ""} if may_keep_both else {})}
