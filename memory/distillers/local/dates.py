"""Spoken dates as dates, against the moment they were said and the session's own zone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

_WEEKDAYS = {
    name: index
    for index, names in enumerate(
        (
            "monday mon lunes montag lundi",
            "tuesday tue tues martes dienstag mardi",
            "wednesday wed miércoles mittwoch mercredi",
            "thursday thu thurs jueves donnerstag jeudi",
            "friday fri viernes freitag vendredi",
            "saturday sat sábado samstag samedi",
            "sunday sun domingo sonntag dimanche",
        )
    )
    for name in names.split()
}
_MONTHS = {
    name: index + 1
    for index, names in enumerate(
        (
            "january jan enero januar janvier",
            "february feb febrero februar février",
            "march mar marzo märz mars",
            "april apr abril avril",
            "may mayo mai",
            "june jun junio juni juin",
            "july jul julio juli juillet",
            "august aug agosto août",
            "september sep sept septiembre septembre",
            "october oct octubre oktober octobre",
            "november nov noviembre novembre",
            "december dec diciembre dezember décembre",
        )
    )
    for name in names.split()
}
_NUMBERS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "ten": 10,
    "fourteen": 14,
}
_DAY_NAMES = "|".join(sorted(_WEEKDAYS, key=len, reverse=True))
_MONTH_NAMES = "|".join(sorted(_MONTHS, key=len, reverse=True))
_LEAD = (
    r"(?:(?:by|on|until|till|before|no later than|due|from|am|bis|el|para el|hasta el|le|avant|d'ici)\s+)?(?:the\s+)?"
)

_ISO = re.compile(
    _LEAD + r"\b(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::\d{2})?(Z|[+-]\d{2}:?\d{2})?)?", re.IGNORECASE
)
_DAY_MONTH = re.compile(
    rf"{_LEAD}\b(\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+"
    rf"|de\s+)?({_MONTH_NAMES})\b\.?(?:,?\s+(?:de\s+)?(\d{{4}}))?",
    re.IGNORECASE,
)
_MONTH_DAY = re.compile(
    rf"{_LEAD}\b({_MONTH_NAMES})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?:,?\s+(\d{{4}}))?", re.IGNORECASE
)
_WEEKDAY = re.compile(
    rf"{_LEAD}\b(?:(next|this|coming|nächsten|nächste|próximo|kommenden)\s+)?({_DAY_NAMES})\b"
    r"(?:\s+(next week|of next week|nächster woche|prochain|que viene|próximo))?",
    re.IGNORECASE,
)
_NEAR = re.compile(
    rf"{_LEAD}\b(the day after tomorrow|day after tomorrow|tomorrow|today|tonight|pasado mañana|mañana"
    r"|hoy|übermorgen|morgen|heute|après-demain|demain|aujourd'hui)\b",
    re.IGNORECASE,
)
_IN = re.compile(
    r"\b(?:with)?in\s+(?:the next\s+)?(\d{1,3}|a|an|one|two|three|four|five|six|seven|ten"
    r"|fourteen)\s+(business days?|working days?|days?|weeks?)\b",
    re.IGNORECASE,
)
_END_OF = re.compile(rf"{_LEAD}\bend of (?:the |this )?(day|week|month|year)\b", re.IGNORECASE)
_NOON = re.compile(r",?\s+(?:at\s+)?(?:noon|midday|mittag|mediodía|midi)\b", re.IGNORECASE)
_CLOCK = re.compile(
    r"(?:\b(?:at|by|around|um|a las|à)\s+)?\b(\d{1,2})(?:[:.h](\d{2}))?\s*(am|pm|a\.m\.|p\.m\.|uhr"
    r"|o'clock|h\b)|\b(?:at|um|a las|à)\s+(\d{1,2})(?:[:.h](\d{2}))?\b|\b(\d{1,2}):(\d{2})\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class When:
    """A date that was named: `day` and maybe `clock` in the session's zone; `start`/`end` where it stands."""

    day: date
    clock: time | None
    start: int
    end: int
    at: datetime | None = None  # set when the text itself gave an offset

    def due(self, said_at: datetime) -> datetime:
        """The moment it ends, in the zone of `said_at`: the clock time, or the end of that day."""
        if self.at is not None:
            return self.at.astimezone(said_at.tzinfo)
        return datetime.combine(self.day, self.clock or time(23, 59), tzinfo=said_at.tzinfo)

    def shown(self, said_at: datetime) -> str:
        local = self.due(said_at)
        if self.clock is None:
            return local.date().isoformat()
        return f"{local.date().isoformat()}, {local:%H:%M} ({getattr(said_at.tzinfo, 'key', 'UTC')})"


