"""Agents and their keys. A key is shown once, on the answer to the form that issued it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from projects import agents as steps
from projects import configs
from projects.models import Agent, ApiKey, Membership, Person, Role
from projects.words import later
from review.pages import pauses, snippets
from review.pages.access import project_page
from review.pages.settings_forms import MAY, NewAgent, NewKey

ISSUED_ALREADY = later(
    "A key was issued since this page was opened, so none was issued now. If that was you and you have lost it, "
    "revoke it below and issue another."
)
HOLDER_LEFT = later("This person is not in the project any more, so no key was issued.")


@dataclass(frozen=True)
class KeyLine:
    key: ApiKey
    holder: str
    may: str
    has_expired: bool
    is_mine: bool


@dataclass(frozen=True)
class AgentLine:
    agent: Agent
    keys: tuple[KeyLine, ...]
    holders: str
    # The version of its system memory that it is told: `v3`, or "".
    config: str = ""


@dataclass(frozen=True)
class Issued:
    """A key that was just made, and the lines to copy. Lives for one answer."""

    agent: Agent
    holder: str
    secret: str
    may: str
    expires_at: datetime | None
    who_am_i: str
    send: str
    brief: str


def show_once(request: HttpRequest, key: ApiKey, secret: str, holder: Person) -> Issued:
    at = snippets.address(request)
    return Issued(
        agent=key.agent,
        holder=holder.short_name,
        secret=secret,
        may=_may(key),
        expires_at=key.expires_at,
        who_am_i=snippets.who_am_i(at, secret),
        send=snippets.send(at, secret) if "capture" in key.permissions else "",
        brief=snippets.brief(at, secret) if "brief" in key.permissions else "",
    )


@require_safe
@project_page(Role.VIEWER)
def agents(request: HttpRequest, membership: Membership) -> HttpResponse:
    return _page(request, membership)


def _page(request: HttpRequest, membership: Membership, status: int = 200, **extra: Any) -> HttpResponse:
    now = timezone.now()
    found = list(Agent.objects.filter(project=membership.project))
    keys: dict[int, list[KeyLine]] = defaultdict(list)
    for key in ApiKey.objects.filter(project=membership.project, revoked_at=None).select_related("person"):
        keys[key.agent_id].append(_key_line(key, membership, now))
    told = {one.agent_id: f"v{one.version}" for one in configs.deployed_in(membership.project)}
    lines = [
        AgentLine(agent, tuple(keys[agent.pk]), _holders(keys[agent.pk]), told.get(agent.pk, ""))
        for agent in found
        if not agent.archived_at
    ]
    chosen = next((line.agent for line in lines if line.agent.slug == request.GET.get("agent")), None)
    context = {
        "section": "settings",
        "subsection": "agents",
        "lines": lines,
        "archived": [agent for agent in found if agent.archived_at],
        "paused_count": sum(1 for line in lines if line.agent.paused_at),
        "new_agent": extra.pop("new_agent", None) or NewAgent(),
        "new_key": extra.pop("new_key", None) or _key_form(membership, agent=chosen),
        "now": now,
        **extra,
    }
    return render(request, "review/agents.html", context, status=status)


def _key_line(key: ApiKey, membership: Membership, now: datetime) -> KeyLine:
    return KeyLine(
        key,
        key.person.short_name if key.person else "nobody",
        _may(key),
        bool(key.expires_at and key.expires_at <= now),
        key.person_id == membership.person_id,
    )


def _may(key: ApiKey) -> str:
    return ", ".join(words for name, words in MAY.items() if name in key.permissions)


def _holders(keys: list[KeyLine]) -> str:
    names = list(dict.fromkeys(line.holder for line in keys))
    return (_("%(count)s, of %(names)s") % {"count": len(keys), "names": ", ".join(names)}) if keys else "none"


def _key_form(membership: Membership, data: Any = None, agent: Agent | None = None) -> NewKey:
    """An owner issues keys to anybody in the project, everybody else in their own name."""
    holders: Iterable[Person] = ()
    if membership.is_owner:
        in_project = Membership.objects.filter(project=membership.project).select_related("person").order_by("pk")
        holders = [row.person for row in in_project]
    initial = {"holder": membership.person_id, "after": steps.newest_key(membership.project), "agent": agent}
    return NewKey(data, project=membership.project, holders=holders, initial=initial)


@require_POST
@project_page(Role.OWNER)
def create(request: HttpRequest, membership: Membership) -> HttpResponse:
    form = NewAgent(request.POST)
    if not form.is_valid():
        return _page(request, membership, 422, new_agent=form)
    slug = form.cleaned_data["slug"]
    try:
        steps.create(membership.project, slug, by=membership.person, now=timezone.now())
    except steps.AgentExists:
        form.add_error("slug", _("This project has an agent of that name, perhaps an archived one."))
        return _page(request, membership, 422, new_agent=form)
    messages.success(request, (_("%(slug)s is there. It needs a key to be heard.") % {"slug": slug}))
    answer = redirect("review:agents", membership.project.slug)
    answer["Location"] += f"?agent={slug}#issue"
    return answer


@require_POST
@project_page(Role.VIEWER)
def issue(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The answer shows the key, which is stored nowhere: so it is no redirect. Sent again, nothing is issued."""
    form = _key_form(membership, request.POST)
    if not form.is_valid():
        return _page(request, membership, 422, new_key=form)
    given = form.cleaned_data
    holder = membership.person
    if membership.is_owner and given["holder"] != holder.pk:
        holder = Person.objects.get(pk=given["holder"])
    try:
        key, secret = steps.issue(
            given["agent"],
            holder,
            tuple(given["permissions"]),
            form.lifetime_or_none(),
            after=given["after"],
            by=membership.person,
            now=timezone.now(),
        )
    except steps.IssuedAlready:
        return _page(request, membership, 409, problem=ISSUED_ALREADY)
    except steps.HolderLeft:
        if holder.pk == membership.person_id:
            raise Http404 from None
        return _page(request, membership, 409, problem=HOLDER_LEFT)
    return _page(request, membership, issued=show_once(request, key, secret, holder))


