"""How long a fact of each type lives (values): from the type table, and for a commitment from the day it is due."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from memory.types import COMMITMENT_GRACE_DAYS, type_of

FURTHEST = timedelta(days=36_525)


def default_expiry(type_name: str, value: Any, now: datetime) -> datetime | None:
    """When a new fact of this type ends. A commitment with a due date (`value["due_on"]`, ISO) ends two weeks after."""
    row = type_of(type_name)
    if type_name == "commitment" and isinstance(value, dict) and isinstance(value.get("due_on"), str):
        try:
            due = datetime.fromisoformat(value["due_on"])
        except ValueError:
            due = None
        if due is not None:
            due = reachable(due if due.tzinfo else due.replace(tzinfo=now.tzinfo), now)
        if due is not None:
            return due + timedelta(days=COMMITMENT_GRACE_DAYS)
    return now + timedelta(days=row.lifetime_days) if row.lifetime_days is not None else None


def reachable(at: datetime, now: datetime) -> datetime | None:
    """`at` in UTC, or None when it is more than a hundred years away: near the ends of the calendar, in the years 1 and
    9999, the same moment has no date in some time zones, and a page that shows it would fail."""
    return at.astimezone(UTC) if abs(at - now) <= FURTHEST else None


def ask_again_at(type_name: str, now: datetime) -> datetime | None:
    days = type_of(type_name).ask_again_days
    return now + timedelta(days=days) if days is not None else None
