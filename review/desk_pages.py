"""Today's pile, one card at a time. Each decision answers with the next card; without JavaScript it redirects there."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from memory import short_ids
from memory.models import Decision, Fact, FactChanged, NotAllowed, SessionStatus, Verb
from memory.types import table
from projects.models import Membership, Person, Project, Role
from review import card, decisions, forms
from review.access import membership_in, project_page, require
from review.decisions import VERB_WORDS
from review.pile import Pile, decided_today
from review.templatetags import desk
from review.word_diff import diff

YOURS = {
    "approve": "Approve it",
    "edit": "Change its words or its end",
    "reject": "Reject it",
    "rescope": "Change who sees it",
    "put_off": "Put it off",
    "remove": "Withdraw it",
    "confirm": "Confirm it",
    "same": "Count it as the same thing",
    "keep_first": "Keep the first",
    "keep_second": "Keep the second",
    "keep_both": "Keep both",
    "keep_neither": "Keep neither",
}


def find_fact(request: HttpRequest, short_id: str) -> tuple[Fact, Membership]:
    """The memory behind a short id and the reader's membership in its project. Raises Http404 for anything else."""
    pk = short_ids.decode(short_id)
    if pk is None:
        raise Http404
    found = (
        Fact.objects.select_related("subject", "proposed_by_agent", "proposed_by", "approved_by", "project")
        .filter(pk=pk)
        .first()
    )
    if found is None:
        raise Http404
    return found, membership_in(request, found.project_id)


@require_safe
@project_page(Role.VIEWER)
def pile(request: HttpRequest, membership: Membership) -> HttpResponse:
    wanted = short_ids.decode(request.GET.get("card", ""))
    context = desk_context(membership, wanted, panel=request.GET.get("panel", ""))
    gone = None
    if wanted is not None and not _is_on_top(context, wanted):
        gone = Fact.objects.filter(project=membership.project, pk=wanted).first()
    if gone is not None and context["panel"]:
        return _taken(request, membership, gone)
    if gone is not None and not request.htmx:  # type: ignore[attr-defined]
        return redirect("review:fact", gone.short_id)
    return render(request, "review/_desk.html" if request.htmx else "review/pile.html", context)  # type: ignore[attr-defined]


@require_POST
@login_required
def decide(request: HttpRequest, short_id: str) -> HttpResponse:
    fact, membership = find_fact(request, short_id)
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
        return _taken(request, membership, changed.fact)
    except (decisions.BadDecision, NotAllowed) as problem:
        return _refused(request, membership, fact, problem)
    if request.POST.get("back") == "fact":
        messages.success(request, f"{outcome.words}.")
        return _go(request, reverse("review:fact", args=[fact.short_id]))
    stays = outcome.decision.verb in (Verb.EDIT, Verb.RESCOPE)
    if request.htmx:  # type: ignore[attr-defined]
        context = desk_context(membership, fact.pk if stays else None)
        context["announce"] = f"{outcome.words}. {context['pile'].waiting} left. U to undo."
        return render(request, "review/_desk.html", context)
    target = reverse("review:pile", args=[membership.project.slug])
    return redirect(f"{target}?card={fact.short_id}" if stays else target)


@require_POST
@project_page(Role.REVIEWER)
def undo_last(request: HttpRequest, membership: Membership) -> HttpResponse:
    """What U does: takes back this person's newest decision."""
    last = decisions.last_of(membership.person, membership.project, timezone.now())
    if last is None:
        if request.htmx:  # type: ignore[attr-defined]
            context = desk_context(membership, None)
            context["announce"] = "There is nothing to undo."
            return render(request, "review/_desk.html", context)
        messages.info(request, "There is nothing to undo.")
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
        outcome = decisions.undo(membership, decision, timezone.now())
    except FactChanged as changed:
        return _taken(request, membership, changed.fact)
    except NotAllowed as problem:
        return _refused(request, membership, decision.fact, problem)
    if request.POST.get("back") == "fact":
        messages.success(request, f"{outcome.words}.")
        return _go(request, reverse("review:fact", args=[outcome.fact.short_id]))
    if request.htmx:  # type: ignore[attr-defined]
        context = desk_context(membership, outcome.fact.pk)
        context["announce"] = f"{outcome.words}."
        return render(request, "review/_desk.html", context)
    return redirect(f"{reverse('review:pile', args=[membership.project.slug])}?card={outcome.fact.short_id}")


