"""What agents were told: the last briefs served, and each one as it really was."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from memory import short_ids
from memory.models import BriefServed, Fact
from projects import audit
from projects.models import Membership, Role
from review.access import membership_in, project_page

PAGE = 50


@require_GET
@project_page(Role.VIEWER)
def briefs(request: HttpRequest, membership: Membership) -> HttpResponse:
    found = BriefServed.objects.filter(project=membership.project).select_related("agent", "session")
    agent = request.GET.get("agent", "")
    if agent:
        found = found.filter(agent__slug=agent)
    last = short_ids.decode(request.GET.get("before", ""), "b")
    if last:
        found = found.filter(pk__lt=last)
    page = list(found.order_by("-pk")[: PAGE + 1])
    context = {
        "section": "briefs",
        "briefs": page[:PAGE],
        "next_page": short_ids.encode(page[PAGE - 1].pk, "b") if len(page) > PAGE else "",
        "agents": list(membership.project.agents.all()),
        "agent": agent,
        "is_empty": not page and not agent and not last,
    }
    return render(request, "review/briefs.html", context)


@dataclass(frozen=True)
class Line:
    """One memory of a served brief, or one that stayed out, and why. `fact` None: gone since."""

    fact: Fact | None
    why: str
    tokens: int | None
    score: float | None


@require_GET
@login_required
def brief(request: HttpRequest, short_id: str) -> HttpResponse:
    pk = short_ids.decode(short_id, "b")
    found = BriefServed.objects.select_related("agent", "session", "project").filter(pk=pk).first() if pk else None
    if found is None:
        raise Http404
    membership = membership_in(request, found.project_id)
    audit.record(
        "brief.open",
        membership.person,
        project_id=found.project_id,
        object_kind="brief",
        object_ids=[found.pk],
        now=timezone.now(),
    )
    ids = [row["id"] for row in [*found.items, *found.left_out]]
    facts = {fact.pk: fact for fact in Fact.objects.filter(project=found.project, pk__in=ids)}
    context = {
        "section": "briefs",
        "brief": found,
        "lines": [_line(row, facts) for row in found.items],
        "left_out": [_line(row, facts) for row in found.left_out],
    }
    return render(request, "review/brief.html", context)


def _line(row: dict[str, Any], facts: dict[int, Fact]) -> Line:
    return Line(facts.get(row["id"]), str(row.get("why", "")), row.get("tokens"), row.get("score"))
