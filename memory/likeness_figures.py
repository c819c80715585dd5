"""Reads numbers, quantities with their units, dates and clock times out of a sentence (plain values).

Two ways to write one thing come out the same: `30 s` and `30 seconds`, `8 March` and `March 8th`, `2 pm` and `14:00`.
A number without a unit stays as it is written: 3.1 and 3.10 are two versions.
"""

from __future__ import annotations

import re
from decimal import Decimal

_MONTHS = {
    name: number
    for number, names in enumerate(
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
        ),
        start=1,
    )
    for name in names.split()
}
# Months that are words as well, in some language: only a capital inside a sentence makes them one.
_ALSO_WORDS = frozenset({"may", "march", "mar", "mars", "sep", "sept", "jan", "dec", "mai"})
WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            "monday mondays lunes montag montags lundi 星期一 周一 月曜日 月曜",
            "tuesday tuesdays martes dienstag dienstags mardi 星期二 周二 火曜日 火曜",
            "wednesday wednesdays miércoles mittwoch mittwochs mercredi 星期三 周三 水曜日 水曜",
            "thursday thursdays jueves donnerstag donnerstags jeudi 星期四 周四 木曜日 木曜",
            "friday fridays viernes freitag freitags vendredi 星期五 周五 金曜日 金曜",
            "saturday saturdays sábado samstag samstags samedi 星期六 周六 土曜日 土曜",
            "sunday sundays domingo sonntag sonntags dimanche 星期日 星期天 周日 日曜日 日曜",
        ),
        start=1,
    )
    for name in names.split()
}
_SPELLED = {
    name: value
    for value, names in {
        "2": "two dos zwei deux",
        "3": "three third tres drei trois",
        "4": "four fourth cuatro vier quatre",
        "5": "five fifth cinco fünf cinq",
        "6": "six seis sechs",
        "7": "seven siete sieben",
        "8": "eight ocho acht huit",
        "9": "nine nueve neun neuf",
        "10": "ten diez zehn dix",
        "11": "eleven elf onze",
        "12": "twelve doce zwölf douze",
        "15": "fifteen quince fünfzehn quinze",
        "20": "twenty veinte zwanzig vingt",
        "30": "thirty treinta dreißig trente",
        "60": "sixty sesenta sechzig soixante",
        "90": "ninety noventa neunzig",
        "100": "hundred cien hundert",
    }.items()
    for name in names.split()
}
# A unit as (base, factor): two figures of one base are one quantity.
_UNITS: dict[str, tuple[str, str]] = {
    name: (base, factor)
    for base, factor, names in (
        ("s", "0.001", "ms millisecond milliseconds milisegundos millisekunden"),
        ("s", "1", "s sec secs second seconds segundo segundos sekunde sekunden seconde secondes"),
        ("s", "60", "min mins minute minutes minuto minutos minuten"),
        ("s", "3600", "h hr hrs hour hours hora horas stunde stunden heure heures"),
        ("s", "86400", "day days día días tag tage tagen jour jours"),
        ("s", "604800", "week weeks semana semanas woche wochen semaine semaines"),
        ("month", "1", "month months mes meses monat monate monaten mois"),
        ("month", "12", "year years yr yrs año años jahr jahre jahren ans année années"),
        ("B", "1", "byte bytes"),
        ("B", "1000", "kb kilobyte kilobytes"),
        ("B", "1000000", "mb megabyte megabytes"),
        ("B", "1000000000", "gb gigabyte gigabytes"),
        ("B", "1000000000000", "tb terabyte terabytes"),
        ("B", "1024", "kib"),
        ("B", "1048576", "mib"),
        ("B", "1073741824", "gib"),
        ("m", "0.001", "mm millimetre millimetres millimeter millimeters"),
        ("m", "0.01", "cm centimetre centimetres centimeter centimeters"),
        ("m", "1", "m metre metres meter meters metro metros mètre mètres"),
        ("m", "1000", "km kilometre kilometres kilometer kilometers kilómetros"),
        ("foot", "1", "ft foot feet"),
        ("inch", "1", "inch inches"),
        ("mile", "1", "mile miles"),
        ("g", "1", "g gram grams gramm gramos grammes"),
        ("g", "1000", "kg kilo kilos kilogram kilograms kilogramm"),
        ("lb", "1", "lb lbs"),
        ("l", "1", "l litre litres liter liters litro litros"),
        ("l", "0.001", "ml millilitre millilitres milliliter milliliters"),
        ("%", "1", "% percent prozent"),
        ("EUR", "1", "€ eur euro euros"),
        ("USD", "1", "$ usd dollar dollars"),
        ("GBP", "1", "£ gbp pounds"),
        ("JPY", "1", "¥ jpy yen"),
        ("CHF", "1", "chf"),
        ("°C", "1", "°c celsius"),
        ("°F", "1", "°f fahrenheit"),
        ("W", "1", "w watt watts"),
        ("W", "1000", "kw kilowatt kilowatts"),
        ("V", "1", "v volt volts"),
    )
    for name in names.split()
}
_EXACT = 20  # digits; beyond, a product would be rounded, and two figures come out as one
# A letter behind a figure is a temperature only as a capital.
_CAPITALS = {"C": ("°C", "1"), "F": ("°F", "1")}

