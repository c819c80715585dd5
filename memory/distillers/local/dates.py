"""Spoken dates as dates, against the moment they were said and the session's own zone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from memory.distillers.local import calendar_words as names
from memory.distillers.local.clock_words import clock_near
from memory.distillers.local.words import words

# Two weeks after a date nobody needs to be told of what was due on it.
KEPT_AFTER_DUE = timedelta(days=14)
# A promise for the next few hours is over before anybody reads it.
LEAST_HOURS = 12

_DAYS = rf"{names.alternatives(names.WEEKDAYS)}|(?-i:{names.alternatives(names.SHORT_WEEKDAYS)})"
_MONTH_NAMES = names.alternatives(names.MONTHS)
_NUMBER = rf"\d{{1,3}}|{names.alternatives(names.NUMBERS)}"
_LEAD = (
    r"(?:\b(?P<lead>by|on|until|till|before|no later than|due|from|am|bis zum|bis|spätestens am|vor dem|el|para el"
    r"|hasta el"
    r"|antes del|a más tardar el|le|avant le|avant|d'ici le|d['’]ici|au plus tard le)\s+)?"
    r"(?:(?:the|end of day|close of business|eod|cob|ende?)\s+)?"
)
_WEEKDAY_AHEAD = rf"(?:(?:{_DAYS}),?\s+(?:(?:the|den|dem|der|el|le)\s+)?)?"
_EASTERN_LEAD = r"(?P<lead>于|在)?"

_ISO = re.compile(
    _LEAD + r"(?<![\w-])(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})"
    r"(?P<rest>[T ]\d{2}:\d{2}(?::\d{2})?(?:Z"
    r"|[+-]\d{2}:?\d{2})?)?",
    re.IGNORECASE,
)
_NAMED = (
    re.compile(
        rf"{_LEAD}{_WEEKDAY_AHEAD}\b(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|\.)?\s+(?:of\s+"
        rf"|de\s+)?(?P<month>{_MONTH_NAMES})\b\.?"
        r"(?:,?\s+(?:de\s+|del\s+)?(?P<year>\d{4}))?",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_LEAD}{_WEEKDAY_AHEAD}\b(?P<month>{_MONTH_NAMES})\.?\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)"
        r"(?:,?\s+(?P<year>\d{4}))?",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_LEAD}{_WEEKDAY_AHEAD}(?<![\d.])(?P<day>\d{{1,2}})\.(?P<month>\d{{1,2}})\.(?P<year>\d{{4}})?(?!\d)",
        re.IGNORECASE,
    ),
    re.compile(rf"{_EASTERN_LEAD}(?:(?P<year>\d{{4}})年)?(?P<month>\d{{1,2}})月(?P<day>\d{{1,2}})[日号號]"),
)
_SLASHED = re.compile(rf"{_LEAD}(?<![\d/])(\d{{1,2}})/(\d{{1,2}})(?:/(?P<year>\d{{4}}))?(?![\d/])", re.IGNORECASE)
_NEAR = re.compile(
    rf"{_LEAD}(?<!guten )(?<!am )(?<!jeden )(?<!por la )(?<!de la )\b(?P<near>{names.alternatives(names.NEAR)})\b"
    r"(?:\s+(?:morning|afternoon|evening|night|früh|vormittag|mittag|nachmittag|abend|por la mañana|por la tarde"
    r"|por la noche"
    r"|matin|midi|après-midi|soir))?|"
    rf"{_EASTERN_LEAD.replace('lead', 'lead_')}"
    r"(?P<han>大?后天|後天|明後日|あさって|明[天日晚]|あした|今[天日晚夜]|本日)",
    re.IGNORECASE,
)
_WEEKDAY = re.compile(
    rf"{_LEAD}\b(?:(?P<which>next|this|coming|nächste[nr]?|kommenden|próximo|próxima)\s+)?(?P<name>{_DAYS})\b"
    r"(?:\s+(?P<after>of next week|next week|nächster woche|prochaine?|que viene|próximo|de la semana que viene"
    r"|de la semaine prochaine))?",
    re.IGNORECASE,
)
_HAN_WEEKDAY = re.compile(r"(?P<which>下|这|本)?个?(?:周|星期|礼拜)(?P<name>[一二三四五六日天])")
_KANJI_WEEKDAY = re.compile(r"(?P<which>来週|今週)?の?(?P<name>[月火水木金土日])曜日?")
_IN = re.compile(
    rf"(?:\b(?:within|in|over|innerhalb(?: von)?|binnen|dentro de|en|dans|sous|d['’]ici)\s+(?:the\s+next\s+"
    rf"|(?:un )?(?:plazo|délai) de\s+)?)"
    rf"(?P<count>{_NUMBER})\s+(?P<unit>(?:business|working)\s+days?|days?|weeks?|hours?|werktag\w*|arbeitstag\w*"
    rf"|tag\w*|woche\w*"
    r"|stunden|días? (?:hábil\w*|laborabl\w*)|días?|semanas?|horas|jours? ouvr\w+|jours?|semaines?|heures)\b",
    re.IGNORECASE,
)
_EASTERN_IN = re.compile(
    r"(?P<count>\d{1,3}|[一二两三四五六七十])\s?个?(?P<unit>工作日|営業日|小时|時間|天|日|周|週間)\s?(?:之?内|以内"
    r"|后|後)"
)
_END_OF = re.compile(
    rf"{_LEAD}(?:\b(?:the\s+)?end\s+of\s+(?:the\s+|this\s+)?(?P<en>day|week|month|year)\b"
    r"|\b(?:ende?\s+(?:der|des|dieser|dieses)\s+)(?P<de>woche|monats|jahres)\b|\b(?P<de_>monatsende|jahresende)\b"
    r"|\b(?:fin(?:al)?(?:es)?\s+de\s+(?:la\s+|este\s+|l['’])?)(?P<romance>mes|semana|año|mois|semaine|année)\b"
    r"|\b(?:la\s+fin\s+(?:du|de la)\s+)(?P<fr>mois|semaine)\b)|(?P<han>月底|月末|年底|年末)",
    re.IGNORECASE,
)
_UNITS = {
    **dict.fromkeys(words("week woche semana semaine"), "week"),
    **dict.fromkeys(words("month monats monatsende mes mois 月底 月末"), "month"),
    **dict.fromkeys(words("year jahres jahresende año année 年底 年末"), "year"),
}

# day, start, end, small word before it, exact moment
Found = tuple[date, int, int, str, datetime | None]
# Whether what follows a number and a stop is the name of a month.
MONTH = re.compile(rf"(?:{_MONTH_NAMES})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class When:
    """A date that was named: `day` and maybe `clock` in the session's zone; `start`/`end` where it stands.

    `lead` is the small word before it ("by", "bis"), which is part of the place.
    """

    day: date
    clock: time | None
    start: int
    end: int
    lead: str = ""
    at: datetime | None = None  # set when the text itself gave the moment
    is_end: bool = False  # of a span that was named ("within two days"): by then, not on that day

    def due(self, said_at: datetime) -> datetime:
        """The moment it ends, in the zone of `said_at`: the clock time, or the end of that day."""
        if self.at is not None:
            return self.at.astimezone(said_at.tzinfo)
        return datetime.combine(self.day, self.clock or time(23, 59), tzinfo=said_at.tzinfo)

    def is_over_soon(self, said_at: datetime) -> bool:
        """ "Today", without a time of day: over before anybody reads of it."""
        return self.clock is None and self.day == said_at.date()

    def shown(self, said_at: datetime) -> str:
        local = self.due(said_at)
        if self.clock is None:
            return local.date().isoformat()
        return f"{local.date().isoformat()}, {local:%H:%M} ({getattr(said_at.tzinfo, 'key', 'UTC')})"


def find(text: str, said_at: datetime) -> When | None:
    """The date in `text`, an absolute one first; None when there is none or it lies before it was said."""
    hit = next(((way in _SPANS, *found) for way in _WAYS for found in way(text, said_at)), None)
    if hit is None:
        return None
    is_end, day, start, end, lead, exact = hit
    if day < said_at.date():
        return None
    if exact is not None:
        return When(day, exact.astimezone(said_at.tzinfo).time(), start, end, lead, exact, is_end)
    if clock := clock_near(text, start, end):
        at, from_, to = clock
        when = When(day, at, min(start, from_), max(end, to), lead, is_end=is_end)
        return when if when.due(said_at) > said_at else None
    return When(day, None, start, end, lead, is_end=is_end)


def last_week(said_at: datetime) -> tuple[date, date]:
    """Monday and Sunday of the week before."""
    monday = said_at.date() - timedelta(days=said_at.weekday() + 7)
    return monday, monday + timedelta(days=6)


# The ways to name a date, the surest first. Each gives (day, start, end, lead, exact moment or None).


def _iso(text: str, said_at: datetime) -> Iterator[Found]:
    for hit in _ISO.finditer(text):
        day = _day(int(hit["year"]), int(hit["month"]), int(hit["day"]))
        if day is None:
            continue
        exact = None
        if hit["rest"]:
            try:
                told = datetime.fromisoformat(day.isoformat() + hit["rest"].replace(" ", "T"))
            except ValueError:
                continue
            exact = told if told.tzinfo else told.replace(tzinfo=said_at.tzinfo)
        yield day, hit.start(), hit.end(), _lead(hit), exact


def _named(text: str, said_at: datetime) -> Iterator[Found]:
    for pattern in _NAMED:
        for hit in pattern.finditer(text):
            month = int(hit["month"]) if hit["month"].isdigit() else names.MONTHS[hit["month"].casefold()]
            if (day := _coming(int(hit["day"]), month, hit["year"], said_at.date())) is not None:
                yield day, hit.start(), hit.end(), _lead(hit), None


def _slashed(text: str, said_at: datetime) -> Iterator[Found]:
    """ "20/11" and "11/20" are one day; "3/4" could be two, so it is none."""
    for hit in _SLASHED.finditer(text):
        first, second = int(hit[2]), int(hit[3])
        if (first > 12) == (second > 12):
            continue
        day_number, month = (first, second) if first > 12 else (second, first)
        if (day := _coming(day_number, month, hit["year"], said_at.date())) is not None:
            yield day, hit.start(), hit.end(), _lead(hit), None


def _near(text: str, said_at: datetime) -> Iterator[Found]:
    for hit in _NEAR.finditer(text):
        word = (hit["near"] or hit["han"]).casefold()
        ahead = 3 if word == "大后天" else names.NEAR[word]
        yield said_at.date() + timedelta(days=ahead), hit.start(), hit.end(), _lead(hit), None


def _weekday(text: str, said_at: datetime) -> Iterator[Found]:
    today = said_at.date()
    for hit in _WEEKDAY.finditer(text):
        name = hit["name"]
        index = names.WEEKDAYS.get(name.casefold(), names.SHORT_WEEKDAYS.get(name, 0))
        of_next_week = hit["after"] is not None and names.WEEK_AFTER.search(hit["after"])
        if of_next_week:
            day = _of_week(today, index, 1)
        else:
            is_next = (hit["which"] or "").casefold() in names.NEXT
            day = _upcoming(today, index, is_next=is_next)
        yield day, hit.start(), hit.end(), _lead(hit), None
    for pattern, table in ((_HAN_WEEKDAY, names.HAN_WEEKDAYS), (_KANJI_WEEKDAY, names.KANJI_WEEKDAYS)):
        for hit in pattern.finditer(text):
            index = table[hit["name"]]
            day = (
                _of_week(today, index, 1) if hit["which"] in ("下", "来週") else _upcoming(today, index, is_next=False)
            )
            yield day, hit.start(), hit.end(), "", None


def _in(text: str, said_at: datetime) -> Iterator[Found]:
    for pattern in (_IN, _EASTERN_IN):
        for hit in pattern.finditer(text):
            said = hit["count"].casefold()
            count = int(said) if said.isdigit() else names.NUMBERS.get(said) or names.HAN_NUMBERS.get(said, 1)
            unit = hit["unit"].casefold()
            if unit.startswith(("hour", "stunde", "hora", "heure", "小时", "時間")):
                if count >= LEAST_HOURS:
                    # Added in UTC: a day in which the clocks change has other hours.
                    moment = (said_at.astimezone(UTC) + timedelta(hours=count)).astimezone(said_at.tzinfo)
                    yield moment.date(), hit.start(), hit.end(), "", moment.replace(second=0, microsecond=0)
                continue
            yield _ahead(said_at.date(), count, unit), hit.start(), hit.end(), "", None


def _end_of(text: str, said_at: datetime) -> Iterator[Found]:
    for hit in _END_OF.finditer(text):
        word = next(hit[name] for name in ("en", "de", "de_", "romance", "fr", "han") if hit[name]).casefold()
        yield _last_day(_UNITS.get(word, "day"), said_at.date()), hit.start(), hit.end(), _lead(hit), None


_WAYS: tuple[Callable[[str, datetime], Iterator[Found]], ...] = (_iso, _named, _slashed, _near, _weekday, _in, _end_of)
_SPANS = (_in, _end_of)


def _lead(hit: re.Match[str]) -> str:
    groups = hit.groupdict()
    return (groups.get("lead") or groups.get("lead_") or "").casefold()


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _coming(day: int, month: int, year: str | None, today: date) -> date | None:
    """A month without a year that is long past means the next one."""
    named = _day(int(year) if year else today.year, month, day)
    if named is None or year or (today - named).days <= 180:
        return named
    return _day(named.year + 1, month, day)


def _upcoming(today: date, weekday: int, *, is_next: bool) -> date:
    """ "Tuesday" is the next one to come; "next Tuesday" the one of next week (from Thursday both are the same day)."""
    ahead = (weekday - today.weekday()) % 7 or 7
    return today + timedelta(days=ahead + 7 * (is_next and weekday > today.weekday()))


def _of_week(today: date, weekday: int, weeks_ahead: int) -> date:
    return today - timedelta(days=today.weekday()) + timedelta(days=weekday + 7 * weeks_ahead)


def _ahead(today: date, count: int, unit: str) -> date:
    if unit.startswith(("week", "woche", "semana", "semaine", "周", "週")):
        return today + timedelta(weeks=count)
    if not unit.startswith(("business", "working", "werk", "arbeit", "工作", "営業")) and not re.search(
        r"[ ](?:h|l|o)", unit
    ):
        return today + timedelta(days=count)
    day = today
    while count:
        day += timedelta(days=1)
        count -= day.weekday() < 5
    return day


def _last_day(unit: str, today: date) -> date:
    if unit == "week":
        return today + timedelta(days=(4 - today.weekday()) % 7)
    if unit == "month":
        return (today.replace(day=28) + timedelta(days=4)).replace(day=1) - timedelta(days=1)
    return date(today.year, 12, 31) if unit == "year" else today
