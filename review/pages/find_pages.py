"""Find anything: what was pasted or typed, looked for in everything its reader may see.

It travels by POST: a pasted sentence may be about a person, and an address ends up in logs and histories.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from memory import short_ids
from memory.models import Fact, Subject
from projects import audit
from projects.models import Agent, Membership
from review.cards.card import goes_to
from review.finding import anything
from review.finding.anything import Found
from review.finding.asked import asked
from review.finding.facts import Hit
from review.pages import planted
from review.templatetags import desk


@dataclass(frozen=True)
class Line:
    """One result: a link, and what is known of it in a few words. `said` explains why it is here, with agent text in
    `quoted`."""

    title: str
    address: str
    facts: tuple[str, ...] = ()
    said: str = ""
    quoted: str = ""
    is_live: bool = False


@dataclass(frozen=True)
class Group:
    name: str
    lines: tuple[Line, ...]


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def find(request: HttpRequest) -> HttpResponse:
    memberships: list[Membership] = request.memberships  # type: ignore[attr-defined]
    wanted = asked(request.POST.get("q", ""))
    now = timezone.now()
    found = anything.find(memberships, wanted, now)
    found = replace(found, facts=(*planted.found_by(memberships, wanted, now), *found.facts))
    _note(memberships, found, now)
    context = {
        "section": "find",
        "query": wanted.shown,
        "was_asked": request.method == "POST" and not wanted.is_empty,
        "groups": _groups(found, memberships),
        "example": _("- [f-2k81hd] Refunds above 200 EUR need a manager’s release. (9 sessions)"),
    }
    return render(request, "review/find.html", context)


def _note(memberships: Sequence[Membership], found: Found, now: datetime) -> None:
    """One row for each project that something was shown of."""
    for membership in memberships:
        ids = [hit.fact.pk for hit in (*found.facts, *found.alike) if hit.fact.project_id == membership.project_id]
        if ids:
            audit.record(
                "fact.find",
                membership.person,
                project_id=membership.project_id,
                object_kind="fact",
                object_ids=ids,
                now=now,
            )


def _groups(found: Found, memberships: Sequence[Membership]) -> list[Group]:
    is_one = len(memberships) == 1
    agents: dict[int, list[Agent]] = {}
    shown = {hit.fact.project_id for hit in (*found.facts, *found.alike)}
    for agent in Agent.objects.filter(project__in=shown, archived_at__isnull=True) if shown else ():
        agents.setdefault(agent.project_id, []).append(agent)

    def memories(hits: Sequence[Hit]) -> tuple[Line, ...]:
        return tuple(_memory(hit, agents.get(hit.fact.project_id, []), found.briefs or {}, is_one) for hit in hits)

    groups = [
        Group(_("Memories"), memories(found.facts)),
        Group(_("Memories that read alike"), memories(found.alike)),
        Group(
            _("Briefs"),
            tuple(
                Line(short_ids.encode(brief.pk, "b"), _at("brief", brief.pk, "b"), _for(brief.agent, brief.at, is_one))
                for brief in found.served
            ),
        ),
        Group(_("Subjects"), tuple(_subject(one, is_one) for one in found.subjects)),
        Group(
            _("Sessions"),
            tuple(
                Line(one.external_id, _at("session", one.pk, "s"), _for(one.agent, one.last_seen_at, is_one))
                for one in found.sessions
            ),
        ),
        Group(_("Agents and keys"), tuple(_keeper(agent) for agent in found.agents)),
        Group(
            _("Keys"),
            tuple(
                Line(
                    f"{key.prefix}…",
                    reverse("review:agents", args=[key.project.slug]),
                    (
                        key.agent.slug,
                        key.person.short_name if key.person else _("nobody"),
                        _("revoked") if key.revoked_at else _("works"),
                        key.project.name,
                    ),
                )
                for key in found.keys
            ),
        ),
    ]
    return [group for group in groups if group.lines]


def _memory(hit: Hit, agents: list[Agent], briefs: dict[int, int], is_one: bool) -> Line:
    fact = hit.fact
    count = briefs.get(fact.pk, 0)
    words = [
        str(desk.state_words(fact)) if hit.is_live or fact.status != "approved" else _("Expired"),
        _("goes to %(agents)s") % {"agents": goes_to(fact, tuple(agents))},
        ngettext("in %(count)d brief", "in %(count)d briefs", count) % {"count": count} if count else _("in no brief"),
        desk.subject_words(fact),
    ]
    said, quoted = "", ""
    if hit.instead_of is not None:
        said, quoted = _("Took the place of"), hit.instead_of.text
    elif hit.was:
        said, quoted = _("Was told as"), hit.was
    return Line(fact.text, address_of(fact), _with(words, fact.project.name, is_one), said, quoted, hit.is_live)


def address_of(fact: Fact) -> str:
    return reverse("review:fact", args=[fact.short_id])


def _subject(subject: Subject, is_one: bool) -> Line:
    address = reverse("review:subject", args=[subject.project.slug, short_ids.encode(subject.pk, "c")])
    return Line(subject.words, address, _with([str(subject)], subject.project.name, is_one))


def _keeper(agent: Agent) -> Line:
    state = _("archived") if agent.archived_at else _("paused") if agent.paused_at else _("connected")
    return Line(agent.slug, reverse("review:agents", args=[agent.project.slug]), (state, agent.project.name))


def _at(name: str, pk: int, prefix: str) -> str:
    return reverse(f"review:{name}", args=[short_ids.encode(pk, prefix)])


def _for(agent: Agent, at: datetime, is_one: bool) -> tuple[str, ...]:
    return _with([agent.slug, desk.clock(at)], agent.project.name, is_one)


def _with(words: list[str], project: str, is_one: bool) -> tuple[str, ...]:
    return tuple(words) if is_one else (*words, project)
