"""What follows from decisions about memories: vectors of changed texts, token counts, what agents must not rely on."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import datetime

from memory import embedding_store, rendering, retractions, tokens
from memory.models import Decision, Fact, Retraction, Status
from review.deciding import sampling


def follow(decision: Decision, now: datetime) -> None:
    """Everything that one act means for agents, whatever number of memories it touched."""
    follow_batch(decision.batch, now)


def follow_batch(batch: uuid.UUID, now: datetime) -> None:
    """The same by the act's id: about eight queries, whatever the number of memories."""
    steps = list(Decision.objects.filter(batch=batch).select_related("fact").order_by("pk"))
    facts = {step.fact_id: step.fact for step in steps}
    # A proposal's too: an edit, or an undo, may have changed what it says.
    searched = [fact for fact in facts.values() if fact.status in (Status.APPROVED, Status.PROPOSED)]
    count_tokens(searched)
    if searched:
        embedding_store.refresh_all(searched)
    was_live = {
        step.fact_id for step in steps if step.before.get("status", step.fact.status) == Status.APPROVED
    } | _noted(facts)
    retractions.retract_all([fact for pk, fact in facts.items() if pk in was_live], now)
    sampling.heard(steps, now)


def count_tokens(facts: Sequence[Fact]) -> None:
    """The tokens of each one's rendered line, written where they differ; none for what no brief holds yet."""
    changed = []
    for fact in facts:
        is_live = fact.status == Status.APPROVED
        counted = tokens.count(rendering.fact_line(fact.short_id, fact.text)) if is_live else 0
        if counted != fact.tokens:
            fact.tokens = counted
            changed.append(fact)
    if changed:
        Fact.objects.bulk_update(changed, ["tokens"])


def _noted(facts: dict[int, Fact]) -> set[int]:
    """Those of them that some agent was told not to rely on: they may hold again."""
    return set(Retraction.objects.filter(fact__in=facts).order_by().values_list("fact_id", flat=True))
