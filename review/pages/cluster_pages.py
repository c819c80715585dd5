"""The answer about near-duplicates on one card. Without JavaScript it redirects."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from memory import short_ids
from memory.models import FactChanged, NotAllowed
from projects.models import Role
from review.deciding import clusters
from review.deciding.decisions import BadDecision
from review.pages.access import find_fact, require
from review.pages.desk_context import desk_context
from review.pages.together_pages import taken


@require_POST
@login_required
def decide(request: HttpRequest, short_id: str) -> HttpResponse:
    """`how` (with a reason behind a colon), `kept` and `tick`s, each an id and the revision seen: `f-….3`."""
    fact, membership = find_fact(request, short_id)
    require(membership, Role.REVIEWER)
    now = timezone.now()
    how, _colon, reason = request.POST.get("how", "").partition(":")
    try:
        kept = _seen(request.POST.get("kept", ""))
        items = [_seen(written) for written in request.POST.getlist("tick")]
        result = clusters.answer(membership, how, kept, items, now, reason)
        if not result.done:
            raise BadDecision(_("Nothing was changed: %(words)s.") % {"words": result.words})
    except FactChanged as changed:
        return taken(request, membership, changed.fact)
    except (BadDecision, NotAllowed) as problem:
        context: dict[str, Any] = desk_context(membership, fact.pk, problem=str(problem))
        context["unticked"] = set(request.POST.getlist("shown")) - set(request.POST.getlist("tick"))
        template = "review/_desk.html" if request.htmx else "review/pile.html"  # type: ignore[attr-defined]
        return render(request, template, context, status=422)
    if request.htmx:  # type: ignore[attr-defined]
        context = desk_context(membership, None, at_once=False)
        context["result"] = result.words
        left = _("%(count)d left. U to undo.") % {"count": context["pile"].waiting}
        context["announce"] = f"{result.words}. {left}"
        return render(request, "review/_desk.html", context)
    messages.success(request, f"{result.words}.")
    return redirect(reverse("review:pile", args=[membership.project.slug]))


def _seen(written: str) -> tuple[int, int]:
    """Id and revision, as a tick sends them. Raises BadDecision for anything else."""
    short_id, _dot, revision = written.partition(".")
    pk = short_ids.decode(short_id)
    if pk is None or not (revision.isascii() and revision.isdigit() and len(revision) < 9):
        raise BadDecision(_("This form is incomplete. Reload the page and decide again."))
    return pk, int(revision)
