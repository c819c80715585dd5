"""One memory's page: the card without its bar, who gets it, who got it, what happened to it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from memory.models import BriefServed, Decision, Fact, Status
from memory.served import briefs_with
from projects import audit
from projects.models import Agent, Membership
from review.cards import card
from review.cards.pieces import Piece
from review.cards.proof import ON_PAGE
from review.cards.word_diff import diff
from review.deciding import decisions
from review.deciding.decisions import VERB_WORDS
from review.pages import drafts, forms
from review.pages.access import find_fact
from review.templatetags import desk

# Of the times that something refused was learned again, the last ones.
SHOWN_AGAIN = 20


@dataclass(frozen=True)
class Step:
    """One line of a memory's history."""

    decision: Decision
    words: str
    before: list[Piece]
    after: list[Piece]
    can_undo: bool
    reason: str

    @property
    def lost_words(self) -> bool:
        """Whether the sentence before says something that the one after does not."""
        return any(mark == "gone" for mark, _ in self.before)


@require_safe
@login_required
def fact(request: HttpRequest, short_id: str) -> HttpResponse:
    found, membership = find_fact(request, short_id)
    now = timezone.now()
    audit.record(
        "fact.open", membership.person, project_id=found.project_id, object_kind="fact", object_ids=[found.pk], now=now
    )
    view = card.build(found, membership, now, ON_PAGE)
    context = {
        "section": "memory",
        "card": view,
        "fact": found,
        "steps": history(found, membership),
        "who_gets_it": [(agent, _gate(found, agent, now)) for agent in view.agents],
        "who_got_it": _served(found),
        "came_again": list(found.suppressions.select_related("session").order_by("-pk")[:SHOWN_AGAIN]),
        "briefs": briefs_with(found),
        "can_review": membership.can_review,
        "reasons": decisions.REASONS,
        "here": f"{request.path}?",
        "proposed_when": desk.ago(found.first_seen_at, now),
        "signed_when": desk.clock(found.approved_at),
        **_ended(found),
        "is_waiting": found.status == Status.PROPOSED,
        "is_live": found.is_current and (found.expires_at is None or found.expires_at > now),
        "panel": request.GET.get("panel", ""),
        "typed_in": forms.edit_values(found, drafts.of(request, found.pk)),
        "author": drafts.author(membership.person),
        "now": now,
    }
    return render(request, "review/fact.html", context)


def _ended(found: Fact) -> dict[str, Any]:
    """Who ended a memory that is neither waiting nor approved, and when: their name stands on the second line."""
    if found.status in (Status.PROPOSED, Status.APPROVED):
        return {"ended": None}
    last = found.decisions.select_related("person").order_by("-pk").first()
    return {"ended": last, "ended_when": desk.clock(last.at) if last else ""}


def history(found: Fact, membership: Membership) -> list[Step]:
    """What happened to this memory, newest first; only the newest standing decision can be undone."""
    steps = list(found.decisions.select_related("person", "undone_by").order_by("-pk"))
    newest = next((step.pk for step in steps if step.revision_after == found.revision), None)
    result = []
    for step in steps:
        before, after = (
            diff(step.before.get("text") or "", step.after.get("text") or "")
            if "text" in step.before and "text" in step.after
            else ([], [])
        )
        undoable = (
            membership.can_review
            and step.pk == newest
            and step.verb not in ("propose", "create", "undo")
            and not hasattr(step, "undone_by")
        )
        result.append(
            Step(
                step,
                VERB_WORDS.get(step.verb, step.verb),
                before,
                after,
                undoable,
                decisions.REASON_WORDS.get(step.reason, ""),
            )
        )
    return result


def _gate(found: Fact, agent: Agent, now: datetime) -> str:
    """ "" when the agent may receive it now, else the first reason why not."""
    if Fact.objects.visible_to(agent, now).filter(pk=found.pk).exists():
        return ""
    if found.status != Status.APPROVED:
        return f"it is {desk.state_words(found).lower()}"
    if found.expires_at is not None and found.expires_at <= now:
        return "it has expired"
    if agent.paused_at or agent.project.paused_at:
        return "briefs are paused"
    if found.subject.frozen_at:
        return "the subject is frozen"
    if not found.everyone and agent.pk not in found.agent_ids:
        return "it goes to other agents only"
    return "this agent has a value of its own"


def _served(found: Fact) -> QuerySet[BriefServed]:
    return (
        BriefServed.objects.filter(project_id=found.project_id, fact_ids__contains=[found.pk], unchanged=False)
        .select_related("agent", "session")
        .order_by("-pk")[:10]
    )
