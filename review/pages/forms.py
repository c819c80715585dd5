"""What people type on the desk, as plain checked values."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.http import QueryDict
from django.utils.dateparse import parse_date

from memory.models import Fact
from memory.models.lifetimes import reachable
from projects.models import Project
from review.deciding.decisions import BadDecision

PUT_OFF_DAYS = {"tomorrow": 1, "week": 7}


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
            raise BadDecision("Everyone and some agents are ticked. Tick everyone, or only those who get it.", "scope")
    for name in ("reason", "note", "type", "nature", "use"):
        if name in data:
            form[name] = data[name]
    beside = _numbers([str(data.get("beside", ""))])
    if beside:
        form["beside"] = beside[0]
    if "until" in data:
        form["until"] = now + timedelta(days=PUT_OFF_DAYS.get(str(data["until"]), 1))
    return form


def revision(data: QueryDict) -> int:
    """The revision the reader saw. Raises BadDecision when the form lacks it."""
    try:
        return int(data.get("revision", ""))
    except ValueError:
        raise BadDecision("This form is incomplete. Reload the page and decide again.") from None


def _numbers(values: list[str]) -> list[int]:
    return [int(value) for value in values if value.isascii() and value.isdigit() and len(value) < 19]


def _expiry(day: str, fact: Fact, project: Project, now: datetime) -> datetime:
    on = _day(day)
    if on is None or reachable(datetime.combine(on, time.min, tzinfo=UTC), now) is None:
        raise BadDecision("Choose its last day, such as 2027-03-01, or tick “no end”.", "expires_on")
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
