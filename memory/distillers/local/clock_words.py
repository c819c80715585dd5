"""Times of day as they are spoken beside a date."""

from __future__ import annotations

import re
from datetime import time

# How far from the date a time of day may stand.
BEFORE_CHARS, AFTER_CHARS = 16, 28

_NOON = re.compile(
    r"[,\s]+(?:(?:at|um|a|à)\s+)?(?:noon|midday|mittags?|mediodía|midi)\b|中午(?!\d)|正午", re.IGNORECASE
)
_NOON_BEFORE = re.compile(r"\b(?:by|at|before|around|until)\s+(?:noon|midday)\s+$", re.IGNORECASE)
_CLOCK = re.compile(
    r"(?:\b(?:at|by|around|before|um|gegen|a las|a la|à|vers|avant)\s+)?"
    r"(?<![\d.:-])(?P<hour>\d{1,2})(?:[:.h](?P<minute>\d{2}))?\s?(?P<mark>am\b|pm\b|a\.m\.|p\.m\.|uhr\b|o'clock"
    r"|hrs?\b|h\b|horas\b|heures?\b)"
    r"|\b(?:at|um|gegen|a las|a la|à|vers)\s+(?P<hour_at>\d{1,2})(?:[:.h](?P<minute_at>\d{2}))?(?![\d/%-]|\.\d)\b"
    r"|(?<![\d:])(?P<hour_of>\d{1,2}):(?P<minute_of>\d{2})(?!\d)"
    r"|(?:上午|早上|下午|晚上|中午|午前|午後|夜)?の?(?P<hour_east>\d{1,2})(?:点|點|時(?!間)"
    r"|:)(?:(?P<minute_east>\d{1,2})分?|(?P<half>半))?",
    re.IGNORECASE,
)
_RANGE = re.compile(
    r",?\s+(?:between|from|zwischen|von|entre(?: las)?|de)\s+\d{1,2}\b[^,.;]{0,12}?\s(?:and|to|till|und|bis|y|et|à"
    r"|-)\s",
    re.IGNORECASE,
)
_LATE = re.compile(
    r"\b(?:afternoon|evening|tonight|nachmittags?|abends?|tarde|noche|soir|après-midi)\b|下午|晚上?|午後|夜",
    re.IGNORECASE,
)


def clock_near(text: str, start: int, end: int) -> tuple[time, int, int] | None:
    """The time of day that stands beside `text[start:end]`, with the place of its words; None when there is none."""
    if noon := _NOON.match(text, end):
        return time(12), noon.start(), noon.end()
    if noon := _NOON_BEFORE.search(text, max(0, start - BEFORE_CHARS), start):
        return time(12), noon.start(), start
    if _RANGE.match(text, end):
        return None  # a span of hours has no one moment; its words stay as they are
    found = _CLOCK.search(text, end, end + AFTER_CHARS) or _CLOCK.search(text, max(0, start - BEFORE_CHARS), start)
    if found is None:
        return None
    around = text[max(0, start - BEFORE_CHARS) : end + AFTER_CHARS]
    at = _time(found, is_late=_LATE.search(around) is not None)
    return (at, found.start(), found.end() + _day_part(text, found.end())) if at else None


def _time(found: re.Match[str], *, is_late: bool) -> time | None:
    kinds = ("", "_at", "_of", "_east")
    kind = next(kind for kind in kinds if found[f"hour{kind}"])
    hour = int(found[f"hour{kind}"])
    minute = 30 if found["half"] else int(found[f"minute{kind}"] or 0)
    mark = (found["mark"] or "").casefold().replace(".", "")
    if mark == "am" and hour == 12:
        hour = 0
    elif hour < 12 and (mark == "pm" or (is_late and mark != "am" and hour > 0)):
        hour += 12
    return time(hour, minute) if hour < 24 and minute < 60 else None


def _day_part(text: str, at: int) -> int:
    """Length of the words after a time that only say which half of the day it is in."""
    part = re.match(
        r"\s+(?:(?:in the|de la|por la|du|de l['’])\s*)?(?:morning|afternoon|evening|mañana|tarde|noche|matin|soir"
        r"|après-midi"
        r"|morgens|vormittags|nachmittags|abends)\b",
        text[at : at + 30],
        re.IGNORECASE,
    )
    return part.end() if part else 0
