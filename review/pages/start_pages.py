"""Get started: five steps that tick themselves when the server has seen the thing happen."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import Count, Min, Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from memory.models import Fact, Session, SessionStatus
from projects import agents as steps
from projects.models import PERMISSIONS, Agent, ApiKey, Membership, Role
from review.pages import snippets
from review.pages.access import project_page
from review.pages.agent_pages import Issued, show_once
from review.pages.settings_forms import NewAgent

FIRST_KEY_LIVES = timedelta(days=90)


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.VIEWER)
def start(request: HttpRequest, membership: Membership) -> HttpResponse:
    """A POST names the first agent and gives it its first key, which the answer shows once. Sent again, the name is
    taken, so nothing is issued twice."""
    if request.method != "POST":
        return _page(request, membership, NewAgent())
    if not membership.is_owner:
        raise PermissionDenied(_("Only an owner connects agents. You may issue keys in your own name."))
    form, now = NewAgent(request.POST), timezone.now()
    if not form.is_valid():
        return _page(request, membership, form, status=422)
    try:
        agent = steps.create(membership.project, form.cleaned_data["slug"], by=membership.person, now=now)
    except steps.AgentExists:
        form.add_error("slug", _("This agent is there already. Its keys stand under Agents and keys."))
        return _page(request, membership, form, status=422)
    person, newest = membership.person, steps.newest_key(membership.project)
    try:
        key, secret = steps.issue(agent, person, PERMISSIONS, FIRST_KEY_LIVES, after=newest, by=person, now=now)
    except steps.HolderLeft:
        raise Http404 from None
    return _page(request, membership, form, issued=show_once(request, key, secret, membership.person))


def _page(
    request: HttpRequest, membership: Membership, form: NewAgent, *, issued: Issued | None = None, status: int = 200
) -> HttpResponse:
    project, now = membership.project, timezone.now()
    agents = list(Agent.objects.filter(project=project, archived_at=None))
    at, key = snippets.address(request), issued.secret if issued else snippets.NO_KEY
    example = issued.agent.slug if issued else agents[0].slug if agents else "claude-code"
    context = {
        "section": "settings",
        "subsection": "start",
        "agents": agents,
        "form": form,
        "issued": issued,
        "key_is_shown": issued is not None,
        "key_issued_at": ApiKey.objects.filter(project=project).aggregate(at=Min("created_at"))["at"],
        "send": snippets.send(at, key),
        "brief": snippets.brief(at, key),
        "import_line": snippets.import_transcripts(project.slug, example),
        **_seen(membership, agents),
        "now": now,
    }
    return render(request, "review/start.html", context, status=status)


def _seen(membership: Membership, agents: list[Agent]) -> dict[str, Any]:
    project = membership.project
    sessions = Session.objects.filter(project=project).aggregate(
        read=Count("pk", filter=Q(status=SessionStatus.DISTILLED)),
        open=Count("pk", filter=Q(status__in=[SessionStatus.OPEN, SessionStatus.IDLE])),
    )
    approved = Fact.objects.filter(project=project, approved_at__isnull=False)
    return {
        "heard": _last(agents, "last_heard_at"),
        "briefed": _last(agents, "last_brief_at"),
        "read_count": sessions["read"],
        "open_count": sessions["open"],
        "approved_at": approved.aggregate(at=Min("approved_at"))["at"],
    }


def _last(agents: list[Agent], field: str) -> tuple[Agent, datetime] | None:
    """The agent that did it last, and when."""
    seen = [(agent, at) for agent in agents if (at := getattr(agent, field))]
    return max(seen, key=lambda pair: pair[1], default=None)
