"""Keeps a vector beside every fact that may be searched: made when proposed, made anew when its text changes.

Searching works without one (by words alone), so a missing model never stops a proposal or a decision: the sweep makes
up for it later.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from django.db.models import CharField, Exists, F, Func, OuterRef, QuerySet

from memory import embeddings
from memory.models import Fact, FactEmbedding, Status
from projects import tenancy
from projects.prepared import Statement, run

log = logging.getLogger(__name__)
_MADE = """
SELECT fact_id, text_sha256 FROM memory_factembedding
WHERE fact_id = ANY (%(facts)s::bigint[]) AND model = %(model)s AND precision = %(precision)s
"""
SWEEP_LIMIT = 500  # about 2 s of one core
SWEPT_WITHIN = timedelta(minutes=2)


class _Sha256(Func):
    template = "encode(sha256(convert_to(%(expressions)s, 'UTF8')), 'hex')"
    output_field = CharField()


def text_sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def embed_facts(facts: Sequence[Fact]) -> int:
    """Writes the vectors that are missing or older than their text; returns how many. A text that the embedder has no
    vector for costs only itself. Raises EmbedderUnavailable."""
    return _embed(_stale(facts))


def _stale(facts: Sequence[Fact]) -> list[Fact]:
    """Those of them that no vector of their text stands for, each once. One query."""
    hashes = {fact.pk: text_sha256(fact.text) for fact in facts}
    fresh = set(run(FactEmbedding.objects.db, *asked(hashes)))
    return [fact for fact in {fact.pk: fact for fact in facts}.values() if (fact.pk, hashes[fact.pk]) not in fresh]


def asked(fact_ids: Iterable[int]) -> Statement:
    """Which texts the vectors of these facts were made from: what `refresh_all` asks first, to be asked ahead."""
    return _MADE, {"facts": list(fact_ids), "model": embeddings.MODEL_ID, "precision": embeddings.PRECISION}


def _embed(facts: Sequence[Fact]) -> int:
    vectors = _vectors([fact.text for fact in facts])
    made = FactEmbedding.objects.bulk_create(
        [
            FactEmbedding(
                project_id=fact.project_id,
                fact=fact,
                model=embeddings.MODEL_ID,
                precision=embeddings.PRECISION,
                text_sha256=text_sha256(fact.text),
                vector=vector,
            )
            for fact, vector in zip(facts, vectors, strict=True)
            if vector is not None
        ],
        update_conflicts=True,
        unique_fields=["fact", "model", "precision"],
        update_fields=["text_sha256", "vector"],
    )
    return len(made)


def _vectors(texts: Sequence[str]) -> list[list[float] | None]:
    try:
        return [*embeddings.embed(texts)]
    except embeddings.BadVector:
        return [_vector(text) for text in texts]


def _vector(text: str) -> list[float] | None:
    try:
        return embeddings.embed([text])[0]
    except embeddings.BadVector as unfit:
        log.warning("%s A memory is found by its words alone.", unfit)
        return None


def refresh(fact: Fact) -> bool:
    """After a decision that may have changed the text: the vector fits again (about 1 ms), or is gone until the sweep.

    True when a vector stands. A missing model is logged, never raised: a person's decision does not depend on it.
    """
    refresh_all([fact])
    made = FactEmbedding.objects.filter(fact=fact, model=embeddings.MODEL_ID, precision=embeddings.PRECISION)
    return made.exists()


def refresh_all(facts: Sequence[Fact]) -> None:
    """The same for several facts at once: one query where their vectors stand, at most four, whatever their number."""
    stale_facts = _stale(facts)
    try:
        # The embedder fails before anything is written: the decision around this stands without a savepoint.
        if not stale_facts or _embed(stale_facts) == len(stale_facts):
            return
    except embeddings.EmbedderUnavailable as missing:
        log.warning("%s Memories are found by their words until then.", missing)
    hashes = {fact.pk: text_sha256(fact.text) for fact in stale_facts}
    vectors = FactEmbedding.objects.filter(fact__in=hashes).values_list("pk", "fact_id", "text_sha256")
    stale = [pk for pk, fact_id, sha256 in vectors if sha256 != hashes[fact_id]]
    if stale:
        FactEmbedding.objects.filter(pk__in=stale).delete()


def waiting_count(now: datetime) -> int:
    """Approved facts, in sight of the caller, that no current vector stands for although a sweep has passed since: the
    embedder is missing, or another than the one they were made with."""
    return _without_vector().filter(status=Status.APPROVED, approved_at__lte=now - SWEPT_WITHIN).count()


def _without_vector() -> QuerySet[Fact]:
    made = FactEmbedding.objects.filter(
        fact=OuterRef("pk"),
        model=embeddings.MODEL_ID,
        precision=embeddings.PRECISION,
        text_sha256=_Sha256(OuterRef("text")),
    )
    return Fact.objects.filter(~Exists(made))


def embed_missing() -> int:
    """Up to 500 proposed or approved facts of any project whose vector is missing or old; returns how many it made."""
    with tenancy.system("sweeper"):
        missing = list(
            _without_vector()
            .filter(status__in=(Status.APPROVED, Status.PROPOSED))
            .select_for_update(of=("self",), skip_locked=True, no_key=True)
            .order_by(F("approved_at").desc(nulls_last=True), "-pk")[:SWEEP_LIMIT]
        )
        return embed_facts(missing)
