"""What every page's frame shows: the reader, the project they stand in, what waits, what is paused."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _

from memory import spending
from memory.types import type_of
from projects.models import Membership, Person, Project
from review.deciding.policy import Policy
from review.pages import drafts, pauses
from review.piles.pile import left_today
from review.templatetags.desk import hour

THEMES = ("light", "dark", "system")


def frame(request: HttpRequest) -> dict[str, Any]:
    """The frame's context. `request.membership` is set by the project pages (review/pages/access.py)."""
    person: Person | None = request.user if getattr(request, "user", None) and request.user.is_authenticated else None
    theme = request.COOKIES.get("theme", "system")
    if person is not None and person.theme != "system":
        theme = person.theme
    membership: Membership | None = getattr(request, "membership", None)
    memberships: list[Membership] = getattr(request, "memberships", [])
    context: dict[str, Any] = {
        "theme": theme if theme in THEMES else "system",
        "keys_off": person.keys_off if person is not None else request.COOKIES.get("keys") == "off",
        "person": person,
        "membership": membership,
        "project": membership.project if membership else None,
        "projects": [row.project for row in memberships],
        "waiting_count": 0,
        "paused": SimpleLazyObject(lambda: pauses.strip(memberships, membership)),
        "here_again": pauses.here_again(request),
        "capped": "",
        "ended_rules": [],
        "words_kept": person is None and hasattr(request, "session") and drafts.waits(request),
    }
    if membership:
        project = membership.project
        # Asked for only where the frame is drawn around a page; the number the desk has already.
        context["waiting_count"] = SimpleLazyObject(lambda: left_today(membership, timezone.now()))
        context["capped"] = SimpleLazyObject(lambda: _capped(project))
        if membership.is_owner:
            context["ended_rules"] = [type_of(name, project.types).words for name in Policy.of(project).ended]
    return context


def _capped(project: Project) -> str:
    since = spending.capped_since(project, timezone.now())
    if since is None:
        return ""
    return _("Today’s tokens were used up at %(since)s: the local reader took over.") % {"since": hour(since)}
