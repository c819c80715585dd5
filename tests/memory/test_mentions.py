"""What a shortened talk must keep: names, numbers, amounts, days, and what was promised, asked or left open."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory import mentions


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I want a refund for order 4821, account no. 77-123.", ["order 4821", "account 77-123"]),
        ("Order RF-2091 and INV/2024/77 are late.", ["Order RF-2091", "INV/2024/77"]),
        ("Ticket #12, room 7, and 33 others", ["Ticket #12", "room 7"]),
        ("account 12 34 56 78, phone +49 170 1234567", ["account 12 34 56 78", "+49 170 1234567"]),
        ("Bestellung 99812 und Rechnung Nr. 7", ["Bestellung 99812", "Rechnung 7"]),
        ("订单号4821还没到", ["订单 4821"]),
        ("port 5433, not 5432; src/app/db_2.py, Python 3.11.7", ["port 5433", "5432", "src/app/db_2.py", "3.11.7"]),
        ("It cost 1,250.00 EUR on 2026-11-14, and 12.11.2026 is near.", []),
        ("at 9:30, 3 times, version two", []),
    ],
)
def test_numbers_that_name_something(text: str, found: list[str]) -> None:
    assert mentions.numbers(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I paid 49,90 EUR, that is $50.25 or 1.250,00 €.", ["49,90 EUR", "$50.25", "1.250,00 €"]),
        ("USD 20 less 15% off, 30 dollars back", ["USD 20", "15%", "30 dollars"]),
        ("20 people, 3 eurovans", []),
    ],
)
def test_amounts(text: str, found: list[str]) -> None:
    assert mentions.amounts(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "By 2026-11-17, or the 3rd of December 2026, or Nov 5.",
            ["2026-11-17", "3rd of December 2026", "Nov 5"],
        ),
        ("bis zum 3. Dezember 2026 oder 12.11.2026", ["3. Dezember 2026", "12.11.2026"]),
        ("请在11月20日前处理", ["11月20日"]),
        ("Call me tomorrow, or next Friday.", ["tomorrow (said 2026-11-14)", "next Friday (said 2026-11-14)"]),
        ("Python 3.11.7 came", []),
    ],
)
def test_days(text: str, found: list[str]) -> None:
    assert mentions.days(text, "2026-11-14") == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Hello, my name is Nora Lindqvist from Lindqvist AB.", ["Nora Lindqvist", "Lindqvist AB"]),
        ("Please talk to Nora about it.", ["Nora"]),
        ("Ask for Mr. Jan van der Berg.", ["Mr. Jan van der Berg"]),
        ("Ich heiße Jürgen Müller und warte auf die Lieferung.", ["Jürgen Müller"]),
        ("Bitte fragen Sie Frau Öztürk nach der Rechnung.", ["Frau Öztürk"]),
        ("Je m'appelle Zoé Dubois.", ["Zoé Dubois"]),
        ("Write to nora@example.com, or to Ana Kovač and Sven.", ["nora@example.com", "Ana Kovač", "Sven"]),
        ("The Order was late. I think so. On Monday the API failed.", []),
    ],
)
def test_names(text: str, found: list[str]) -> None:
    assert mentions.names(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Ask Mr. Berg. He is in.", ["Ask Mr. Berg.", "He is in."]),
        ("Until 2026-11-17. I'll call.", ["Until 2026-11-17.", "I'll call."]),
        ("Bis zum 3. Dezember. Danke!", ["Bis zum 3. Dezember.", "Danke!"]),
        ("We have 12. You have 3.", ["We have 12.", "You have 3."]),
        ("还没到。请处理！", ["还没到。", "请处理！"]),
        ("one\n\ntwo", ["one", "two"]),
        ("…", []),
    ],
)
def test_sentences(text: str, found: list[str]) -> None:
    assert mentions.sentences(text) == found


@pytest.mark.parametrize(
    ("sentence", "promised", "left_open", "asked"),
    [
        ("I will refund it by Friday.", True, False, False),
        ("You will get the money back.", True, False, False),
        ("Ich melde mich morgen.", True, False, False),
        ("Will you refund it?", False, False, True),
        ("When will it come?", False, False, True),
        ("It has not arrived.", False, True, False),
        ("Das Paket fehlt noch immer.", False, True, False),
        ("I want a refund.", False, False, True),
        ("The port is 5433.", False, False, False),
    ],
)
def test_what_is_promised_open_and_asked(sentence: str, promised: bool, left_open: bool, asked: bool) -> None:
    found = (mentions.promises(sentence), mentions.is_open(sentence), mentions.asks(sentence))
    assert found == (promised, left_open, asked)


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=400))
def test_any_text_can_be_read(text: str) -> None:
    for found in (mentions.numbers(text), mentions.amounts(text), mentions.days(text, "2026-11-14")):
        assert len({one.casefold() for one in found}) == len(found)
    assert all(name in " ".join(text.split()) or name in text for name in mentions.names(text))
    for sentence in mentions.sentences(text):
        assert sentence in text


@pytest.mark.parametrize(
    "piece",
    ["A ", "Aa ", "1 ", "12 ", "1,", "a@", ".", "x. ", "1.1.", "Aa.'-", "$1 ", "-", "9", "No. ", "von Aa ", "A-1."],
)
def test_no_text_takes_long(piece: str) -> None:
    text = piece * (16_000 // len(piece))
    started = time.perf_counter()
    mentions.numbers(text)
    mentions.amounts(text)
    mentions.days(text, "2026-11-14")
    mentions.names(text)
    for sentence in mentions.sentences(text):
        mentions.promises(sentence)
        mentions.is_open(sentence)
        mentions.asks(sentence)
    # 0.1 s on two cores; two seconds and more before repetitions were bounded.
    assert time.perf_counter() - started < 1.5
