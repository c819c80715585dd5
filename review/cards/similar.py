"""How people decided cards like this one: as a frequency, and only once there are enough of them."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from django.core.cache import cache
from django.db.models import Count, Q

from memory.models import Fact, Status

# Fewer decisions than this say nothing.
ENOUGH = 50
# Of a large memory this is counted once in so many seconds.
REMEMBERED_SECONDS = 60
TOO_FEW_SECONDS = 10


@dataclass(frozen=True)
class Similar:
    """Of `decided` cards of the same type and the same reader `approved` were approved."""

    approved: int
    decided: int


def similar_to(fact: Fact) -> Similar | None:
    """What became of proposals of this type by the same reader, or None where too few were decided. One query, or none
    where it was counted a moment ago."""
    # A type and a reader may hold anything, and a key may not.
    named = "\0".join([fact.type, fact.distiller, fact.source]).encode()
    key = f"similar:{fact.project_id}:{hashlib.sha256(named).hexdigest()}"
    kept: tuple[int, int] | None = cache.get(key)
    if kept is not None:
        return Similar(*kept) if kept[1] >= ENOUGH else None
    row = Fact.objects.filter(
        project_id=fact.project_id,
        type=fact.type,
        distiller=fact.distiller,
        source=fact.source,
        status__in=[Status.APPROVED, Status.REJECTED, Status.SUPERSEDED, Status.EXPIRED, Status.REMOVED],
    ).aggregate(
        approved=Count("pk", filter=Q(approved_at__isnull=False, approved_by__isnull=False)),
        rejected=Count("pk", filter=Q(status=Status.REJECTED)),
    )
    decided = row["approved"] + row["rejected"]
    cache.set(key, (row["approved"], decided), REMEMBERED_SECONDS if decided >= ENOUGH else TOO_FEW_SECONDS)
    return Similar(row["approved"], decided) if decided >= ENOUGH else None
