"""Why a fact did not come into a brief: the first gate that stopped it. For people, who may see what agents may not.

The gates stand here alone; a page that says whether an agent gets a memory at all asks `gate_of`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from memory import brief_text, pauses, retrieval, supposed
from memory.brief import TASK, Brief, Candidate, Item
from memory.models import Fact, Status
from memory.supposed import Suppose
from projects.models import Agent


class Gate(StrEnum):
    """What a fact passes on its way into a brief, in this order. CAME: it passed them all."""

    WAITING = "waiting"
    REJECTED = "rejected"
    MERGED = "merged"
    LAPSED = "lapsed"
    WITHDRAWN = "withdrawn"
    REPLACED = "replaced"
    EXPIRED = "expired"
    FROZEN = "frozen"
    OTHER_SUBJECT = "other subject"
    OTHER_AGENTS = "other agents"
    PAUSED = "paused"
    OWN_VALUE = "own value"
    BEHIND = "behind"
    BELOW_FLOOR = "below the floor"
    NO_ROOM = "no room"
    CAME = "came"


# The same in steps that a person can count: in force, about this, for this agent, agent in service, no value of its
# own, among the latest, near the task, room.
_STEPS = (
    (Gate.OTHER_SUBJECT, 2),
    (Gate.OTHER_AGENTS, 3),
    (Gate.PAUSED, 4),
    (Gate.OWN_VALUE, 5),
    (Gate.BEHIND, 6),
    (Gate.BELOW_FLOOR, 7),
    (Gate.NO_ROOM, 8),
    (Gate.CAME, 0),
)
STEPS = 8
_BY_STATUS = {
    Status.PROPOSED: Gate.WAITING,
    Status.REJECTED: Gate.REJECTED,
    Status.MERGED: Gate.MERGED,
    Status.LAPSED: Gate.LAPSED,
    Status.REMOVED: Gate.WITHDRAWN,
    Status.SUPERSEDED: Gate.REPLACED,
    Status.EXPIRED: Gate.EXPIRED,
}


@dataclass(frozen=True)
class Verdict:
    """Where one fact stopped. `score` is its relevance to the task where one was asked for (else None), `floor` what
    it needs; `line_tokens` what its line costs, `tokens` of `budget` what the brief took."""

    fact: Fact
    gate: Gate
    score: float | None = None
    floor: float = retrieval.MIN_SCORE
    line_tokens: int = 0
    tokens: int = 0
    budget: int = 0
    item: Item | None = None

    @property
    def step(self) -> int:
        """Which of the STEPS stopped it, from 1; 0 for one that came."""
        return dict(_STEPS).get(self.gate, 1)


def gate_of(fact: Fact, agent: Agent, *, has_own_value: bool, now: datetime) -> Gate | None:
    """The first gate that keeps this fact (with its subject) out of every brief of the agent (with its project); None
    where the brief decides. `has_own_value`: it has another value of this key. Says the same as
    `Fact.objects.visible_to`. No query."""
    is_paused = pauses.is_paused(agent)
    return _in_force(fact, now) or _for_agent(fact, agent, is_paused=is_paused, has_own_value=has_own_value)


def why_not(
    facts: Iterable[Fact], agent: Agent, built: Brief, *, suppose: Suppose | None = None, now: datetime
) -> list[Verdict]:
    """The first gate that stopped each of these facts (with their subjects) on the way into `built`, the brief of this
    agent. One query, whatever their number."""
    then = {one.pk: one for one in suppose.facts} if suppose is not None else {}
    asked = [then.get(fact.pk, fact) for fact in facts]
    found = Fact.objects.visible_to(agent, now).filter(pk__in=[fact.pk for fact in asked])
    visible = set(supposed.ids(found, suppose)) if asked else set()
    items = dict(zip(built.fact_ids, built.items, strict=True))
    considered = {one.row.pk: one for one in built.considered}
    return [_verdict(fact, agent, built, items, considered, visible, now) for fact in asked]


def _verdict(
    fact: Fact,
    agent: Agent,
    built: Brief,
    items: Mapping[int, Item],
    considered: Mapping[int, Candidate],
    visible: set[int],
    now: datetime,
) -> Verdict:
    item, candidate = items.get(fact.pk), considered.get(fact.pk)
    return Verdict(
        fact,
        Gate.CAME if item is not None else _gate(fact, agent, built, candidate, fact.pk in visible, now),
        score=candidate.relevance if candidate is not None else None,
        line_tokens=brief_text.count(candidate.line.text) if candidate is not None else 0,
        tokens=built.tokens,
        budget=built.budget,
        item=item,
    )


def _in_force(fact: Fact, now: datetime) -> Gate | None:
    if fact.status != Status.APPROVED:
        return _BY_STATUS[Status(fact.status)]
    if fact.expires_at is not None and fact.expires_at <= now:
        return Gate.EXPIRED
    return Gate.FROZEN if fact.subject.frozen_at else None


def _for_agent(fact: Fact, agent: Agent, *, is_paused: bool, has_own_value: bool) -> Gate | None:
    if not fact.everyone and agent.pk not in fact.agent_ids:
        return Gate.OTHER_AGENTS
    if is_paused:
        return Gate.PAUSED
    return Gate.OWN_VALUE if has_own_value else None


def _gate(fact: Fact, agent: Agent, built: Brief, candidate: Candidate | None, is_visible: bool, now: datetime) -> Gate:
    if gate := _in_force(fact, now):
        return gate
    if fact.subject_id not in built.subject_ids:
        return Gate.OTHER_SUBJECT
    # In force and for this agent, and yet not visible: everyone's value stays behind its own.
    if gate := _for_agent(fact, agent, is_paused=built.paused, has_own_value=not is_visible):
        return gate
    if candidate is None:
        return Gate.BEHIND
    if candidate.why == TASK and (candidate.relevance or 0.0) < retrieval.MIN_SCORE:
        return Gate.BELOW_FLOOR
    return Gate.NO_ROOM
