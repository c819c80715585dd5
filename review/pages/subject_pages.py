"""Whom and what memories are about: the list of subjects, and one with what each agent would be told now.

A subject's own id is personal data, so addresses carry a short id and what is searched for travels by POST.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_safe

from memory import brief, short_ids
from memory.glances import MOST_COUNTED, Glance, glances
from memory.models import BadSubject, Fact, Session, Status, Subject
from memory.models.lifetimes import due_at
from memory.models.subject import split
from projects import audit
from projects.models import Agent, Membership, Project, Role
from review.cards.sheet import lines_of, shares_of, told_by
from review.pages.access import project_page

PAGE = 50
# Of one subject: memories of a state, commitments and problems, and sessions shown on its page.
MEMORIES, OPEN, SESSIONS = 50, 20, 20
STATES = (Status.APPROVED, Status.PROPOSED, Status.SUPERSEDED, Status.EXPIRED, Status.REMOVED, Status.REJECTED)


@dataclass(frozen=True)
class Row:
    """One subject in the list."""

    subject: Subject
    glance: Glance


@dataclass(frozen=True)
class Due:
    """One live commitment, with its day in the project's zone if it has one."""

    fact: Fact
    on: date | None
    is_late: bool


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.VIEWER)
def subjects(request: HttpRequest, membership: Membership) -> HttpResponse:
    now = timezone.now()
    project = membership.project
    query = request.POST.get("q", "").replace("\x00", "").strip()[:300]
    found: QuerySet[Subject] = Subject.objects.filter(project=project)
    if query:
        found = _matching(found, project, query)
    last = short_ids.decode(request.GET.get("before", ""), "c")
    if last:
        found = found.filter(pk__lt=last)
    page = list(found.order_by("-pk")[: PAGE + 1])
    numbers = glances(page[:PAGE], now)
    context = {
        "section": "subjects",
        "rows": [Row(one, numbers[one.pk]) for one in page[:PAGE]],
        "query": query,
        "has_more": len(page) > PAGE,
        "next_page": short_ids.encode(page[PAGE - 1].pk, "c") if len(page) > PAGE and not query else "",
        "is_later": bool(last),
        "most": MOST_COUNTED,
    }
    return render(request, "review/subjects.html", context)


@require_safe
@project_page(Role.VIEWER)
def subject(request: HttpRequest, membership: Membership, short_id: str) -> HttpResponse:
    now = timezone.now()
    project = membership.project
    pk = short_ids.decode(short_id, "c")
    found = Subject.objects.filter(project=project, pk=pk).first() if pk else None
    if found is None:
        raise Http404
    audit.record(
        "subject.open", membership.person, project_id=project.pk, object_kind="subject", object_ids=[found.pk], now=now
    )
    agents = list(project.agents.filter(archived_at__isnull=True))
    sessions = Session.objects.filter(session_subjects__subject=found).select_related("agent")
    recent = list(sessions.order_by("-last_seen_at", "-pk")[:SESSIONS])
    # Whoever was heard about it last; by name where nobody was.
    likely = [request.GET.get("agent", ""), *(one.agent.slug for one in recent), *(one.slug for one in agents)]
    by_name = {one.slug: one for one in agents}
    chosen = next((by_name[name] for name in likely if name in by_name), None)
    about = Fact.objects.filter(project=project, subject=found)
    counts = dict(about.order_by().values_list("status").annotate(count=Count("pk")))
    state = request.GET.get("state", "")
    if state not in counts:
        state = next((one for one in STATES if counts.get(one)), Status.APPROVED)
    last = short_ids.decode(request.GET.get("before", ""))
    listed = about.filter(status=state, **({"pk__lt": last} if last else {}))
    page = list(listed.select_related("approved_by").defer("search").order_by("-pk")[: MEMORIES + 1])
    context = {
        "section": "subjects",
        "subject": found,
        "subject_id": short_id,
        "link": safe_link(found.link),
        "agents": agents,
        "chosen": chosen,
        **(_told(chosen, project, found, now) if chosen else {}),
        "commitments": _commitments(about, project, now),
        "problems": _problems(about, now),
        "states": [(one.value, one.label, counts[one]) for one in STATES if counts.get(one)],
        "state": state,
        "memories": page[:MEMORIES],
        "next_page": page[MEMORIES - 1].short_id if len(page) > MEMORIES else "",
        "sessions": recent,
        "glance": glances([found], now)[found.pk],
        "most": MOST_COUNTED,
        "can_review": membership.can_review,
    }
    return render(request, "review/subject.html", context)


def safe_link(written: str) -> str:
    """The address when it leads to the web and nowhere else, or "": a subject's link came from outside."""
    parts = urlsplit(written) if written.isprintable() and not any(char.isspace() for char in written) else None
    return written if parts is not None and parts.scheme in ("http", "https") and parts.hostname else ""


def _matching(found: QuerySet[Subject], project: Project, query: str) -> QuerySet[Subject]:
    """By id, by a part of the name or of the id."""
    matches = Q(label__icontains=query) | Q(entity_id__icontains=query)
    typed = short_ids.decode(query.lower(), "c")
    if typed is not None:
        matches |= Q(pk=typed)
    try:
        exact = Subject.objects.find(project.pk, *split(query))
    except BadSubject:
        exact = None
    if exact is not None:
        matches |= Q(pk=exact.pk)
    return found.filter(matches)


def _told(agent: Agent, project: Project, found: Subject, now: datetime) -> dict[str, Any]:
    """What this agent would be told about the subject at this moment."""
    agent.project = project
    asked = [(found.entity_type, found.entity_id)]
    built = brief.build(agent, subjects=asked, max_tokens=project.brief_budget_tokens, now=now)
    lines = lines_of(built.text, told_by([(item.id, item.why, item.score) for item in built.items]))
    return {"built": built, "lines": lines, "shares": shares_of(lines, built.budget)}


def _commitments(about: QuerySet[Fact], project: Project, now: datetime) -> list[Due]:
    """Live promises, the earliest day first, those without a day last."""
    zone = ZoneInfo(project.timezone)
    today = now.astimezone(zone).date()
    dues = []
    for fact in about.live(now).filter(type="commitment").defer("search").order_by("-pk")[: 5 * OPEN]:  # type: ignore[attr-defined]
        due = due_at(fact.value, now.astimezone(zone))
        day = due.astimezone(zone).date() if due is not None else None
        dues.append(Due(fact, day, day is not None and day < today))
    dues.sort(key=lambda one: (one.on or today + timedelta(days=100_000), one.fact.pk))
    return dues[:OPEN]


def _problems(about: QuerySet[Fact], now: datetime) -> list[Fact]:
    """Live problems that nobody solved, the one seen last first."""
    found = about.live(now).filter(type="problem").exclude(value__state="solved")  # type: ignore[attr-defined]
    return list(found.defer("search").order_by("-last_seen_at", "-pk")[:OPEN])
