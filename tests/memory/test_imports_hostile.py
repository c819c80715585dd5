"""Files of memories that somebody else made: each field of a record is hostile, and one bad line costs no other."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest

from memory import memories_in
from memory.existing import Unreadable, read
from memory.models import Evidence, Fact, Observation, Subject
from projects import tenancy
from tests.factories import Cast

pytestmark = pytest.mark.django_db
SECRET = "AKIA" + "IOSFODNN7EXAMPLE"
OWN = {"countersign": 1, "id": "f-000000", "type": "fix", "key": "fix:odd", "value": "odd", "text": "An odd memory."}
GOOD = {"text": "Postgres runs on 5434."}


def deep(levels: int) -> str:
    return "[" * levels + "]" * levels


def bring(cast: Cast, records: list[Any], now: datetime) -> memories_in.Brought:
    text = "\n".join(one if isinstance(one, str) else json.dumps(one) for one in records)
    return memories_in.bring_in(cast.project, read("m.jsonl", text.encode()), person=cast.rita, now=now)


def stored() -> str:
    """Everything that a line may have left behind."""
    rows: list[Any] = [list(Fact.objects.values_list("type", "key", "value", "text"))]
    rows += [list(Subject.objects.values_list("entity_type", "entity_id", "label"))]
    rows += [list(Evidence.objects.values_list("quote", "before", "after"))]
    rows += [list(Observation.objects.values_list("text", "payload"))]
    return repr(rows)


FIELDS = ("type", "key", "value", "text", "subject", "agents", "nature", "use", "expires_at", "id", "countersign")
HOSTILE = [
    "\x00",
    "\ud800",
    "a\u202eb",
    "\u200b",
    "x" * 5_000,
    "<script>alert(1)</script>",
    f"key {SECRET}",
    "a\nb",
    "=1+1",
    "'; DROP TABLE memory_fact; --",
    "../../etc/passwd",
    "note:evil:x",
    ":",
    " ",
    "",
    None,
    True,
    -1,
    10**400,
    1e308,
    [],
    {},
    [[]],
    {"a": {"b": "\x00"}},
    ["\x00"],
    [None],
    "9999-12-31T23:59:59-14:00",
    "0001-01-01T00:00:00+14:00",
]


def bring_each(cast: Cast, now: datetime, field: str, own: dict[str, Any]) -> None:
    """A file with every hostile value in that field, a good line behind each: the good ones are all there."""
    records = []
    for place, value in enumerate(HOSTILE):
        named = {"key": f"fix:odd{place}"} if "key" in own else {}
        records += [{**own, **named, "text": f"An odd memory, number {place}.", field: value}]
        records += [{"text": f"Postgres of case {place} runs on 5434."}]
    try:
        bring(cast, records, now)
    except Exception as problem:
        pytest.fail(f"{field}: {type(problem).__name__}: {problem!s:.200}")
    with tenancy.project(cast.project.pk):
        there = set(Fact.objects.values_list("text", flat=True))
        lost = [v for place, v in enumerate(HOSTILE) if f"Postgres of case {place} runs on 5434." not in there]
        assert not lost, (field, lost)
        assert SECRET.casefold() not in stored().casefold()
        assert all(fact.type.isprintable() and len(fact.type) <= 40 for fact in Fact.objects.all())


@pytest.mark.parametrize("field", FIELDS)
def test_no_field_of_an_export_can_break_an_import(cast: Cast, now: datetime, field: str) -> None:
    bring_each(cast, now, field, OWN)


@pytest.mark.parametrize("field", ["type", "key", "subject", "user_id", "expires_at", "text", "memory", "fact"])
def test_no_field_of_another_store_can_break_an_import(cast: Cast, now: datetime, field: str) -> None:
    bring_each(cast, now, field, {})


@pytest.mark.parametrize("levels", [60, 300, 900, 5_000, 100_000])
def test_a_value_without_a_bottom_costs_its_line(cast: Cast, now: datetime, levels: int) -> None:
    own = json.dumps(OWN).replace('"value": "odd"', f'"value": {deep(levels)}')
    brought = bring(cast, [own, GOOD], now)
    with tenancy.project(cast.project.pk):
        assert Fact.objects.filter(text=GOOD["text"]).exists()
    assert brought.outcomes.total() + brought.dropped.total() >= 1


@pytest.mark.parametrize("name", ["m.json", "m.jsonl", "m.md", "m.csv"])
def test_two_megabytes_of_brackets_say_what_is_wrong(cast: Cast, now: datetime, name: str) -> None:
    for data in (
        b"[" * 2_000_000,
        b'{"a":' * 400_000,
        b'"' * 2_000_000,
        b"- " * 1_000_000,
        b"a,b\n" + b'"' * 1_999_000,
    ):
        try:
            found = read(name, data)
        except Unreadable:
            continue
        assert len(found.lines) <= 1
