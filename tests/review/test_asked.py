"""What was pasted, taken apart: ids, sentences as agents print them, names."""

from __future__ import annotations

import pytest

from memory import short_ids
from review.finding.asked import MOST, Asked, asked

SAID = "refunds above 200 eur need a manager's release."


@pytest.fixture
def fact_id() -> str:
    return short_ids.encode(4711)


@pytest.mark.parametrize(
    "pasted",
    [
        "Refunds above 200 EUR need a manager's release.",
        "  Refunds above 200 EUR\n  need a manager’s\r\n\trelease. ",
        "REFUNDS ABOVE 200 EUR NEED A MANAGER'S RELEASE.",
        "“Refunds above 200 EUR need a manager’s release.”",
        "- Refunds above 200 EUR need a manager's release.",
        "> - Refunds above 200 EUR need a manager's release. (seen in 4 sessions)",
        "3. Refunds above 200\u00a0EUR need a manager's release. (9 sessions)",
        "- [ID] Refunds above 200 EUR need a manager's release. (seen in 4 sessions)",
        "* [ID] Refunds above 200 EUR need a manager's rele\u00adase. (said by the customer; confirmed 2026-11-18)",
        "[ID] Refunds above 200 EUR need a manager's release. (in the past; seen in 4 sess",
        "- [ID]\n  Refunds above 200 EUR\n  need a manager's release. (promised by support, 2026-11-14)",
        "- [ID] Refunds above 200 EUR need a manager's release. (unread; seen in 4 sessions)",
        "- [ID] Refunds above 200 EUR need a manager's release. (unread)",
        "Countersigned by people, except lines marked unread.\n- [ID] Refunds above 200 EUR need a manager's release.",
        "## Standing\n- [ID] Refunds above 200 EUR need a manager's release. (9 sessions)\n\n## About customer x\n",
        "If a line is wrong, report its id.\n\n- [ID] Refunds above 200 EUR need a manager's release.",
    ],
)
def test_a_line_of_a_brief_is_its_sentence(pasted: str, fact_id: str) -> None:
    found = asked(pasted.replace("ID", fact_id) if "[ID]" in pasted else pasted)
    assert found.sentences == (SAID,)
    assert found.ids == ((("f", 4711),) if "[ID]" in pasted else ())


def test_every_dash_is_one_dash() -> None:
    assert len({asked(f"call RF{dash}2091 e{dash}mail").sentences for dash in "-‐‑‒–—−"}) == 1


def test_what_stands_in_brackets_for_itself_stays() -> None:
    assert asked("Tests need Postgres (17 or later) to pass.").sentences == (
        "tests need postgres (17 or later) to pass.",
    )


def test_ids_are_read_in_any_dress() -> None:
    ids = [short_ids.encode(pk, prefix) for pk, prefix in ((1, "f"), (2, "s"), (3, "b"), (2**30, "f"))]
    wanted = (("f", 1), ("s", 2), ("b", 3), ("f", 2**30))
    assert asked(" ".join(ids)).ids == wanted
    assert asked(", ".join(ids).upper()).ids == wanted
    assert asked(f"https://memory.example/facts/{ids[0]}?panel=edit").ids == wanted[:1]
    assert asked(ids[0].replace("-", "\u2011")).ids == wanted[:1]
    assert asked(ids[0].removeprefix("f-")).ids == wanted[:1]
    assert asked("x" + ids[0]).ids == ()


def test_several_lines_are_several_sentences() -> None:
    first, second = short_ids.encode(1), short_ids.encode(2)
    found = asked(f"- [{first}] Prefers e-mail.\n- [{second}] Pays late,\n  as a rule. (seen in 2 sessions)")
    assert found.sentences == ("prefers e-mail.", "pays late, as a rule.")
    assert found.ids == (("f", 1), ("f", 2))


def test_of_a_long_paste_its_sentences_come_too() -> None:
    found = asked("The agent said this to me today. Refunds above 200 EUR need a manager's release. Is that so, Rita?")
    assert SAID in found.sentences


def test_a_whole_key_is_cut_to_what_anybody_may_see() -> None:
    found = asked("leaked: cs_1a2b3c4d_" + "0" * 40)
    assert (found.key_prefix, found.shown) == ("cs_1a2b3c4d", "leaked: cs_1a2b3c4d")
    assert asked("cs_1a2b3c4d").key_prefix == "cs_1a2b3c4d"


@pytest.mark.parametrize("nothing", ["", "   ", "\n\n", "\x00", "\u200b\u200b", "\ud800"[:0]])
def test_nothing_is_nothing(nothing: str) -> None:
    assert asked(nothing).is_empty


@pytest.mark.parametrize("odd", ["\ud800", "%", "_", "'\"", "[[[[", "(" * 500, "a" * (MOST * 3), "- [f-", "💬", "?"])
def test_any_text_is_taken(odd: str) -> None:
    found = asked(odd)
    assert isinstance(found, Asked)
    assert len(found.shown) <= MOST


def test_a_name_is_short_and_a_sentence_is_none() -> None:
    assert asked("Sarah Chen").name == "Sarah Chen"
    assert asked("word " * 60).name == ""
