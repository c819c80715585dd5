"""Consequences before a decision: what each agent's next brief would hold, and what it would not hold any more.

Every figure comes from `memory.brief.build` itself, once as things stand and once with the decision supposed
(`memory.supposing`), so a preview is the brief that would be served, byte by byte. Nothing is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime

from django.utils.translation import gettext as _

from memory import brief, rendering, tokens
from memory.brief import Brief
from memory.models import Fact, NotAllowed, Relation, Session, Status
from memory.models.subject import PROJECT
from memory.supposed import Suppose
from memory.supposing import Supposing
from projects.models import Agent, Project
from review.cards.kinds import Kind

# Where the newest sessions of each agent are looked for.
RECENT_SESSIONS = 50
# Agents shown with figures; each takes at least two briefs.
MOST_READERS = 12
# More briefs than this are not built while a decision waits for its next card: the page asks for them afterwards.
AT_ONCE = 6
# About one subject; a brief looks at 300 of its facts, and Postgres at all of them.
FEW_FACTS = 300

Step = Callable[[Supposing], object]


@dataclass(frozen=True)
class Reader:
    """What one agent's brief would be after the decision. `tokens` counts more (or, below zero, fewer) than now.

    `state`: gets (the memory is in it), loses (it was, and would not be), told (neither, but something else of the
    brief changes), blind (not in its scope), paused, no_room, own_value, behind (too many come before it), awaited (its
    briefs are not built yet).
    """

    agent: Agent
    state: str
    tokens: int = 0
    line_tokens: int = 0
    after_tokens: int = 0
    budget: int = 0
    pushed: tuple[str, ...] = ()
    let_in: tuple[str, ...] = ()
    stays: bool = False

    @property
    def sees_it(self) -> bool:
        return self.state == "gets"

    @property
    def change(self) -> str:
        """`+31`, `−3`, `±0`."""
        sign = "+" if self.tokens > 0 else "−" if self.tokens < 0 else "±"
        return f"{sign}{abs(self.tokens)}"


@dataclass(frozen=True)
class Outlook:
    """One answer to a card and what follows. `problem`: why it cannot be given now, in a sentence."""

    title: str
    readers: tuple[Reader, ...] = ()
    problem: str = ""
    more: int = 0

    @property
    def is_nothing(self) -> bool:
        """Whether no brief would change."""
        return not self.problem and all(
            not (one.tokens or one.pushed or one.let_in) and (one.stays or one.state in ("blind", "paused"))
            for one in self.readers
        )


@dataclass(frozen=True)
class Impact:
    """All answers to one card. `about` says whose briefs were built, where it is not the memory's own subject.
    `is_awaited`: the figures come later."""

    outlooks: tuple[Outlook, ...] = ()
    about: str = ""
    budget: int = 0
    is_awaited: bool = False


@dataclass
class _Briefs:
    """Builds each brief once. `asked` are the subjects of an agent's brief, as (type, id) halves."""

    project: Project
    asked: dict[int, list[tuple[str, str]]]
    now: datetime
    kept: dict[int, Brief] = field(default_factory=dict)

    def now_of(self, agent: Agent) -> Brief:
        if agent.pk not in self.kept:
            self.kept[agent.pk] = self.of(agent, None)
        return self.kept[agent.pk]

    def of(self, agent: Agent, suppose: Suppose | None) -> Brief:
        agent.project = self.project
        budget = self.project.brief_budget_tokens
        return brief.build(agent, subjects=self.asked[agent.pk], max_tokens=budget, suppose=suppose, now=self.now)


def of_card(fact: Fact, kind: Kind, agents: Iterable[Agent], labels: dict[str, str], now: datetime) -> Impact:
    """What each answer to this card means. `labels` names the answers of a conflict by their verbs."""
    return _impact(fact, _answers(fact, kind, labels), agents, now)


def awaited(fact: Fact, kind: Kind, agents: Iterable[Agent], labels: dict[str, str]) -> Impact:
    """The same lines without their figures, so that nothing moves when these come. No query."""
    readers = [
        Reader(agent, "awaited" if any(_reaches(one, agent) for one in _beside(fact)) else "blind") for agent in agents
    ]
    told = [one for one in readers if one.state == "awaited"][:MOST_READERS]
    shown = (*told, *(one for one in readers if one.state == "blind"))
    titles = [title for title, _step in _answers(fact, kind, labels)]
    about = _newest_session() if fact.subject.entity_type == PROJECT else ""
    return Impact(
        tuple(Outlook(title, shown, more=len(readers) - len(shown)) for title in titles),
        about,
        fact.project.brief_budget_tokens,
        is_awaited=True,
    )


