"""Deciding many from the list: those that are ticked, or all that the view shows; each act has one undo.

"All in this view" means the filter run anew, and of that only what was there when the page was shown: a fence (the
newest memory then) and a moment. What somebody decided since is left and named.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from memory import rendering, short_ids
from memory.models import Decision, FactChanged, NotAllowed
from memory.models.lifetimes import reachable
from projects.models import Membership, Role
from review.deciding import batches
from review.deciding.batches import CAP, BatchResult
from review.deciding.decisions import BadDecision
from review.pages import memory_filters
from review.pages.access import project_page
from review.pages.memory_pages import COUNT_CAP, list_context

LATER_DAYS = {"tomorrow": 1, "week": 7}
# What a form that goes on says again.
_SAID = ("do", "note", "scope", "agent", "expires_on", "no_end", "shown_at", "all", "total")


@require_POST
@project_page(Role.REVIEWER)
def decide(request: HttpRequest, membership: Membership) -> HttpResponse:
    now = timezone.now()
    form = request.POST
    back = f"{reverse('review:memory', args=[membership.project.slug])}?{memory_filters.kept(request).urlencode()}"
    try:
        items, rest = _all_shown(request, membership, now) if form.get("all") else (ticked(form.getlist("tick")), 0)
        if not items:
            raise BadDecision(_("Tick at least one memory."))
        result = _act(membership, form, items, now)
    except (BadDecision, NotAllowed, FactChanged) as problem:
        context = list_context(request, membership, now, set(form.getlist("tick")), str(problem))
        return render(request, "review/memory.html", context, status=422)
    if rest:
        return render(request, "review/bulk.html", _progress(request, membership, items, result, rest, back))
    (messages.success if result.done else messages.warning)(request, f"{result.words}.")
    joint = "" if back.endswith("?") else "&"
    return redirect(f"{back}{joint}{urlencode({'done': result.batch})}" if result.done else back)


def _act(membership: Membership, form: QueryDict, items: batches.Items, now: datetime) -> BatchResult:
    """Carries out what the pressed button says: a verb, with its reason or its day behind a colon."""
    verb, _colon, how = form.get("do", "").partition(":")
    note = rendering.clean_line(form.get("note", ""))
    if verb == "approve":
        return batches.approve_all(membership, items, now)
    if verb == "reject":
        return batches.reject_all(membership, items, how, now, note)
    if verb == "remove":
        return batches.remove_all(membership, items, how, now, note)
    if verb == "put_off":
        return batches.put_off_all(membership, items, _later(how, now), now)
    if verb == "rescope":
        everyone = "everyone" in form.getlist("scope")
        chosen = [int(pk) for pk in form.getlist("agent") if pk.isascii() and pk.isdigit() and len(pk) < 19]
        if everyone and chosen:
            raise BadDecision(
                _("Everyone and some agents are ticked. Tick everyone, or only those who get them."), "scope"
            )
        return batches.rescope_all(membership, items, everyone, chosen, now)
    if verb == "lifetime":
        return batches.lifetime_all(membership, items, _end(form, membership, now), now)
    raise BadDecision(_("Choose what to do with them."))


def ticked(sent: Sequence[str]) -> batches.Items:
    """(memory, the revision that was seen) of each tick, `f-….3`; what is no such pair is passed over."""
    items = {}
    for written in sent:
        short_id, _dot, revision = written.partition(".")
        pk = short_ids.decode(short_id)
        if pk is not None and revision.isascii() and revision.isdigit() and len(revision) < 9:
            items[pk] = int(revision)
    return list(items.items())


def _all_shown(request: HttpRequest, membership: Membership, now: datetime) -> tuple[batches.Items, int]:
    """The next 200 of all that this view showed, the newest first, and how many are left after them."""
    form = request.POST
    shown_at = _moment(form.get("shown_at", ""))
    fence = form.get("fence", "")
    if shown_at is None or not (fence.isascii() and fence.isdigit() and len(fence) < 19):
        raise BadDecision(_("This form is incomplete. Reload the page and decide again."))
    # What the clock or an agent brought into the view since was not on the page either.
    found = memory_filters.viewed(request, membership, min(shown_at, now)).filter(pk__lte=int(fence)).order_by("-pk")
    rows = list(found.values_list("pk", "revision", "last_seen_at")[: COUNT_CAP + 1])
    if len(rows) > COUNT_CAP:
        raise BadDecision(
            _("More than %(most)s are in this view. Narrow it by a filter, or tick what you mean.")
            % {"most": f"{COUNT_CAP:,}"}
        )
    now_first = [(pk, revision) for pk, revision, _seen in rows[:CAP]]
    # Whoever was faster is named: no memory has the revision 0.
    since = Decision.objects.filter(fact__in=[pk for pk, _revision in now_first], at__gt=shown_at)
    moved = set(since.values_list("fact_id", flat=True))
    if request.GET.get("seen"):
        moved |= {pk for pk, _revision, seen_at in rows[:CAP] if seen_at > shown_at}
    return [(pk, 0 if pk in moved else revision) for pk, revision in now_first], len(rows) - len(now_first)


def _progress(
    request: HttpRequest, membership: Membership, items: batches.Items, result: BatchResult, rest: int, back: str
) -> dict[str, Any]:
    """The page between two parts of a long act: what is done, what is left, and the form that goes on."""
    form = request.POST
    said = [(name, value) for name in _SAID for value in form.getlist(name)]
    total = form.get("total", "")
    whole = int(total) if total.isascii() and total.isdigit() and len(total) < 7 else len(items) + rest
    return {
        "section": "memory",
        "result": result,
        "rest": rest,
        "next": min(rest, CAP),
        "whole": max(whole, len(items) + rest),
        "so_far": max(whole, len(items) + rest) - rest,
        "said": [*said, ("fence", str(items[-1][0] - 1))],
        "here": memory_filters.kept(request).urlencode(),
        "back": back,
        "done": result.done[0].decisions.filter(batch=result.batch).first() if result.done else None,
        "project": membership.project,
    }


def _later(name: str, now: datetime) -> datetime:
    """The start of the day chosen, in the reader's zone. Raises BadDecision."""
    if name not in LATER_DAYS:
        raise BadDecision(_("Choose when they come back."))
    day = timezone.localdate(now) + timedelta(days=LATER_DAYS[name])
    return datetime.combine(day, time.min, tzinfo=timezone.get_current_timezone())


def _end(form: QueryDict, membership: Membership, now: datetime) -> datetime | None:
    """The end of the last day written, in the project's zone; None: no end. Raises BadDecision."""
    if form.get("no_end"):
        return None
    written = form.get("expires_on", "")
    try:
        day = parse_date(written) if len(written) <= 10 else None
    except ValueError:
        day = None
    if day is None or reachable(datetime.combine(day, time.min, tzinfo=UTC), now) is None:
        raise BadDecision(_("Choose their last day, such as 2027-03-01, or tick “no end”."), "expires_on")
    return datetime.combine(day + timedelta(days=1), time.min, tzinfo=ZoneInfo(membership.project.timezone))


def _moment(written: str) -> datetime | None:
    try:
        moment = parse_datetime(written)
    except ValueError:
        return None
    return moment if moment is not None and moment.tzinfo is not None else None
