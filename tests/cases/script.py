"""A field case as it stands in its file: steps, settings and what is expected. Nothing here knows the product."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Step = dict[str, Any]
# The day the cases were written for; a case without a clock of its own starts here, or after the last time it names.
USUAL_NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


class UnknownGenerator(ValueError):
    """A `{"$name": …}` that this runner cannot make a value of."""


class BrokenCase(ValueError):
    """A line of a case file that is no case."""


@dataclass(frozen=True, slots=True)
class NestedArrays:
    """`depth` arrays in one another: too deep for the JSON writer, so it is written by hand."""

    depth: int


@dataclass(frozen=True, slots=True)
class Case:
    """One line of a case file, its generated values made."""

    id: str
    kind: str
    gist: str
    steps: tuple[Step, ...]
    expected: dict[str, Any]
    settings: Mapping[str, Any] = field(default_factory=dict)
    given: tuple[dict[str, Any], ...] = ()
    now: datetime = USUAL_NOW

    def every_step(self) -> Iterator[Step]:
        """All steps, those inside of others included."""
        return _every(self.steps)


def read(path: Path) -> list[Case]:
    """The cases of a file of JSON lines. Raises BrokenCase."""
    lines = path.read_bytes().decode().split("\n")
    return [case_of(line, f"{path.name}:{number}") for number, line in enumerate(lines, start=1) if line.strip()]


def case_of(line: str, where: str = "case") -> Case:
    try:
        raw = json.loads(line)
        made = _made(raw, random.Random(raw["id"]))
        asked = made["input"]
        unknown = set(asked) - {"steps", "settings", "given", "now"}
        if unknown:
            raise BrokenCase(f"{where}: this runner does not know input.{'|'.join(sorted(unknown))}.")
        steps = tuple(asked["steps"])
        return Case(
            id=made["id"],
            kind=made["kind"],
            gist=made.get("gist", ""),
            steps=steps,
            expected=made["expected"],
            settings=asked.get("settings", {}),
            given=tuple(asked.get("given", ())),
            now=moment(asked["now"]) if "now" in asked else _after_all_of(steps),
        )
    except (KeyError, TypeError, json.JSONDecodeError) as problem:
        raise BrokenCase(f"{where}: {type(problem).__name__}: {problem}") from problem


def moment(written: str) -> datetime:
    """A time as a case writes it; UTC where it names no zone."""
    at = datetime.fromisoformat(written)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def encode(value: Any) -> bytes:
    """JSON with its escapes, so that half a surrogate pair stays what it is; nested arrays however deep."""
    deep: dict[str, str] = {}

    def placed(other: Any) -> str:
        if not isinstance(other, NestedArrays):
            raise TypeError(f"no JSON: {type(other).__name__}")
        name = f"nested-arrays-{len(deep)}"
        deep[f'"{name}"'] = "[" * other.depth + "]" * other.depth
        return name

    text = json.dumps(value, default=placed)
    for name, arrays in deep.items():
        text = text.replace(name, arrays)
    return text.encode()


def _made(value: Any, chance: random.Random) -> Any:
    if isinstance(value, list):
        return [_made(one, chance) for one in value]
    if not isinstance(value, dict):
        return value
    generators = [name for name in value if name.startswith("$")]
    if not generators:
        return {name: _made(one, chance) for name, one in value.items()}
    if len(value) != 1 or generators[0] not in GENERATORS:
        raise UnknownGenerator(f"This runner cannot make a value of {', '.join(value)}.")
    return GENERATORS[generators[0]](value[generators[0]], chance)


GENERATORS = {
    "$repeat": lambda given, chance: given[0] * given[1],
    "$repeat_unique_words": lambda given, chance: " ".join(f"word{number}" for number in range(given)),
    "$random_hex_chars": lambda given, chance: "".join(chance.choices("0123456789abcdef", k=given)),
    "$bytes": lambda given, chance: ("0123456789abcde " * (given // 16 + 1))[:given],
    "$nested_arrays": lambda given, chance: NestedArrays(given),
}


def _every(steps: Iterable[Step]) -> Iterator[Step]:
    for step in steps:
        yield step
        inner = [one for one in step.values() if isinstance(one, dict) and "op" in one]
        yield from _every(inner)


def _after_all_of(steps: Iterable[Step]) -> datetime:
    """The usual time, or the latest that a step names where that is later: an agent does not report the future."""
    named = [USUAL_NOW]
    for step in _every(steps):
        told = [step, *(one for one in step.get("observations", ()) if isinstance(one, dict))]
        named += [moment(one["ts"]) for one in told if isinstance(one.get("ts"), str)]
    return max(named)