def desk_context(membership: Membership, wanted: int | None, panel: str = "", **extra: Any) -> dict[str, Any]:
    """What the desk shows: the pile line, the last decision, the card and its bar. `panel`: edit, reject or scope."""
    now = timezone.now()
    project, person = membership.project, membership.person
    today = Pile.of(project, person, now, wanted)
    last = decisions.last_of(person, project, now)
    view = card.build(today.card, membership, now) if today.card else None
    return {
        "section": "review",
        "pile": today,
        "last": last,
        "last_words": VERB_WORDS.get(last.verb, "Decided") if last else "",
        "card": view,
        "here": f"{reverse('review:pile', args=[project.slug])}?card={today.card.short_id}&" if today.card else "",
        "proposed_when": desk.ago(today.card.first_seen_at, now) if today.card else "",
        "state": "" if view else _state(project, today, now),
        **({} if view else _tally(project, person, now)),
        "panel": panel if panel in ("edit", "reject", "scope") else "",
        "reasons": decisions.REASONS,
        "types": _types(project, today.card) if today.card and panel == "edit" else [],
        "can_review": membership.can_review,
        "project": project,
        "membership": membership,
        "now": now,
        **extra,
    }


def _types(project: Project, fact: Fact) -> list[tuple[str, str]]:
    """What a memory may be called, with its words; its own stands there even when the project has no such type."""
    rows = {row.name: row.words for row in table(project.types).values()}
    rows.setdefault(fact.type, fact.type.replace("_", " "))
    return sorted(rows.items(), key=lambda one: one[1])


def _is_on_top(context: dict[str, Any], wanted: int) -> bool:
    """Whether the desk shows the card that was asked for: a form must never open on another one in its place."""
    return context["card"] is not None and context["card"].fact.pk == wanted


def _state(project: Project, today: Pile, now: datetime) -> str:
    """Why the desk is empty: the first of these that is so."""
    if today.done:
        return "done"
    if not project.agents.exists():
        return "nothing_connected"
    if not project.sessions.exists():
        return "not_heard"
    if project.sessions.exclude(status__in=[SessionStatus.DISTILLED, SessionStatus.FAILED]).exists():
        return "talking"
    return "all_decided" if Fact.objects.filter(project=project).exists() else "nothing_kept"


def _tally(project: Project, person: Person, now: datetime) -> dict[str, Any]:
    """This person's day in numbers: `14 approved, 2 rejected.`, how many agents start with, and when it ended."""
    words = {
        Verb.APPROVE: "approved",
        Verb.RECONFIRM: "confirmed",
        Verb.MERGE: "merged",
        Verb.REJECT: "rejected",
        Verb.REMOVE: "withdrawn",
        Verb.PUT_OFF: "put off",
    }
    decided = list(decided_today(project, person, now).values_list("verb", "at"))
    counts = Counter(verb for verb, _ in decided)
    return {
        "tally": ", ".join(f"{counts[verb]} {word}" for verb, word in words.items() if counts[verb]) + ".",
        "approved_today": counts[Verb.APPROVE],
        "last_decided": max((at for _, at in decided), default=None),
    }


def _taken(request: HttpRequest, membership: Membership, fact: Fact) -> HttpResponse:
    """409: somebody was first. Shows what they did, word by word."""
    now = timezone.now()
    last = fact.decisions.select_related("person").order_by("-pk").first()
    before, after = diff(last.before.get("text", fact.text), fact.text) if last else ([], [])
    context = {
        **desk_context(membership, None),
        "taken": card.build(fact, membership, now),
        "taken_proposed": desk.ago(fact.first_seen_at, now),
        "yours": YOURS.get(request.POST.get("verb", ""), ""),
        "typed": request.POST.get("text", ""),
        "theirs": last,
        "theirs_words": f"{VERB_WORDS.get(last.verb, 'Changed')}." if last else "",
        "theirs_when": desk.ago(last.at, now) if last else "",
        "before": before,
        "after": after,
        "text_changed": bool(last and "text" in last.before and last.before["text"] != fact.text),
    }
    template = "review/_taken.html" if request.htmx else "review/taken.html"  # type: ignore[attr-defined]
    return render(request, template, context, status=409)


def _refused(request: HttpRequest, membership: Membership, fact: Fact, problem: Exception) -> HttpResponse:
    """422 with the message beside the field and everything that was typed; on a memory's own page, there."""
    if request.POST.get("back") == "fact":
        messages.error(request, str(problem))
        return _go(request, reverse("review:fact", args=[fact.short_id]))
    panels = {"text": "edit", "expires_on": "edit", "reason": "reject", "scope": "scope"}
    field = getattr(problem, "field", "")
    context = desk_context(
        membership,
        fact.pk,
        panel=panels.get(field, ""),
        problem=str(problem),
        problem_field=field,
        typed=request.POST.get("text", ""),
    )
    if context["panel"] and not _is_on_top(context, fact.pk):
        return _taken(request, membership, fact)
    template = "review/_desk.html" if request.htmx else "review/pile.html"  # type: ignore[attr-defined]
    return render(request, template, context, status=422)


def _go(request: HttpRequest, target: str) -> HttpResponse:
    """Sends the browser to `target`, also when htmx asked."""
    if request.htmx:  # type: ignore[attr-defined]
        answer = HttpResponse(status=200)
        answer["HX-Redirect"] = target
        return answer
    return redirect(target)