_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_UNIT = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_COIN = "|".join(("EUR", "USD", "GBP", "CHF", "JPY"))
_AMOUNT = r"\d{1,3}(?:[,\u202f\u00a0]\d{3})+(?!\d)(?:\.\d+)?|\d+(?:[.,]\d+)?"
_HALVES = r"am|pm|a\.m\.|p\.m\."
# Part of the pattern of memory/likeness_terms.py: one group per way to write a figure.
FIGURES = rf"""
    (?P<ymd>\b(?P<y1>\d{{4}})-(?P<m1>\d{{1,2}})-(?P<d1>\d{{1,2}})\b)
  | (?P<dmy>\b(?P<d2>\d{{1,2}})\.[ ]?(?P<m2>\d{{1,2}})\.[ ]?(?P<y2>\d{{4}})\b)
  | (?P<day_month>\b(?P<d3>\d{{1,2}})(?:st|nd|rd|th|\.)?\s+(?:of\s+|de\s+)?(?P<m3>{_MONTH})\b\.?
        (?:,?\s+(?:de\s+)?(?P<y3>\d{{4}})\b)?)
  | (?P<month_day>\b(?P<m4>{_MONTH})\.?\s+(?P<d4>\d{{1,2}})(?:st|nd|rd|th)?\b(?![:.]\d)(?:,?\s+(?P<y4>\d{{4}})\b)?)
  | (?P<clock>\b(?P<hour1>\d{{1,2}}):(?P<minute>\d{{2}}(?::\d{{2}})?)(?:[ ]?(?P<half1>{_HALVES})\b)?(?:[ ]?uhr\b)?)
  | (?P<hour>\b(?P<hour2>\d{{1,2}})[ ]?(?:(?P<half2>{_HALVES})(?!\w)|uhr\b|o'?clock\b))
  | (?P<coin>(?<!\w)(?P<coin_unit>[€$£¥]|(?:{_COIN})[ ])[ ]?(?P<coin_amount>{_AMOUNT}))
  | (?P<version>\bv?\d+(?:\.\d+){{2,}}[\w.+-]*|\bv\d+(?:\.\d+)*\b)
  | (?P<quantity>(?<![\w.])(?P<amount>{_AMOUNT})[ ]?(?:(?P<unit>{_UNIT})(?!\w)|(?P<capital>(?-i:[CF]))(?!\w)))
"""
_SPELLED_WORD = re.compile(rf"\b(?:{'|'.join(_SPELLED)})\b(?!-\w+-)", re.IGNORECASE)
_A_HALF = re.compile(rf"\bhalf an? (?=(?:{_UNIT})\b)", re.IGNORECASE)
_AND_A_HALF = re.compile(rf"\b(one|\d+) and a half(?= (?:{_UNIT})\b)", re.IGNORECASE)
# "120 litres an hour" and "per hour": the rate is a quantity. (A day and longer are words: daily, weekly.)
_RATE = re.compile(r"\b(?:one|an?|per|each|every)(?= (?:hour|minute|second)\b)", re.IGNORECASE)
_CJK_DATE = re.compile(r"(?:(\d{4})年)?(\d{1,2})月(\d{1,2})[日号]")
_CJK_UNITS = {
    "秒": "s", "分钟": "min", "分": "min", "小时": "h", "時間": "h", "天": "days", "日": "days", "周": "weeks",
    "週間": "weeks", "个月": "months", "ヶ月": "months", "か月": "months", "年": "years", "元": "CNY", "円": "JPY",
}  # fmt: skip
_CJK_NUMBERS = dict(zip("一二两三四五六七八九十", "12234567890", strict=True)) | {"十": "10"}
_CJK_NUMBER = re.compile("[一二两三四五六七八九十]")
_CJK_UNIT = re.compile(rf"(?<=\d)\s?({'|'.join(sorted(_CJK_UNITS, key=len, reverse=True))})")
# The first name of each month.
_MONTH_NAMES = [next(name for name, number in _MONTHS.items() if number == wanted) for wanted in range(1, 13)]


