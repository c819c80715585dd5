"""What an agent was told and must no longer rely on: noted per agent, named in its briefs for 30 days."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta

from django.db.models import Q

from memory import served, supposed
from memory.models import BriefServed, Decision, Fact, Retraction, Status
from memory.supposed import Suppose
from projects.models import Agent

RETRACTED_FOR = timedelta(days=30)
LISTED = 100


def retract(fact: Fact, now: datetime) -> None:
    """Call after any decision about a fact: notes, for every agent that was served it, whether it still holds for them.

    Agents who may no longer receive it are told so in their briefs; for whom it holds (again, after an undo) the note
    is taken back. Safe to call twice.
    """
    retract_all([fact], now)


def retract_all(facts: Sequence[Fact], now: datetime) -> None:
    """The same for several facts of one project: four queries, whatever their number."""
    if not facts:
        return
    told = told_since(facts, now - RETRACTED_FOR)
    noted = Retraction.objects.filter(fact__in=[fact.pk for fact in facts]).order_by()
    for fact_id, agent_id in noted.values_list("fact_id", "agent_id"):
        told.setdefault(fact_id, set()).add(agent_id)
    holds, ended = Q(), []
    for fact in facts:
        agents = told.get(fact.pk, set())
        still = {agent_id for agent_id in agents if _holds_for(fact, agent_id, now)}
        if still:
            holds |= Q(fact=fact, agent_id__in=still)
        ended += [(agent_id, fact.pk) for agent_id in sorted(agents - still)]
    if holds:
        Retraction.objects.filter(holds).delete()
    if ended:
        _note(facts[0].project_id, ended, now)


def told_since(facts: Sequence[Fact], since: datetime) -> dict[int, set[int]]:
    """Fact id → the ids of the agents that were served it since then; facts of one project."""
    return served.told_since(facts[0].project_id, [fact.pk for fact in facts], since)


def would_note(facts: Sequence[Fact], now: datetime) -> dict[int, list[int]]:
    """What `retract_all` would write down, were these facts as they stand here: for each agent the facts that it was
    told and would not have any more, the latest first. Two queries, none without facts."""
    if not facts:
        return {}
    told = told_since(facts, now - RETRACTED_FOR)
    there = set(Retraction.objects.filter(fact__in=list(told)).order_by().values_list("agent_id", "fact_id"))
    noted: dict[int, list[int]] = {}
    for fact in reversed(facts):
        for agent_id in told.get(fact.pk, ()):
            if not _holds_for(fact, agent_id, now) and (agent_id, fact.pk) not in there:
                noted.setdefault(agent_id, []).append(fact.pk)
    return noted


def withdrawn(
    agent: Agent,
    noted: list[int],
    told: list[int],
    shown: set[int],
    now: datetime,
    suppose: Suppose | None = None,
) -> tuple[list[int], list[int]]:
    """(facts this agent was told that no longer hold, latest first; those of them that nobody noted yet).

    A decision notes what it ends (`retract`). What ended by the clock alone is seen by looking at what the agent's last
    brief told. `shown` are facts known to be visible to the agent now.
    """
    missing = set(told) - shown - set(noted)
    ended: list[int] = []
    if missing:
        gone = missing - set(supposed.ids(Fact.objects.visible_to(agent, now).filter(pk__in=missing), suppose))
        ended = sorted(Fact.objects.filter(project_id=agent.project_id, pk__in=gone).values_list("pk", flat=True))
    return [pk for pk in [*ended, *noted] if pk not in shown][:LISTED], ended


def reworded(agent: Agent, session_id: int | None, fact_ids: Collection[int], now: datetime) -> list[int]:
    """Those of these facts, told in this agent's last brief of the session, that say something else by now.

    To be named where their new words do not come: the old ones must not be relied on. No query without facts.
    """
    if not fact_ids:
        return []
    of_session = {"session": session_id} if session_id is not None else {"session__isnull": True}
    last = BriefServed.objects.filter(agent=agent, at__gte=now - RETRACTED_FOR, paused=False, **of_session)
    told_at = last.order_by("-pk").values_list("at", flat=True).first()
    if told_at is None:
        return []
    changes = Decision.objects.filter(fact__in=fact_ids, at__gte=told_at, before__has_key="text").order_by("-pk")
    # What each said when it was told: before the first change since.
    said = {pk: (before["text"], text) for pk, before, text in changes.values_list("fact_id", "before", "fact__text")}
    return sorted(pk for pk, (then, text) in said.items() if then != text)


def note_ended(agent: Agent, fact_ids: Iterable[int], now: datetime) -> None:
    """Notes what `withdrawn` found, so that later briefs name it too."""
    _note(agent.project_id, [(agent.pk, pk) for pk in fact_ids], now)


def _holds_for(fact: Fact, agent_id: int, now: datetime) -> bool:
    is_over = fact.status != Status.APPROVED or (fact.expires_at is not None and fact.expires_at <= now)
    return not is_over and (fact.everyone or agent_id in fact.agent_ids)


def _note(project_id: int, pairs: list[tuple[int, int]], now: datetime) -> None:
    Retraction.objects.bulk_create(
        [Retraction(project_id=project_id, agent_id=agent_id, fact_id=pk, at=now) for agent_id, pk in pairs],
        ignore_conflicts=True,
    )
