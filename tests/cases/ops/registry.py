"""The table of ops: a name, the arguments it knows, and the function that carries it out.

A step with an op or an argument that is not in the table is reported as not built, by its name. It is never left out.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from django.urls import Resolver404, resolve

from tests.cases.result import NotBuilt, Result
from tests.cases.script import Step
from tests.cases.stage import Stage

Played = Result | list[Result]
Carrying = Callable[[Stage, Step], Played]
# Words for people, and tags, which this product does not have.
IGNORED = frozenset({"op", "note", "tags", "comment"})


@dataclass(frozen=True, slots=True)
class Op:
    """`prepare` is what a person or an agent did before the moment that counts: two people who press at once have
    both opened their page by then. `door` is the address it needs, where the product may have none yet."""

    carry_out: Carrying
    arguments: frozenset[str]
    prepare: Callable[[Stage, Step], Step] | None = None
    door: str = ""


OPS: dict[str, Op] = {}


def op(
    name: str, arguments: str = "", prepare: Callable[[Stage, Step], Step] | None = None, door: str = ""
) -> Callable[[Carrying], Carrying]:
    """Enters a function in the table, with its arguments written as one string."""

    def enter(function: Carrying) -> Carrying:
        assert name not in OPS, f"op {name} is mapped twice"
        OPS[name] = Op(function, frozenset(arguments.split()) | IGNORED, prepare, door)
        return function

    return enter


def known(step: Step) -> Op:
    """The op of a step. Raises NotBuilt for one, or an argument of one, that is not in the table, or has no door."""
    name = step["op"]
    found = OPS.get(name)
    if found is None:
        raise NotBuilt(f"op {name}")
    strange = sorted(set(step) - found.arguments - {"_opened"})
    if strange:
        raise NotBuilt(f"op {name} with {', '.join(strange)}")
    if found.door and not _is_door(found.door):
        raise NotBuilt(f"op {name}")
    return found


def _is_door(address: str) -> bool:
    try:
        return bool(resolve(address))
    except Resolver404:
        return False


def prepared(stage: Stage, step: Step) -> Step:
    """The step, with what was opened beforehand."""
    found = known(step)
    return found.prepare(stage, step) if found.prepare is not None else step


def play(stage: Stage, step: Step) -> list[Result]:
    """Carries out one step and keeps its results. Raises NotBuilt."""
    outcome = known(step).carry_out(stage, prepared(stage, step))
    results = outcome if isinstance(outcome, list) else [outcome]
    stage.results += results
    return results
