"""What agents were told: the last briefs served, and each one as it really was."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from memory import short_ids, tokens
from memory.models import BriefServed, Fact
from projects import audit
from projects.models import Membership, Role
from review.pages.access import membership_in, project_page

PAGE = 50
# Not splitlines(): it cuts at characters that are no line breaks to anybody else.
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_NAMED = re.compile(r"- \[(f-[0-9a-z]+)\] ")


@require_safe
@project_page(Role.VIEWER)
def briefs(request: HttpRequest, membership: Membership) -> HttpResponse:
    found = BriefServed.objects.filter(project=membership.project).select_related("agent", "session")
    agents = list(membership.project.agents.all())
    agent = request.GET.get("agent", "")
    if agent:
        found = found.filter(agent__in=[one for one in agents if one.slug == agent])
    last = short_ids.decode(request.GET.get("before", ""), "b")
    if last:
        found = found.filter(pk__lt=last)
    page = list(found.order_by("-pk")[: PAGE + 1])
    context = {
        "section": "briefs",
        "briefs": page[:PAGE],
        "next_page": short_ids.encode(page[PAGE - 1].pk, "b") if len(page) > PAGE else "",
        "agents": agents,
        "agent": agent,
        "is_empty": not page and not agent and not last,
    }
    return render(request, "review/briefs.html", context)


@dataclass(frozen=True)
class Line:
    """One line of the text as it was sent, what it cost, and why it is there; `short_id` names its memory."""

    text: str
    tokens: int
    is_heading: bool
    why: str = ""
    short_id: str = ""


@dataclass(frozen=True)
class Share:
    """What one part of the brief took of the budget; `place` and `tokens` draw its piece of the bar."""

    words: str
    shade: str
    place: int
    tokens: int


@dataclass(frozen=True)
class LeftOut:
    """A memory the agent may see and did not get. `fact` None: gone since."""

    fact: Fact | None
    why: str


@require_safe
@login_required
def brief(request: HttpRequest, short_id: str) -> HttpResponse:
    pk = short_ids.decode(short_id, "b")
    found = BriefServed.objects.select_related("agent", "session", "project").filter(pk=pk).first() if pk else None
    if found is None:
        raise Http404
    membership = membership_in(request, found.project_id)
    audit.record(
        "brief.open",
        membership.person,
        project_id=found.project_id,
        object_kind="brief",
        object_ids=[found.pk],
        now=timezone.now(),
    )
    facts = Fact.objects.filter(project=found.project).in_bulk([row["id"] for row in found.left_out])
    lines = list(_lines(found))
    context = {
        "section": "briefs",
        "brief": found,
        "lines": lines,
        "shares": _shares(found, lines),
        "left_out": [LeftOut(facts.get(row["id"]), str(row.get("why", ""))) for row in found.left_out],
    }
    return render(request, "review/brief.html", context)


def _lines(brief: BriefServed) -> Iterator[Line]:
    """The text line by line. What a line costs is what it adds to the count of the text, so the lines add up to the
    brief; a blank line is counted with the heading after it."""
    items = {short_ids.encode(row["id"]): row for row in brief.items}
    end = counted = 0
    for text in _LINE.findall(brief.text):
        end += len(text)
        if not text.strip("\n") and end < len(brief.text):
            continue
        total = tokens.count(brief.text[:end])
        cost, counted = total - counted, total
        named = _NAMED.match(text)
        short_id = named.group(1) if named else ""
        item = items.get(short_id)
        if item is not None:
            score = item.get("score")
            why = str(item.get("why", "")) + (f", {score:.2f}" if score else "")
        else:
            why = "withdrawn" if short_id else ""
        yield Line(text.rstrip("\n"), cost, text.startswith("#"), why, short_id)


def _shares(brief: BriefServed, lines: list[Line]) -> list[Share]:
    """The parts of the budget, in the order of the bar; what is left is free."""
    memories = sum(line.tokens for line in lines if line.short_id and line.why != "withdrawn")
    withdrawn = sum(line.tokens for line in lines if line.why == "withdrawn")
    parts = [
        ("memories", "c1", memories),
        ("withdrawn", "c5", withdrawn),
        ("headings", "c3", max(0, sum(line.tokens for line in lines) - memories - withdrawn)),
        ("free", "c0", max(0, brief.budget - brief.tokens)),
    ]
    place = 0
    shares = []
    for words, shade, cost in parts:
        if cost:
            shares.append(Share(words, shade, place, cost))
        place += cost
    return shares
