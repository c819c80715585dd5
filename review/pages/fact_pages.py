"""One memory's page: the card without its bar, who gets it, who got it, what happened to it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from memory.models import Fact, Status
from memory.served import briefs_with
from projects import audit
from projects.models import Membership
from review.cards import card, impact
from review.cards.history import history
from review.cards.proof import ON_PAGE
from review.cards.reach import reach
from review.cards.received import received
from review.deciding import decisions, undoing
from review.finding.origins import origins_of
from review.pages import drafts, forms, planted
from review.templatetags import desk

# Of the times that something refused was learned again, the last ones.
SHOWN_AGAIN = 20


@require_safe
@login_required
def fact(request: HttpRequest, short_id: str) -> HttpResponse:
    now = timezone.now()
    found, membership, plant = planted.find_shown(request, short_id, now)
    if request.htmx and "panel" in request.GET:  # type: ignore[attr-defined]
        return _panel(request, found, membership, now)
    opened = [plant.source.pk if plant else found.pk]
    audit.record(
        "fact.open", membership.person, project_id=found.project_id, object_kind="fact", object_ids=opened, now=now
    )
    # Opening this page is in the audit trail: nothing on it is shut.
    if plant:
        view = plant.card(membership, now, is_opened=True, proofs_shown=ON_PAGE)
    else:
        view = card.build(found, membership, now, ON_PAGE, is_opened=True)
    is_live = found.is_current and (found.expires_at is None or found.expires_at > now)
    briefs = briefs_with(found)
    steps = plant.steps() if plant else None
    context = {
        "section": "memory",
        "card": view,
        "fact": found,
        "agents": view.agents,
        "steps": history(found, membership, view.agents, decisions.VERB_WORDS, decisions.REASON_WORDS, steps),
        "who_gets_it": reach(found, view.agents, view.goes_to, now),
        "received": received(found),
        "origins": origins_of(found, plant.source if plant else None),
        "came_again": list(found.suppressions.select_related("session").order_by("-pk")[:SHOWN_AGAIN]),
        "briefs": briefs,
        "used": min(found.helped_count, briefs),
        "can_review": membership.can_review,
        "reasons": decisions.REASONS,
        "here": f"{request.path}?",
        "proposed_when": desk.ago(found.first_seen_at, now),
        "signed_when": desk.clock(found.approved_at),
        **_ended(found),
        "is_waiting": found.status == Status.PROPOSED,
        "is_live": is_live,
        "withdrawal": _withdrawal(view, now) if is_live else None,
        "panel": request.GET.get("panel", ""),
        "done": undoing.last_act(membership.person, membership.project, request.GET.get("done", ""), now),
        "typed_in": forms.edit_values(found, drafts.of(request, found.pk)),
        "author": drafts.author(membership.person),
        "now": now,
    }
    return render(request, "review/fact.html", context)


def _panel(request: HttpRequest, found: Fact, membership: Membership, now: datetime) -> HttpResponse:
    """What X and P open at the foot of the page; without JavaScript it comes with the whole page."""
    context = {
        "fact": found,
        "agents": membership.project.agents.filter(archived_at__isnull=True),
        "can_review": membership.can_review,
        "is_live": found.is_current and (found.expires_at is None or found.expires_at > now),
        "is_waiting": found.status == Status.PROPOSED,
        "panel": request.GET["panel"],
        "reasons": decisions.REASONS,
        "here": f"{request.path}?",
    }
    return render(request, "review/_fact_panel.html", context)


def _ended(found: Fact) -> dict[str, Any]:
    """Who ended a memory that is neither waiting nor approved, and when: their name stands on the second line."""
    if found.status in (Status.PROPOSED, Status.APPROVED):
        return {"ended": None}
    last = found.decisions.select_related("person").order_by("-pk").first()
    return {"ended": last, "ended_when": desk.clock(last.at) if last else ""}


def _withdrawal(view: card.Card, now: datetime) -> impact.Outlook | None:
    """What its end would do to each brief, where that is cheap to count."""
    if not impact.is_light(view.fact, view.kind, view.agents, view.known_count):
        return None
    return next(iter(impact.of_withdrawal(view.fact, view.agents, now).outlooks), None)
