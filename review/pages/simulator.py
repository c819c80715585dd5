"""The brief that an agent would get now: what was asked on the form, built by the brief builder, never sent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.contrib.postgres.search import SearchQuery
from django.db.models import Case, IntegerField, Q, Value, When
from django.http import HttpRequest, QueryDict
from django.utils.translation import gettext as _

from memory import brief, short_ids, why_not
from memory.brief import Brief
from memory.models import BadSubject, Fact, NotAllowed, Status, Subject
from memory.models.subject import split
from memory.supposed import Suppose
from memory.supposing import Supposing
from projects.models import Agent, Membership, Project
from review.cards import impact
from review.cards.sheet import Line, Share, lines_of, shares_of, told_by
from review.pages.gate_words import Stopped, stopped

MOST_SUBJECTS = 20
MOST_TOKENS = 20_000
TASK_LIMIT = 10_000
# Waiting proposals about the subjects that can be ticked, and matches of "why not".
OFFERED = 6
MATCHES = 5
LEFT_OUT = 60
_APART = re.compile(r"[,;\n]")
Halves = tuple[str, str]


@dataclass
class Asked:
    """The form as it was filled in. `subjects` are halves that the builder takes, `as_if` waiting proposals."""

    agent: Agent
    written: str = ""
    subjects: list[Halves] = field(default_factory=list)
    found: list[Subject] = field(default_factory=list)
    task: str = ""
    max_tokens: int = 0
    as_if: list[Fact] = field(default_factory=list)
    why: str = ""
    problems: dict[str, str] = field(default_factory=dict)
    is_run: bool = False


@dataclass(frozen=True)
class Simulated:
    """The brief on its sheet, and what is not on it. `offered`: (proposal, whether it counts as approved)."""

    built: Brief
    lines: list[Line]
    shares: list[Share]
    left_out: list[Stopped]
    left_out_count: int
    answers: list[Stopped]
    problem: str = ""


def asked_for(request: HttpRequest, membership: Membership, agents: Sequence[Agent]) -> Asked | None:
    """What the form says: by POST whatever was typed, by GET only ids that tell nothing. None without an agent."""
    if not agents:
        return None
    data = request.POST if request.method == "POST" else request.GET
    project = membership.project
    chosen = next((one for one in agents if one.slug == data.get("agent")), agents[0])
    asked = Asked(chosen, max_tokens=project.brief_budget_tokens)
    asked.is_run = request.method == "POST" or any(name in data for name in ("about", "as_if", "tokens"))
    if request.method == "POST":
        asked.written = data.get("subjects", "")[:2_000].strip()
        asked.task = data.get("task", "")[:TASK_LIMIT].strip()
        asked.why = data.get("why", "")[:500].strip()
    else:
        typed = short_ids.decode(data.get("why", ""))
        asked.why = short_ids.encode(typed) if typed else ""
    _subjects(asked, data, project)
    _tokens(asked, data)
    ids = [pk for pk in map(short_ids.decode, data.getlist("as_if")) if pk is not None]
    asked.as_if = list(
        Fact.objects.filter(project=project, pk__in=ids, status=Status.PROPOSED)
        .select_related("subject", "project", "related")
        .order_by("pk")
    )
    return asked


def run(asked: Asked, now: datetime) -> Simulated:
    """Builds the brief; nothing is sent and no brief is recorded."""
    agent = asked.agent
    suppose, problem = _supposed(asked.as_if, now)
    built = brief.build(
        agent,
        subjects=asked.subjects,
        task=asked.task or None,
        max_tokens=asked.max_tokens,
        suppose=suppose,
        now=now,
    )
    told = told_by([(item.id, item.why, item.score) for item in built.items])
    new = {one.short_id for one in suppose.facts if one.status == Status.APPROVED} if suppose else set()
    lines = lines_of(built.text, told, new)
    left_out, count = _left_out(asked, built, suppose, now)
    project = agent.project
    found = search(project, asked.why, asked.found) if asked.why else []
    answers = [stopped(one, agent, project) for one in why_not.why_not(found, agent, built, suppose=suppose, now=now)]
    return Simulated(built, lines, shares_of(lines, built.budget), left_out, count, answers, problem)


def offered(asked: Asked, now: datetime) -> list[tuple[Fact, bool]]:
    """Waiting proposals about the subjects, with whether each is ticked; ticked ones always stand there."""
    ticked = {one.pk for one in asked.as_if}
    waiting = (
        Fact.objects.filter(subject__in=asked.found)
        .waiting(now)
        .exclude(pk__in=ticked)
        .select_related("subject")
        .order_by("-times_seen", "-pk")[: max(0, OFFERED - len(ticked))]
    )
    return [*((one, True) for one in asked.as_if), *((one, False) for one in waiting)]


def search(project: Project, words: str, about: Sequence[Subject] = ()) -> list[Fact]:
    """Memories by their id, else by their words: about these subjects first, live ones first."""
    rows = Fact.objects.filter(project=project).select_related("subject").defer("search")
    typed = short_ids.decode(words.strip().strip("[]").lower())
    if typed is not None:
        return list(rows.filter(pk=typed))
    words = words.replace("\x00", " ").strip()
    if not words:
        return []
    order = (
        Case(When(subject__in=list(about), then=Value(0)), default=Value(1), output_field=IntegerField()),
        Case(When(status=Status.APPROVED, then=Value(0)), default=Value(1), output_field=IntegerField()),
        "-pk",
    )
    match = Q(search=SearchQuery(words, config="english")) | Q(search=SearchQuery(words, config="simple"))
    return list(rows.filter(match).order_by(*order)[:MATCHES]) or list(
        rows.filter(subject__in=list(about), text__icontains=words).order_by(*order)[:MATCHES]
    )


def _supposed(proposals: Sequence[Fact], now: datetime) -> tuple[Suppose | None, str]:
    if not proposals:
        return None, ""
    what = Supposing(now)
    try:
        for one in proposals:
            impact.approve(what, one)
    except NotAllowed as problem:
        return None, str(problem)
    return what.done(), ""


def _left_out(asked: Asked, built: Brief, suppose: Suppose | None, now: datetime) -> tuple[list[Stopped], int]:
    """Everything about the subjects that could be meant and is not on the sheet: what the agent may see first, then
    what waits, goes to others or ended. (the first of them, how many there are.)"""
    rows = Fact.objects.filter(project_id=asked.agent.project_id)
    came = set(built.fact_ids)
    dropped = rows.in_bulk(list(built.dropped_fact_ids))
    facts = [dropped[pk] for pk in built.dropped_fact_ids if pk in dropped]
    others = rows.filter(
        subject__in=asked.found, status__in=[Status.PROPOSED, Status.APPROVED, Status.EXPIRED]
    ).exclude(pk__in=[*came, *dropped])
    facts += others.select_related("subject").order_by("-pk")[: max(0, LEFT_OUT - len(facts))]
    subjects = Subject.objects.in_bulk({fact.subject_id for fact in facts})
    for fact in facts:
        fact.subject = subjects[fact.subject_id]
    verdicts = why_not.why_not(facts, asked.agent, built, suppose=suppose, now=now)
    stops = [stopped(one, asked.agent, asked.agent.project) for one in verdicts if one.gate != why_not.Gate.CAME]
    return stops, len(stops)


def _subjects(asked: Asked, data: QueryDict, project: Project) -> None:
    """Ids of rows from the address, ids or names as people write them from the form."""
    ids = [pk for pk in (short_ids.decode(one, "c") for one in data.getlist("about")) if pk is not None]
    rows = list(Subject.objects.filter(project=project, pk__in=ids[:MOST_SUBJECTS]).order_by("pk"))
    unknown = []
    for written in [one.strip() for one in _APART.split(asked.written) if one.strip()][:MOST_SUBJECTS]:
        try:
            row = _by_name(project, written)
            halves = split(written) if row is None else None
        except BadSubject as problem:
            asked.problems["subjects"] = str(problem)
            continue
        if row is not None:
            rows.append(row)
        elif halves is not None:
            unknown.append(written)
            asked.subjects.append(halves)
    if unknown:
        asked.problems["subjects"] = _("Nothing is known by the name %(names)s.") % {"names": ", ".join(unknown)[:200]}
    asked.found = list({row.pk: row for row in rows}.values())
    asked.subjects = [*((row.entity_type, row.entity_id) for row in asked.found), *asked.subjects]
    if not asked.written:
        asked.written = ", ".join(_written(row) for row in asked.found)


def _written(row: Subject) -> str:
    """As it can be typed again: its name where that names it alone, else both halves."""
    return f"{row.entity_type}:{row.entity_id}"


def _by_name(project: Project, written: str) -> Subject | None:
    """The subject of this id (`customer:cust_1`, `cust_1`) or, where there is one, of this name. Raises BadSubject."""
    found = Subject.objects.find(project.pk, *split(written))
    return found or Subject.objects.filter(project=project, label__iexact=written).order_by("pk").first()


def _tokens(asked: Asked, data: Mapping[str, str]) -> None:
    typed = data.get("tokens", "").strip()
    if not typed:
        return
    if typed.isascii() and typed.isdigit() and len(typed) < 9 and int(typed) <= MOST_TOKENS:
        asked.max_tokens = int(typed)
    else:
        asked.problems["tokens"] = _("Tokens are a whole number up to %(most)s.") % {"most": f"{MOST_TOKENS:,}"}
