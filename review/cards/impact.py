"""What happens if a card is answered as it suggests: per agent, whether it sees the memory and what that costs."""

from __future__ import annotations

from dataclasses import dataclass

from memory import rendering, tokens
from memory.models import Fact, Status
from projects.models import Agent
from review.cards.kinds import Kind


@dataclass(frozen=True)
class Reader:
    """What approving would mean for one agent."""

    agent: Agent
    sees_it: bool
    tokens: int  # more than now; fewer where a shorter sentence replaces a longer one

    @property
    def change(self) -> str:
        """`+31 tokens`, `−3 tokens`."""
        sign = "−" if self.tokens < 0 else "+"
        return f"{sign}{abs(self.tokens)} token{'' if abs(self.tokens) == 1 else 's'}"


def cost(fact: Fact) -> int:
    return tokens.count(rendering.fact_line(fact.short_id, fact.text))


def taken_out(fact: Fact, kind: Kind, rival: Fact | None) -> list[Fact]:
    """The live memories whose place this one takes when it is approved as the card suggests."""
    if kind == Kind.STANDING:
        return list(Fact.objects.filter(part_of__standing=fact, status=Status.APPROVED).order_by("pk"))
    if kind == Kind.CONFLICT and fact.related is not None and fact.related.status == Status.APPROVED:
        return [fact.related]
    return [rival] if rival is not None else []


def reader(agent: Agent, fact: Fact, leaving: list[Fact], own_cost: int) -> Reader:
    """What this agent gets more when `fact` comes and `leaving` go."""
    freed = sum(cost(one) for one in leaving if _goes_to(one, agent))
    return Reader(agent, _goes_to(fact, agent), own_cost - freed)


def _goes_to(fact: Fact, agent: Agent) -> bool:
    return fact.everyone or agent.pk in fact.agent_ids
