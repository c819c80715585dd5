"""The same thing done by several at once, each on a connection of its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from django.db import connections

from tests.cases.barriers import held
from tests.cases.ops.registry import known, op, prepared
from tests.cases.result import Result
from tests.cases.script import Step
from tests.cases.stage import USUAL_AGENT, Stage

# Where a list in the inner step gives each of them one of its own.
DEALT = ("by", "agent")


@op("parallel", "n barrier do")
def parallel(stage: Stage, step: Step) -> list[Result]:
    inner, count = step["do"], step["n"]
    carry_out = known(inner).carry_out
    steps = [prepared(stage, _dealt(inner, number)) for number in range(count)]
    _make_ready(stage, steps)

    def one(mine: Step) -> list[Result]:
        try:
            outcome = carry_out(stage, mine)
            return outcome if isinstance(outcome, list) else [outcome]
        finally:
            connections.close_all()

    with held(step.get("barrier"), count), ThreadPoolExecutor(count) as pool:
        results = [result for part in pool.map(one, steps) for result in part]
    for result in results:
        result.notes["parallel"] = True
    return results


def _dealt(inner: Step, number: int) -> Step:
    mine = dict(inner)
    for name in DEALT:
        if isinstance(mine.get(name), list):
            mine[name] = mine[name][number % len(mine[name])]
    return mine


def _make_ready(stage: Stage, steps: list[Step]) -> None:
    """Keys are issued and people signed in before the moment that counts."""
    for step in steps:
        stage.key(step.get("agent", USUAL_AGENT))
        if isinstance(step.get("by"), str):
            stage.browser(step["by"])
