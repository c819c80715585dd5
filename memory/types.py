"""The table of fact types (values): what a type holds one of, how long it lives, how it fades, how it is reviewed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FactType:
    """One row of the table. Days are whole; None means "no end", "no fading"."""

    name: str
    words: str
    single_valued: bool
    lifetime_days: int | None
    half_life_days: int | None
    own_agent_only: bool
    one_by_one: bool
    # "Still true?" is asked after this many days; the fact stays in use meanwhile.
    ask_again_days: int | None = None


TYPES: dict[str, FactType] = {
    row.name: row
    for row in (
        FactType("fix", "fix", False, 90, 60, False, False),
        FactType("error", "error", False, 90, 60, False, False),
        FactType("failed_command", "failed command", False, 90, 30, False, False),
        FactType("environment", "environment", True, 180, None, False, False, 180),
        FactType("owning_file", "owning file", True, 180, None, False, False, 180),
        FactType("choice", "choice", True, 365, None, False, False, 365),
        FactType("user_preference", "preference", True, None, None, False, False, 180),
        FactType("account_detail", "account detail", True, None, None, False, False, 180),
        FactType("customer_fact", "customer fact", True, 365, None, True, True),
        FactType("problem", "problem", True, 90, 30, True, True),
        FactType("commitment", "commitment", False, 90, None, False, True),
        FactType("sentiment", "sentiment", True, 30, 14, True, True),
        FactType("note", "note", False, 365, None, False, True),
    )
}
# Two weeks after a commitment is due nobody needs to be told of it.
COMMITMENT_GRACE_DAYS = 14
OTHER = TYPES["note"]


def type_of(name: str) -> FactType:
    """The row for a type; a type nobody listed behaves like a note: several per key, a year, one by one."""
    return TYPES.get(name, OTHER)


SINGLE_VALUED = tuple(name for name, row in TYPES.items() if row.single_valued)
