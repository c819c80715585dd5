"""Holds what a case expects against what came. An expectation that nobody entered is a fault, never a pass."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.cases.expect.briefs import given_fact
from tests.cases.expect.compare import COMPARISONS, same
from tests.cases.expect.registry import CHECKS, COMPANIONS, FIGURES, Look, find

# Steps that only make things ready: `each` does not speak of them where it speaks of fewer steps than there are.
PROBES = frozenset(
    {"search", "lookup", "brief", "get_by_id", "list", "count", "dedup_pair", "classify", "raw_post", "distill"}
    | {"delete", "supersede", "erase", "text_filter", "capture", "propose", "approve"}
)


def faults(look: Look, expected: dict[str, Any]) -> list[str]:
    """Every expectation that does not hold, in a sentence each."""
    found: list[str] = []
    for name, wanted in expected.items():
        if name in COMPANIONS:
            continue
        try:
            _hold(look, name, wanted)
        except AssertionError as fault:
            found.append(f"{name}: {fault}")
        except (LookupError, AttributeError, TypeError, ValueError) as problem:
            found.append(f"{name}: wanted {wanted!r}, could not be looked at: {type(problem).__name__}: {problem}")
    return found


def _hold(look: Look, name: str, wanted: Any) -> None:
    if name == "any_of":
        _any_of(look, wanted)
    elif name == "each":
        _each(look, wanted)
    elif (known := find(CHECKS, name)) is not None:
        function, groups = known
        function(look, wanted, *groups)
    elif (known := find(FIGURES, name)) is not None:
        function, groups = known
        same(look, function(look, *groups), wanted)
    elif name in {row["key"] for row in look.stage.case.given} and isinstance(wanted, str):
        given_fact(look, name, wanted)
    elif not _compared(look, name, wanted) and not _of_a_session(look, name, wanted):
        raise AssertionError("this runner does not know the expectation")


def _any_of(look: Look, branches: list[dict[str, Any]]) -> None:
    told = [faults(replace(look, expected=branch), branch) for branch in branches]
    assert any(not some for some in told), f"no branch holds: {told}"


def _each(look: Look, wanted: list[dict[str, Any]]) -> None:
    results = look.results
    if len(results) != len(wanted):
        results = [result for result in results if result.op in PROBES]
    if len(results) != len(wanted):
        last = look.last().op
        results = [result for result in results if result.op == last]
    assert len(results) == len(wanted), f"{len(wanted)} expected, {len(results)} came"
    told = {}
    for number, (result, one) in enumerate(zip(results, wanted, strict=True)):
        problems = faults(replace(look, expected=one, result=result), one)
        if problems:
            told[number] = problems
    assert not told, str(told)


def _compared(look: Look, name: str, wanted: Any) -> bool:
    """`facts_at_most`, `job_status_in`, …: a figure and a comparison."""
    for suffix, comparison in COMPARISONS.items():
        if name.endswith(suffix) and (known := find(FIGURES, name.removesuffix(suffix))) is not None:
            function, groups = known
            comparison(look, function(look, *groups), wanted)
            return True
    return False


def _of_a_session(look: Look, name: str, wanted: Any) -> bool:
    """`session_s9: {…}` or `s28: {…}`: expectations of one session."""
    sessions = set(look.stage.captured)
    session = name if name in sessions else name.removeprefix("session_")
    if session not in sessions or not isinstance(wanted, dict):
        return False
    problems = faults(replace(look, expected=wanted, session=session), wanted)
    assert not problems, str(problems)
    return True
