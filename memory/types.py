"""The table of fact types (values): what a type holds one of, how long it lives, how it fades, how it is reviewed.

A project changes cells and adds types; what it changed travels as `overrides`, the JSON of `Project.types`:
{"fix": {"lifetime_days": 30}, "incident": {"words": "incident", "lifetime_days": 60}}.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

# What the days of a lifetime count from. Of "seen" and "used" it is the last time.
START, SEEN, USED = "start", "seen", "used"
COUNTS_FROM = (START, SEEN, USED)


@dataclass(frozen=True, slots=True)
class FactType:
    """One row of the table. Days are whole; None means "no end", "no fading", "never asked"."""

    name: str
    words: str
    single_valued: bool
    lifetime_days: int | None
    half_life_days: int | None
    own_agent_only: bool
    one_by_one: bool
    # "Still true?" is asked after this many days; the fact stays in use meanwhile.
    ask_again_days: int | None = None
    counts_from: str = START
    # Where the value says when something is due (`due_on`), it ends this many days after that day instead.
    after_due_days: int | None = None
    # Whether readers look for it in sessions.
    is_sought: bool = True


TYPES: dict[str, FactType] = {
    row.name: row
    for row in (
        FactType("fix", "fix", False, 90, 60, False, False, counts_from=USED),
        FactType("error", "error", False, 90, 60, False, False, counts_from=USED),
        FactType("failed_command", "failed command", False, 90, 30, False, False, counts_from=USED),
        FactType("environment", "environment", True, 180, None, False, False, 180),
        FactType("owning_file", "owning file", True, 180, None, False, False, 180),
        FactType("choice", "choice", True, 365, None, False, False, 365),
        FactType("user_preference", "preference", True, None, None, False, False, 180),
        FactType("account_detail", "account detail", True, None, None, False, False, 180),
        FactType("customer_fact", "customer fact", True, 365, None, True, True),
        FactType("problem", "problem", True, 90, 30, True, True, counts_from=SEEN),
        FactType("commitment", "commitment", False, 90, None, False, True, after_due_days=14),
        FactType("sentiment", "sentiment", True, 30, 14, True, True, is_sought=False),
        FactType("note", "note", False, 365, None, False, True),
    )
}
OTHER = TYPES["note"]
SINGLE_VALUED = tuple(name for name, row in TYPES.items() if row.single_valued)

MOST_DAYS = 36_500
MOST_WORDS = 40
MOST_ADDED = 50
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}", re.ASCII)
Overrides = Mapping[str, Any] | None


class BadType(ValueError):
    """A row that cannot be kept. `problems` holds a sentence for each cell, "name" for the row itself."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = problems


def type_of(name: str, overrides: Overrides = None) -> FactType:
    """The row for a type; a type nobody listed behaves like a note: several per key, a year, one by one.

    Never raises: a cell of `overrides` that no table could hold is passed over.
    """
    shipped = TYPES.get(name)
    changed = overrides.get(name) if overrides else None
    if not isinstance(changed, Mapping):
        return shipped or OTHER
    fitting = {cell: value for cell, value in changed.items() if cell in _CELLS and not _CELLS[cell](value)}
    if shipped is None:
        return replace(OTHER, **{"name": name, "words": name.replace("_", " "), **fitting})
    if shipped.single_valued:
        fitting.pop("single_valued", None)
    return replace(shipped, **fitting)


def table(overrides: Overrides = None) -> dict[str, FactType]:
    """All types of a project by their names: the shipped ones, then those it added."""
    added = sorted(
        name for name, cells in (overrides or {}).items() if name not in TYPES and isinstance(cells, Mapping)
    )
    return {name: type_of(name, overrides) for name in (*TYPES, *added)}


def single_valued(overrides: Overrides = None) -> tuple[str, ...]:
    """The types that hold one value per key: the shipped ones, and those that a project made so."""
    if not overrides:
        return SINGLE_VALUED
    made = (name for name in overrides if name not in SINGLE_VALUED and cell_of(name, "single_valued", overrides))
    return (*SINGLE_VALUED, *sorted(made))


def cell_of(name: str, cell: str, overrides: Overrides = None) -> Any:
    """One cell of a row, where a whole one for each of many facts would take long (2 µs, a row 10)."""
    if overrides:
        changed = overrides.get(name)
        if isinstance(changed, Mapping) and cell in changed and not _wrong(name, cell, changed[cell]):
            return changed[cell]
    return getattr(TYPES.get(name, OTHER), cell)


def with_row(overrides: Overrides, name: str, cells: Mapping[str, Any]) -> dict[str, Any]:
    """`overrides` with these cells of one type; a cell that says what is shipped is left out. Raises BadType."""
    problems = {cell: wrong for cell, value in cells.items() if (wrong := _wrong(name, cell, value))}
    if name not in TYPES and not _NAME.fullmatch(name):
        problems["name"] = "A name has small letters, digits and underscores, begins with a letter, 40 at most."
    kept = {key: value for key, value in (overrides or {}).items() if key != name}
    if name not in TYPES and sum(key not in TYPES for key in kept) >= MOST_ADDED:
        problems["name"] = f"A project adds at most {MOST_ADDED} types."
    if problems:
        raise BadType(problems)
    shipped = TYPES.get(name)
    changed = {cell: value for cell, value in cells.items() if shipped is None or getattr(shipped, cell) != value}
    row = type_of(name, {name: changed})
    if row.ask_again_days and row.lifetime_days and row.ask_again_days > row.lifetime_days:
        raise BadType({"ask_again_days": f"It ends after {row.lifetime_days} days, before anybody would be asked."})
    if changed or shipped is None:
        kept[name] = changed
    return kept


def without_row(overrides: Overrides, name: str) -> dict[str, Any]:
    """`overrides` as if this type had never been touched; one that a project added is gone."""
    return {key: value for key, value in (overrides or {}).items() if key != name}


def _wrong(name: str, cell: str, value: Any) -> str:
    check = _CELLS.get(cell)
    if check is None:
        return "A type has no such cell."
    if cell == "single_valued" and value is False and name in SINGLE_VALUED:
        return f"A key of {TYPES[name].words} holds one value in every project; add a type of your own instead."
    return check(value)


def _days(value: Any) -> str:
    if value is None or (type(value) is int and 1 <= value <= MOST_DAYS):
        return ""
    return f"Days are a whole number from 1 to {MOST_DAYS:,}, or none."


def _yes_or_no(value: Any) -> str:
    return "" if isinstance(value, bool) else "This is yes or no."


def _words(value: Any) -> str:
    if isinstance(value, str) and value.isprintable() and value.strip() == value and 1 <= len(value) <= MOST_WORDS:
        return ""
    return f"People call it something, in one line of at most {MOST_WORDS} characters."


def _counts_from(value: Any) -> str:
    return "" if isinstance(value, str) and value in COUNTS_FROM else f"One of: {', '.join(COUNTS_FROM)}."


# What is wrong with a value of each cell, or "".
_CELLS: dict[str, Callable[[Any], str]] = {
    "words": _words,
    "single_valued": _yes_or_no,
    "lifetime_days": _days,
    "half_life_days": _days,
    "own_agent_only": _yes_or_no,
    "one_by_one": _yes_or_no,
    "ask_again_days": _days,
    "counts_from": _counts_from,
    "after_due_days": _days,
    "is_sought": _yes_or_no,
}
CELLS = tuple(field.name for field in fields(FactType) if field.name != "name")