def find(text: str, said_at: datetime) -> When | None:
    """The first date in `text`, absolute; None when there is none or it lies before the day it was said."""
    hit = _date(text, said_at.date())
    if hit is None:
        return None
    day, start, end, exact = hit
    if day < said_at.date():
        return None
    if exact is not None:
        aware = exact if exact.tzinfo else exact.replace(tzinfo=said_at.tzinfo)
        return When(day, aware.astimezone(said_at.tzinfo).time(), start, end, aware)
    clock = None
    if noon := _NOON.match(text, end):
        return When(day, time(12), start, noon.end())
    if found := _CLOCK.search(text, end, end + 25) or _CLOCK.search(text, max(0, start - 12), start):
        clock = _clock(found)
        start, end = (min(start, found.start()), max(end, found.end())) if clock else (start, end)
    return When(day, clock, start, end)


def last_week(said_at: datetime) -> tuple[date, date]:
    """Monday and Sunday of the week before."""
    monday = said_at.date() - timedelta(days=said_at.weekday() + 7)
    return monday, monday + timedelta(days=6)


def _date(text: str, today: date) -> tuple[date, int, int, datetime | None] | None:
    if found := _ISO.search(text):
        try:
            day = date(int(found[1]), int(found[2]), int(found[3]))
            exact = (
                datetime.fromisoformat(
                    found.group()[found.start(1) - found.start() :].replace(" ", "T").replace("z", "Z")
                )
                if found[4]
                else None
            )
        except ValueError:
            return None
        return day, found.start(), found.end(), exact
    for pattern, day_at, month_at in ((_DAY_MONTH, 1, 2), (_MONTH_DAY, 2, 1)):
        if found := pattern.search(text):
            named = _named(int(found[day_at]), _MONTHS[found[month_at].casefold()], found[3], today)
            return (named, found.start(), found.end(), None) if named else None
    if found := _NEAR.search(text):
        word = found[1].casefold()
        ahead = 2 if word in ("pasado mañana", "übermorgen", "après-demain") or "after" in word else 0
        ahead = ahead or (1 if word in ("tomorrow", "mañana", "morgen", "demain") else 0)
        return today + timedelta(days=ahead), found.start(), found.end(), None
    if found := _WEEKDAY.search(text):
        return (
            _weekday(
                _WEEKDAYS[found[2].casefold()],
                "next" if (found[3] or "").endswith(("week", "woche")) else found[1] or "",
                today,
            ),
            found.start(),
            found.end(),
            None,
        )
    if found := _IN.search(text):
        count = int(found[1]) if found[1].isdigit() else _NUMBERS[found[1].casefold()]
        return _ahead(today, count, found[2].casefold()), found.start(), found.end(), None
    if found := _END_OF.search(text):
        return _end_of(found[1].casefold(), today), found.start(), found.end(), None
    return None


def _named(day: int, month: int, year: str | None, today: date) -> date | None:
    try:
        named = date(int(year) if year else today.year, month, day)
    except ValueError:
        return None
    # A month without a year that is long past means the next one.
    return named.replace(year=named.year + 1) if not year and (today - named).days > 180 else named


def _weekday(weekday: int, which: str, today: date) -> date:
    """ "Tuesday" is the next one to come; "next Tuesday" the one of next week (from Thursday both are the same day)."""
    ahead = (weekday - today.weekday()) % 7 or 7
    if which.casefold() in ("next", "nächsten", "nächste", "próximo") and weekday > today.weekday():
        ahead += 7
    return today + timedelta(days=ahead)


def _ahead(today: date, count: int, unit: str) -> date:
    if unit.startswith("week"):
        return today + timedelta(weeks=count)
    if unit.startswith("day"):
        return today + timedelta(days=count)
    day = today
    while count:
        day += timedelta(days=1)
        count -= day.weekday() < 5
    return day


def _end_of(unit: str, today: date) -> date:
    if unit == "day":
        return today
    if unit == "week":
        return today + timedelta(days=(4 - today.weekday()) % 7)
    if unit == "year":
        return date(today.year, 12, 31)
    return (today.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)


def _clock(found: re.Match[str]) -> time | None:
    hour_text, minute_text = (
        (found[1], found[2]) if found[1] else (found[4], found[5]) if found[4] else (found[6], found[7])
    )
    hour, minute = int(hour_text), int(minute_text or 0)
    half = (found[3] or "").casefold().replace(".", "")
    if half == "pm" and hour < 12:
        hour += 12
    if half == "am" and hour == 12:
        hour = 0
    return time(hour, minute) if hour < 24 and minute < 60 else None
