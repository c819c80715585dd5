"""Dates that a distiller worked out: against the session's own day and zone, never against the day it was read."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from memory.models import Fact
from tests.cases.expect.registry import Look, check, figure

_DAY = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_CLOCK = re.compile(r"\b(\d{1,2}):(\d{2})\b")
_RELATIVE = re.compile(
    r"\b(?:today|tonight|tomorrow|yesterday"
    r"|(?:last|next|this) (?:week|month|year|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
    r"|(?:\w+ )?(?:days?|weeks?|months?) (?:ago|from now))\b",
    re.IGNORECASE,
)


def said(fact: Fact) -> str:
    return f"{fact.text} {json.dumps(fact.value, ensure_ascii=False)}"


def days(fact: Fact) -> set[str]:
    return {match[0] for match in _DAY.finditer(said(fact))}


@check("if_date_given")
def if_date_given(look: Look, wanted: dict[str, list[str]]) -> None:
    """Every day that a fact names lies in a span, or is one of the days, that the case allows."""
    for fact in look.facts():
        for day in days(fact):
            allowed = any(
                span[0] <= day <= span[-1] if name.endswith("_between") else day in span
                for name, span in wanted.items()
            )
            assert allowed, f"{day} in {fact.text!r}, allowed {wanted}"


@check("never_year")
def never_year(look: Look, wanted: int) -> None:
    bad = [fact.text for fact in look.facts() if str(wanted) in said(fact)]
    assert not bad, f"{wanted} in {bad}"


@figure("raw_phrase_not_stored_alone")
def no_raw_phrase(look: Look) -> bool:
    """A fact that says "last week" names the day too."""
    return all(days(fact) for fact in look.facts() if _RELATIVE.search(fact.text))


@check("due_local", "due_date", "due_on")
def due_local(look: Look, wanted: str) -> None:
    """A commitment with this day, and this hour where it names one, in the session's own zone."""
    at = datetime.fromisoformat(wanted)
    due = _commitments(look)
    assert any(_is_due(fact, at) for fact in due), f"due: {[(fact.text, fact.value) for fact in due]}, wanted {wanted}"


@check("due_utc")
def due_utc(look: Look, wanted: str) -> None:
    row = look.observations()[-1]
    at = datetime.fromisoformat(wanted).astimezone(ZoneInfo(row.session.timezone))
    due_local(look, at.isoformat())


def _commitments(look: Look) -> list[Fact]:
    found = [fact for fact in look.facts() if fact.type == "commitment"]
    assert found, f"no commitment among {[fact.text for fact in look.facts()]}"
    return found


def _is_due(fact: Fact, at: datetime) -> bool:
    told: Any = fact.value if isinstance(fact.value, dict) else {}
    exact = told.get("due_at")
    if isinstance(exact, str):
        return datetime.fromisoformat(exact) == at
    clocks = {f"{int(match[1]):02}:{match[2]}" for match in _CLOCK.finditer(said(fact))}
    names_day = at.date().isoformat() in days(fact)
    is_day_alone = (at.hour, at.minute) == (0, 0) and at.tzinfo is None
    return names_day and (is_day_alone or f"{at:%H:%M}" in clocks)
