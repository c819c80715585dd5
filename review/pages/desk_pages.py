"""Today's pile, one card at a time. Each decision answers with the next card; without JavaScript it redirects there."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from memory import short_ids
from memory.models import Fact
from projects.models import Membership, Role
from review.pages.access import project_page
from review.pages.decision_pages import taken
from review.pages.desk_context import desk_context, is_on_top


@require_safe
@project_page(Role.VIEWER)
def pile(request: HttpRequest, membership: Membership) -> HttpResponse:
    wanted = short_ids.decode(request.GET.get("card", ""))
    context = desk_context(membership, wanted, panel=request.GET.get("panel", ""))
    gone = None
    if wanted is not None and not is_on_top(context, wanted):
        gone = Fact.objects.filter(project=membership.project, pk=wanted).first()
    if gone is not None and context["panel"]:
        return taken(request, membership, gone)
    if gone is not None and not request.htmx:  # type: ignore[attr-defined]
        return redirect("review:fact", gone.short_id)
    return render(request, "review/_desk.html" if request.htmx else "review/pile.html", context)  # type: ignore[attr-defined]
