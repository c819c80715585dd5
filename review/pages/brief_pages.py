"""What agents are told: the brief that one would get now, the last ones served, and each as it really was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from memory import brief as briefs_of
from memory import short_ids, why_not
from memory.models import BriefServed, Fact, Subject
from projects import audit
from projects.models import Agent, Membership, Role
from review.cards.sheet import lines_of, of_record, shares_of
from review.pages import simulator
from review.pages.access import membership_in, project_page
from review.pages.gate_words import Stopped, stopped

PAGE = 50


@dataclass(frozen=True)
class Served:
    """One served brief in the list, with whom it was about in words."""

    brief: BriefServed
    about: str


@dataclass(frozen=True)
class LeftOut:
    """A memory the agent may see and did not get. `fact` None: gone since."""

    fact: Fact | None
    why: str


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.VIEWER)
def briefs(request: HttpRequest, membership: Membership) -> HttpResponse:
    """The simulator over the last briefs served. What was typed travels by POST: a subject is personal data."""
    now = timezone.now()
    project = membership.project
    agents = list(project.agents.filter(archived_at__isnull=True))
    for agent in agents:
        agent.project = project
    asked = simulator.asked_for(request, membership, agents)
    is_run = asked is not None and asked.is_run and not asked.problems.get("tokens")
    found = simulator.run(asked, now) if asked is not None and is_run else None
    if found is not None:
        audit.record(
            "brief.simulate",
            membership.person,
            project_id=project.pk,
            object_kind="fact",
            object_ids=found.built.fact_ids,
            now=now,
        )
    context = {
        "section": "briefs",
        "agents": agents,
        "asked": asked,
        "offered": simulator.offered(asked, now) if asked is not None else [],
        "found": found,
        "most_tokens": simulator.MOST_TOKENS,
        **_served(request, membership, agents),
    }
    status = 422 if asked is not None and request.method == "POST" and asked.problems.get("tokens") else 200
    return render(request, "review/briefs.html", context, status=status)


def _served(request: HttpRequest, membership: Membership, agents: Sequence[Agent]) -> dict[str, Any]:
    """The last briefs as lines: of one agent where the address names one, older ones from where it says."""
    found = BriefServed.objects.filter(project=membership.project).select_related("agent", "session").defer("text")
    agent = request.GET.get("agent", "")
    if agent:
        found = found.filter(agent__in=[one for one in agents if one.slug == agent])
    last = short_ids.decode(request.GET.get("before", ""), "b")
    if last:
        found = found.filter(pk__lt=last)
    page = list(found.order_by("-pk")[: PAGE + 1])
    names = subject_words(page)
    rows = [Served(one, ", ".join(names[pk] for pk in one.subject_ids if pk in names)) for one in page[:PAGE]]
    return {
        "served": rows,
        "last_real": rows[0].brief if rows and not last else None,
        "next_page": short_ids.encode(page[PAGE - 1].pk, "b") if len(page) > PAGE else "",
        "agent": agent,
        "is_older": bool(last),
    }


def subject_words(found: Iterable[BriefServed]) -> dict[int, str]:
    """How people read the subjects of these briefs; the project itself is not named. One query."""
    rows = Subject.objects.filter(pk__in={pk for one in found for pk in one.subject_ids})
    return {row.pk: row.words for row in rows if row.entity_type != "project"}


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def brief(request: HttpRequest, short_id: str) -> HttpResponse:
    """One served brief. A POST asks why a memory is not in it."""
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
    lines = lines_of(found.text, of_record(found.items))
    why = request.POST.get("why", "")[:500].strip()
    subjects = list(Subject.objects.filter(project=found.project_id, pk__in=found.subject_ids))
    context = {
        "section": "briefs",
        "brief": found,
        "subjects": [one for one in subjects if one.entity_type != "project"],
        "lines": lines,
        "shares": shares_of(lines, found.budget),
        "left_out": [LeftOut(facts.get(row["id"]), _left_out_words(str(row.get("why", "")))) for row in found.left_out],
        "why": why,
        "answers": _why(found, subjects, why) if why else [],
    }
    return render(request, "review/brief.html", context)


def _why(found: BriefServed, subjects: Sequence[Subject], words: str) -> list[Stopped]:
    """What is on record for this brief; for a memory that the record does not name, how things stand today."""
    now = timezone.now()
    agent = found.agent
    agent.project = found.project
    facts = simulator.search(found.project, words, subjects)
    then = {
        row["id"]: _("It was in this brief, for %(tokens)s tokens.") % {"tokens": row["tokens"]} for row in found.items
    }
    then |= {
        row["id"]: _("The agent might see it, and it was left out: %(reason)s.")
        % {"reason": _left_out_words(str(row.get("why", "")))}
        for row in found.left_out
    }
    today = briefs_of.build(
        agent,
        subjects=[(one.entity_type, one.entity_id) for one in subjects],
        task=found.task or None,
        max_tokens=min(found.budget, simulator.MOST_TOKENS),
        now=now,
    )
    answers = []
    for verdict in why_not.why_not(facts, agent, today, now=now):
        one = stopped(verdict, agent, found.project)
        on_record = then.get(verdict.fact.pk)
        if on_record:
            answers.append(Stopped(verdict, one.reason, on_record))
        else:
            sentence = _("It was not in this brief. As things stand today: %(reason)s.") % {"reason": one.reason}
            answers.append(Stopped(verdict, one.reason, sentence, one.address, one.label))
    return answers


def _left_out_words(why: str) -> str:
    return {
        briefs_of.DID_NOT_FIT: _("did not fit"),
        briefs_of.BELOW_FLOOR: _("too far from the task"),
        briefs_of.OWN_VALUE: _("a value of its own instead"),
    }.get(why, why)