@require_POST
@project_page(Role.VIEWER)
def revoke(request: HttpRequest, membership: Membership, pk: int) -> HttpResponse:
    found = ApiKey.objects.filter(project=membership.project, pk=pk).first()
    if found is None:
        raise Http404
    if not membership.is_owner and found.person_id != membership.person_id:
        raise PermissionDenied(_("Only an owner revokes the key of somebody else. You may revoke your own."))
    steps.revoke(found, by=membership.person, now=timezone.now())
    messages.success(
        request,
        (_("The key %(prefix)s… is revoked. Calls with it are refused from now on.") % {"prefix": found.prefix}),
    )
    return redirect("review:agents", membership.project.slug)


@require_POST
@project_page(Role.REVIEWER)
def pause(request: HttpRequest, membership: Membership, agent: str) -> HttpResponse:
    """Pauses the agent, or with `resume` in the form lets it go on."""
    found, now = _find(membership, agent, Q(archived_at=None)), timezone.now()
    if "resume" in request.POST:
        steps.resume(found, by=membership.person, now=now)
        messages.success(request, _("Briefs to %(agent)s go out again.") % {"agent": found.slug})
    else:
        steps.pause(found, by=membership.person, now=now)
        messages.success(request, _("%(agent)s is paused: it is heard, and told nothing.") % {"agent": found.slug})
    return redirect(pauses.back(request, reverse("review:agents", args=[membership.project.slug])))


@require_POST
@project_page(Role.REVIEWER)
def pause_project(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Pauses every brief of the project, or with `resume` in the form lets them go on."""
    if "resume" in request.POST:
        steps.resume_project(membership.project, by=membership.person, now=timezone.now())
        messages.success(request, _("Briefs go out again."))
    else:
        steps.pause_project(membership.project, by=membership.person, now=timezone.now())
        messages.success(request, _("All briefs are paused: every agent is heard, and none is told anything."))
    return redirect(pauses.back(request, reverse("review:agents", args=[membership.project.slug])))


@require_POST
@project_page(Role.OWNER)
def archive(request: HttpRequest, membership: Membership, agent: str) -> HttpResponse:
    """Archives the agent, or with `bring_back` in the form takes that back."""
    found, now = _find(membership, agent, Q()), timezone.now()
    if "bring_back" in request.POST:
        steps.bring_back(found, by=membership.person, now=now)
        messages.success(request, (_("%(slug)s is back, with the keys that were not revoked.") % {"slug": found.slug}))
    else:
        steps.archive(found, by=membership.person, now=now)
        messages.success(
            request, (_("%(slug)s is archived: its keys do not work, what it said stays.") % {"slug": found.slug})
        )
    return redirect("review:agents", membership.project.slug)


def _find(membership: Membership, slug: str, condition: Q) -> Agent:
    found = Agent.objects.filter(condition, project=membership.project, slug=slug).first()
    if found is None:
        raise Http404
    return found
