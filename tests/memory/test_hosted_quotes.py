"""A model's quote is found where it stands, or not at all: what counts is always a true slice of what was captured."""

from __future__ import annotations

import pytest

from memory.distillers.hosted.quotes import find
from memory.transcript import Seen

TEXT = 'It said:\n  "connection refused"\n\tat  port 5432 — so we moved to port 5433 (don’t ask). 端口是 5433。'


def seen(text: str, ref: int = 10) -> Seen:
    return Seen(ref, "message", "user", text)


def slice_of(words: str, text: str = TEXT) -> str | None:
    found = find(words, 1, {1: seen(text)}, [1])
    if found is None:
        return None
    assert text[found.start : found.end] == found.text
    return found.text


@pytest.mark.parametrize(
    ("words", "slice_"),
    [
        ("port 5432", "port 5432"),
        ("  port 5432\n", "port 5432"),
        ("connection refused", "connection refused"),
        ('"connection refused" at port 5432', '"connection refused"\n\tat  port 5432'),
        ("“connection refused”", '"connection refused"'),
        ("port 5432 - so we moved", "port 5432 — so we moved"),
        ("don't ask", "don’t ask"),
        ('It said:\\n  \\"connection refused\\"', 'It said:\n  "connection refused"'),
        ("'so we moved to port 5433'", "so we moved to port 5433"),
        ("端口是", "端口是"),
        ("是 5433", "是 5433"),
    ],
)
def test_white_space_and_marks_may_differ_and_the_slice_is_true(words: str, slice_: str) -> None:
    assert slice_of(words) == slice_


@pytest.mark.parametrize(
    "words",
    [
        "port 5434",
        "Connection refused",
        "connection … refused",
        "connection was refused",
        "543",
        "rt 5433",
        "e moved to por",
        "",
        "   ",
        '"',
        "we moved to port 5433, the new one",
    ],
)
def test_what_does_not_stand_there_is_not_found(words: str) -> None:
    assert slice_of(words) is None


def test_a_word_is_found_where_it_stands_alone() -> None:
    assert find("5433", 1, {1: seen("15433 and 54330, then 5433")}, [1]).start == 22  # type: ignore[union-attr]


def test_the_numbered_observation_comes_first_then_the_others_in_order() -> None:
    numbered = {1: seen("use port 5433", 11), 2: seen("port 5433 it is", 12), 3: seen("nothing", 13)}
    for number, order, ref in ((2, [1, 2, 3], 12), (3, [2, 1, 3], 12), (None, [1, 2, 3], 11), (99, [2, 1], 12)):
        found = find("port 5433", number, numbered, order)
        assert found is not None
        assert found.ref == ref
    assert find("port 5433", 3, numbered, [3]) is None


def test_two_letters_are_only_found_where_the_model_said() -> None:
    numbered = {1: seen("uv", 11), 2: seen("pip or uv", 12)}
    assert find("uv", 2, numbered, [1, 2]).ref == 12  # type: ignore[union-attr]
    assert find("uv", None, numbered, [1, 2]) is None
