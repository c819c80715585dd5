"""How people decided cards like this one: as a frequency, and only once there are enough of them."""

from __future__ import annotations

import time
from dataclasses import dataclass

from django.core.cache import cache

from memory.models import Fact
from memory.prepared import fetch

# Fewer decisions than this say nothing.
ENOUGH = 50
# All kinds of a project are counted in one go, which reads every memory that was decided, and remembered: for some
# seconds, and a thousand times as long as it took.
REMEMBERED_SECONDS = 10
REMEMBERED_TIMES = 1_000
REMEMBERED_AT_MOST = 3_600

_COUNTED = """
SELECT type, distiller, source,
    count(*) FILTER (WHERE approved_at IS NOT NULL AND approved_by_id IS NOT NULL),
    count(*) FILTER (WHERE status = 'rejected')
FROM memory_fact WHERE project_id = %(project)s::bigint
    AND status IN ('approved', 'rejected', 'superseded', 'expired', 'removed')
GROUP BY type, distiller, source
"""


@dataclass(frozen=True)
class Similar:
    """Of `decided` cards of the same type and the same reader `approved` were approved."""

    approved: int
    decided: int


def similar_to(fact: Fact) -> Similar | None:
    """What became of proposals of this type by the same reader, or None where too few were decided. One query, or none
    where it was counted a moment ago."""
    approved, decided = _counts(fact.project_id).get((fact.type, fact.distiller, fact.source), (0, 0))
    return Similar(approved, decided) if decided >= ENOUGH else None


def _counts(project_id: int) -> dict[tuple[str, str, str], tuple[int, int]]:
    """Type, reader and source → approved, and decided in all."""
    key = f"similar:{project_id}"
    kept: dict[tuple[str, str, str], tuple[int, int]] | None = cache.get(key)
    if kept is None:
        start = time.monotonic()
        found = fetch(Fact.objects.db, _COUNTED, {"project": project_id})
        kept = {(kind, reader, source): (yes, yes + no) for kind, reader, source, yes, no in found}
        spent = time.monotonic() - start
        cache.set(key, kept, min(max(REMEMBERED_SECONDS, REMEMBERED_TIMES * spent), REMEMBERED_AT_MOST))
    return kept
