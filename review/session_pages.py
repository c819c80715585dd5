"""What agents did: the list of sessions with their states, and one transcript with the evidence marked."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from memory import distillation, short_ids
from memory.models import DistillJob, Evidence, JobStatus, Observation, Session, SessionStatus
from projects import audit
from projects.models import Membership, Role
from review.access import membership_in, project_page, require
from review.card import TERMINAL_KINDS, speaker
from review.pieces import Piece, visible

PAGE = 50
TURNS = 200
# Longer than this, a result is folded to its first lines.
FOLD_CHARACTERS = 1200


@dataclass(frozen=True)
class Line:
    """One session in the list, with its state in words."""

    session: Session
    subjects: str
    state: str
    is_late: bool


@require_GET
@project_page(Role.VIEWER)
def sessions(request: HttpRequest, membership: Membership) -> HttpResponse:
    last = short_ids.decode(request.GET.get("before", ""), "s")
    anchor = Session.objects.filter(pk=last, project=membership.project).first() if last else None
    listed = Session.objects.before(anchor) if anchor is not None else Session.objects.all()
    found = listed.filter(project=membership.project)
    agent = request.GET.get("agent", "")
    if agent:
        found = found.filter(agent__slug=agent)
    state = request.GET.get("state", "")
    if state in SessionStatus.values:
        found = found.filter(status=state)
    page = list(
        found.select_related("agent")
        .prefetch_related("subjects", "distill_jobs")
        .annotate(facts=Count("observations__evidence__fact", distinct=True))
        .order_by("-last_seen_at", "-pk")[: PAGE + 1]
    )
    more, page = len(page) > PAGE, page[:PAGE]
    context = {
        "section": "sessions",
        "lines": [_line(row) for row in page],
        "next_page": short_ids.encode(page[-1].pk, "s") if more else "",
        "agents": list(membership.project.agents.all()),
        "agent": agent,
        "state": state,
        "states": SessionStatus.choices,
        "is_empty": not page and not agent and not state and anchor is None,
    }
    return render(request, "review/sessions.html", context)


def _line(session: Session) -> Line:
    found: int = session.facts  # type: ignore[attr-defined]
    jobs = list(session.distill_jobs.all())
    if session.status == SessionStatus.FAILED or any(job.status == JobStatus.FAILED for job in jobs[:1]):
        state, late = "failed", True
    elif session.status == SessionStatus.DISTILLED:
        state = f"read: {found} {'memory' if found == 1 else 'memories'}" if found else "read: nothing worth keeping"
        late = False
    elif session.status == SessionStatus.IDLE:
        state, late = "waiting to be read", False
    else:
        state, late = "open", False
    return Line(session, ", ".join(subject.words for subject in session.subjects.all()), state, late)


@dataclass(frozen=True)
class TranscriptTurn:
    """One observation of a transcript in pieces `(mark, text, number)`; `("mark", text, 3)` is the third memory's."""

    observation: Observation
    who: str
    pieces: tuple[tuple[str, str, int], ...]
    is_terminal: bool
    numbers: tuple[int, ...]
    folded: bool


@require_GET
@login_required
def session(request: HttpRequest, short_id: str) -> HttpResponse:
    found, membership = _find(request, short_id)
    now = timezone.now()
    audit.record(
        "session.open",
        membership.person,
        project_id=found.project_id,
        object_kind="session",
        object_ids=[found.pk],
        now=now,
    )
    evidence = list(
        Evidence.objects.filter(observation__session=found).select_related("fact__approved_by").order_by("pk")
    )
    facts = list({row.fact_id: row.fact for row in evidence}.values())
    number = {fact.pk: place for place, fact in enumerate(facts, 1)}
    rows = _window(found, request.GET.get("from", ""), evidence)
    by_observation: dict[int, list[Evidence]] = defaultdict(list)
    for row in evidence:
        by_observation[row.observation_id or 0].append(row)
    job = DistillJob.objects.filter(session=found).order_by("-pk").first()
    context = {
        "section": "sessions",
        "session": found,
        "session_id": short_id,
        "subjects": list(found.subjects.all()),
        "turns": [_turn(row, by_observation.get(row.pk, []), number) for row in rows],
        "facts": [(number[fact.pk], fact) for fact in facts],
        "earlier": bool(rows) and Observation.objects.filter(session=found, seq__lt=rows[0].seq).exists(),
        "later": bool(rows) and Observation.objects.filter(session=found, seq__gt=rows[-1].seq).exists(),
        "first_seq": max(0, rows[0].seq - TURNS) if rows else 0,
        "next_seq": rows[-1].seq + 1 if rows else 0,
        "job": job,
        "failed": found.status == SessionStatus.FAILED,
        "can_review": membership.can_review,
        "briefs": list(found.briefs.select_related("agent").order_by("-pk")[:5]),
    }
    return render(request, "review/session.html", context)


@require_POST
@login_required
def distill(request: HttpRequest, short_id: str) -> HttpResponse:
    """Reads the session now, or again after it failed, without waiting for it to go idle."""
    found, membership = _find(request, short_id)
    require(membership, Role.REVIEWER)
    distillation.request(found, timezone.now())
    messages.success(request, "It will be read in a moment; what is found waits under Review.")
    return redirect("review:session", short_id)


def _find(request: HttpRequest, short_id: str) -> tuple[Session, Membership]:
    pk = short_ids.decode(short_id, "s")
    found = Session.objects.select_related("agent", "project").filter(pk=pk).first() if pk else None
    if found is None:
        raise Http404
    return found, membership_in(request, found.project_id)


def _window(found: Session, start: str, evidence: list[Evidence]) -> list[Observation]:
    """200 turns from `start`, else round the first quote when it lies further down."""
    first = 0
    if start.isascii() and start.isdigit() and len(start) < 12:
        first = int(start)
    elif evidence and evidence[0].observation is not None and evidence[0].observation.seq > TURNS - 20:
        first = max(0, evidence[0].observation.seq - 20)
    return list(
        Observation.objects.filter(session=found, seq__gte=first)
        .select_related("session__agent")
        .order_by("seq", "pk")[:TURNS]
    )


def _turn(row: Observation, quotes: list[Evidence], number: dict[int, int]) -> TranscriptTurn:
    pieces: list[tuple[str, str, int]] = []
    end = 0
    for quote in sorted(quotes, key=lambda one: one.start):
        if quote.start < end or quote.verdict() != "holds":
            continue
        pieces += _numbered(visible(row.text[end : quote.start]), 0)
        pieces += _numbered(visible(row.text[quote.start : quote.end], "mark"), number[quote.fact_id])
        end = quote.end
    pieces += _numbered(visible(row.text[end:]), 0)
    numbers = tuple(dict.fromkeys(number[quote.fact_id] for quote in quotes))
    long = len(row.text) > FOLD_CHARACTERS and not quotes
    return TranscriptTurn(row, speaker(row), tuple(pieces), row.kind in TERMINAL_KINDS, numbers, long)


def _numbered(pieces: list[Piece], number: int) -> list[tuple[str, str, int]]:
    return [(mark, text, number) for mark, text in pieces]
