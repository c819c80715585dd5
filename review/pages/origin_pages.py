"""Everything else from where a memory came from, taken out of the way in one act, with one reason and one undo."""

from __future__ import annotations

import re

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from memory import short_ids
from memory.models import Fact, NotAllowed, Status
from memory.served import briefs_of
from projects import audit
from projects.models import Membership, Role
from review.deciding import batches, decisions
from review.deciding.batches import BatchResult
from review.finding.origins import Origin, origins_of
from review.pages import planted
from review.pages.access import require

_TICK = re.compile(r"(f-[0-9a-z]{6,13})\.([0-9]{1,9})", re.ASCII)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def origin(request: HttpRequest, short_id: str) -> HttpResponse:
    """GET says what would be done to what; POST does it to what is ticked."""
    fact, membership, plant = planted.find_shown(request, short_id, timezone.now())
    require(membership, Role.REVIEWER)
    name = request.GET.get("from", "")
    origins = origins_of(fact, plant.source if plant else None)
    found = next((one for one in origins if one.name == name), None)
    if found is None:
        raise Http404
    if request.method == "POST":
        return _stop(request, membership, fact, found, plant)
    return _page(request, membership, fact, found)


def _stop(
    request: HttpRequest, membership: Membership, fact: Fact, found: Origin, plant: planted.Planted | None
) -> HttpResponse:
    """Only what the page showed can be ticked: what came since is not on it."""
    items = _ticked(request.POST.getlist("tick"))
    if not items:
        return _page(request, membership, fact, found, _("Tick at least one."), 422)
    if plant is not None and any(pk == fact.pk for pk, _revision in items):
        told = planted.answer(membership, plant.item, "reject", request.POST.get("reason", ""))
        items = [(pk, revision) for pk, revision in items if pk != fact.pk]
        if not items:
            return planted.tell(request, membership, told)
        messages.info(request, told[0])
    try:
        done = batches.stop_all(membership, items, request.POST.get("reason", ""), timezone.now())
    except (decisions.BadDecision, NotAllowed) as problem:
        return _page(request, membership, fact, found, str(problem), 422)
    messages.success(request, words(done))
    if plant is not None:
        return redirect("review:pile", membership.project.slug)
    answer = redirect("review:fact", fact.short_id)
    answer["Location"] += f"?done={done.batch}"
    return answer


def _ticked(written: list[str]) -> list[tuple[int, int]]:
    """(memory, the revision that was seen) of each tick."""
    found = {}
    for tick in written:
        named = _TICK.fullmatch(tick)
        pk = short_ids.decode(named[1]) if named else None
        if named and pk is not None:
            found[pk] = int(named[2])
    return list(found.items())


def words(done: BatchResult) -> str:
    """`3 withdrawn, 2 rejected. 1 skipped: changed by Ana.`"""
    withdrawn = sum(fact.status == Status.REMOVED for fact in done.done)
    rejected = len(done.done) - withdrawn
    said = [
        ngettext("%(count)d withdrawn", "%(count)d withdrawn", withdrawn) % {"count": withdrawn} if withdrawn else "",
        ngettext("%(count)d rejected", "%(count)d rejected", rejected) % {"count": rejected} if rejected else "",
    ]
    sentence = ", ".join(filter(None, said)) or _("Nothing was changed")
    if not done.skipped:
        return f"{sentence}."
    reasons = ", ".join(dict.fromkeys(why for _fact, why in done.skipped))
    left = ngettext("%(count)d skipped", "%(count)d skipped", len(done.skipped)) % {"count": len(done.skipped)}
    return f"{sentence}. {left}: {reasons}."


def _page(
    request: HttpRequest, membership: Membership, fact: Fact, found: Origin, problem: str = "", status: int = 200
) -> HttpResponse:
    listed = ([fact] if fact.status in (Status.APPROVED, Status.PROPOSED) else []) + list(found.open_facts)
    listed = listed[: batches.CAP]
    now = timezone.now()
    ids = [one.pk for one in listed]
    audit.record(
        "fact.origin", membership.person, project_id=fact.project_id, object_kind="fact", object_ids=ids, now=now
    )
    kept = {tick.partition(".")[0] for tick in request.POST.getlist("tick")} if request.method == "POST" else None
    briefs = briefs_of(fact.project_id, ids)
    live = sum(one.status == Status.APPROVED for one in listed)
    context = {
        "section": "memory",
        "fact": fact,
        "origin": found,
        "rows": [(one, briefs[one.pk], kept is None or one.short_id in kept) for one in listed],
        "over": [one for one in found.facts if one not in found.open_facts],
        "live_count": live,
        "waiting_here": len(listed) - live,
        "reasons": decisions.REASONS,
        "problem": problem,
        "action": f"{request.path}?{request.GET.urlencode()}",
        "back_url": reverse("review:fact", args=[fact.short_id]),
    }
    return render(request, "review/origin.html", context, status=status)
