"""What models reply, however wrapped or broken: facts where they are whole, one word for the fault where not."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.distillers.hosted.replies import MOST_FACTS, Said, parse

FACT = {"type": "environment", "key": "db.port", "value": "5433", "text": "The database listens on 5433."}
WHOLE = json.dumps({"facts": [FACT]})


def values(text: str, stop: str = "end") -> list[object]:
    parsed = parse(text, stop)
    assert parsed.fault == ""
    return [fact.value for fact in parsed.facts]


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        f"\ufeff{WHOLE}\n",
        f"```json\n{WHOLE}\n```",
        f"```json\n{WHOLE}\n```\nI found one fact.",
        f"Here it is:\n\n```\n{WHOLE}\n```\n\nAnything else?",
        f"```JSON\n{WHOLE}",
        f"Sure! {WHOLE} I hope this helps {{really}}.",
        f"I left [] out of it. {WHOLE}",
        f"{WHOLE} I left [] out of it.",
        f'<think>{{"facts":[{{"type":"fix","key":"wrong","value":"draft"}}]}} hmm no</think>{WHOLE}',
        f"<thinking>first\n<b>x</b></thinking>\n```json\n{WHOLE}\n```",
        f"the opening tag stood in the prompt </think> {WHOLE}",
        json.dumps([FACT]),
        json.dumps(FACT),
        json.dumps({"facts": json.dumps([FACT])}),
        json.dumps({"facts": [json.dumps(FACT)]}),
        json.dumps({"memories": [FACT]}),
        json.dumps({"answer": {"facts": [FACT]}}),
        f'Draft: {{"facts": [{{"type":"fix","key":"a","value":"draft"}}]}}. Better: {WHOLE}',
    ],
)
def test_one_fact_is_read_out_of_any_wrapping(text: str) -> None:
    assert values(text) == ["5433"]


@pytest.mark.parametrize("text", ["[]", '{"facts": []}', "```json\n[]\n```", "<think>none</think>[]", "Nothing: []"])
def test_an_empty_list_means_nothing_to_remember(text: str) -> None:
    assert values(text) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "unusable"),
        ("   ", "unusable"),
        ("null", "unusable"),
        ("42", "unusable"),
        ("{}", "unusable"),
        ('{"facts": null}', "unusable"),
        ('{"facts": 3}', "unusable"),
        ("<observation>x</observation>", "unusable"),
        ('{"observation": "x"}', "unusable"),
        ("The session was about databases.", "unusable"),
        ("<think>endless thoughts about it", "unusable"),
        ("I cannot summarise this session because it contains credentials. Could you paste it again?", "refused"),
        ("I'm sorry, but I can’t help with that.", "refused"),
        ('{"facts":["Use Postgres port 5433","Tests need make seed first"]}', "wrong_types"),
        ('["Use Postgres port 5433"]', "wrong_types"),
        ('{"facts":[{"type":"fix"}]}', "wrong_types"),
        ('{"facts":[[1],[2]]}', "wrong_types"),
        ('{"facts":[null, 3, true]}', "wrong_types"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_word(text: str, fault: str) -> None:
    parsed = parse(text)
    assert (parsed.facts, parsed.fault) == ((), fault)


def test_one_bad_entry_does_not_take_the_good_ones_along() -> None:
    parsed = parse(json.dumps({"facts": ["a string", FACT, {"type": "fix"}, 7]}))
    assert ([fact.key for fact in parsed.facts], parsed.malformed, parsed.fault) == (["db.port"], 3, "")


CUT = '{"facts":[{"type":"fix","key":"a","value":"complete one"},{"type":"fix","key":"b","value":"half of a sen'


@pytest.mark.parametrize("stop", ["length", "end"])
def test_of_a_cut_reply_only_what_was_whole_is_a_fact(stop: str) -> None:
    parsed = parse(CUT, stop)
    assert ([fact.value for fact in parsed.facts], parsed.fault) == (["complete one"], "truncated")


def test_a_provider_that_closes_the_brackets_of_what_it_cut_makes_no_half_a_fact() -> None:
    parsed = parse(CUT + '"}]}', "length")
    assert ([fact.value for fact in parsed.facts], parsed.fault) == (["complete one"], "truncated")


@pytest.mark.parametrize("cut", range(1, len(WHOLE)))
def test_a_reply_cut_anywhere_never_gives_half_a_fact(cut: int) -> None:
    parsed = parse(WHOLE[:cut], "length")
    assert parsed.fault == "truncated"
    assert [fact.value for fact in parsed.facts] in ([], ["5433"])


def test_a_refusal_by_the_provider_is_a_refusal_whatever_was_written() -> None:
    assert parse(WHOLE, "refusal").fault == "refused"


def test_quotes_are_read_in_every_form() -> None:
    forms = [
        {"quotes": [{"observation": 4, "quote": "port 5433"}]},
        {"quotes": [{"observation": "[4]", "quote": "port 5433"}]},
        {"quote": "port 5433", "observation": 4},
        {"quotes": ["port 5433"], "observation": "4"},
    ]
    for form in forms:
        assert parse(json.dumps([FACT | form])).facts[0].quotes == ((4, "port 5433"),)
    assert parse(json.dumps([FACT | {"quote": "port 5433"}])).facts[0].quotes == ((None, "port 5433"),)
    for nothing in (
        {},
        {"quotes": None},
        {"quotes": [None, "", {"quote": 3}]},
        {"quote": ["  "]},
        {"quotes": {"a": 1}},
    ):
        assert parse(json.dumps([FACT | nothing])).facts[0].quotes == ()


def test_fields_of_wrong_types_are_taken_as_text_or_as_nothing() -> None:
    entry = {"type": 3, "key": ["x"], "value": 5433, "text": 1.5, "about": None, "due": {}, "state": True}
    said = parse(json.dumps({"facts": [entry]})).facts[0]
    assert said == Said(type="3", key="", value=5433, text="1.5")


def test_a_subject_that_is_named_means_the_customer() -> None:
    assert parse(json.dumps([FACT | {"entity": "cust_3"}])).facts[0].about == "customer"


def test_no_reply_floods_the_pile() -> None:
    parsed = parse(json.dumps([FACT] * 100))
    assert (len(parsed.facts), parsed.malformed) == (MOST_FACTS, 100 - MOST_FACTS)


def test_what_is_kept_of_a_piece_comes_back_as_it_was() -> None:
    said = parse(json.dumps([FACT | {"quote": "x", "observation": 2, "due": "2026-11-17"}])).facts[0]
    assert Said.from_json(json.loads(json.dumps(said.as_json()))) == said


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 50_000, '{"facts":[' + '{"text":' * 30_000, "{" * 200_000])
@pytest.mark.timeout(20)
def test_hostile_nesting_ends_soon(text: str) -> None:
    assert parse(text).facts == ()


@given(st.text(max_size=200), st.sampled_from(["end", "length", "refusal"]))
def test_nothing_a_model_writes_raises(text: str, stop: str) -> None:
    parsed = parse(text, stop)
    assert parsed.fault in ("", "unusable", "wrong_types", "truncated", "refused")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["facts", "type", "key", "value", "text", "quotes", "quote", "observation"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(JSON)
def test_no_json_raises_and_every_fact_says_something(value: object) -> None:
    for fact in parse(json.dumps({"facts": [value]})).facts:
        assert fact.text or fact.value not in (None, "")
