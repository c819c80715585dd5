"""When memories end: by the clock, unless their type lets them live on while they are used.

They are not served past their end anyway; the sweep only says so of them.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from memory.models import Fact, FactChanged, Status, Subject
from memory.models.lifetimes import renewed
from memory.prepared import fetch
from memory.retractions import retract
from memory.types import USED
from projects import tenancy

SWEEP_LIMIT = 1000
# Looked at each time, so that a worker may have been down for a day before a use is missed.
USES_OF = timedelta(hours=26)
# A shorter gain is not written: a fact in every brief would be written each half hour.
LEAST_GAIN = timedelta(days=1)

# What was served lately, and when last. Told "unchanged" is told.
_USED = """
SELECT f.id, used.at FROM memory_fact f JOIN (
    SELECT unnest(fact_ids) AS id, max(at) AS at FROM memory_briefserved
    WHERE at >= %(since)s::timestamptz AND NOT paused GROUP BY 1
) used ON used.id = f.id
WHERE f.status = 'approved' AND f.ends_by_type AND f.expires_at > %(now)s::timestamptz
ORDER BY f.expires_at, f.id
"""


def renew_used(now: datetime) -> int:
    """Moves the end of memories that were in a brief lately, where their type counts its days from that.

    Returns how many. An end that somebody named stays.
    """
    moved = 0
    with tenancy.system("sweeper"):
        used = dict(fetch(Fact.objects.db, _USED, {"since": now - USES_OF, "now": now}))
        facts = Fact.objects.filter(pk__in=used).select_related("project").defer("search").order_by("expires_at", "pk")
        for fact in facts.iterator(chunk_size=SWEEP_LIMIT):
            if fact.type_row.counts_from == USED:
                moved += _renew(fact, used[fact.pk])
    return moved


def _renew(fact: Fact, used_at: datetime) -> int:
    later = renewed(fact.type, fact.value, fact.expires_at, used_at, fact.project.types)
    if fact.expires_at is None or later is None or later - fact.expires_at < LEAST_GAIN:
        return 0
    return fact.live_until(later)


def expire(now: datetime) -> int:
    """Marks up to 1000 facts, the longest overdue first; returns how many."""
    marked = 0
    with tenancy.system("sweeper"):
        overdue = Fact.objects.filter(status=Status.APPROVED, expires_at__lte=now).order_by("expires_at", "pk")
        facts = list(overdue[:SWEEP_LIMIT])
        Subject.objects.hold(fact.subject_id for fact in facts)
        for fact in facts:
            try:
                fact.expire(now)
            except FactChanged:
                continue  # somebody decided at this very moment; the next sweep looks at it again
            retract(fact, now)
            marked += 1
    return marked
