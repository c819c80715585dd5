"""Two tables. A *figure* is a number, a state or a list that a case may compare with what it wants; a *check* is an
expectation that must know what is wanted before it can look. Names are patterns; their groups are handed on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from memory.models import DistillJob, Fact, Observation
from tests.cases.result import Result
from tests.cases.stage import Stage


@dataclass(frozen=True, slots=True)
class Look:
    """Where an expectation looks: the whole case, or one session of it."""

    stage: Stage
    expected: dict[str, Any]
    session: str | None = None
    # What `each` looks at: one result alone.
    result: Result | None = None

    @property
    def results(self) -> list[Result]:
        return [self.result] if self.result is not None else self.stage.results

    def of(self, *ops: str) -> list[Result]:
        return [result for result in self.results if result.op in ops]

    def nth(self, op: str, number: int) -> Result:
        found = self.of(op)
        assert len(found) > number, f"there is no {op} number {number}"
        return found[number]

    def last(self, *ops: str) -> Result:
        found = self.of(*ops) if ops else self.results
        assert found, f"the case has no {' or '.join(ops) or 'step'}"
        return found[-1]

    def by(self, person: str) -> list[Result]:
        return [result for result in self.results if result.by == person]

    def facts(self, *statuses: str) -> list[Fact]:
        """Facts in the order they were made, in these states (any); of a session, those that quote it."""
        from memory.models import Evidence

        found = [fact for fact in self.stage.facts() if not statuses or fact.status in statuses]
        if self.session is None:
            return found
        with self.stage.looking():
            quoted = Evidence.objects.filter(observation__session__external_id=self.session)
            told = set(quoted.values_list("fact", flat=True))
        return [fact for fact in found if fact.pk in told]

    def observations(self) -> list[Observation]:
        return self.stage.observations(self.session)

    def jobs(self) -> list[DistillJob]:
        with self.stage.looking():
            found = DistillJob.objects.filter(project=self.stage.project).select_related("session").order_by("pk")
            rows = list(found)
        return rows if self.session is None else [job for job in rows if job.session.external_id == self.session]

    def rows(self, pks: Iterable[int]) -> list[Fact]:
        """The facts of these row ids, in this order."""
        known = {fact.pk: fact for fact in self.stage.facts()}
        return [known[pk] for pk in pks]


Figure = Callable[..., Any]
FIGURES: list[tuple[re.Pattern[str], Figure]] = []
CHECKS: list[tuple[re.Pattern[str], Figure]] = []
# Said beside another expectation, or to the reader.
COMPANIONS = frozenset({"note", "or_flagged", "or_documented"})


def figure(*names: str) -> Callable[[Figure], Figure]:
    """Enters `function(look, *groups) -> value` under these names."""
    return _enter(FIGURES, names)


def check(*names: str) -> Callable[[Figure], Figure]:
    """Enters `function(look, wanted, *groups)`, which raises AssertionError, under these names."""
    return _enter(CHECKS, names)


def _enter(table: list[tuple[re.Pattern[str], Figure]], names: Iterable[str]) -> Callable[[Figure], Figure]:
    def enter(function: Figure) -> Figure:
        for name in names:
            assert not any(known.pattern == name for known, _ in [*FIGURES, *CHECKS]), f"{name} is entered twice"
            table.append((re.compile(name), function))
        return function

    return enter


def find(table: list[tuple[re.Pattern[str], Figure]], name: str) -> tuple[Figure, tuple[str, ...]] | None:
    """The function for this name and its groups; a name written out comes before a pattern."""
    matches = [(pattern, function, match) for pattern, function in table if (match := pattern.fullmatch(name))]
    matches.sort(key=lambda one: one[0].groups)
    if not matches:
        return None
    _, function, match = matches[0]
    return function, match.groups()