def of_withdrawal(fact: Fact, agents: Iterable[Agent], now: datetime) -> Impact:
    """What it means to take a live memory out of service."""
    return _impact(fact, [(_("If you withdraw it"), lambda what: what.remove(fact))], agents, now)


def of_rescope(fact: Fact, everyone: bool, agent_ids: list[int], agents: Iterable[Agent], now: datetime) -> Impact:
    """What it means when others receive it; of a proposal, when it is approved so."""

    def then(what: Supposing) -> None:
        what.rescope(fact, everyone=everyone, agent_ids=agent_ids)
        if fact.status == Status.PROPOSED:
            approve(what, fact)

    return _impact(fact, [(_("If you save who sees it"), then)], agents, now)


def is_light(fact: Fact, kind: Kind, agents: Iterable[Agent], subject_facts: int) -> bool:
    """Whether the figures are cheap enough to come with the card itself."""
    answers = {Kind.CONFLICT: 3, Kind.SAME_THING: 2, Kind.STILL_TRUE: 2, Kind.COMPLAINT: 2}.get(kind, 1)
    affected = sum(1 for agent in agents if any(_reaches(one, agent) for one in _beside(fact)))
    return affected * (answers + 1) <= AT_ONCE and subject_facts <= FEW_FACTS


def approve(what: Supposing, fact: Fact) -> None:
    """As `review.deciding.decisions` approves: with a live memory that it changes, in its place."""
    known = fact.related if fact.relation == Relation.CHANGES else None
    what.approve(fact, replaces=known if known is not None and known.status == Status.APPROVED else None)


def cost(fact: Fact) -> int:
    """Tokens of its line without the note behind it."""
    return tokens.count(rendering.fact_line(fact.short_id, fact.text))


def _answers(fact: Fact, kind: Kind, labels: dict[str, str]) -> list[tuple[str, Step]]:
    """The answers of this kind of card, the one it asks for first: (title, what would be decided)."""
    other = fact.related
    if kind == Kind.CONFLICT and other is not None:
        both = [(_("If both hold"), lambda what: keep_both(what, fact, other))] if "keep_both" in labels else []
        return [
            (labels.get("keep_second") or _("If you keep the second"), lambda what: keep_second(what, fact, other)),
            (labels.get("keep_first") or _("If you keep the first"), lambda what: keep_first(what, fact, other)),
            *both,
        ]
    if kind == Kind.SAME_THING and other is not None:
        return [
            (_("If it is the same thing"), lambda what: what.merge(fact, other)),
            (_("If you keep both"), lambda what: approve(what, fact)),
        ]
    confirm: tuple[str, Step] = (_("If you confirm"), lambda what: what.confirm(fact))
    withdraw: tuple[str, Step] = (_("If you withdraw it"), lambda what: what.remove(fact))
    if kind == Kind.STILL_TRUE:
        return [confirm, withdraw]
    if kind == Kind.COMPLAINT:
        return [withdraw, confirm]
    if fact.status == Status.APPROVED:
        return [withdraw]
    return [(_("If you approve"), lambda what: approve(what, fact))] if fact.status == Status.PROPOSED else []


def keep_second(what: Supposing, fact: Fact, other: Fact) -> None:
    if other.status == Status.PROPOSED:
        what.reject(other)
        what.approve(fact)
    else:
        what.approve(fact, replaces=other)


def keep_first(what: Supposing, fact: Fact, other: Fact) -> None:
    what.reject(fact)
    if other.status == Status.PROPOSED:
        what.approve(other)


class BothCannotHold(NotAllowed):
    """The two can not hold together: the card has no such button, so there is nothing to say of it."""


def keep_both(what: Supposing, fact: Fact, other: Fact) -> None:
    """Raises BothCannotHold where one of them would take the other's place, or cannot be approved."""
    try:
        _keep_both(what, fact, other)
    except NotAllowed as problem:
        raise BothCannotHold(str(problem)) from None


def _keep_both(what: Supposing, fact: Fact, other: Fact) -> None:
    what.approve(fact)
    if other.status == Status.PROPOSED:
        what.approve(other)
    if not (what.is_live(fact) and what.is_live(other)):
        raise NotAllowed(_("Only one of the two can hold."))


