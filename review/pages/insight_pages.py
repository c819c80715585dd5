"""Insights: six questions, each with a sentence, a small figure and its table."""

from __future__ import annotations

from datetime import timedelta

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from projects.models import Membership, Role
from review.insights import costing, helping, keeping_up, misleading, rejecting, working
from review.pages.access import project_page

DEFAULT = 90


@require_safe
@project_page(Role.VIEWER)
def insights(request: HttpRequest, membership: Membership) -> HttpResponse:
    """`?days=` 30, 90 or 365; anything else is 90."""
    periods = {30: _("30 days"), 90: _("90 days"), 365: _("A year")}
    asked = request.GET.get("days", "")
    days = int(asked) if asked in {str(one) for one in periods} else DEFAULT
    now = timezone.now()
    since = now - timedelta(days=days)
    questions = (helping, keeping_up, rejecting, working, misleading, costing)
    context = {
        "section": "insights",
        "answers": [question.of(membership.project, since, now) for question in questions],
        "periods": periods.items(),
        "days": days,
        "period": {30: _("The last 30 days"), 90: _("The last 90 days"), 365: _("The last year")}[days],
        "is_empty": not membership.project.sessions.exists() and not membership.project.facts.exists(),
    }
    return render(request, "review/insights.html", context)
