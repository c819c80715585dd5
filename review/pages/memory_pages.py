"""All memories: the list with its filters in the address, and a new one by hand."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from memory import short_ids
from memory.models import Fact
from memory.served import briefs_of
from memory.types import table
from projects.models import Agent, Membership, Role
from review.cards import card
from review.cards.risk import risks_of
from review.deciding import decisions, undoing
from review.deciding.batches import CAP, is_flagged
from review.pages import memory_filters, saved_views
from review.pages.access import project_page
from review.pages.memory_filters import SEEN_OFTEN

PAGE = 50
# Exact counts of large lists cost 27 ms; nobody reads past a thousand, and nobody decides more in one go.
COUNT_CAP = 1000


@dataclass(frozen=True)
class Row:
    """One line of the list. `used` never exceeds `briefs`: both count what agents got."""

    fact: Fact
    goes_to: str
    briefs: int
    used: int
    is_due: bool
    is_flagged: bool
    tick: str
    is_ticked: bool


@require_safe
@project_page(Role.VIEWER)
def memory(request: HttpRequest, membership: Membership) -> HttpResponse:
    return render(request, "review/memory.html", list_context(request, membership, timezone.now()))


def list_context(
    request: HttpRequest, membership: Membership, now: datetime, ticked: Collection[str] = (), problem: str = ""
) -> dict[str, Any]:
    """The list of this address, with the lines `ticked` (as the form sends them) and what was wrong with the form."""
    project = membership.project
    agents = list(project.agents.all())
    shown = memory_filters.shown(request, membership, agents, now)
    before = request.GET.get("before", "")
    last = short_ids.decode(before) if before else None
    page = list(
        (shown.found.filter(pk__lt=last) if last else shown.found)
        .select_related("subject", "approved_by", "project", "sample__rule_by")
        .defer("search")
        .order_by("-pk")[: PAGE + 1]
    )
    more, page = len(page) > PAGE, page[:PAGE]
    everything = Fact.objects.filter(project=project)
    counts = [everything.filter(view.condition).order_by()[:COUNT_CAP].count() for view in memory_filters.views(now)]
    total = shown.found.order_by()[: COUNT_CAP + 1].count()
    newest = shown.found.order_by("-pk").values_list("pk", flat=True).first()
    return {
        "section": "memory",
        "view": shown.view.name,
        "views": [
            (view.name, view.words, count, memory_filters.address(request, view=view.name))
            for view, count in zip(memory_filters.views(now), counts, strict=True)
        ],
        "rows": _rows(page, tuple(agents), ticked, now),
        "chips": shown.chips,
        "total": total,
        "is_capped": total > COUNT_CAP,
        "cap": CAP,
        "most": COUNT_CAP,
        "fence": newest or 0,
        "next_page": _page_after(request, page[-1]) if more else "",
        "first_page": memory_filters.address(request) if before else "",
        "here": memory_filters.kept(request).urlencode(),
        "query": request.GET.get("q", ""),
        "agents": agents,
        "signers": memory_filters.signers(membership),
        "types": sorted(table(project.types).values(), key=lambda row: row.words),
        "selected": {name: request.GET.get(name, "") for name in ("type", "subject", "flag", "seen", "ends")}
        | {"agent": request.GET.getlist("agent"), "by": request.GET.getlist("by")},
        "seen_often": [str(times) for times in SEEN_OFTEN],
        "is_empty": not any(counts),
        "can_review": membership.can_review,
        "reasons": decisions.REASONS,
        "tomorrow": timezone.localdate(now) + timedelta(days=1),
        "done": undoing.last_act(membership.person, project, request.GET.get("done", ""), now),
        "problem": problem,
        "now": now,
        **saved_views.context(request, membership, agents, now),
    }


def _rows(page: list[Fact], agents: tuple[Agent, ...], ticked: Collection[str], now: datetime) -> list[Row]:
    briefs = briefs_of(page[0].project_id, [fact.pk for fact in page]) if page else {}
    risks = risks_of([fact for fact in page if fact.status == "proposed"])
    rows = []
    for fact in page:
        tick = f"{fact.short_id}.{fact.revision}"
        rows.append(
            Row(
                fact,
                card.goes_to(fact, agents),
                briefs[fact.pk],
                min(fact.helped_count, briefs[fact.pk]),
                fact.is_current and fact.review_due_at is not None and fact.review_due_at <= now,
                fact.status == "proposed" and is_flagged(fact, risks.get(fact.pk)),
                tick,
                tick in ticked,
            )
        )
    return rows


def _page_after(request: HttpRequest, last: Fact) -> str:
    query = memory_filters.kept(request)
    query["before"] = last.short_id
    return f"?{query.urlencode()}"
