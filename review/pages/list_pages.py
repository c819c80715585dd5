"""Today's pile as a list: tick what is plain, approve it in one act; what needs its own card says why."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from memory import short_ids
from projects.models import Membership, Role
from review.deciding import batches, decisions, undoing
from review.deciding.decisions import DONE_WORDS
from review.pages import planted
from review.pages.access import project_page
from review.pages.done_context import done_context
from review.piles.lines import lines_of, staying
from review.piles.pile import Pile


def list_context(membership: Membership, **extra: Any) -> dict[str, Any]:
    """What the desk shows as a list: the pile line, the lines, the bar; the end screen when none is left."""
    now = timezone.now()
    project, person = membership.project, membership.person
    plant, today = planted.on_desk(membership, Pile.of(project, person, now), None, now)
    lines = lines_of(project, today.left, plant.as_line if plant else None)
    last = undoing.last_of(person, project, now)
    return {
        "section": "review",
        "is_list": True,
        "pile": today,
        "waiting_count": today.waiting,
        "lines": lines,
        "ticked": sum(line.may_tick for line in lines),
        "staying": staying(lines),
        "reasons": decisions.REASONS,
        "last": last,
        "last_words": DONE_WORDS.get(last.verb, _("Decided")) if last else "",
        **({} if lines else done_context(membership, today, now)),
        "can_review": membership.can_review,
        "project": project,
        "membership": membership,
        "now": now,
        **extra,
    }


@require_POST
@project_page(Role.REVIEWER)
def decide_ticked(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Approves, or with a reason rejects, what is ticked: one act, which one undo takes back. What could not be is
    named with its reason."""
    items, reason = _items(request.POST), request.POST.get("reason", "")
    problem, words = "", ""
    now = timezone.now()
    plant = planted.due(membership, None, now) if items else None
    plant = plant if plant is not None and any(pk == plant.fact.pk for pk, _seen in items) else None
    real = [(pk, seen) for pk, seen in items if plant is None or pk != plant.fact.pk]
    told: dict[str, Any] = {}
    if not items:
        problem = _("Nothing is ticked. Tick at least one line, then approve.")
    else:
        plain = items if reason else _plain(membership, real, plant)
        try:
            if reason and real:
                words = str(batches.reject_all(membership, real, reason, now))
            elif real:
                words = str(batches.approve_all(membership, [item for item in plain if item in real], now))
        except decisions.BadDecision as refused:
            problem = str(refused)
        if plant is not None and not problem and any(pk == plant.fact.pk for pk, _seen in plain):
            told = planted.told_of_many(membership, plant, "reject" if reason else "approve", reason)
            # The last real decision is not what U would be pressed for now.
            told |= {} if real else {"last": None}
    status = 422 if problem else 200
    if request.htmx:  # type: ignore[attr-defined]
        said = problem or ". ".join(part for part in (words, told.get("told", "")) if part)
        announced = said if said.endswith(".") else f"{said}."
        context = list_context(membership, problem=problem, result=words, announce=announced, **told)
        return render(request, "review/_desk.html", context, status=status)
    if problem:
        return render(request, "review/pile.html", list_context(membership, problem=problem), status=status)
    if words:
        messages.success(request, f"{words}.")
    if told:
        messages.info(request, told["told"])
    return redirect(reverse("review:pile", args=[membership.project.slug]) + "?as=list")


def _items(sent: QueryDict) -> list[tuple[int, int]]:
    """(fact id, revision seen) of each tick: `fact=<short id>:<revision>`. What is no such pair is passed over."""
    items = []
    for one in sent.getlist("fact")[: batches.CAP]:
        short_id, _colon, revision = one.partition(":")
        pk = short_ids.decode(short_id)
        if pk is not None and revision.isascii() and revision.isdigit() and len(revision) < 10:
            items.append((pk, int(revision)))
    return items


def _plain(
    membership: Membership, items: list[tuple[int, int]], plant: planted.Planted | None
) -> list[tuple[int, int]]:
    """Without what may not be ticked, whatever the form said: a forged or an old page approves no risky line."""
    lines = lines_of(membership.project, [pk for pk, _seen in items], plant.as_line if plant else None)
    plain = {line.fact.pk for line in lines if line.may_tick}
    asked = [*items, (plant.fact.pk, plant.fact.revision)] if plant else items
    return [item for item in asked if item[0] in plain]
