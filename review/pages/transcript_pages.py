"""One transcript with its evidence marked: 200 turns round the place asked for, and reading it again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import F, Max, Min
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from memory import distillation, short_ids
from memory.models import DistillJob, Evidence, Observation, Session, Subject
from projects import audit
from projects.models import Role
from review.cards import talk
from review.pages import planted
from review.pages.access import find_session, require

TURNS = 200
BEFORE_ANCHOR = 40
OBSERVATION = "o"


@require_safe
@login_required
def session(request: HttpRequest, short_id: str) -> HttpResponse:
    """`?at=` an observation's short id: the window lies round it; `?from=` a place in the order; `?points=1` shows code
    points; `?whole=` the observation of which nothing is cut off."""
    found, membership = find_session(request, short_id)
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
        Evidence.objects.filter(observation__session=found)
        .select_related("fact__approved_by", "fact__project", "fact__sample__rule_by")
        .annotate(seq=F("observation__seq"))
        .order_by("seq", "start", "pk")
    )
    planted.in_transcript(membership, found, evidence, now)
    facts = list({row.fact_id: row.fact for row in evidence}.values())
    number = {fact.pk: place for place, fact in enumerate(facts, 1)}
    whole = short_ids.decode(request.GET.get("whole", ""), OBSERVATION) or 0
    window = _window(found, request, evidence)
    by_observation: dict[int, list[Evidence]] = defaultdict(list)
    for row in evidence:
        by_observation[row.observation_id or 0].append(row)
    look = talk.Look(request.GET.get("points") == "1", whole)
    job = DistillJob.objects.filter(session=found).order_by("-pk").first()
    about = [*(row.words for row in sorted(found.subjects.all(), key=is_person)), found.agent.slug]
    context = {
        "section": "sessions",
        "session": found,
        "session_id": short_id,
        # Whom it is about first, who held the key last.
        "about": joined(about),
        "spoken": found.observations.aggregate(since=Min("occurred_at"), until=Max("occurred_at")),
        "turns": talk.turns(window.rows, by_observation, number, found.asker(), look),
        "facts": [(number[fact.pk], fact) for fact in facts],
        "window": window,
        "points": look.points,
        "job": job,
        "failed": found.status == "failed",
        "can_review": membership.can_review,
        "briefs": list(found.briefs.select_related("agent").order_by("-pk")[:5]),
    }
    return render(request, "review/session.html", context)


@require_POST
@login_required
def distill(request: HttpRequest, short_id: str) -> HttpResponse:
    """Reads the session now, or again after it failed, without waiting for it to go idle."""
    found, membership = find_session(request, short_id)
    require(membership, Role.REVIEWER)
    distillation.read_again(found, timezone.now())
    messages.success(request, _("It will be read in a moment; what is found waits under Review."))
    return redirect("review:session", short_id)


@dataclass(frozen=True)
class Window:
    """The turns shown, and how many lie before and after them."""

    rows: list[Observation]
    earlier: int
    later: int

    @property
    def earlier_from(self) -> int:
        return max(0, self.rows[0].seq - TURNS) if self.rows else 0

    @property
    def later_from(self) -> int:
        return self.rows[-1].seq + 1 if self.rows else 0


def _window(found: Session, request: HttpRequest, evidence: Sequence[Evidence]) -> Window:
    """200 turns from where the address says, else round the first quote when it lies further down. Three queries."""
    start, at = request.GET.get("from", ""), short_ids.decode(request.GET.get("at", ""), OBSERVATION)
    first = 0
    if at and (row := found.observations.filter(pk=at).only("seq").first()):
        first = max(0, row.seq - BEFORE_ANCHOR)
    elif start.isascii() and start.isdigit() and len(start) < 12:
        first = int(start)
    elif evidence and evidence[0].seq > TURNS - BEFORE_ANCHOR:  # type: ignore[attr-defined]
        first = max(0, evidence[0].seq - BEFORE_ANCHOR)  # type: ignore[attr-defined]
    all_rows = Observation.objects.filter(session=found)
    rows = list(all_rows.filter(seq__gte=first).select_related("session__agent").order_by("seq", "pk")[:TURNS])
    if not rows:
        return Window([], 0, 0)
    return Window(
        rows,
        all_rows.filter(seq__lt=rows[0].seq).count(),
        all_rows.filter(seq__gte=rows[-1].seq).exclude(pk__in=[row.pk for row in rows]).count(),
    )


def is_person(subject: Subject) -> bool:
    return subject.entity_type == "person"


def joined(words: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)
