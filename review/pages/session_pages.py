"""What agents did: the list of sessions with their states, and one transcript with the evidence marked."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Max, Min
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from memory import distillation, short_ids
from memory.models import DistillJob, Evidence, JobStatus, Observation, Session, SessionStatus, Subject
from projects import audit
from projects.models import Membership, Role
from review.cards.pieces import visible
from review.cards.proof import TERMINAL_KINDS, speaker
from review.pages.access import membership_in, project_page, require

PAGE = 50
TURNS = 200
# What is read of a folded command before it is opened.
HEADLINE_CHARACTERS = 120


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
        .annotate(facts=Count("observations__evidence__fact", distinct=True))
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
    about = sorted(session.subjects.all(), key=_is_person)
    return Line(session, ", ".join(subject.words for subject in about), state, late)


NumberedPiece = tuple[str, str, tuple[int, ...]]


@dataclass(frozen=True)
class Printed:
    """What a command answered: its observation and the pieces of it."""

    observation: Observation
    pieces: tuple[NumberedPiece, ...]


@dataclass(frozen=True)
class TranscriptTurn:
    """One turn in pieces `(mark, text, numbers)`; `("mark", text, (3,))` ends the quote of the third memory. A command
    and its result are one turn, folded to `headline` unless a memory came from it."""

    observation: Observation
    who: str
    pieces: tuple[NumberedPiece, ...]
    is_terminal: bool
    is_hit: bool
    headline: str = ""
    printed: Printed | None = None

    @property
    def end(self) -> Observation:
        """The observation that says how it ended."""
        return self.printed.observation if self.printed else self.observation


@require_safe
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
        # Whom it is about first, who held the key last.
        "about": _joined([*(row.words for row in sorted(found.subjects.all(), key=_is_person)), found.agent.slug]),
        "spoken": found.observations.aggregate(since=Min("occurred_at"), until=Max("occurred_at")),
        "turns": _turns(rows, by_observation, number, found.asker()),
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
    distillation.read_again(found, timezone.now())
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


def _turns(
    rows: list[Observation], quotes: dict[int, list[Evidence]], number: dict[int, int], asker: str
) -> list[TranscriptTurn]:
    """The window in turns, each result under the command it belongs to."""
    answers = {row.call_id: row for row in reversed(rows) if row.kind == "tool_result" and row.call_id}
    commands = {row.call_id for row in rows if row.kind != "tool_result"}
    turns = []
    for row in rows:
        if row.kind == "tool_result" and row.call_id and row.call_id in commands:
            continue
        answer = answers.get(row.call_id) if row.kind != "tool_result" and row.call_id else None
        pieces = _pieces(row, quotes.get(row.pk, []), number)
        printed = Printed(answer, _pieces(answer, quotes.get(answer.pk, []), number)) if answer else None
        is_hit = bool(quotes.get(row.pk) or (answer and quotes.get(answer.pk)))
        is_terminal = row.kind in TERMINAL_KINDS
        headline = _headline(row) if is_terminal else ""
        turns.append(TranscriptTurn(row, speaker(row, asker), pieces, is_terminal, is_hit, headline, printed))
    return turns


def _headline(row: Observation) -> str:
    """The first line that says something; of a long one its beginning."""
    line = next((line.strip() for line in row.text.split("\n") if line.strip()), row.tool or row.kind.replace("_", " "))
    return line if len(line) <= HEADLINE_CHARACTERS else line[:HEADLINE_CHARACTERS].rstrip() + " …"


def _pieces(row: Observation, quotes: list[Evidence], number: dict[int, int]) -> tuple[NumberedPiece, ...]:
    """The row's text cut where a quote begins or ends: quotes may overlap, and each is numbered at its own end."""
    holding = [quote for quote in quotes if quote.verdict() == "holds"]
    text = row.text if holding else row.text.rstrip("\n")
    cuts = sorted({0, len(text), *(quote.start for quote in holding), *(quote.end for quote in holding)})
    pieces: list[NumberedPiece] = []
    for start, end in pairwise(cuts):
        is_quoted = any(quote.start <= start and quote.end >= end for quote in holding)
        pieces += [(mark, words, ()) for mark, words in visible(text[start:end], "mark" if is_quoted else "same")]
        ending = tuple(sorted({number[quote.fact_id] for quote in holding if quote.end == end}))
        if ending:
            mark, words, _ = pieces.pop()
            pieces.append((mark, words, ending))
    return tuple(pieces)


def _is_person(subject: Subject) -> bool:
    return subject.entity_type == "person"


def _joined(words: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)
