"""Keeps a vector beside every fact that may be searched: made when proposed, made anew when its text changes.

Searching works without one (by words alone), so a missing model never stops a proposal or a decision: the sweep makes
up for it later.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence

from django.db import transaction
from django.db.models import CharField, Exists, F, Func, OuterRef

from memory import embeddings
from memory.models import Fact, FactEmbedding, Status
from projects import tenancy

log = logging.getLogger(__name__)
SWEEP_LIMIT = 500  # about 2 s of one core


class _Sha256(Func):
    template = "encode(sha256(convert_to(%(expressions)s, 'UTF8')), 'hex')"
    output_field = CharField()


def text_sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def embed_facts(facts: Sequence[Fact]) -> int:
    """Writes the vectors that are missing or older than their text; returns how many. Raises EmbedderUnavailable."""
    hashes = {fact.pk: text_sha256(fact.text) for fact in facts}
    fresh = set(
        FactEmbedding.objects.filter(
            fact__in=hashes, model=embeddings.MODEL_ID, precision=embeddings.PRECISION
        ).values_list("fact_id", "text_sha256")
    )
    stale = [fact for fact in {fact.pk: fact for fact in facts}.values() if (fact.pk, hashes[fact.pk]) not in fresh]
    vectors = embeddings.embed([fact.text for fact in stale])
    FactEmbedding.objects.bulk_create(
        [
            FactEmbedding(
                project_id=fact.project_id,
                fact=fact,
                model=embeddings.MODEL_ID,
                precision=embeddings.PRECISION,
                text_sha256=hashes[fact.pk],
                vector=vector,
            )
            for fact, vector in zip(stale, vectors, strict=True)
        ],
        update_conflicts=True,
        unique_fields=["fact", "model", "precision"],
        update_fields=["text_sha256", "vector"],
    )
    return len(stale)


def refresh(fact: Fact) -> bool:
    """After a decision that may have changed the text: the vector fits again (about 1 ms), or is gone until the sweep.

    True when a vector stands. A missing model is logged, never raised: a person's decision does not depend on it.
    """
    try:
        # A savepoint: when this fails, the decision around it stands.
        with transaction.atomic(using=FactEmbedding.objects.db):
            embed_facts([fact])
    except embeddings.EmbedderUnavailable as missing:
        log.warning("%s Memories are found by their words until then.", missing)
        FactEmbedding.objects.filter(fact=fact).exclude(text_sha256=text_sha256(fact.text)).delete()
        return False
    return True


def embed_missing() -> int:
    """Up to 500 proposed or approved facts of any project whose vector is missing or old; returns how many it made."""
    made = FactEmbedding.objects.filter(
        fact=OuterRef("pk"),
        model=embeddings.MODEL_ID,
        precision=embeddings.PRECISION,
        text_sha256=_Sha256(OuterRef("text")),
    )
    with tenancy.system("sweeper"):
        missing = list(
            Fact.objects.filter(~Exists(made), status__in=(Status.APPROVED, Status.PROPOSED))
            .select_for_update(of=("self",), skip_locked=True, no_key=True)
            .order_by(F("approved_at").desc(nulls_last=True), "-pk")[:SWEEP_LIMIT]
        )
        return embed_facts(missing)