def _impact(fact: Fact, answers: list[tuple[str, Step]], agents: Iterable[Agent], now: datetime) -> Impact:
    agents = list(agents)
    asked, about = _asked(fact, agents)
    briefs = _Briefs(fact.project, asked, now)
    outlooks = []
    for title, step in answers:
        try:
            what = Supposing(now)
            step(what)
            outlooks.append(_outlook(title, fact, what.done(), agents, briefs))
        except BothCannotHold:
            continue
        except NotAllowed as problem:
            outlooks.append(Outlook(title, problem=str(problem)))
    return Impact(tuple(outlooks), about, fact.project.brief_budget_tokens)


def _outlook(title: str, fact: Fact, suppose: Suppose, agents: list[Agent], briefs: _Briefs) -> Outlook:
    before = Fact.objects.in_bulk(suppose.fact_ids)
    touched = [*suppose.facts, *before.values()]
    readers, counted = [], 0
    for agent in agents:
        is_touched = any(_reaches(one, agent) for one in touched)
        if not is_touched:
            readers.append(Reader(agent, "blind"))
        elif counted < MOST_READERS:
            counted += 1
            readers.append(_reader(agent, fact, suppose, briefs))
    readers.sort(key=lambda one: one.state == "blind")
    return Outlook(title, tuple(readers), more=len(agents) - len(readers))


def _reader(agent: Agent, fact: Fact, suppose: Suppose, briefs: _Briefs) -> Reader:
    before, after = briefs.now_of(agent), briefs.of(agent, suppose)
    if after.paused:
        return Reader(agent, "paused")
    lines = {item.id: item for item in before.items}, {item.id: item for item in after.items}
    changed = {one.short_id for one in suppose.facts}
    gone = [item.text for short_id, item in lines[0].items() if short_id not in lines[1] and short_id not in changed]
    came = [item.text for short_id, item in lines[1].items() if short_id not in lines[0] and short_id not in changed]
    own = lines[1].get(fact.short_id)
    return Reader(
        agent,
        _state(fact, agent, suppose, before, after),
        tokens=after.tokens - before.tokens,
        line_tokens=own.tokens if own else 0,
        after_tokens=after.tokens,
        budget=after.budget,
        pushed=tuple(gone),
        let_in=tuple(came),
        stays=before.text == after.text or (own is not None and fact.short_id in lines[0]),
    )


def _state(fact: Fact, agent: Agent, suppose: Suppose, before: Brief, after: Brief) -> str:
    if any(item.id == fact.short_id for item in after.items):
        return "gets"
    then = next((one for one in suppose.facts if one.pk == fact.pk), fact)
    if then.status != Status.APPROVED:
        was_in = any(item.id == fact.short_id for item in before.items)
        return "loses" if was_in else "told"
    if not _reaches(then, agent):
        return "loses" if any(item.id == fact.short_id for item in before.items) else "told"
    why = next((one.why for one in after.dropped if one.id == fact.short_id), "")
    return {brief.DID_NOT_FIT: "no_room", brief.OWN_VALUE: "own_value"}.get(why, "behind")


def _asked(fact: Fact, agents: list[Agent]) -> tuple[dict[int, list[tuple[str, str]]], str]:
    """Whose brief each agent would ask for: about the memory's subject; for what holds in the whole project, about the
    subjects of its own newest session. At most two queries."""
    subject = fact.subject
    own = [(subject.entity_type, subject.entity_id)]
    if subject.entity_type != PROJECT:
        return dict.fromkeys((agent.pk for agent in agents), own), ""
    latest: dict[int, list[tuple[str, str]]] = {}
    recent = Session.objects.filter(project_id=fact.project_id).prefetch_related("subjects")
    for session in recent.order_by("-last_seen_at", "-pk")[:RECENT_SESSIONS]:
        about = [(one.entity_type, one.entity_id) for one in session.subjects.all()]
        latest.setdefault(session.agent_id, about or own)
    asked = {agent.pk: latest.get(agent.pk, own) for agent in agents}
    return asked, _newest_session() if latest else ""


def _newest_session() -> str:
    return _("In the brief of each agent’s newest session.")


def _beside(fact: Fact) -> list[Fact]:
    return [fact] if fact.related is None else [fact, fact.related]


def _reaches(fact: Fact, agent: Agent) -> bool:
    return fact.everyone or agent.pk in fact.agent_ids
