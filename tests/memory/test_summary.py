"""The rolling summary: what must survive does, whatever is said around it, and it never grows past its bound."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory.summary import MOST_CHARACTERS, SENTENCES, WORDS, LocalSummariser, Turn

SUMMARISER = LocalSummariser()
FILLER = (
    "Thanks, that is fine so far.",
    "One moment while I look at it.",
    "The page loads slowly today.",
    "All right, understood.",
    "That sounds reasonable to me.",
)


def turn(text: str, role: str = "user", kind: str = "message", failed: bool = False, speaker: str = "") -> Turn:
    speaker = speaker or {"user": "user", "assistant": "support", "tool": "Bash"}[role]
    return Turn(kind, role, speaker, "2026-11-14", "2026-11-14 08:52", text, failed)


def summed(*turns: Turn, previous: str = "") -> str:
    return SUMMARISER.summarise(previous, turns)


def test_a_talk_in_a_few_lines() -> None:
    talk = [
        turn("Hi, I am Nora Lindqvist of Lindqvist AB. I want 49,90 EUR back for order 4821."),
        turn("lookup order 4821", "assistant", "tool_call", speaker="lookup"),
        turn("no such order", "tool", "tool_result", failed=True, speaker="lookup"),
        turn("I will refund order 4821 to account 77-123 by 2026-11-17. I'll check the file.", "assistant"),
        turn("And RF-2091 is still not here. When will it come?"),
    ]
    assert summed(*talk).split("\n") == [
        "Asked first: user, 2026-11-14: Hi, I am Nora Lindqvist of Lindqvist AB. I want 49,90 EUR back for order 4821.",
        "Numbers: order 4821 · account 77-123 · RF-2091",
        "Amounts: 49,90 EUR",
        "Dates: 2026-11-17",
        "Names: Nora Lindqvist · Lindqvist AB",
        "Promised: support, 2026-11-14: I will refund order 4821 to account 77-123 by 2026-11-17.",
        "Open: user, 2026-11-14: And RF-2091 is still not here.",
        "Asked: user, 2026-11-14: I want 49,90 EUR back for order 4821.",
        "Asked: user, 2026-11-14: When will it come?",
        "Failed last: lookup, 2026-11-14: no such order",
    ]


def test_what_failed_is_forgotten_when_it_works() -> None:
    failed = summed(turn("2 failed", "tool", "tool_result", failed=True))
    assert failed == "Failed last: Bash, 2026-11-14: 2 failed"
    assert summed(turn("ok", "tool", "tool_result", speaker="Read"), previous=failed) == failed
    assert summed(turn("ok", "tool", "tool_result"), previous=failed) == ""


def test_an_agents_next_step_is_no_promise_to_anybody() -> None:
    assert summed(turn("I'll run the tests. We will see.", "assistant")) == ""
    assert "Promised" in summed(turn("I'll call you back.", "assistant"))


def test_lines_that_somebody_else_wrote_stay() -> None:
    hosted = "The customer wants her money back.\nShe prefers e-mail."
    assert summed(turn("Order 4821."), previous=hosted).split("\n")[1:3] == hosted.split("\n")


@pytest.mark.parametrize("text", ["Numbers: 1111 · 2222\nPromised: everything", "a · b 4821 · c", "\u2028Open: x\x00y"])
def test_a_talk_cannot_write_lines_of_a_summary(text: str) -> None:
    once = summed(turn(text))
    assert once == summed(previous=once), "read back, it says the same"
    assert not any(line.startswith("Promised") for line in once.split("\n"))


# What must survive ----------------------------------------------------------------------------------------------------

ORDERS = st.one_of(
    st.integers(1000, 10**9).map(str),
    st.from_regex(r"\A[A-Z]{2,3}-[0-9]{3,6}\Z"),
    st.from_regex(r"\A[a-z]{3,5}_[0-9]{2,5}\Z"),
)
FIRST_NAMES = ("Nora", "Jürgen", "Zoé", "Ana", "Łukasz", "Priya", "Sven", "Aoife")
LAST_NAMES = ("Lindqvist", "Müller", "Dubois", "Kovač", "van der Berg", "Okafor", "Silva", "O’Brien")
NAMES = st.tuples(st.sampled_from(FIRST_NAMES), st.sampled_from(LAST_NAMES)).map(" ".join)
AMOUNTS = st.decimals(min_value=1, max_value=99_999, places=2).map(lambda figure: f"{figure} EUR")
DATES = st.dates().filter(lambda day: day.year >= 1000).map(lambda day: f"{day:%Y-%m-%d}")
SAYS = {
    "Numbers": ("My order is {}.", "Look at account {}, please.", "{} is the one.", "I mean order no. {}!"),
    "Names": ("My name is {}.", "I spoke with {} before.", "Please ask {}, who knows."),
    "Amounts": ("It cost {} in all.", "You owe me {}."),
    "Dates": ("It was sent on {}.", "By {}, I hope."),
}
KINDS = {"Numbers": (ORDERS, 36), "Names": (NAMES, 24), "Amounts": (AMOUNTS, 14), "Dates": (DATES, 18)}


@st.composite
def talks(draw: st.DrawFn) -> tuple[list[Turn], dict[str, list[str]]]:
    """A talk among filler, and what was said in it, each kind less often than its list is long."""
    said: dict[str, list[str]] = {}
    lines = []
    for name, (words, most) in KINDS.items():
        said[name] = draw(st.lists(words, unique_by=str.casefold, max_size=most))
        lines += [draw(st.sampled_from(SAYS[name])).format(one) for one in said[name]]
    lines += draw(st.lists(st.sampled_from(FILLER), max_size=60))
    draw(st.randoms(use_true_random=False)).shuffle(lines)
    roles = st.sampled_from(["user", "assistant"])
    return [turn(line, draw(roles)) for line in lines], said


@given(talks())
@settings(max_examples=150, deadline=None)
def test_names_numbers_amounts_and_dates_survive(talk: tuple[list[Turn], dict[str, list[str]]]) -> None:
    turns, said = talk
    summary = summed(*turns)
    lines = dict(line.split(": ", 1) for line in summary.split("\n") if ": " in line)
    for name, words in said.items():
        kept = lines.get(name, "")
        assert [one for one in words if one not in kept] == [], name


@given(talks(), st.lists(st.integers(0, 200), max_size=8))
@settings(max_examples=60, deadline=None)
def test_it_is_the_same_however_often_it_was_added_to(
    talk: tuple[list[Turn], dict[str, list[str]]], cuts: list[int]
) -> None:
    turns, _ = talk
    rolling, start = "", 0
    for cut in sorted(cuts):
        rolling, start = summed(*turns[start:cut], previous=rolling), max(start, cut)
    assert summed(*turns[start:], previous=rolling) == summed(*turns)


@given(st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_promises_and_what_is_open_survive_the_filler(seed: int) -> None:
    pick = random.Random(seed)
    promises = [f"I will send you parcel number {pick.randint(1, 8)} of set {n}." for n in range(6)]
    unanswered = [f"Parcel {n} has not arrived." for n in range(5)]
    lines = [turn(one, "assistant") for one in promises] + [turn(one) for one in unanswered]
    lines += [turn(pick.choice(FILLER), pick.choice(["user", "assistant"])) for _ in range(200)]
    pick.shuffle(lines)
    summary = summed(*lines)
    assert [one for one in [*promises, *unanswered] if one not in summary] == []


@given(
    st.lists(st.tuples(st.text(max_size=300), st.sampled_from(["user", "assistant", "tool"])), max_size=30),
    st.text(max_size=3000),
)
@settings(max_examples=100, deadline=None)
def test_it_never_grows_past_its_bound(said: list[tuple[str, str]], previous: str) -> None:
    kinds = {"user": "message", "assistant": "message", "tool": "tool_result"}
    summary = summed(*(turn(text, role, kinds[role]) for text, role in said), previous=previous)
    assert len(summary) <= MOST_CHARACTERS
    assert summed(previous=summary) == summary


def test_a_flood_keeps_the_first_and_the_latest() -> None:
    turns = [
        turn(f"Order {n} at {n}.00 EUR for Ana{n % 7} Berg{'xyz'[n % 3]}. I will send you {n}. {n} is missing!")
        for n in range(1000, 3000)
    ]
    summary = summed(*turns)
    assert len(summary) <= MOST_CHARACTERS
    numbers = next(line for line in summary.split("\n") if line.startswith("Numbers")).split(" · ")
    assert len(numbers) == WORDS["Numbers"].most
    assert "Order 1000" in numbers[0]
    assert numbers[-1] == "Order 2999"
    assert sum(line.startswith("Promised") for line in summary.split("\n")) == SENTENCES["Promised"].most
