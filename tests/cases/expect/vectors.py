"""Vectors: of the text as it is, of the model as it is, or none."""

from __future__ import annotations

import hashlib
from datetime import timedelta

import numpy as np
from django.db import transaction

from memory import embedding_store, embeddings
from memory.models import FactEmbedding, Status
from tests.cases.embedder import FakeEmbedder, named
from tests.cases.expect.registry import Look, figure
from tests.cases.stage import OWNER, USUAL_AGENT


def stored(look: Look) -> list[FactEmbedding]:
    with look.stage.looking():
        return list(FactEmbedding.objects.filter(project=look.stage.project).select_related("fact").order_by("pk"))


@figure("stored_embedding_is_null")
def no_vector(look: Look) -> bool:
    return not stored(look)


@figure("marked_for_reembedding", "old_rows_marked_for_reembedding")
def marked(look: Look) -> bool:
    """The sweep finds every memory without a vector of the model as it is now, and makes one. (Taken back after.)"""
    have = {(row.fact_id, row.model) for row in stored(look)}
    missing = {fact.pk for fact in look.facts(Status.APPROVED, Status.PROPOSED)} - {
        pk for pk, model in have if model == embeddings.MODEL_ID
    }
    before = look.stage.embedder
    look.stage.use_embedder(FakeEmbedder())
    with look.stage.looking(), transaction.atomic():
        embedding_store.embed_missing()
        made = set(
            FactEmbedding.objects.filter(model=embeddings.MODEL_ID, fact__in=missing).values_list("fact", flat=True)
        )
        transaction.set_rollback(True)
    if before is not None:
        look.stage.use_embedder(before)
    return bool(missing) and made == missing


@figure("lookup_by_key_finds_it")
def found_by_key(look: Look) -> bool:
    fact = look.rows(look.last("propose").facts)[0]
    said = look.stage.call(USUAL_AGENT, "POST", "facts/lookup", {"key": fact.key})
    return [item["id"] for item in said.body["items"]] == [fact.short_id]


@figure("writes_accepted")
def writes_accepted(look: Look) -> bool:
    writes = look.of("propose", "approve", "edit", "create_fact", "capture")
    return bool(writes) and not any(result.refused for result in writes)


@figure("search_does_not_mix_models")
def one_model(look: Look) -> bool:
    """Nothing was found by a vector of another model: such hits came by their words alone."""
    current = {row.fact_id for row in stored(look) if row.model == embeddings.MODEL_ID}
    result = look.last("search")
    foreign = [item for pk, item in zip(result.facts, result.body["items"], strict=True) if pk not in current]
    return bool(result.facts) and all(item["why"] == "words" for item in foreign)


@figure("status_page_warns")
def status_page_warns(look: Look) -> bool:
    """The health page says, when the next sweep should have passed, how many memories wait for a vector."""
    look.stage.clock.on(timedelta(minutes=5))
    said = look.stage.page(OWNER, f"/p/{look.stage.slug}/health")
    look.stage.clock.on(-timedelta(minutes=5))
    assert said.status == 200, f"the page answers {said.status}"
    return "for a vector" in said.text


@figure("embedding_text_matches_current")
def of_current_text(look: Look) -> bool:
    rows = stored(look)
    return bool(rows) and all(row.text_sha256 == hashlib.sha256(row.fact.text.encode()).hexdigest() for row in rows)


@figure("same_ids_as_exact_scan")
def exact_scan(look: Look) -> bool:
    """What came is what comparing with every vector of that agent's gives."""
    result = look.last("search")
    agent = look.stage.agent_ids([result.step["agent"]])
    vectors = {pk: vector for bulk in look.of("bulk_vectors") for pk, vector in bulk.notes["vectors"].items()}
    mine = [fact.pk for fact in look.facts(Status.APPROVED) if fact.everyone or set(fact.agent_ids) & set(agent)]
    query = np.array(named(result.step["vector"]))
    # As they are kept: half precision.
    scores = {pk: float(np.array(vectors[pk], dtype=np.float16).astype(np.float64) @ query) for pk in mine}
    best = sorted(mine, key=lambda pk: (-round(scores[pk], 3), -pk))[: len(result.facts)]
    lowest = min(scores[pk] for pk in best)
    return len(result.facts) == len(best) and all(scores[pk] >= lowest - 0.002 for pk in result.facts)
