"""Spoken dates, worked out against the moment they were said and its zone."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from memory.distillers.local import dates

CHICAGO, BERLIN, SHANGHAI, TOKYO = "America/Chicago", "Europe/Berlin", "Asia/Shanghai", "Asia/Tokyo"
# (what was said, the zone, when in UTC, when it is due)
DUE: list[tuple[str, str, str, str]] = [
    ("by next Tuesday, 17:00 your time", CHICAGO, "2026-11-12T15:02", "2026-11-17T17:00-06:00"),
    ("Call me tomorrow at 9.", SHANGHAI, "2026-11-29T17:30", "2026-12-01T09:00+08:00"),
    ("tonight at 8", "America/New_York", "2026-12-31T23:30", "2026-12-31T20:00-05:00"),
    ("by Monday, 10:00 your time", BERLIN, "2026-10-23T15:00", "2026-10-26T10:00+01:00"),
    ("within 24 hours", BERLIN, "2026-10-24T22:30", "2026-10-25T23:30+01:00"),
    ("in two weeks", BERLIN, "2027-03-20T09:00", "2027-04-03T23:59+02:00"),
    ("within 3 business days", "UTC", "2026-11-06T09:00", "2026-11-11T23:59+00:00"),
    ("by noon tomorrow", "UTC", "2026-11-06T09:00", "2026-11-07T12:00+00:00"),
    ("by Sat 10:30", "UTC", "2026-11-07T09:00", "2026-11-14T10:30+00:00"),
    ("by the end of the month", "UTC", "2026-02-09T09:00", "2026-02-28T23:59+00:00"),
    ("no later than 12/20", "UTC", "2026-11-09T09:00", "2026-12-20T23:59+00:00"),
    ("on 2 January", "UTC", "2026-12-30T09:00", "2027-01-02T23:59+00:00"),
    ("due 2026-11-17T17:00-06:00", CHICAGO, "2026-11-06T09:00", "2026-11-17T17:00-06:00"),
    ("bis Freitag, den 13. November, überwiesen", BERLIN, "2026-11-11T09:00", "2026-11-13T23:59+01:00"),
    ("am 13.11. um 9.30 Uhr", BERLIN, "2026-11-06T09:00", "2026-11-13T09:30+01:00"),
    ("in 3 Werktagen", BERLIN, "2026-12-30T22:30", "2027-01-04T23:59+01:00"),
    ("mañana a las 9 de la mañana", "Europe/Madrid", "2026-12-30T23:30", "2027-01-01T09:00+01:00"),
    ("el martes 10 de noviembre por la mañana", "UTC", "2026-11-07T09:00", "2026-11-10T23:59+00:00"),
    ("sous 5 jours ouvrés", "UTC", "2026-11-07T09:00", "2026-11-13T23:59+00:00"),
    ("le 1er décembre à 15 h", "Europe/Paris", "2026-11-06T09:00", "2026-12-01T15:00+01:00"),
    ("明天下午5点之前", SHANGHAI, "2026-11-16T16:20", "2026-11-18T17:00+08:00"),
    ("下周三之前", SHANGHAI, "2026-11-16T02:20", "2026-11-25T23:59+08:00"),
    ("3个工作日内", SHANGHAI, "2026-12-30T02:00", "2027-01-04T23:59+08:00"),
    ("11月20日までに", TOKYO, "2026-11-13T02:00", "2026-11-20T23:59+09:00"),
    ("来週火曜日の午後3時半", TOKYO, "2026-11-13T02:00", "2026-11-17T15:30+09:00"),
]
NONE = [
    "mon compte est bloqué en avril",  # "mon" is no Monday
    "the sun shines, he sat down",
    "Guten Morgen",
    "solo por la mañana",
    "on 3/4",  # two days
    "it was on 2 October",
    "in two hours",  # over before anybody reads of it
]


def said_at(utc: str, zone: str) -> datetime:
    return datetime.fromisoformat(f"{utc}:00+00:00").astimezone(ZoneInfo(zone))


@pytest.mark.parametrize(("said", "zone", "utc", "due"), DUE, ids=[row[0] for row in DUE])
def test_a_date_is_worked_out_in_the_zone_it_was_said_in(said: str, zone: str, utc: str, due: str) -> None:
    moment = said_at(utc, zone)
    when = dates.find(said, moment)
    assert when is not None
    assert when.due(moment) == datetime.fromisoformat(due)
    assert when.due(moment).utcoffset() == datetime.fromisoformat(due).utcoffset()


@pytest.mark.parametrize("said", NONE)
def test_what_names_no_day_to_come_is_none(said: str) -> None:
    assert dates.find(said, said_at("2026-11-12T15:00", "UTC")) is None


def test_a_span_of_hours_has_no_one_moment() -> None:
    when = dates.find("tomorrow between 8 and 10 am", said_at("2026-11-12T15:00", "UTC"))
    assert when is not None
    assert when.clock is None


def test_a_date_of_the_same_day_without_an_hour_is_over_soon() -> None:
    moment = said_at("2026-11-12T15:00", "UTC")
    found = {said: dates.find(said, moment) for said in ("today", "today at 22:00", "tomorrow")}
    assert {said: when is not None and when.is_over_soon(moment) for said, when in found.items()} == {
        "today": True,
        "today at 22:00": False,
        "tomorrow": False,
    }
