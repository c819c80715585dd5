"""What an agent was told and must no longer rely on: noted per agent, named in its briefs for 30 days."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta

from memory.models import BriefServed, Fact, Retraction, Status
from projects.models import Agent

RETRACTED_FOR = timedelta(days=30)
LISTED = 100


def retract(fact: Fact, now: datetime) -> None:
    """Call after any decision about a fact: notes, for every agent that was served it, whether it still holds for them.

    Agents who may no longer receive it are told so in their briefs; for whom it holds (again, after an undo) the note
    is taken back. Safe to call twice.
    """
    told = set(
        BriefServed.objects.filter(
            project_id=fact.project_id, at__gte=now - RETRACTED_FOR, fact_ids__contains=[fact.pk]
        )
        .order_by()
        .values_list("agent_id", flat=True)
        .distinct()
    )
    told |= set(Retraction.objects.filter(fact=fact).order_by().values_list("agent_id", flat=True))
    if not told:
        return
    ended = fact.status != Status.APPROVED or (fact.expires_at is not None and fact.expires_at <= now)
    holds = set() if ended else told if fact.everyone else told & set(fact.agent_ids)
    Retraction.objects.filter(fact=fact, agent_id__in=holds).delete()
    _note(fact.project_id, [(agent_id, fact.pk) for agent_id in sorted(told - holds)], now)


def withdrawn(
    agent: Agent, noted: list[int], told: list[int], shown: set[int], now: datetime
) -> tuple[list[int], list[int]]:
    """(facts this agent was told that no longer hold, latest first; those of them that nobody noted yet).

    A decision notes what it ends (`retract`). What ended by the clock alone is seen by looking at what the agent's last
    brief told. `shown` are facts known to be visible to the agent now.
    """
    missing = set(told) - shown - set(noted)
    ended: list[int] = []
    if missing:
        visible = Fact.objects.visible_to(agent, now).filter(pk__in=missing).values_list("pk", flat=True)
        gone = missing - set(visible)
        ended = sorted(Fact.objects.filter(project_id=agent.project_id, pk__in=gone).values_list("pk", flat=True))
    return [pk for pk in [*ended, *noted] if pk not in shown][:LISTED], ended


def note_ended(agent: Agent, fact_ids: Iterable[int], now: datetime) -> None:
    """Notes what `withdrawn` found, so that later briefs name it too."""
    _note(agent.project_id, [(agent.pk, pk) for pk in fact_ids], now)


def _note(project_id: int, pairs: list[tuple[int, int]], now: datetime) -> None:
    Retraction.objects.bulk_create(
        [Retraction(project_id=project_id, agent_id=agent_id, fact_id=pk, at=now) for agent_id, pk in pairs],
        ignore_conflicts=True,
    )
