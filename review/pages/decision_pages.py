"""Deciding: one POST, one decision, the next card in the answer; and taking back. Without JavaScript it redirects."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from memory import reads, short_ids
from memory.models import Decision, Fact, FactChanged, NotAllowed, Verb
from projects.models import Membership, Role
from projects.prepared import Statement, asked_ahead
from review.deciding import decisions, undoing
from review.deciding.answers import ANSWERS
from review.deciding.decisions import COUNTERSIGNS
from review.pages import drafts, forms, planted
from review.pages.access import find_fact, membership_in, project_page, require
from review.pages.desk_context import desk_context, is_on_top
from review.pages.draft_pages import keeps_words
from review.pages.together_pages import taken

# Where a list's own undo returns to.
BACK = {"memory": "review:memory", "decided": "review:decided"}
# Where the message about a field of the form stands.
PANEL_OF = {
    "text": "edit",
    "expires_on": "edit",
    "reason": "reject",
    "note": "note",
    "scope": "scope",
    "until": "later",
    "other": "same",
    "person": "before",
}


@require_POST
@keeps_words
def decide(request: HttpRequest, short_id: str) -> HttpResponse:
    asked = _asked(short_ids.decode(short_id), request.POST.get("verb", ""))
    with asked_ahead(Fact.objects.db, asked):
        return _decide(request, short_id)


def _asked(pk: int | None, verb: str) -> list[Statement]:
    """The memory and, where it may be countersigned, its quotes: waited for once."""
    if pk is None:
        return []
    quotes = [reads.QUOTES.asked(fact=pk)] if verb in COUNTERSIGNS else []
    return [reads.FACT.asked(fact=pk), *quotes]


def _decide(request: HttpRequest, short_id: str) -> HttpResponse:
    try:
        fact, membership = find_fact(request, short_id, joined=())
    except Http404:
        # No memory has this id: perhaps a planted card has.
        if (told := planted.answered(request, short_id)) is not None:
            return told
        raise
    require(membership, Role.REVIEWER)
    now = timezone.now()
    try:
        outcome = decisions.decide(
            membership,
            fact,
            request.POST.get("verb", ""),
            forms.revision(request.POST),
            forms.decision_form(request.POST, fact, membership.project, now),
            now,
        )
    except FactChanged as changed:
        drafts.keep(request, short_id)
        return taken(request, membership, changed.fact)
    except (decisions.BadDecision, NotAllowed) as problem:
        return _refused(request, membership, fact, problem)
    drafts.drop(request, fact.pk)
    if request.POST.get("back") == "fact":
        messages.success(request, f"{outcome.words}.")
        return _go(request, reverse("review:fact", args=[fact.short_id]))
    stays = outcome.decision.verb in (Verb.EDIT, Verb.RESCOPE)
    if request.htmx:  # type: ignore[attr-defined]
        opened = request.POST.get("opened") == "1"
        # An answer about two memories may be several decisions; else this one is what U takes back.
        last: dict[str, Any] = {} if request.POST.get("verb") in ANSWERS else {"last": outcome.decision}
        context = desk_context(membership, fact.pk if stays else None, opened=opened, at_once=False, **last)
        context["announce"] = _announced(membership, outcome.words, context["pile"].waiting)
        return render(request, "review/_desk.html", context)
    target = reverse("review:pile", args=[membership.project.slug])
    return redirect(f"{target}?card={fact.short_id}" if stays else target)


@require_POST
@project_page(Role.REVIEWER)
def undo_last(request: HttpRequest, membership: Membership) -> HttpResponse:
    """What U does: takes back this person's newest decision."""
    last = undoing.last_of(membership.person, membership.project, timezone.now())
    if last is None:
        if request.htmx:  # type: ignore[attr-defined]
            context = desk_context(membership, None, at_once=False)
            context["announce"] = _("There is nothing to undo.")
            return render(request, "review/_desk.html", context)
        messages.info(request, _("There is nothing to undo."))
        return redirect("review:pile", membership.project.slug)
    return _undo(request, membership, last)


@require_POST
@login_required
def undo(request: HttpRequest, pk: int) -> HttpResponse:
    decision = Decision.objects.select_related("fact__subject", "fact__project").filter(pk=pk).first()
    if decision is None:
        raise Http404
    membership = membership_in(request, decision.project_id)
    require(membership, Role.REVIEWER)
    return _undo(request, membership, decision)


def _undo(request: HttpRequest, membership: Membership, decision: Decision) -> HttpResponse:
    try:
        outcome = undoing.undo(membership, decision, timezone.now())
    except FactChanged as changed:
        return taken(request, membership, changed.fact)
    except NotAllowed as problem:
        return _refused(request, membership, decision.fact, problem)
    if request.POST.get("back") == "fact":
        messages.success(request, f"{outcome.words}.")
        return _go(request, reverse("review:fact", args=[outcome.fact.short_id]))
    if request.POST.get("back") in BACK:
        messages.success(request, f"{outcome.words}.")
        return _go(request, reverse(BACK[request.POST["back"]], args=[membership.project.slug]))
    if request.htmx:  # type: ignore[attr-defined]
        context = desk_context(membership, outcome.fact.pk, at_once=False)
        context["announce"] = f"{outcome.words}."
        return render(request, "review/_desk.html", context)
    return redirect(f"{reverse('review:pile', args=[membership.project.slug])}?card={outcome.fact.short_id}")


def _refused(request: HttpRequest, membership: Membership, fact: Fact, problem: Exception) -> HttpResponse:
    """422 with the message beside the field and everything that was typed; on a memory's own page, there."""
    field = getattr(problem, "field", "")
    if request.POST.get("back") == "fact":
        messages.error(request, str(problem))
        opened = f"?panel={PANEL_OF.get(field, 'edit')}" if drafts.keep(request, fact.short_id) else ""
        return _go(request, f"{reverse('review:fact', args=[fact.short_id])}{opened}")
    if request.POST.get("back") in BACK:
        messages.error(request, str(problem))
        return _go(request, reverse(BACK[request.POST["back"]], args=[membership.project.slug]))
    context = desk_context(
        membership,
        fact.pk,
        panel=PANEL_OF.get(field, "") or _panel_typed_in(request),
        kept=drafts.typed(request) | {name: request.POST[name] for name in ("on",) if name in request.POST},
        problem=str(problem),
        problem_field=field,
        opened=request.POST.get("opened") == "1",
    )
    if (context["panel"] or _panel_typed_in(request)) and not is_on_top(context, fact.pk):
        return taken(request, membership, fact)
    template = "review/_desk.html" if request.htmx else "review/pile.html"  # type: ignore[attr-defined]
    return render(request, template, context, status=422)


def _panel_typed_in(request: HttpRequest) -> str:
    """The panel that holds what was typed: a refusal that is about no field must not shut it."""
    kept = drafts.typed(request)
    return "edit" if "text" in kept else "note" if "note" in kept else ""


def _announced(membership: Membership, words: str, left: int) -> str:
    """`Approved. 41 left. U to undo.`, the key only to whom keys are on."""
    said = _("%(decision)s. %(count)s left.") % {"decision": words, "count": left}
    return said if membership.person.keys_off else f"{said} {_('U to undo.')}"


def _go(request: HttpRequest, target: str) -> HttpResponse:
    """Sends the browser to `target`, also when htmx asked."""
    if request.htmx:  # type: ignore[attr-defined]
        answer = HttpResponse(status=200)
        answer["HX-Redirect"] = target
        return answer
    return redirect(target)
