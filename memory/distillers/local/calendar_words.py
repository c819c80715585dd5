"""The names of days, months and numbers in the languages we know, and the small words around a date."""

from __future__ import annotations

from collections.abc import Iterable

from memory.distillers.local.words import any_of, words


def _indexed(rows: tuple[str, ...], first: int) -> dict[str, int]:
    return {name: index for index, names in enumerate(rows, start=first) for name in names.split()}


WEEKDAYS = _indexed(
    (
        "monday lunes montag lundi",
        "tuesday martes dienstag mardi",
        "wednesday miércoles miercoles mittwoch mercredi",
        "thursday jueves donnerstag jeudi",
        "friday viernes freitag vendredi",
        "saturday sábado sabado samstag sonnabend samedi",
        "sunday domingo sonntag dimanche",
    ),
    0,
)
# Only as they are written in English: "mon" is also "my" in French, and the sun shines in lower case.
SHORT_WEEKDAYS = _indexed(("Mon", "Tue Tues", "Wed", "Thu Thur Thurs", "Fri", "Sat", "Sun"), 0)
MONTHS = _indexed(
    (
        "january jan enero januar jänner janvier",
        "february feb febrero februar février fevrier",
        "march mar marzo märz mars",
        "april apr abril avril",
        "may mayo mai",
        "june jun junio juni juin",
        "july jul julio juli juillet",
        "august aug agosto août aout",
        "september sep sept septiembre septembre",
        "october oct octubre oktober octobre",
        "november nov noviembre novembre",
        "december dec diciembre dezember décembre decembre",
    ),
    1,
)
NUMBERS = {
    **dict.fromkeys(words("a an one un una uno ein eine einem einer une"), 1),
    **dict.fromkeys(words("two dos zwei deux"), 2),
    **dict.fromkeys(words("three tres drei trois"), 3),
    **dict.fromkeys(words("four cuatro vier quatre"), 4),
    **dict.fromkeys(words("five cinco fünf cinq"), 5),
    **dict.fromkeys(words("six seis sechs six"), 6),
    **dict.fromkeys(words("seven siete sieben sept"), 7),
    **dict.fromkeys(words("eight ocho acht huit"), 8),
    **dict.fromkeys(words("ten diez zehn dix"), 10),
    **dict.fromkeys(words("fourteen catorce vierzehn quatorze"), 14),
}
HAN_NUMBERS = {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "十": 10}
HAN_WEEKDAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6}
KANJI_WEEKDAYS = {"月": 0, "火": 1, "水": 2, "木": 3, "金": 4, "土": 5, "日": 6}

# How far ahead, in days.
NEAR = {
    **dict.fromkeys(words("today tonight hoy heute aujourd'hui aujourd’hui 今天 今日 本日 今晚 今夜"), 0),
    **dict.fromkeys(words("tomorrow mañana morgen demain 明天 明日 あした 明晚"), 1),
    **dict.fromkeys(words("übermorgen après-demain 后天 後天 明後日 あさって"), 2),
    "the day after tomorrow": 2,
    "day after tomorrow": 2,
    "pasado mañana": 2,
}
# What comes before or after a weekday and moves it into the week after this one.
NEXT = frozenset(
    {"next", "nächsten", "nächste", "nächster", "próximo", "próxima", "prochain", "prochaine", "que viene", "kommenden"}
)
WEEK_AFTER = any_of(r"next week|nächster woche|la semaine prochaine|de la semana que viene|de la próxima semana")


def alternatives(names: Iterable[str]) -> str:
    """The names as one alternative of an expression, the longest first."""
    return "|".join(sorted(names, key=len, reverse=True))
