"""What is paused in a reader's projects: the strip on every page, and where its button leads back to."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from projects.models import Agent, Membership, Person, Project
from review.templatetags.desk import clock, hour

# More lines would push the page off a phone; the rest is counted.
LINES = 4


@dataclass(frozen=True)
class Pause:
    """One line of the strip. `resume` is where its button posts to; empty: the reader may not."""

    sentence: str
    resume: str


@dataclass(frozen=True)
class Strip:
    """What is paused, the project one stands in first; `more` counts what has no line of its own."""

    lines: tuple[Pause, ...] = ()
    more: int = 0


def strip(memberships: list[Membership], here: Membership | None) -> Strip:
    """Of all projects of one person: one query, a second one only while a whole project is paused."""
    if not memberships:
        return Strip()
    of = {membership.project_id: membership for membership in memberships}
    agents = list(
        Agent.objects.filter(project__in=of, paused_at__isnull=False, archived_at__isnull=True)
        .select_related("paused_by")
        .order_by("project", "slug", "pk")
    )
    whole = [membership.project for membership in memberships if membership.project.paused_at]
    names = Person.objects.in_bulk({project.paused_by_id for project in whole} - {None}) if whole else {}
    found: list[tuple[int, Agent | None, str]] = []
    found += [(project.pk, None, _whole(project, names.get(project.paused_by_id), here)) for project in whole]
    found += [(agent.project_id, agent, _one(agent, of[agent.project_id], here)) for agent in agents]
    found.sort(key=lambda row: here is None or row[0] != here.project_id)
    lines = [
        Pause(sentence, _resume(of[project_id], agent) if of[project_id].can_review else "")
        for project_id, agent, sentence in found[:LINES]
    ]
    return Strip(tuple(lines), max(0, len(found) - LINES))


def _whole(project: Project, by: Person | None, here: Membership | None) -> str:
    words = {"project": project.slug, "since": since(project.paused_at), "name": by.short_name if by else ""}
    if by is None:
        return _("All briefs of %(project)s are paused since %(since)s.") % words
    return _("All briefs of %(project)s are paused since %(since)s by %(name)s.") % words


def _one(agent: Agent, membership: Membership, here: Membership | None) -> str:
    by = agent.paused_by
    words = {
        "project": membership.project.slug,
        "agent": agent.slug,
        "since": since(agent.paused_at),
        "name": by.short_name if by else "",
    }
    is_here = here is not None and here.project_id == agent.project_id
    if is_here and by is None:
        return _("Briefs to %(agent)s are paused since %(since)s.") % words
    if is_here:
        return _("Briefs to %(agent)s are paused since %(since)s by %(name)s.") % words
    if by is None:
        return _("%(project)s: briefs to %(agent)s are paused since %(since)s.") % words
    return _("%(project)s: briefs to %(agent)s are paused since %(since)s by %(name)s.") % words


def since(moment: datetime | None) -> str:
    """`10:15` today, else with the day, in the reader's zone."""
    if moment is None:
        return ""
    is_today = timezone.localdate(moment) == timezone.localdate()
    return hour(moment) if is_today else clock(moment)


def _resume(membership: Membership, agent: Agent | None) -> str:
    slug = membership.project.slug
    return (
        reverse("review:agent_pause", args=[slug, agent.slug])
        if agent
        else reverse("review:project_pause", args=[slug])
    )


def here_again(request: HttpRequest) -> str:
    """Where a form on this page comes back to: this page, where it is one that can be opened anew; else ""."""
    return request.get_full_path() if request.method in ("GET", "HEAD") else ""


def back(request: HttpRequest, otherwise: str) -> str:
    """The page a form was on (its `next`), if it is one of ours."""
    target = request.POST.get("next", "")
    is_ours = target.startswith("/") and url_has_allowed_host_and_scheme(target, allowed_hosts=None)
    return target if is_ours else otherwise
