"""CSV with its columns, JSON and JSONL of other stores."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from memory.existing import LARGEST_BYTES, Found, Unreadable, read
from memory.existing.tables import guarded, unguarded


def texts(found: Found) -> list[str]:
    return [line.text for line in found.lines]


def test_columns_are_guessed_by_the_names_others_use() -> None:
    found = read("m.csv", b"Memory;Category;User_ID\nPrefers e-mail;preference;c-17\n;;\n,;x;y\n")
    assert found.guessed == {"text": "Memory", "type": "Category", "subject": "User_ID"}
    assert texts(found) == ["Prefers e-mail", ","]
    assert (found.lines[0].type, found.lines[0].subject, found.lines[0].number) == ("preference", "c-17", 2)


def test_columns_nobody_knows_are_left_to_a_person() -> None:
    data = b"Bemerkung,Kunde\nMag Tee,Anna\n"
    found = read("m.csv", data)
    assert (found.lines, found.columns, found.sample) == ([], ["Bemerkung", "Kunde"], [["Mag Tee", "Anna"]])
    told = read("m.csv", data, columns={"text": "Bemerkung", "subject": "Kunde"})
    assert texts(told) == ["Mag Tee"]
    assert told.lines[0].subject == "Anna"


@pytest.mark.parametrize("columns", [{"text": "Nowhere"}, {"mood": "Bemerkung"}])
def test_a_column_that_is_not_there_is_named(columns: dict[str, str]) -> None:
    with pytest.raises(Unreadable, match=r"Nowhere|mood"):
        read("m.csv", b"Bemerkung\nx\n", columns=columns)


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"text\n", "no rows"),
        (b"text,text\na,b\n", "same name"),
        (b'text\n"' + b"x" * 1_100_000, "cannot be read"),
    ],
)
def test_a_table_that_is_none_says_why(data: bytes, word: str) -> None:
    with pytest.raises(Unreadable, match=word):
        read("m.csv", data)


@pytest.mark.parametrize("cell", ["=1+1", "+1", "-1", "@sum", "'quoted'", "plain", "", "\tx"])
def test_a_guarded_cell_comes_back_as_it_was(cell: str) -> None:
    assert unguarded(guarded(cell)) == cell
    assert not guarded(cell).startswith(("=", "+", "-", "@", "\t"))


def test_the_stores_that_people_come_from() -> None:
    mem0 = {"results": [{"id": "1", "memory": "Likes tea", "user_id": "u7", "expiration_date": "2027-01-31"}]}
    zep = {"edges": [{"fact": "Works at Northwind"}, {"fact": "Left Acme", "invalid_at": "2026-01-01T00:00:00Z"}]}
    found = read("mem0.json", json.dumps(mem0).encode())
    assert texts(found) == ["Likes tea"]
    assert (found.lines[0].subject, found.lines[0].expires_at) == ("customer:u7", datetime(2027, 2, 1, tzinfo=UTC))
    old = read("zep.json", json.dumps(zep).encode())
    assert (texts(old), old.skipped) == (["Works at Northwind"], {"no_longer_valid": 1})
    assert texts(read("list.json", b'["one", {"content": "two"}, 3, {"content": 4}, ""]')) == ["one", "two"]


def test_lines_that_are_cut_are_counted() -> None:
    found = read("m.jsonl", b'{"text": "one"}\n{"text": "tw\n\n[1]\n{"text": "a\xe2\x80\xa8b"}\n')
    assert texts(found) == ["one", "a\u2028b"]
    assert found.skipped == {"no_json": 1, "no_record": 1}
    assert found.records == 4


def test_a_json_that_is_really_jsonl_is_read_as_one() -> None:
    assert texts(read("m.json", b'{"text": "one"}\n{"text": "two"}\n')) == ["one", "two"]


@pytest.mark.parametrize(
    ("name", "data", "word"),
    [
        ("m.md", b" \n", "empty"),
        ("m.md", b"\xff\xfea\x00", "UTF-16"),
        ("m.md", b"a\x00b", "binary"),
        ("m.csv", "text\nM\u00fcller\n".encode("latin-1"), "not UTF-8"),
        ("m.json", b"neither", "no JSON"),
        ("m.json", b"[" * 100_000, "no JSON"),
        ("m.md", b"x" * (LARGEST_BYTES + 1), "larger than"),
    ],
)
def test_a_file_that_is_none_says_what_to_do(name: str, data: bytes, word: str) -> None:
    with pytest.raises(Unreadable, match=word):
        read(name, data)
