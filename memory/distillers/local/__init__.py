"""The local reader: rules over a session, no model, no key, no network.

Each rule module reads one kind of lesson and would rather say nothing than something doubtful. `RULES` is also the
order of trust: of two candidates with one type and key the later saying wins, and at the same place the earlier rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from memory.distillers.local import (
    causes,
    choices,
    commitments,
    customers,
    deadlines,
    documents,
    environment,
    feelings,
    files,
    fixes,
    foreign_promises,
    preferences,
    problems,
    terms,
)
from memory.distillers.local.session import Session
from memory.lint import faults
from memory.transcript import Candidate, Seen

MOST_IN_A_SESSION = 40

Rule = Callable[[Session], Iterator[Candidate]]
RULES: dict[str, Rule] = {
    "fixes": fixes.read,
    "causes": causes.read,
    "documents": documents.read,
    "files": files.read,
    "environment": environment.read,
    "choices": choices.read,
    "preferences": preferences.read,
    "commitments": commitments.read,
    "foreign_promises": foreign_promises.read,
    "deadlines": deadlines.read,
    "problems": problems.read,
    "customers": customers.read,
    "terms": terms.read,
    "feelings": feelings.read,
}


class LocalDistiller:
    """Reads a session by rules. `rules` names those to use (all by default), so that each can be judged alone."""

    NAME = "local"
    VERSION = "2"

    def __init__(self, rules: Sequence[str] | None = None) -> None:
        self._rules = [RULES[name] for name in (RULES if rules is None else rules)]

    def read(self, observations: Sequence[Seen], *, timezone: str, now: datetime) -> list[Candidate]:
        """What the session taught, at most one candidate per type and key, in the order it was said.

        `timezone` is the session's (an unknown one counts as UTC); `now` is only used for observations without a time.
        """
        session = Session(observations, _zone(timezone), now)
        order = {seen.ref: place for place, seen in enumerate(observations)}
        kept: dict[tuple[str, str], Candidate] = {}
        for rule in self._rules:
            for candidate in rule(session):
                if faults(candidate.text):
                    continue
                sign = (candidate.type, candidate.key)
                if sign not in kept or _said(candidate, order) > _said(kept[sign], order):
                    kept[sign] = candidate
        # A session that teaches more is made to flood the pile, or is no session of a person at work.
        told = _without_echoes(list(kept.values())[:MOST_IN_A_SESSION])
        return sorted(told, key=lambda one: _said(one, order))


def _said(candidate: Candidate, order: dict[int, int]) -> tuple[int, int]:
    return order[candidate.quotes[0].ref], candidate.quotes[0].start


def _without_echoes(candidates: list[Candidate]) -> list[Candidate]:
    """The same words of a session told twice, by two rules of one kind or in one sentence: the first rule's stand."""
    kept: list[Candidate] = []
    names = {str(one.value["name"]) for one in candidates if one.key.endswith(".name") and isinstance(one.value, dict)}
    for candidate in candidates:
        if not any(_is_echo(candidate, other) for other in kept) and not _uses_name(candidate, names):
            kept.append(candidate)
    return kept


def _uses_name(candidate: Candidate, names: set[str]) -> bool:
    """A command that went once it had the right name, where a person told that name."""
    return candidate.type == "fix" and any(name in candidate.text.split("`")[-2:][0] for name in names if name)


# Types of which one saying can be only one.
_ALIKE = ({"environment", "owning_file"}, {"environment", "customer_fact"}, {"environment", "choice"})


def _is_echo(candidate: Candidate, other: Candidate) -> bool:
    if candidate.text == other.text or _is_one_port(candidate, other) or _holds_its_value(candidate, other):
        return True
    kinds = {candidate.type, other.type}
    return candidate.quotes[0] == other.quotes[0] and (len(kinds) == 1 or kinds in _ALIKE)


def _is_one_port(candidate: Candidate, other: Candidate) -> bool:
    """A port told by a person and proved by a run is one lesson, whatever name each gave the service."""
    ports = [one.value.get("port") if isinstance(one.value, dict) else None for one in (candidate, other)]
    return candidate.type == other.type and ports[0] is not None and ports[0] == ports[1]


def _holds_its_value(candidate: Candidate, other: Candidate) -> bool:
    """A setting that a run proved, told again with the same long value."""
    value = other.value.get("value", "") if isinstance(other.value, dict) else ""
    return candidate.type == other.type == "environment" and len(str(value)) >= 8 and str(value) in candidate.text


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        return ZoneInfo("UTC")
