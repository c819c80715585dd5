"""What lies beside today's pile: what is held back, and what is soon asked about again."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from memory import short_ids
from projects.models import Agent, Membership, Role
from review.cards.card import goes_to
from review.pages.access import project_page
from review.piles import day, held
from review.piles.pile import Pile


@require_safe
@project_page(Role.VIEWER)
def held_back(request: HttpRequest, membership: Membership) -> HttpResponse:
    now, project = timezone.now(), membership.project
    today = Pile.of(project, membership.person, now)
    after = short_ids.decode(request.GET.get("after", ""))
    is_due = request.GET.get("what") == "due"
    page = held.due(project, after, now) if is_due else held.proposals(project, today.left, after, now)
    agents = tuple(Agent.objects.filter(project=project, archived_at__isnull=True).order_by("slug", "pk"))
    context: dict[str, Any] = {
        "section": "review",
        "pile": today,
        "is_due": is_due,
        "rows": [(fact, goes_to(fact, agents)) for fact in page.facts],
        "next_after": short_ids.encode(page.next_after) if page.next_after else "",
        "is_first": after is None,
        "due_soon": held.due_soon(project, now),
        "now": now,
    }
    return render(request, "review/held.html", context)


@require_POST
@project_page(Role.REVIEWER)
def take_more(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Another sitting today, because this person asked for one."""
    day.take_more(membership.project, membership.person, timezone.now())
    target = reverse("review:pile", args=[membership.project.slug])
    return redirect(f"{target}?as=list" if request.POST.get("as") == "list" else target)
