"""What agents did: the list of sessions with their states."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, IntegerField, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from memory import short_ids
from memory.models import Evidence, JobStatus, Session, SessionStatus
from projects.models import Membership, Role
from review.pages.access import project_page
from review.pages.transcript_pages import is_person

PAGE = 50


@dataclass(frozen=True)
class Line:
    """One session in the list, with its state in words."""

    session: Session
    subjects: str
    state: str
    is_late: bool


@require_safe
@project_page(Role.VIEWER)
def sessions(request: HttpRequest, membership: Membership) -> HttpResponse:
    last = short_ids.decode(request.GET.get("before", ""), "s")
    anchor = Session.objects.filter(pk=last, project=membership.project).first() if last else None
    listed = Session.objects.before(anchor) if anchor is not None else Session.objects.all()
    found = listed.filter(project=membership.project)
    agents = list(membership.project.agents.all())
    agent = request.GET.get("agent", "")
    if agent:
        found = found.filter(agent__in=[one for one in agents if one.slug == agent])
    state = request.GET.get("state", "")
    if state in SessionStatus.values:
        found = found.filter(status=state)
    page = list(
        found.select_related("agent")
        .prefetch_related("subjects", "distill_jobs")
        .annotate(facts=Coalesce(Subquery(_facts_from(OuterRef("pk")), output_field=IntegerField()), 0))
        .order_by("-last_seen_at", "-pk")[: PAGE + 1]
    )
    more, page = len(page) > PAGE, page[:PAGE]
    context = {
        "section": "sessions",
        "lines": [_line(row) for row in page],
        "next_page": short_ids.encode(page[-1].pk, "s") if more else "",
        "agents": agents,
        "agent": agent,
        "state": state,
        "states": SessionStatus.choices,
        "is_empty": not page and not agent and not state and anchor is None,
    }
    return render(request, "review/sessions.html", context)


def _facts_from(session: OuterRef):  # type: ignore[no-untyped-def]
    """How many memories have a quote in this session: counted from the quotes, which are few."""
    rows = Evidence.objects.filter(observation__session=session).order_by().values("observation__session")
    return rows.annotate(n=Count("fact", distinct=True)).values("n")


def _line(session: Session) -> Line:
    found: int = session.facts  # type: ignore[attr-defined]
    jobs = list(session.distill_jobs.all())
    state, late = _("open"), False
    if session.status == SessionStatus.FAILED or any(job.status == JobStatus.FAILED for job in jobs[:1]):
        state, late = _("failed"), True
    elif session.status == SessionStatus.DISTILLED and found:
        state = ngettext("read: %(n)s memory", "read: %(n)s memories", found) % {"n": found}
    elif session.status == SessionStatus.DISTILLED:
        state = _("read: nothing worth keeping")
    elif session.status == SessionStatus.IDLE:
        state = _("waiting to be read")
    about = sorted(session.subjects.all(), key=is_person)
    return Line(session, ", ".join(subject.words for subject in about), state, late)
