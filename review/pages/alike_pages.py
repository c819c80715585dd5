"""Rejecting what came from the same page or session as a risky memory, all at once."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from memory.models import Fact, NotAllowed
from projects.models import Role
from review.cards.risk import risk_of
from review.deciding import batches
from review.deciding.decisions import BadDecision
from review.pages import planted
from review.pages.access import require
from review.pages.desk_context import desk_context


@require_POST
@login_required
def reject_alike(request: HttpRequest, short_id: str) -> HttpResponse:
    """Rejects what the form says was seen (`seen=id:revision`), each for itself; one undo takes all of it back."""
    now = timezone.now()
    fact, membership, plant = planted.find_shown(request, short_id, now)
    require(membership, Role.REVIEWER)
    risk = risk_of(fact, plant.quotes if plant else None)
    reason = "instruction" if risk is not None and risk.is_instruction else "not_ours"
    seen = _seen(request, fact)
    if plant:
        # The others are real and are rejected; of this one it is told what it was.
        told = planted.answer(membership, plant.item, "reject", reason)
        rest = [(pk, revision) for pk, revision in seen if pk != fact.pk]
        if rest:
            batches.reject_all(membership, rest, reason, now)
        return planted.tell(request, membership, told)
    try:
        words = batches.reject_all(membership, seen, reason, now).words
    except (BadDecision, NotAllowed) as problem:
        words = str(problem)
    if request.htmx:  # type: ignore[attr-defined]
        context = desk_context(membership, None, at_once=False)
        context["announce"] = _("%(what)s. U to undo.") % {"what": words}
        return render(request, "review/_desk.html", context)
    messages.info(request, f"{words}.")
    return redirect("review:pile", membership.project.slug)


def _seen(request: HttpRequest, fact: Fact) -> list[tuple[int, int]]:
    """What the form names, as numbers; what is none is passed over, as is what is not of this project."""
    pairs = []
    for written in request.POST.getlist("seen")[: batches.CAP]:
        pk, _colon, revision = written.partition(":")
        if pk.isascii() and pk.isdigit() and revision.isascii() and revision.isdigit() and len(written) < 30:
            pairs.append((int(pk), int(revision)))
    return pairs
