"""Times as transcripts write them, made timezone-aware; nonsense is None, and capture then takes the server's clock."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, tzinfo
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo, available_timezones

# Transcripts are of this century; anything else is a broken clock or an attack on the calendar's ends.
_FIRST_YEAR, _LAST_YEAR = 2000, 2100
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# Seconds, milliseconds, microseconds and nanoseconds since 1970 differ by their size.
_UNITS = ((1e11, 1.0), (1e14, 1e-3), (1e17, 1e-6), (1e20, 1e-9))


def parse_time(value: Any, zone: tzinfo = UTC) -> datetime | None:
    """An ISO text (without a zone of its own it is in `zone`) or a number since 1970."""
    try:
        moment = _from_text(value) if isinstance(value, str) else _from_number(value)
        if moment is None:
            return None
        moment = (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment if _FIRST_YEAR <= moment.year < _LAST_YEAR else None


def _from_text(value: str) -> datetime | None:
    text = value.strip()[:64]
    return (
        _from_number(int(text))
        if text.isascii() and text.isdigit() and len(text) >= 10
        else datetime.fromisoformat(text)
    )


def _from_number(value: Any) -> datetime | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    for limit, scale in _UNITS:
        if abs(value) < limit:
            return _EPOCH + timedelta(seconds=value * scale)
    return None


def zone_named(name: Any) -> str:
    """`name` where it is a time zone that this machine knows, else ""."""
    return name if isinstance(name, str) and name in _zones() else ""


def zone_of(name: Any) -> tzinfo:
    return ZoneInfo(name) if zone_named(name) else UTC


@cache
def _zones() -> frozenset[str]:
    return frozenset(available_timezones())


def seconds_between(one: datetime, other: datetime) -> float:
    return abs((other - one).total_seconds())
