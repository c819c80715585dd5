"""The runner itself: it can fail, and it never takes what it does not know for a pass."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.cases.documented import CHOICES, LIMITS, says
from tests.cases.expect import faults
from tests.cases.expect.compare import COMPARISONS
from tests.cases.expect.registry import CHECKS, FIGURES, Look
from tests.cases.ops.registry import OPS
from tests.cases.playing import perform, verdict
from tests.cases.provider import with_quotes
from tests.cases.script import BrokenCase, Case, NestedArrays, UnknownGenerator, case_of, encode
from tests.cases.stage import Stage

KNOWN = {"op": "propose", "type": "user_preference", "key": "timezone", "value": "UTC"}
ASKED = {"op": "lookup", "key": "user_preference:timezone"}


def case(*steps: dict[str, Any], expected: dict[str, Any], **asked: Any) -> Case:
    raw = {"id": "T-1", "kind": "of_this_test", "input": {"steps": list(steps), **asked}, "expected": expected}
    return case_of(json.dumps(raw))


# Reading --------------------------------------------------------------------------------------------------------------


def test_generated_values_are_made_wherever_they_stand() -> None:
    steps = [
        {"op": "x", "a": {"$repeat": ["ab", 3]}, "b": [{"$repeat_unique_words": 2}]},
        {"op": "x", "c": {"$random_hex_chars": 40}, "d": {"$bytes": 17}, "e": {"$nested_arrays": 3}},
    ]
    first, second = case(*steps, expected={}).steps
    assert (first["a"], first["b"]) == ("ababab", ["word0 word1"])
    assert len(second["c"]) == 40
    assert set(second["c"]) <= set("0123456789abcdef")
    assert len(second["d"].encode()) == 17
    assert encode({"e": second["e"]}) == b'{"e": [[[]]]}'
    assert case(*steps, expected={}).steps == (first, second), "the same each time"


def test_arrays_too_deep_for_a_json_writer_and_half_characters_are_sent_as_they_are() -> None:
    assert encode(NestedArrays(100_000)) == b"[" * 100_000 + b"]" * 100_000
    assert encode("\udc88") == b'"\\udc88"'


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (
            '{"id": "T", "kind": "k", "input": {"steps": [{"op": "x", "a": {"$unheard": 1}}]}, "expected": {}}',
            "$unheard",
        ),
        ('{"id": "T", "kind": "k", "input": {"steps": [], "weather": "fine"}, "expected": {}}', "weather"),
        ('{"id": "T", "kind": "k", "input": {"steps": []}}', "expected"),
        ("{", "JSONDecodeError"),
    ],
)
def test_a_line_that_the_runner_cannot_read_stops_it(line: str, problem: str) -> None:
    with pytest.raises((BrokenCase, UnknownGenerator), match=problem.replace("$", r"\$")):
        case_of(line)


def test_whole_facts_of_a_reply_quote_their_value_and_cut_ones_stay_cut() -> None:
    reply = 'So: {"facts":[{"key":"a","value":"one"},{"key":"b","value":"two","quote":"2"},{"key":"c","value":"thr'
    said = with_quotes(reply)
    assert '{"key": "a", "value": "one", "quote": "one"}' in said
    assert '{"key":"b","value":"two","quote":"2"}' in said
    assert said.endswith('{"key":"c","value":"thr')


# Judging --------------------------------------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("step", "name"),
    [
        ({"op": "teleport"}, "op teleport"),
        ({**KNOWN, "colour": "blue"}, "op propose with colour"),
        ({"op": "parallel", "n": 2, "barrier": "at_the_moon", "do": KNOWN}, "barrier at_the_moon"),
        ({"op": "open_pages", "pages": ["cellar"]}, "page cellar"),
        ({"op": "set_embedder", "name": "fake", "returns": "poems"}, "embedder that returns poems"),
    ],
)
def test_what_nobody_mapped_is_not_built_by_its_name(
    monkeypatch: pytest.MonkeyPatch, step: dict[str, Any], name: str
) -> None:
    steps = [step] if step["op"] == "teleport" else [KNOWN, step]
    assert verdict(case(*steps, expected={"never_http": [500]}), monkeypatch) == ([], [name])


@pytest.mark.django_db
def test_a_setting_that_nobody_mapped_is_not_built(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = case(KNOWN, expected={"pending": 1}, settings={"MOON": "full"})
    assert verdict(asked, monkeypatch) == ([], ["setting MOON"])


EXPECTED: list[tuple[dict[str, Any], bool]] = [
    ({"lookup_0": ["UTC"]}, True),
    ({"lookup_0": ["GMT"]}, False),
    ({"lookup_0_keys": ["timezone"], "lookup_http": 200, "active_rows": 1}, True),
    ({"active_rows_at_most": 0}, False),
    ({"active_rows_at_least": 1, "active_rows_in": [1, 2], "pending": 0}, True),
    ({"any_of": [{"active_rows": 7}, {"active_value": "UTC"}]}, True),
    ({"any_of": [{"active_rows": 7}, {"active_value": "GMT"}]}, False),
    ({"any_of": [{"the_moon": "is full"}]}, False),
    ({"the_moon": "is full"}, False),
    ({"lookup_3": ["UTC"]}, False),
    ({"each": [{"http": 201}] * 4}, False),
    ({"each": [{"http": 201}, {"http": 302}, {"http": 200, "rows": 1}]}, True),
    ({"each": [{"http": 201}, {"http": 302}, {"http": 200, "rows": 2}]}, False),
    ({"search_0_contains": "UTC"}, False),
    ({"rule": "whatever we like"}, False),
    ({"active_rows": "the documented number"}, False),
    ({"note": "for the reader"}, True),
]


@pytest.mark.django_db
def test_an_expectation_holds_or_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    played = case(KNOWN, {"op": "approve_all"}, ASKED, expected={})
    stage = Stage(played, monkeypatch)
    perform(played, stage)
    for expected, holds in EXPECTED:
        found = faults(Look(stage, expected), expected)
        assert (not found) is holds, f"{expected}: {found}"
    stage.close()


@pytest.mark.django_db
def test_an_agent_that_is_none_has_no_key_and_one_that_is_named_elsewhere_has(monkeypatch: pytest.MonkeyPatch) -> None:
    asks = [{"op": "search", "agent": name, "query": "x"} for name in (None, "", "Support", "lab-7")]
    statuses = [{"http": 401}, {"http": 401}, {"http": 401}, {"http": 200}]
    assert verdict(case(*asks, expected={"each": statuses}), monkeypatch) == ([], [])


@pytest.mark.django_db
def test_what_has_ended_by_now_was_made_before_it_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = {**KNOWN, "expires_at": "2026-11-30T11:00:00Z"}
    expected = {"approved": 1, "visible": False, "all_paths_agree": True}
    played = case(ended, {"op": "approve_all"}, ASKED, expected=expected, now="2026-11-30T12:00:00Z")
    assert verdict(played, monkeypatch) == ([], [])


def test_every_choice_and_every_limit_stands_in_the_documents() -> None:
    choices = [*CHOICES.values(), *(choice for _, choice in LIMITS.values())]
    assert [choice for choice in choices if not says(choice)] == []


def test_every_op_and_every_expectation_stands_in_the_tables_once() -> None:
    names = [pattern.pattern for pattern, _ in [*FIGURES, *CHECKS]]
    assert len(names) == len(set(names))
    assert len(OPS) > 40
    assert not set(COMPARISONS) & set(names)
