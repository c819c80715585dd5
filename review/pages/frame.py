"""What every page's frame shows: the reader, the project they stand in, what waits, what is paused."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils import timezone

from memory import spending
from memory.models import Fact
from projects.models import Membership
from review.templatetags.desk import clock, hour

THEMES = ("light", "dark", "system")


def frame(request: HttpRequest) -> dict[str, Any]:
    """The frame's context. `request.membership` is set by the project pages (review/pages/access.py)."""
    theme = request.COOKIES.get("theme", "system")
    membership: Membership | None = getattr(request, "membership", None)
    memberships: list[Membership] = getattr(request, "memberships", [])
    context: dict[str, Any] = {
        "theme": theme if theme in THEMES else "system",
        "keys_off": request.COOKIES.get("keys") == "off",
        "person": request.user if getattr(request, "user", None) and request.user.is_authenticated else None,
        "membership": membership,
        "project": membership.project if membership else None,
        "projects": [row.project for row in memberships],
        "waiting_count": 0,
        "paused": [],
        "capped": "",
    }
    if membership:
        project = membership.project
        context["waiting_count"] = Fact.objects.filter(project=project).asking(timezone.now()).count()
        if project.paused_at:
            context["paused"] = [f"All briefs of {project.slug} are paused since {clock(project.paused_at)}."]
        else:
            context["paused"] = [
                f"Briefs to {agent.slug} are paused since {clock(agent.paused_at)}."
                for agent in project.agents.filter(paused_at__isnull=False, archived_at__isnull=True)
            ]
        if since := spending.capped_since(project, timezone.now()):
            context["capped"] = f"Today’s tokens were used up at {hour(since)}: the local reader took over."
    return context
