"""What an agent says of a memory it was told: it helped, it misled, or it is out of date.

Help lifts it a little in later briefs. A complaint brings it back before a person; until one has looked, it stays
approved and in use, for no agent may take a memory from the others.
"""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from django.db import transaction

from memory import retrieval
from memory.models import Feedback, Verdict
from projects import audit
from projects.models import Agent

Given = Literal["noted", "noted before"]


def give(agent: Agent, pk: int, verdict: str, now: datetime) -> Given | None:
    """Notes the verdict, once for each day of the project; None for a fact this agent may not see.

    It need not be on record as served: a look-up tells facts too, and keeps no list of them.
    """
    fact = retrieval.visible(agent, pk, now)
    if fact is None:
        return None
    audit.record("fact.feedback", agent, project_id=agent.project_id, object_kind="fact", object_ids=[fact.pk], now=now)
    with transaction.atomic():
        _, is_new = Feedback.objects.get_or_create(
            fact=fact,
            agent=agent,
            verdict=verdict,
            said_on=retrieval.day(now, agent.project.timezone),
            defaults={"project_id": agent.project_id, "at": now},
        )
        if is_new and verdict == Verdict.HELPED:
            fact.count_help()
        elif is_new:
            fact.look_again(now)
    return "noted" if is_new else "noted before"
