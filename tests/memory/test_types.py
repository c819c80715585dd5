"""The type table: what is shipped, what a project may change of it, and what it may not."""

from __future__ import annotations

from typing import Any

import pytest

from memory.types import (
    CELLS,
    MOST_ADDED,
    SINGLE_VALUED,
    TYPES,
    BadType,
    FactType,
    cell_of,
    single_valued,
    table,
    type_of,
    with_row,
    without_row,
)


def test_without_changes_the_table_is_the_shipped_one() -> None:
    for overrides in (None, {}):
        assert table(overrides) == TYPES
        assert single_valued(overrides) == SINGLE_VALUED
        assert type_of("fix", overrides) is TYPES["fix"]


def test_the_shipped_lifetimes() -> None:
    kept = {
        row.name: (row.lifetime_days, row.counts_from, row.half_life_days, row.ask_again_days) for row in TYPES.values()
    }
    assert kept == {
        "fix": (90, "used", 60, None),
        "error": (90, "used", 60, None),
        "failed_command": (90, "used", 30, None),
        "environment": (180, "start", None, 180),
        "owning_file": (180, "start", None, 180),
        "choice": (365, "start", None, 365),
        "user_preference": (None, "start", None, 180),
        "account_detail": (None, "start", None, 180),
        "customer_fact": (365, "start", None, None),
        "problem": (90, "seen", 30, None),
        "commitment": (90, "start", None, None),
        "sentiment": (30, "start", 14, None),
        "note": (365, "start", None, None),
    }
    assert [row.name for row in TYPES.values() if not row.is_sought] == ["sentiment"]


def test_a_changed_cell_changes_that_cell_alone() -> None:
    changed = with_row({}, "fix", {"lifetime_days": 30})
    assert changed == {"fix": {"lifetime_days": 30}}
    row = type_of("fix", changed)
    assert (row.lifetime_days, row.half_life_days, row.words) == (30, 60, "fix")
    assert type_of("error", changed) is TYPES["error"]


def test_what_says_the_same_as_shipped_is_not_kept() -> None:
    everything = {cell: getattr(TYPES["fix"], cell) for cell in CELLS}
    assert with_row({"fix": {"lifetime_days": 30}, "error": {"words": "fault"}}, "fix", everything) == {
        "error": {"words": "fault"}
    }


def test_an_added_type_behaves_like_a_note_until_a_cell_says_otherwise() -> None:
    overrides = with_row({}, "incident_report", {"half_life_days": 7})
    row = type_of("incident_report", overrides)
    assert row == FactType("incident_report", "incident report", False, 365, 7, False, True)
    assert list(table(overrides)) == [*TYPES, "incident_report"]
    assert without_row(overrides, "incident_report") == {}


def test_a_type_nobody_listed_behaves_like_a_note() -> None:
    assert type_of("whatever") is TYPES["note"]
    assert type_of("whatever", {"fix": {"lifetime_days": 1}}) is TYPES["note"]


def test_a_type_can_be_made_to_hold_one_value() -> None:
    overrides = with_row(with_row({}, "fix", {"single_valued": True}), "plan", {"single_valued": True})
    assert set(single_valued(overrides)) == {*SINGLE_VALUED, "fix", "plan"}


@pytest.mark.parametrize(
    ("name", "cells", "cell", "sentence"),
    [
        ("fix", {"lifetime_days": 0}, "lifetime_days", "from 1 to 36,500"),
        ("fix", {"lifetime_days": True}, "lifetime_days", "from 1 to 36,500"),
        ("fix", {"lifetime_days": 36_501}, "lifetime_days", "from 1 to 36,500"),
        ("fix", {"lifetime_days": "30"}, "lifetime_days", "from 1 to 36,500"),
        ("fix", {"half_life_days": 1.5}, "half_life_days", "from 1 to 36,500"),
        ("fix", {"words": ""}, "words", "at most 40"),
        ("fix", {"words": "two\nlines"}, "words", "in one line"),
        ("fix", {"words": " padded"}, "words", "in one line"),
        ("fix", {"words": "x" * 41}, "words", "at most 40"),
        ("fix", {"one_by_one": "yes"}, "one_by_one", "yes or no"),
        ("fix", {"counts_from": "birth"}, "counts_from", "start, seen, used"),
        ("fix", {"counts_from": ["seen"]}, "counts_from", "start, seen, used"),
        ("fix", {"colour": "red"}, "colour", "no such cell"),
        ("fix", {"name": "mend"}, "name", "no such cell"),
        ("choice", {"single_valued": False}, "single_valued", "one value in every project"),
        ("choice", {"lifetime_days": 100}, "ask_again_days", "ends after 100 days"),
        ("Bad Name", {}, "name", "small letters"),
        ("fix:a", {}, "name", "small letters"),
        ("ärger", {}, "name", "small letters"),
        ("x" * 41, {}, "name", "40 at most"),
        ("", {}, "name", "begins with a letter"),
    ],
)
def test_what_no_table_can_hold_is_refused_in_a_sentence(
    name: str, cells: dict[str, Any], cell: str, sentence: str
) -> None:
    with pytest.raises(BadType) as refused:
        with_row({}, name, cells)
    assert list(refused.value.problems) == [cell]
    assert sentence in refused.value.problems[cell]


def test_types_are_added_up_to_a_number() -> None:
    overrides: dict[str, Any] = {}
    for number in range(MOST_ADDED):
        overrides = with_row(overrides, f"kind_{number}", {})
    with pytest.raises(BadType, match="at most 50"):
        with_row(overrides, "one_more", {})
    assert with_row(overrides, "kind_3", {"words": "the third"})["kind_3"] == {"words": "the third"}


@pytest.mark.parametrize(
    "stored",
    [
        {"fix": None},
        {"fix": "soon"},
        {"fix": {"lifetime_days": "soon", "colour": 1, "name": "x", "counts_from": []}},
        {"choice": {"single_valued": False}},
    ],
)
def test_a_stored_cell_that_no_table_could_hold_is_passed_over(stored: dict[str, Any]) -> None:
    assert table(stored) == TYPES
    assert single_valued(stored) == SINGLE_VALUED
    assert all(cell_of(name, cell, stored) == getattr(TYPES[name], cell) for name in TYPES for cell in CELLS)


def test_one_cell_is_that_of_the_row() -> None:
    overrides = {"fix": {"half_life_days": 5}, "visit": {"half_life_days": None, "single_valued": True}}
    for name in (*TYPES, "visit", "unlisted"):
        row = type_of(name, overrides)
        assert all(cell_of(name, cell, overrides) == getattr(row, cell) for cell in CELLS if cell != "words"), name
