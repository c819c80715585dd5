"""Two people at one card: the second of two who decided it, and a card put before somebody."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from memory.models import Fact, Status
from projects.models import Agent, Membership, Role
from review.cards import card
from review.cards.word_diff import diff
from review.deciding import assigning, leases
from review.deciding.decisions import REASON_WORDS, BadDecision
from review.notices import outbox
from review.pages import drafts, planted
from review.pages.access import find_fact, require
from review.pages.desk_context import desk_context, is_on_top
from review.pages.meanwhile import since
from review.piles.pile import Pile
from review.templatetags import desk

# What was sent, as the second one reads it beside the card, and what was not counted.
YOURS = {
    "approve": (gettext_lazy("Approve, as it stood."), gettext_lazy("Your approval was not counted.")),
    "edit": (gettext_lazy("Change its words or its end."), gettext_lazy("Your edit was not counted.")),
    "reject": (gettext_lazy("Reject it."), gettext_lazy("Your rejection was not counted.")),
    "rescope": (gettext_lazy("Change who sees it."), gettext_lazy("Your change of who sees it was not counted.")),
    "put_off": (gettext_lazy("Put it off."), gettext_lazy("Putting it off was not counted.")),
    "remove": (gettext_lazy("Withdraw it."), gettext_lazy("Your withdrawal was not counted.")),
    "confirm": (gettext_lazy("Confirm it."), gettext_lazy("Your confirmation was not counted.")),
    "same": (gettext_lazy("Count it as the same thing."), gettext_lazy("Your answer was not counted.")),
    "same_as": (gettext_lazy("Count it as the same thing."), gettext_lazy("Your answer was not counted.")),
    "keep_first": (gettext_lazy("Keep the first."), gettext_lazy("Your answer was not counted.")),
    "keep_second": (gettext_lazy("Keep the second."), gettext_lazy("Your answer was not counted.")),
    "keep_both": (gettext_lazy("Keep both."), gettext_lazy("Your answer was not counted.")),
    "keep_neither": (gettext_lazy("Keep neither."), gettext_lazy("Your answer was not counted.")),
}


def taken(request: HttpRequest, membership: Membership, fact: Fact) -> HttpResponse:
    """409: somebody was first. Shows what they did word by word, and what this person had typed beside it."""
    now = timezone.now()
    project = membership.project
    fact = Fact.objects.select_related(*card_rows()).get(pk=fact.pk)
    # What another one decided opened nothing for this one.
    is_opened = request.POST.get("opened") == "1"
    view = card.build(fact, membership, now, is_opened=is_opened, stays_shut=True)
    then = since(fact, _seen(request, fact), tuple(Agent.objects.filter(project=project)))
    if view.is_shut:
        then = then.without_words()
    leases.leave(project, membership.person)
    yours, lost = YOURS.get(request.POST.get("verb", ""), ("", ""))
    if not lost and request.method == "POST":
        lost = _("Yours was not counted.")
    typed = drafts.typed(request) or drafts.of(request, fact.pk) or {}
    mine = typed.get("text", "").strip()
    context: dict[str, Any] = {
        "section": "review",
        "pile": Pile.of(project, membership.person, now),
        "project": project,
        "membership": membership,
        "can_review": membership.can_review,
        "now": now,
        "taken": view,
        "taken_proposed": desk.ago(fact.first_seen_at, now),
        "then": then,
        "opens": _opens(fact, membership),
        "then_ago": desk.ago(then.last.at, now) if then.last is not None else "",
        "yours": yours,
        "lost": lost,
        "yours_because": REASON_WORDS.get(request.POST.get("reason", ""), ""),
        "yours_note": typed.get("note", ""),
        "typed": diff(fact.text, mine)[1] if mine and mine != fact.text else [],
        "own_words": _own_words(fact) if mine and mine != fact.text else "",
    }
    template = "review/_taken.html" if request.htmx else "review/taken.html"  # type: ignore[attr-defined]
    return render(request, template, context, status=409)


def card_rows() -> tuple[str, ...]:
    """What a card reads of a memory besides its own columns."""
    return ("subject", "project", "proposed_by_agent", "proposed_by", "approved_by", "first_yes_by", "related")


def _opens(fact: Fact, membership: Membership) -> str:
    """Where a quote that is shut here is opened, and that it was is kept."""
    if fact.status == Status.PROPOSED and membership.can_review:
        return f"{reverse('review:pile', args=[membership.project.slug])}?card={fact.short_id}&proof=open"
    return reverse("review:fact", args=[fact.short_id])


def _own_words(fact: Fact) -> str:
    """Where the words this person typed stand in their field again, or "" where nobody can edit it now."""
    if fact.status == Status.APPROVED and not Fact.objects.filter(pk=fact.pk).asking(timezone.now()).exists():
        return f"{reverse('review:fact', args=[fact.short_id])}?panel=edit"
    if fact.status in (Status.PROPOSED, Status.APPROVED):
        return f"{reverse('review:pile', args=[fact.project.slug])}?card={fact.short_id}&panel=edit"
    return ""


def _seen(request: HttpRequest, fact: Fact) -> int | None:
    """The revision of `fact` that this person had in front of them: the form carries those of both memories."""
    about = request.resolver_match.kwargs.get("short_id") if request.resolver_match else None
    names = ("revision",) if about == fact.short_id else ("beside", "other_revision")
    for name in names:
        written = request.POST.get(name, "")
        if written.isascii() and written.isdigit() and len(written) < 10:
            return int(written)
    return None


@require_POST
@login_required
def put_before(request: HttpRequest, short_id: str) -> HttpResponse:
    """Puts the card before somebody, with a note, and tells them at once."""
    try:
        fact, membership = find_fact(request, short_id)
    except Http404:
        if (told := planted.answered(request, short_id, "put_before")) is not None:
            return told
        raise
    require(membership, Role.REVIEWER)
    now = timezone.now()
    chosen, note = request.POST.get("person", ""), request.POST.get("note", "")
    try:
        person_id = int(chosen) if chosen.isascii() and chosen.isdigit() and len(chosen) < 19 else 0
        made = assigning.put_before(membership, fact, person_id, note, now)
    except BadDecision as problem:
        return _asked_again(request, membership, fact, str(problem), note)
    outbox.assigned(made, now)
    leases.end(fact)
    return _next(request, membership, _("Put before %(name)s.") % {"name": made.person.short_name}, None)


@require_POST
@login_required
def take_back(request: HttpRequest, short_id: str) -> HttpResponse:
    """Puts the card before nobody in particular."""
    fact, membership = find_fact(request, short_id)
    require(membership, Role.REVIEWER)
    is_gone = assigning.take_back(membership, fact, timezone.now())
    words = _("Taken back: it is before nobody in particular.") if is_gone else _("It was before nobody already.")
    return _next(request, membership, words, fact)


def _next(request: HttpRequest, membership: Membership, words: str, wanted: Fact | None) -> HttpResponse:
    if request.htmx:  # type: ignore[attr-defined]
        context = desk_context(membership, wanted.pk if wanted else None, at_once=False)
        return render(request, "review/_desk.html", {**context, "announce": words, "said": words})
    messages.success(request, words)
    target = reverse("review:pile", args=[membership.project.slug])
    return redirect(f"{target}?card={wanted.short_id}" if wanted else target)


def _asked_again(request: HttpRequest, membership: Membership, fact: Fact, problem: str, note: str) -> HttpResponse:
    """422: the same panel with what was typed, or the memory's own page where nothing is asked about it."""
    context = desk_context(membership, fact.pk, panel="before", problem=problem, problem_field="person", note=note)
    if not is_on_top(context, fact.pk):
        return taken(request, membership, fact)
    template = "review/_desk.html" if request.htmx else "review/pile.html"  # type: ignore[attr-defined]
    return render(request, template, context, status=422)
