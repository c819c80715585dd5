"""The faults of planted cards, one by one: each is really one, and its sentence of explanation is true."""

from __future__ import annotations

import random

import pytest

from review.piles.planting import INSTRUCTION, NAME, NEGATION, NUMBER, SCOPE, Planted, planted


def made(text: str, said: str, flaw: str, names: tuple[str, ...] = ()) -> Planted | None:
    return next((one for one in planted(text, [said], names, random.Random(1)) if one.flaw == flaw), None)


def test_a_number_is_changed_to_one_that_the_quote_does_not_say() -> None:
    one = made("Refunds above 200 EUR need a release.", "above 200 EUR it needs a release", NUMBER)
    assert one is not None
    assert "200" not in one.text
    assert "the quote says 200, the sentence" in one.explanation


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("It runs on port 5434.", "port is 5433"),
        ("It needs v2 of the client.", "needs v2"),
        ("It broke on 2026-11-03.", "2026-11-03"),
        ("It needs 3.1.4 of the client.", "3.1.4"),
        ("It needs a database.", "a database"),
    ],
)
def test_no_number_is_made_up_where_there_is_none_to_change(text: str, said: str) -> None:
    assert made(text, said, NUMBER) is None


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Klarna cannot be used outside the UK.", "Klarna can be used outside the UK."),
        ("The cache is not shared.", "The cache is shared."),
        ("Deploys must not run on Fridays.", "Deploys must run on Fridays."),
        ("Never run the seed twice.", "Run the seed twice."),
    ],
)
def test_a_negation_is_left_out(text: str, wrong: str) -> None:
    one = made(text, f"so: {text}", NEGATION)
    assert one is not None
    assert one.text == wrong
    assert "leaves it out" in one.explanation


def test_a_negation_that_no_quote_holds_is_left_alone() -> None:
    assert made("The cache is not shared.", "every worker has its own cache", NEGATION) is None


def test_a_name_is_swapped_for_another_of_the_project() -> None:
    one = made("`make seed` needs `postgres`.", "make seed failed, start postgres", NAME, ("redis", "postgres"))
    assert one is not None
    assert one.text == "`make seed` needs `redis`."
    assert "the quote is about postgres, the sentence about redis" in one.explanation
    assert made("`make seed` needs `postgres`.", "postgres", NAME, ()) is None


def test_a_claim_is_widened_past_its_quote() -> None:
    one = made("The tests need a database.", "here the tests need a database", SCOPE)
    assert one is not None
    assert one.text == "In every repository the tests need a database."
    assert made("Every test needs a database.", "every test needs one", SCOPE) is None


def test_an_instruction_is_hung_on() -> None:
    one = made("The tests need a database.", "the tests need a database", INSTRUCTION)
    assert one is not None
    assert one.text.startswith("The tests need a database. ")
    assert "instruction" in one.explanation


def test_the_same_memory_gives_the_same_cards() -> None:
    text, said = "Port 5434 must not be `open`.", "port 5434 must not be open"
    first = planted(text, [said], ["shut"], random.Random(7))
    assert first == planted(text, [said], ["shut"], random.Random(7))
    assert {one.flaw for one in first} == {NUMBER, NEGATION, NAME, SCOPE, INSTRUCTION}
    assert all(one.text != text for one in first)
