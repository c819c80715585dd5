"""An earlier version of a memory had back: its wording, who gets it or its end, by a new decision of its own."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from memory.models import Fact, FactChanged, NotAllowed, Status
from projects.models import Role
from review.cards import history
from review.deciding import decisions, second_person
from review.deciding.decisions import BadDecision
from review.pages import forms
from review.pages.access import find_fact, require
from review.pages.together_pages import taken


@require_POST
@login_required
def restore(request: HttpRequest, short_id: str) -> HttpResponse:
    """`version`: the decision after which the memory was so; `what`: text, scope or end; `revision`: as seen."""
    fact, membership = find_fact(request, short_id)
    require(membership, Role.REVIEWER)
    now = timezone.now()
    try:
        verb, form = _asked(fact, request.POST.get("version", ""), request.POST.get("what", ""))
        outcome = decisions.decide(membership, fact, verb, forms.revision(request.POST), form, now)
    except FactChanged as changed:
        return taken(request, membership, changed.fact)
    except (BadDecision, NotAllowed) as problem:
        messages.error(request, str(problem))
    else:
        messages.success(request, _("Restored. %(words)s.") % {"words": outcome.words})
    return redirect("review:fact", fact.short_id)


def _asked(fact: Fact, version: str, what: str) -> tuple[str, dict[str, Any]]:
    """The verb and its form that bring this part of that version back. Raises BadDecision."""
    is_number = version.isascii() and version.isdigit() and len(version) < 19
    state = history.version_of(fact, int(version)) if is_number else None
    if state is None or what not in history.FIELDS:
        raise BadDecision(_("There is no such version of this memory."))
    signed = {"signed_before": state.get("status") == Status.APPROVED}
    if what == history.TEXT:
        words = {"text": state.get("text", "")}
        if fact.is_current and not signed["signed_before"] and second_person.is_order_with(fact, words):
            raise BadDecision(
                _("This wording reads like an instruction and was never approved. Two people decide such words.")
            )
        return "edit", words | signed
    if what == history.END:
        end = state.get("expires_at")
        return "edit", {"expires_at": datetime.fromisoformat(end) if end else None}
    return "rescope", {"everyone": bool(state.get("everyone")), "agent_ids": state.get("agent_ids") or []} | signed
