"""What people type on the desk, as plain checked values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.http import QueryDict
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.translation import gettext as _

from memory import short_ids
from memory.models import Fact
from memory.models.lifetimes import reachable
from projects.models import Project
from review.deciding.decisions import BadDecision
from review.templatetags.desk import last_day

# Nobody puts a memory off for longer: it would be forgotten.
LONGEST_OFF_DAYS = 366


def decision_form(data: QueryDict, fact: Fact, project: Project, now: datetime) -> dict[str, Any]:
    """The fields of a decision that were sent; what was not sent is absent. Raises BadDecision naming the field."""
    form: dict[str, Any] = {}
    if "text" in data:
        form["text"] = data["text"]
    if "lives" in data:
        form["expires_at"] = None if data.get("no_end") else _expiry(data.get("expires_on", ""), fact, project, now)
    if data.get("scope") in ("everyone", "agents"):
        form["everyone"] = data["scope"] == "everyone"
        form["agent_ids"] = _numbers(data.getlist("agent"))
        if form["everyone"] and form["agent_ids"]:
            raise BadDecision(
                _("Everyone and some agents are ticked. Tick everyone, or only those who get it."), "scope"
            )
    for name in ("reason", "note", "type", "nature", "use"):
        if name in data:
            form[name] = data[name]
    form["opened"] = data.get("opened") == "1"
    beside = _numbers([str(data.get("beside", ""))])
    if beside:
        form["beside"] = beside[0]
    if "replaces" in data:
        form["replaces"] = data["replaces"]
    if "other" in data:
        form["other"], form["other_revision"] = _other(str(data["other"]))
    if "until" in data:
        form["until"] = _until(str(data["until"]), str(data.get("on", "")), now)
    return form


def revision(data: QueryDict) -> int:
    """The revision the reader saw. Raises BadDecision when the form lacks it."""
    try:
        return int(data.get("revision", ""))
    except ValueError:
        raise BadDecision(_("This form is incomplete. Reload the page and decide again.")) from None


@dataclass(frozen=True)
class Typed:
    """What the fields of an edit hold: the memory as it is, or the words somebody typed before (`is_kept`)."""

    text: str
    expires_on: str
    no_end: bool
    type: str
    nature: str
    use: str
    is_kept: bool


def edit_values(fact: Fact, kept: Mapping[str, str] | None) -> Typed:
    """The fields of an edit of `fact`, from what was typed before where there is such a thing."""
    if not kept or "text" not in kept:
        return Typed(fact.text, last_day(fact), fact.expires_at is None, fact.type, fact.nature, fact.use, False)
    has_end = "lives" in kept
    return Typed(
        kept["text"],
        kept.get("expires_on", "") if has_end else last_day(fact),
        bool(kept.get("no_end")) if has_end else fact.expires_at is None,
        kept.get("type") or fact.type,
        kept.get("nature") or fact.nature,
        kept.get("use") or fact.use,
        True,
    )


def later_days(now: datetime) -> list[tuple[str, str, str, date]]:
    """Digit, name, words and day of each choice of Later, by the reader's calendar."""
    today = timezone.localtime(now).date()
    return [
        ("1", "tomorrow", _("Tomorrow"), today + timedelta(days=1)),
        ("2", "week", _("Next week"), today + timedelta(days=7)),
        ("3", "month", _("In a month"), _a_month_after(today)),
    ]


def last_day_off(now: datetime) -> date:
    """The last day until which a memory can be put off."""
    return timezone.localtime(now).date() + timedelta(days=LONGEST_OFF_DAYS)


def _until(name: str, written: str, now: datetime) -> datetime:
    """The start of the day chosen, in the reader's zone. Raises BadDecision."""
    day = {known: day for _digit, known, _words, day in later_days(now)}.get(name)
    if day is None:
        day = _day(written)
    if day is None or not timezone.localtime(now).date() < day <= last_day_off(now):
        raise BadDecision(_("Choose a day from tomorrow on, a year from now at most."), "until")
    return datetime.combine(day, time.min, tzinfo=timezone.get_current_timezone())


def _a_month_after(day: date) -> date:
    year, month = (day.year + 1, 1) if day.month == 12 else (day.year, day.month + 1)
    last = (date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)).day
    return date(year, month, min(day.day, last))


def _other(written: str) -> tuple[int, int]:
    """Id and revision of another memory, written `f-….revision`; zeros for anything else."""
    short_id, _dot, seen = written.partition(".")
    numbers = _numbers([seen])
    return short_ids.decode(short_id) or 0, numbers[0] if numbers else 0


def _numbers(values: list[str]) -> list[int]:
    return [int(value) for value in values if value.isascii() and value.isdigit() and len(value) < 19]


def _expiry(day: str, fact: Fact, project: Project, now: datetime) -> datetime:
    on = _day(day)
    if on is None or reachable(datetime.combine(on, time.min, tzinfo=UTC), now) is None:
        raise BadDecision(_("Choose its last day, such as 2027-03-01, or tick “no end”."), "expires_on")
    zone = ZoneInfo(project.timezone)
    # A day that was not touched keeps its hour.
    if fact.expires_at is not None and (fact.expires_at - timedelta(seconds=1)).astimezone(zone).date() == on:
        return fact.expires_at
    # A memory lives through its last day, in the project's zone.
    return datetime.combine(on + timedelta(days=1), time.min, tzinfo=zone)


def _day(written: str) -> date | None:
    try:
        return parse_date(written) if len(written) <= 10 else None
    except ValueError:  # the 30th of February
        return None
