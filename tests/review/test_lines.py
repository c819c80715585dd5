"""The pile as a list: what stays, in as many words as its bar has room for."""

from __future__ import annotations

import pytest

from memory.models import Fact
from review.piles.lines import Line, staying


def lines(**reasons: int) -> list[Line]:
    words = {"word": "with a word in no quote", "long": "longer than a sentence", "standing": "speaking for others"}
    kept = {**words, "conflict": "in conflict"}
    return [
        Line(Fact(), (), (), "everyone", "Flag", kept[name]) for name, count in reasons.items() for _ in range(count)
    ]


@pytest.mark.parametrize(
    ("there", "said"),
    [
        (lines(), ""),
        (lines(long=1), "1 stays: 1 longer than a sentence."),
        (
            lines(long=1, word=2, conflict=1),
            "4 stay: 2 with a word in no quote, 1 longer than a sentence, 1 in conflict.",
        ),
        (
            lines(long=2, word=3, conflict=1, standing=1),
            "7 stay: 3 with a word in no quote, 2 longer than a sentence, 2 for other reasons.",
        ),
    ],
)
def test_the_commonest_reasons_are_named(there: list[Line], said: str) -> None:
    assert staying([*there, Line(Fact(), (), (), "everyone")]) == said
