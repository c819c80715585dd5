"""Today's pile, one card at a time. Each decision answers with the next card; without JavaScript it redirects there."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from memory import short_ids
from memory.models import Fact
from projects import audit
from projects.models import Membership, Role
from review.pages import drafts
from review.pages.access import project_page
from review.pages.desk_context import PANELS, desk_context, is_on_top
from review.pages.list_pages import list_context
from review.pages.together_pages import taken
from review.piles import practice
from review.piles.pile import left_today


@require_safe
@project_page(Role.VIEWER)
def pile(request: HttpRequest, membership: Membership) -> HttpResponse:
    is_first = practice.is_due(membership) and not request.htmx and "card" not in request.GET  # type: ignore[attr-defined]
    if is_first and left_today(membership, timezone.now()):
        return redirect("review:practice", membership.project.slug)
    if request.GET.get("as") == "list":
        template = "review/_desk.html" if request.htmx else "review/pile.html"  # type: ignore[attr-defined]
        return render(request, template, list_context(membership))
    wanted = short_ids.decode(request.GET.get("card", ""))
    panel, words = request.GET.get("panel", ""), request.GET.get("words", "")[:200]
    kept = drafts.of(request, wanted) if wanted is not None and panel in ("edit", "note") else None
    opened = request.GET.get("proof") == "open"
    context = desk_context(membership, wanted, panel=panel, kept=kept, words=words, opened=opened)
    if opened and context["card"] is not None and context["card"].risk is not None:
        _note_opened(membership, context["plant"].source if context["plant"] else context["card"].fact)
    gone = None
    if wanted is not None and not is_on_top(context, wanted):
        gone = Fact.objects.filter(project=membership.project, pk=wanted).first()
    if gone is not None and panel in PANELS:
        return taken(request, membership, gone)
    if gone is not None and not request.htmx:  # type: ignore[attr-defined]
        return redirect("review:fact", gone.short_id)
    return render(request, "review/_desk.html" if request.htmx else "review/pile.html", context)  # type: ignore[attr-defined]


def _note_opened(membership: Membership, fact: Fact) -> None:
    """Who opened the quote of a risky card, and so saw what was masked, is kept."""
    person, now = membership.person, timezone.now()
    audit.record("fact.reveal", person, project_id=fact.project_id, object_kind="fact", object_ids=[fact.pk], now=now)
