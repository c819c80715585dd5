"""Says of approved facts whose lifetime passed that they expired. They were not served since that second anyway."""

from __future__ import annotations

from datetime import datetime

from memory.models import Fact, FactChanged, Status
from memory.retractions import retract
from projects import tenancy

SWEEP_LIMIT = 1000


def expire(now: datetime) -> int:
    """Marks up to 1000 facts, the longest overdue first; returns how many."""
    marked = 0
    with tenancy.system("sweeper"):
        overdue = Fact.objects.filter(status=Status.APPROVED, expires_at__lte=now).order_by("expires_at", "pk")
        for fact in overdue[:SWEEP_LIMIT]:
            try:
                fact.expire(now)
            except FactChanged:
                continue  # somebody decided at this very moment; the next sweep looks at it again
            retract(fact, now)
            marked += 1
    return marked
