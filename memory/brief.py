"""The brief: what an agent should know before it begins, within its budget, and the record that it was told.

`build` reads and never writes; `serve` builds, answers "unchanged" where it is, and logs. What an agent may not see
never appears, not even as an id among what was left out.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Q

from memory import brief_rows, pauses, rendering, retractions, retrieval, short_ids, supposed
from memory.brief_rows import About, Context, Row
from memory.brief_text import Composed, Line, Section, compose, head, withdrawn_line
from memory.models import BriefServed, Fact
from memory.models.subject import PROJECT
from memory.rendering import Known, fact_line, note
from memory.retractions import retract
from memory.retrieval import priority
from memory.supposed import Suppose
from memory.tokens import TOKENIZER
from memory.types import single_valued
from projects.models import Agent, Person

__all__ = ["Brief", "Dropped", "Item", "build", "cleaned_task", "retract", "serve"]

TASK_CHARS = 500
# A line costs ten tokens and more, so this many candidates fill any budget; a subject may have ten thousand.
LEAST_CANDIDATES = 300
TOKENS_PER_LINE = 8
TASK_CANDIDATES = 200
LEFT_OUT_LISTED = 50
WITHDRAWN_LISTED = 10

STANDING, ABOUT, TASK, HOLDS_HERE = "standing", "about the subject", "for the task", "holds here"
DID_NOT_FIT, BELOW_FLOOR, OWN_VALUE = "did not fit", "below the floor", "own value instead"


class Item(NamedTuple):
    """One fact of a brief, and why it came. `score` is its relevance to the task, without one its priority."""

    id: str
    type: str
    key: str
    value: Any
    text: str
    score: float
    why: str
    tokens: int
    times_seen: int
    last_seen_on: str


class Dropped(NamedTuple):
    """A fact the agent may see and did not get, and the reason."""

    id: str
    why: str


@dataclass(slots=True)
class Candidate:
    """A visible fact on its way into the brief."""

    row: Row
    priority: float
    relevance: float | None
    why: str
    short_id: str
    line: Line


@dataclass(frozen=True, slots=True)
class Brief:
    """What would be sent. Row ids beside it are for the record, never for the answer; `considered` is for people who
    ask why something did not come (memory.why_not)."""

    text: str
    items: tuple[Item, ...]
    tokens: int
    budget: int
    dropped: tuple[Dropped, ...]
    retracted: tuple[str, ...]
    paused: bool
    capture_dropped: int
    etag: str = ""
    unchanged: bool = False
    subject_ids: tuple[int, ...] = ()
    session_id: int | None = None
    # Facts served before that no longer hold and are not on record yet: gone by the clock alone.
    newly_retracted: tuple[int, ...] = ()
    fact_ids: tuple[int, ...] = ()
    dropped_fact_ids: tuple[int, ...] = ()
    served_pk: int | None = None
    # The system memory deployed for this agent: {"version", "deployed_at", "config"}. It is beside the text and costs
    # nothing of the budget.
    system: dict[str, Any] | None = None
    considered: tuple[Candidate, ...] = ()


def build(
    agent: Agent,
    *,
    session: str | None = None,
    subjects: Sequence[tuple[str, str]] = (),
    task: str | None = None,
    max_tokens: int,
    known_etags: Collection[str] = (),
    person: Person | None = None,
    suppose: Suppose | None = None,
    now: datetime,
) -> Brief:
    """The brief for this agent now. `session` is its own external id, `subjects` are (type, id) halves.

    Standing facts come first, then what is known about the session's and the named subjects, then what fits the task
    among what holds in the project and its repositories (without a task all of that, by priority). A brief about
    nobody is about the project, its repositories and `person`, the holder of the key. With `suppose` it is the one that
    this agent would get after a decision that nobody has made yet (memory.supposing).
    """
    context = brief_rows.context(agent, session, subjects, person, now, suppose)
    agent = context.agent
    if agent.archived_at or pauses.is_paused(agent):
        return _finished(
            Brief("", (), 0, max_tokens, (), (), True, agent.dropped_count, "", False, tuple(context.ids)), known_etags
        )
    asked = (task or "").strip() or None
    candidates, below = _candidates(agent, context, asked, max_tokens, now, suppose)
    shown = {one.row.pk for one in [*candidates, *below]}
    retracted, newly = retractions.withdrawn(agent, context.withdrawn, context.told, shown, now, suppose)
    first_lines = head(agent.project.slug, agent.slug, any(one.row.confirmed_on is None for one in candidates))
    sections, by_section = _sections(context, candidates, retracted)
    composed = compose(first_lines, sections, max_tokens)
    came = _items(composed, by_section)
    silent = set(context.told).difference(came, retracted)
    reworded = retractions.reworded(agent, context.session_id, silent, now)
    if reworded:
        retracted = [*reworded, *retracted]
        sections, by_section = _sections(context, candidates, retracted)
        composed = compose(first_lines, sections, max_tokens)
        came = _items(composed, by_section)
    left_out = [
        *((one.row.pk, DID_NOT_FIT) for one in candidates if one.row.pk not in came),
        *_shadowed(agent, candidates, now, suppose),
        *((one.row.pk, BELOW_FLOOR) for one in below),
    ][:LEFT_OUT_LISTED]
    return _finished(
        Brief(
            text=composed.text,
            items=tuple(came.values()),
            tokens=composed.tokens,
            budget=max_tokens,
            dropped=tuple(Dropped(short_ids.encode(pk), why) for pk, why in left_out),
            retracted=tuple(short_ids.encode(pk) for pk in retracted),
            paused=False,
            capture_dropped=agent.dropped_count,
            subject_ids=tuple(context.ids),
            session_id=context.session_id,
            newly_retracted=tuple(newly),
            fact_ids=tuple(came),
            dropped_fact_ids=tuple(pk for pk, _ in left_out),
            system=context.system,
            considered=(*candidates, *below),
        ),
        known_etags,
    )


def serve(agent: Agent, *, task: str | None = None, now: datetime, **asked: Any) -> Brief:
    """Builds the brief and writes down that this agent was told: one row, one audit event."""
    brief = build(agent, task=task, now=now, **asked)
    if brief.newly_retracted:
        retractions.note_ended(agent, brief.newly_retracted, now)
    served = BriefServed(
        session_id=brief.session_id,
        subject_ids=list(brief.subject_ids),
        etag=brief.etag,
        fact_ids=list(brief.fact_ids),
        items=[
            {"id": pk, "why": item.why, "tokens": item.tokens, "score": item.score}
            for pk, item in zip(brief.fact_ids, brief.items, strict=True)
        ],
        left_out=[{"id": pk, "why": one.why} for pk, one in zip(brief.dropped_fact_ids, brief.dropped, strict=True)],
        text="" if brief.unchanged else brief.text,
        tokens=brief.tokens,
        budget=brief.budget,
        task=cleaned_task(task),
        unchanged=brief.unchanged,
        paused=brief.paused,
        at=now,
    )
    return replace(brief, served_pk=brief_rows.record(agent, served))


def cleaned_task(task: str | None) -> str:
    """The task as the record keeps it: without secrets, one line, shortened."""
    if not task:
        return ""
    taken = task[: 10 * TASK_CHARS]
    if len(taken) < len(task):
        # The word that is cut in two may be half of a secret, which looks like none.
        taken = taken.removesuffix(re.split(r"\s", taken)[-1])
    cleaned = rendering.clean_line(taken)
    return cleaned if len(cleaned) <= TASK_CHARS else cleaned[: TASK_CHARS - 1] + "…"


# How it is put together ----------------------------------------------------------------------------------------------


def _candidates(
    agent: Agent, context: Context, task: str | None, max_tokens: int, now: datetime, suppose: Suppose | None
) -> tuple[list[Candidate], list[Candidate]]:
    """(what should come, best first; what the task does not ask for), all of it visible to the agent."""
    scored = {}
    if task:
        ids = context.ids
        limits: dict[str, Any] = {"min_score": 0.0, "limit": TASK_CANDIDATES}
        hits = retrieval.score(agent, task, subjects=ids, **limits, now=now, suppose=suppose)
        scored = {hit.pk: hit.relevance for hit in hits}
    names = {subject.pk: subject for subject in context.subjects}
    chosen: list[Candidate] = []
    below: list[Candidate] = []
    for row in brief_rows.facts(agent, context.ids, most_candidates(max_tokens), now, suppose):
        relevance = scored.get(row.pk, 0.0) if task else None
        subject = names[row.subject_id]
        is_place = subject.is_place
        why = STANDING if row.standing else ABOUT if not is_place else TASK if task else HOLDS_HERE
        rank = priority(
            row.type,
            row.source,
            row.times_seen,
            row.age_days,
            relevance or 0.0,
            use=row.use,
            helped_count=row.helped_count,
            types=agent.project.types,
        )
        short_id = short_ids.encode(row.pk)
        one = Candidate(row, rank, relevance, why, short_id, _line(row, subject, short_id))
        is_below = why == TASK and (relevance or 0.0) < retrieval.MIN_SCORE
        (below if is_below else chosen).append(one)
    for group in (chosen, below):
        group.sort(key=lambda one: (-round(one.priority, 4), one.row.pk))
    return chosen, below


def most_candidates(max_tokens: int) -> int:
    """How many facts are looked at for a brief of this size, standing ones first, then the latest."""
    return max(LEAST_CANDIDATES, max_tokens // TOKENS_PER_LINE)


def _line(row: Row, subject: About, short_id: str) -> Line:
    known = Known(
        type=row.type,
        entity_type=subject.entity_type,
        standing=row.standing,
        times_seen=row.times_seen,
        first_seen_on=row.first_seen_on,
        confirmed_on=row.confirmed_on,
        said_by=row.said_by or "",
        agent=row.agent or "",
        use=row.use,
    )
    return Line(row.pk, fact_line(short_id, row.text, note(known)))


def _sections(
    context: Context, candidates: list[Candidate], retracted: list[int]
) -> tuple[list[Section], list[dict[int, Candidate]]]:
    """The sections in the order of the text, and beside each the candidates whose lines it holds."""
    groups: list[tuple[str, list[Candidate]]] = [("Standing", [one for one in candidates if one.why == STANDING])]
    for subject in context.subjects:
        about = [one for one in candidates if one.why in (ABOUT, HOLDS_HERE) and one.row.subject_id == subject.pk]
        words = "the project" if subject.entity_type == PROJECT else f"{subject.entity_type} {subject.entity_id}"
        groups.append((f"About {words}", about))
    groups.append(("For this task", [one for one in candidates if one.why == TASK]))
    sections = [Section(title, [one.line for one in group]) for title, group in groups]
    # A wrong line costs more than a missing one: what no longer holds takes its room first.
    withdrawn = [Line(pk, withdrawn_line(short_ids.encode(pk))) for pk in retracted[:WITHDRAWN_LISTED]]
    sections.append(Section("Withdrawn since your last brief", withdrawn, turn=0))
    return sections, [{one.row.pk: one for one in group} for _, group in groups]


def _items(composed: Composed, by_section: list[dict[int, Candidate]]) -> dict[int, Item]:
    came = {}
    for kept, group in zip(composed.kept, by_section, strict=False):
        for pk, line_tokens in kept.items():
            one = group[pk]
            score = one.priority if one.relevance is None else one.relevance
            came[pk] = Item(
                id=one.short_id,
                type=one.row.type,
                key=one.row.key,
                value=one.row.value,
                text=one.row.text,
                score=round(score, 2),
                why=one.why,
                tokens=line_tokens,
                times_seen=one.row.times_seen,
                last_seen_on=one.row.last_seen_on,
            )
    return came


def _shadowed(
    agent: Agent, candidates: list[Candidate], now: datetime, suppose: Suppose | None
) -> list[tuple[int, str]]:
    """Everyone's values that this agent would get if it had none of its own. No query where it has none."""
    single = single_valued(agent.project.types)
    own = [one.row for one in candidates if not one.row.everyone and one.row.type in single]
    if not own:
        return []
    same = Q()
    for row in own:
        same |= Q(subject_id=row.subject_id, type=row.type, key=row.key)
    shadowed = Fact.objects.filter(same, project_id=agent.project_id, everyone=True).live(now).order_by("pk")
    return [(pk, OWN_VALUE) for pk in supposed.ids(shadowed, suppose)]


def _finished(brief: Brief, known_etags: Collection[str]) -> Brief:
    """With the hash of what would be sent: whatever moves in the answer moves the hash, so it cannot be stale."""
    sent = {
        "text": brief.text,
        "items": [item._asdict() for item in brief.items],
        "tokens": brief.tokens,
        "tokenizer": TOKENIZER,
        "budget": brief.budget,
        "dropped": [one._asdict() for one in brief.dropped],
        "retracted": brief.retracted,
        "paused": brief.paused,
        **({"system": brief.system} if brief.system is not None else {}),
    }
    etag = hashlib.sha256(json.dumps(sent, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
    return replace(brief, etag=etag, unchanged=etag in known_etags)
