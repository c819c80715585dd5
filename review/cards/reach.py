"""Which agents get a memory with their next brief, or the first reason why not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from memory.models import Fact
from memory.models.subject import PROJECT
from memory.why_not import Gate, gate_of
from projects.models import Agent
from review.templatetags import desk


@dataclass(frozen=True)
class Reached:
    """One agent: whether it may be told, and why in a sentence."""

    agent: Agent
    gets_it: bool
    because: str


def reach(fact: Fact, agents: Iterable[Agent], scope: str, now: datetime) -> list[Reached]:
    """A row for each agent; one query whatever their number. The gates are those of `memory.why_not`."""
    with_own = _with_a_value_of_their_own(fact, now)
    yes = _when(fact, scope)
    found = []
    for agent in agents:
        gate = gate_of(fact, agent, has_own_value=agent.pk in with_own, now=now)
        found.append(Reached(agent, gate is None, yes if gate is None else words(gate, fact, agent)))
    return found


def words(gate: Gate, fact: Fact, agent: Agent) -> str:
    """A gate of `gate_of`, as the reason of one agent's row."""
    if gate == Gate.EXPIRED:
        return _("It has expired")
    if gate == Gate.PAUSED:
        return _("All briefs of the project are paused") if agent.project.paused_at else _("Its briefs are paused")
    if gate == Gate.FROZEN:
        return _("Its subject is frozen while a privacy request runs")
    if gate == Gate.OTHER_AGENTS:
        return _("It goes to other agents only")
    if gate == Gate.OWN_VALUE:
        return _("It has a value of its own for this")
    return _("It is %(state)s") % {"state": str(desk.state_words(fact)).lower()}


def _with_a_value_of_their_own(fact: Fact, now: datetime) -> set[int]:
    """Agents that get another value of this key instead of everyone's."""
    if not fact.everyone or not fact.type_row.single_valued:
        return set()
    own = Fact.objects.filter(subject=fact.subject_id, type=fact.type, key=fact.key, everyone=False)
    return {pk for ids in own.live(now).values_list("agent_ids", flat=True) for pk in ids}


def _when(fact: Fact, scope: str) -> str:
    subject = fact.subject
    words = {"scope": scope, "subject": desk.subject_words(fact)}
    if fact.standing:
        return _("Goes to %(scope)s, first in every brief about %(subject)s") % words
    if subject.entity_type == PROJECT:
        return _("Goes to %(scope)s, where it fits the task") % words
    if subject.entity_type == "repo":
        return _("Goes to %(scope)s, when it works in %(subject)s") % words
    return _("Goes to %(scope)s, when %(subject)s is a subject of the session") % words
