"""Statuses: of one step, of all of an op, of the one after the other, of somebody."""

from __future__ import annotations

from typing import Any

from tests.cases.expect.registry import Look, check, figure
from tests.cases.result import Result

ORDINALS = {"first": 0, "second": 1, "third": 2, "fourth": 3, "fifth": 4, "last": -1}
# Ops by the name that an expectation calls them.
CALLED = {
    "page": ("get_session_page", "open_pages", "open_queue"),
    "id_read": ("get_by_id",),
    "queue": ("open_queue",),
    "filter": ("text_filter",),
    "import": ("import_file",),
    "new": ("create_fact",),
}


@check("http")
def http(look: Look, wanted: Any) -> None:
    last = look.last()
    _all_in([result for result in look.of(last.op) if result.http is not None], wanted)


@check(r"(\w+)_http")
def named_http(look: Look, wanted: Any, name: str) -> None:
    """`second_http` (of the calls that answered), `ben_http`, `capture_http`."""
    if name in ORDINALS:
        op = next(result.op for result in reversed(look.results) if result.http is not None)
        answered = [result for result in look.of(op) if result.http is not None]
        _all_in([answered[ORDINALS[name]]], wanted)
        return
    theirs = look.by(name)
    if theirs:
        _all_in(theirs[-1:], wanted)
        return
    found = look.of(*CALLED.get(name, (name,)))
    assert found, f"the case has no step called {name}"
    _all_in(found, wanted)


@check("never_http")
def never_http(look: Look, wanted: list[int]) -> None:
    bad = [status for status in look.stage.statuses if status in wanted]
    bad += [result.http for result in look.results if result.http in wanted]
    assert not bad, f"answered {bad}"


@figure("statuses")
def statuses(look: Look) -> list[int]:
    """Of those who did the same at once."""
    return [result.http for result in look.results if result.notes.get("parallel") and result.http is not None]


@figure("p99_ms")
def p99(look: Look) -> float:
    took = sorted(result.notes["milliseconds"] for result in look.results if "milliseconds" in result.notes)
    return round(took[min(len(took) - 1, int(len(took) * 0.99))], 1)


@figure("no_waiting_for_llm_or_embedder")
def no_waiting(look: Look) -> bool:
    return all(result.notes.get("embedded", 0) == 0 for result in look.of("capture", "capture_many"))


@check("response_is_strict_json", "no_nan_in_json")
def strict_json(look: Look, wanted: bool) -> None:
    """Every answer of the API was read, and a NaN in one would have been refused (`Stage.call`)."""
    calls = look.of("raw_post", "search", "lookup", "brief", "get_by_id")
    assert calls, "no answer to look at"
    loose = [result.op for result in calls if result.body is None]
    assert (not loose) is wanted, f"no strict JSON from: {loose}"


@figure("projects")
def projects(look: Look) -> int:
    from projects.models import Project

    asked = {result.step["slug"] for result in look.of("create_project")}
    with look.stage.looking():
        return Project.objects.filter(slug__in=asked).count()


def _all_in(results: list[Result], wanted: Any) -> None:
    allowed = wanted if isinstance(wanted, list) else [wanted]
    came = [result.http for result in results]
    assert came, "no step answered"
    assert all(status in allowed for status in came), f"{sorted(set(came), key=str)}, allowed {allowed}"
