"""What follows from decisions about memories: vectors of changed texts, what agents must not rely on, verdicts."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime

from memory import embedding_store, retractions
from memory.models import Decision, Fact, Retraction, Status
from projects.prepared import asked_ahead, run
from review.deciding import sampling

_OTHERS = "SELECT id FROM memory_decision WHERE batch = %(batch)s::uuid AND id <> %(decision)s::bigint LIMIT 1"
_NOTED = "SELECT DISTINCT fact_id FROM memory_retraction WHERE fact_id = ANY (%(facts)s::bigint[])"


def follow(decision: Decision, now: datetime) -> None:
    """Everything that one act means for agents, whatever number of memories it touched."""
    others = (_OTHERS, {"batch": decision.batch, "decision": decision.pk})
    alone = [(_NOTED, {"facts": [decision.fact_id]}), embedding_store.asked([decision.fact_id])]
    with asked_ahead(Decision.objects.db, [others, *alone]):
        if run(Decision.objects.db, *others):
            follow_batch(decision.batch, now)
        else:
            _follow([decision], now)


def follow_batch(batch: uuid.UUID, now: datetime) -> None:
    """The same by the act's id: about five queries, whatever the number of memories."""
    steps = Decision.objects.filter(batch=batch).select_related("fact").defer("fact__search").order_by("pk")
    _follow(list(steps), now)


def _follow(steps: Sequence[Decision], now: datetime) -> None:
    facts = {step.fact_id: step.fact for step in steps}
    # A proposal has its vector from the day it came; an edit, or an undo, may have changed what it says.
    reworded = {step.fact_id for step in steps if "text" in step.after}
    searched = [
        fact
        for pk, fact in facts.items()
        if fact.status == Status.APPROVED or (fact.status == Status.PROPOSED and pk in reworded)
    ]
    if searched:
        embedding_store.refresh_all(searched)
    was_live = {
        step.fact_id for step in steps if step.before.get("status", step.fact.status) == Status.APPROVED
    } | _noted(facts)
    retractions.retract_all([fact for pk, fact in facts.items() if pk in was_live], now)
    sampling.heard(steps, now)


def _noted(facts: dict[int, Fact]) -> set[int]:
    """Those of them that some agent was told not to rely on: they may hold again."""
    return {row[0] for row in run(Retraction.objects.db, _NOTED, {"facts": list(facts)})}
