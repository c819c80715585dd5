"""How long a fact of each type lives (values): from the type table, and where something is due from that day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from memory.types import START, Overrides, type_of

FURTHEST = timedelta(days=36_525)
# "Still true?" has to be asked while it still is in use, and early enough for a person who is away.
ASKED_BEFORE_THE_END = timedelta(days=14)


def default_expiry(type_name: str, value: Any, now: datetime, overrides: Overrides = None) -> datetime | None:
    """When a new fact of this type ends; one with a due date (`value["due_on"]`, ISO) some days after that."""
    row = type_of(type_name, overrides)
    if row.after_due_days is not None and (due := due_at(value, now)) is not None:
        return due + timedelta(days=row.after_due_days)
    return now + timedelta(days=row.lifetime_days) if row.lifetime_days is not None else None


def due_at(value: Any, now: datetime) -> datetime | None:
    """The moment that `value["due_on"]` names, if it is one within reach; a bare day begins in the zone of `now`."""
    if not isinstance(value, dict) or not isinstance(value.get("due_on"), str):
        return None
    try:
        due = datetime.fromisoformat(value["due_on"])
    except ValueError:
        return None
    return reachable(due if due.tzinfo else due.replace(tzinfo=now.tzinfo), now)


def renewed(
    type_name: str, value: Any, ends_at: datetime | None, now: datetime, overrides: Overrides = None
) -> datetime | None:
    """The end of a fact that was seen again `now`: later where its type counts from that, never earlier."""
    if ends_at is None or type_of(type_name, overrides).counts_from == START:
        return ends_at
    later = default_expiry(type_name, value, now, overrides)
    return ends_at if later is None else max(ends_at, later)


def reachable(at: datetime, now: datetime) -> datetime | None:
    """`at` in UTC, or None when it is more than a hundred years away: near the ends of the calendar, in the years 1 and
    9999, the same moment has no date in some time zones, and a page that shows it would fail."""
    return at.astimezone(UTC) if abs(at - now) <= FURTHEST else None


def ask_again_at(
    type_name: str, now: datetime, overrides: Overrides = None, ends_at: datetime | None = None
) -> datetime | None:
    """When "still true?" is asked next, before the fact ends. None: never, or it ends too soon to be asked about."""
    days = type_of(type_name, overrides).ask_again_days
    if days is None:
        return None
    at = now + timedelta(days=days)
    if ends_at is not None:
        at = min(at, ends_at - ASKED_BEFORE_THE_END)
    return at if at > now else None