def spelled(text: str) -> str:
    """`text` with numbers in figures that it spells out, and the dates and units of Chinese and Japanese in Latin."""
    text = _CJK_DATE.sub(_western, text)
    text = _CJK_NUMBER.sub(lambda digit: f" {_CJK_NUMBERS[digit[0]]} ", text)
    text = _CJK_UNIT.sub(lambda unit: f" {_CJK_UNITS[unit[1]]} ", text)
    text = _A_HALF.sub("0.5 ", text)
    text = _SPELLED_WORD.sub(lambda word: _SPELLED[word.group().casefold()], text)
    text = _AND_A_HALF.sub(lambda said: f"{'1' if said[1].casefold() == 'one' else said[1]}.5", text)
    return _RATE.sub("1", text)


def _western(date: re.Match[str]) -> str:
    return f" {int(date[3])} {_MONTH_NAMES[min(12, max(1, int(date[2]))) - 1]} {date[1] or ''} "


def figure(found: re.Match[str], language: str) -> str:
    """What a match of FIGURES, or of a bare number, says, the same for every way to write it."""
    group = found.groupdict()
    for number in "1234":
        if group.get(f"d{number}"):
            month = group[f"m{number}"]
            return _date(
                group[f"y{number}"], month if month.isdigit() else str(_MONTHS[month.casefold()]), group[f"d{number}"]
            )
    if hour := group["hour1"] or group["hour2"]:
        return _time(int(hour), group["minute"] or "00", (group["half1"] or group["half2"] or "")[:1].casefold())
    if group["coin"]:
        return _quantity(group["coin_amount"], _UNITS[group["coin_unit"].strip().casefold()], language)
    if group["quantity"]:
        unit = _CAPITALS[group["capital"]] if group["capital"] else _UNITS[group["unit"].casefold()]
        return _quantity(group["amount"], unit, language)
    if group["version"]:
        return group["version"].casefold().removeprefix("v").rstrip(".")
    bare = re.sub(r"(?:st|nd|rd|th)$", "", found.group().casefold()).rstrip(".,")
    return re.sub(r"(?<=\d),(?=\d{3}\b)", "", bare)


def month_word(word: str, is_first: bool) -> int | None:
    """The number of a month that stands alone, as in "renews in May"."""
    number = _MONTHS.get(word.casefold())
    if number is None:
        return None
    if word.casefold() in _ALSO_WORDS and (is_first or not word[:1].isupper() or len(word) < 3):
        return None
    return number


def _date(year: str | None, month: str, day: str) -> str:
    return f"{year or '-'}-{int(month):02}-{int(day):02}"


def _time(hour: int, minute: str, half: str) -> str:
    """On the hour a bare figure: "at 5", "5 o'clock" and "5:00" are one."""
    if half == "p" and hour < 12:
        hour += 12
    if half == "a" and hour == 12:
        hour = 0
    return str(hour) if minute in ("00", "00:00") else f"{hour}:{minute}"


def _quantity(amount: str, unit: tuple[str, str], language: str) -> str:
    base, factor = unit
    if len(amount) > _EXACT:
        return f"{amount} {base} {factor}"
    if language in ("de", "es", "fr"):
        # There the point groups thousands, the comma starts the decimals.
        amount = re.sub(r"\.(?=\d{3}\b)", "", amount).replace(",", ".")
    else:
        amount = re.sub(r"[,\u202f\u00a0](?=\d{3}\b)", "", amount).replace(",", ".")
    exact = (Decimal(amount) * Decimal(factor)).normalize()
    return f"{exact:f} {base}"
