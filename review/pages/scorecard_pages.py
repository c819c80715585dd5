"""How good the readers are, and what was held back because people had refused its like."""

from __future__ import annotations

from django.db.models import Count, Max, OuterRef, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from memory.models import Decision, Fact, Suppression
from projects.models import Membership, Role
from review.deciding.decisions import REASON_WORDS
from review.insights import scorecard
from review.pages.access import project_page

PAGE = 50


@require_safe
@project_page(Role.VIEWER)
def score(request: HttpRequest, membership: Membership) -> HttpResponse:
    project = membership.project
    context = {
        "section": "settings",
        "subsection": "scorecard",
        "card": scorecard.of(project, timezone.now()),
        "filtered": Suppression.objects.filter(project=project).count(),
        "enough": scorecard.ENOUGH,
    }
    return render(request, "review/scorecard.html", context)


@require_safe
@project_page(Role.VIEWER)
def filtered(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Each refused memory that came again, how often, and why it had been refused."""
    last_reason = Decision.objects.filter(fact=OuterRef("pk")).exclude(reason="").order_by("-pk").values("reason")[:1]
    refused = (
        Fact.objects.filter(project=membership.project, suppressions__isnull=False)
        .annotate(
            times=Count("suppressions", distinct=True), last=Max("suppressions__at"), reason=Subquery(last_reason)
        )
        .select_related("subject")
        .order_by("-times", "-last", "-pk")
    )
    rows = [(fact, REASON_WORDS.get(fact.reason, "")) for fact in refused[:PAGE]]
    context = {"section": "memory", "rows": rows, "total": refused.count()}
    return render(request, "review/filtered.html", context)
