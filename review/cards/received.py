"""Who was told a memory: briefs, the sessions that are open with it, and what agents said came of it."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from memory.models import BriefServed, Fact, Feedback, SessionStatus

SHOWN = 10
# The project's last briefs, among which those with one memory are looked for: a second of them on a busy day.
BRIEFS_READ = 20_000
FEEDBACK_READ = 50


@dataclass(frozen=True)
class Told:
    """One brief that held the memory. `is_open`: its session still runs and has it in mind; `outcome` in words."""

    brief: BriefServed
    is_open: bool
    outcome: str
    is_bad: bool = False


@dataclass(frozen=True)
class Received:
    """The last briefs that held a memory, and in how many sessions it is in mind right now."""

    told: tuple[Told, ...]
    open_count: int
    helped: int
    complaints: int


def received(fact: Fact) -> Received:
    """Four queries, however many briefs there are."""
    feedback = list(Feedback.objects.filter(fact=fact).order_by("-at", "-pk")[:FEEDBACK_READ])
    briefs = BriefServed.objects.filter(project_id=fact.project_id).order_by("-pk")
    since = next(iter(briefs.values_list("pk", flat=True)[BRIEFS_READ : BRIEFS_READ + 1]), 0)
    with_it = briefs.filter(pk__gt=since, fact_ids__contains=[fact.pk], paused=False)
    shown = list(
        with_it.filter(unchanged=False)
        .select_related("agent", "session")
        .defer("text", "items", "left_out", "subject_ids", "task")[:SHOWN]
    )
    running = with_it.filter(session__status=SessionStatus.OPEN).order_by().values("session").distinct().count()
    outcomes = _outcomes(shown, feedback)
    return Received(
        told=tuple(_told(brief, outcomes.get(brief.pk)) for brief in shown),
        open_count=running,
        helped=fact.helped_count,
        complaints=sum(one.verdict != "helped" for one in feedback),
    )


def _outcomes(briefs: list[BriefServed], feedback: list[Feedback]) -> dict[int, str]:
    """Brief id → what its agent said next, each word put to the last brief before it."""
    found: dict[int, str] = {}
    for said in feedback:
        before = (brief for brief in briefs if brief.agent_id == said.agent_id and brief.at <= said.at)
        told = next(before, None)
        if told is not None and (told.pk not in found or said.verdict != "helped"):
            found[told.pk] = said.verdict
    return found


def _told(brief: BriefServed, verdict: str | None) -> Told:
    is_open = brief.session is not None and brief.session.status == SessionStatus.OPEN
    words = {"helped": _("it helped"), "misled": _("it misled"), "stale": _("out of date, it said")}
    silent = _("not yet known") if is_open else _("nothing was said")
    return Told(brief, is_open, words[verdict] if verdict else silent, verdict in ("misled", "stale"))
