"""JSON from outside, made fit for jsonb."""

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memory.privacy import clean_json

GITHUB = "ghp_" + "A1b2C3d4E5" * 4


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        (None, None),
        (True, True),
        (7, 7),
        (10**60, 10**60),
        (1.5, 1.5),
        ("text", "text"),
        ([1, "a", {"b": [None]}], [1, "a", {"b": [None]}]),
        (math.nan, None),
        ([math.inf, -math.inf], [None, None]),
        ("nul \x00", "nul "),
        ("half \ud800", "half \ufffd"),
        ({"k\x00ey": {"in\udc88ner": "v\x00"}}, {"key": {"in\ufffdner": "v"}}),
        ((1, 2), [1, 2]),
        ({1: "a", None: "b"}, {"1": "a", "None": "b"}),
        (b"raw", "[not JSON: bytes]"),
        (
            {"token_count": 4096, "next_token": "abc123def456ghi7"},
            {"token_count": 4096, "next_token": "abc123def456ghi7"},
        ),
    ],
)
def test_a_value_becomes_what_jsonb_takes(value: Any, stored: Any) -> None:
    assert clean_json(value).value == stored


def test_nothing_changed_is_said_so() -> None:
    assert not clean_json({"a": [1, "b"]}).changed
    assert clean_json({"a\x00": 1}).changed
    assert clean_json([math.nan]).changed


def test_secrets_go_from_strings_keys_and_fields_that_name_them() -> None:
    cleaned = clean_json(
        {
            "command": f"curl -H 'Authorization: Bearer {GITHUB}'",
            GITHUB: 1,
            "password": "Sommer2026!",
            "headers": {"X-Api-Key": "k3Jd8f0a2LmQ9xZ7"},
            "schema": {"password": "string"},
        }
    )
    assert "A1b2C3" not in json.dumps(cleaned.value)
    assert cleaned.value == {
        "command": "curl -H 'Authorization: Bearer [secret: github-token]'",
        "[secret: github-token]": 1,
        "password": "[secret: secret-field]",
        "headers": {"X-Api-Key": "[secret: secret-field]"},
        "schema": {"password": "string"},
    }
    assert sorted(cleaned.rules) == ["github-token", "github-token", "secret-field", "secret-field"]


def test_keys_that_become_the_same_are_both_kept() -> None:
    cleaned = clean_json({"a": 1, "a\x00": 2, "a\x01": 3, "a (2)": 4})
    assert cleaned.value == {"a": 1, "a (2)": 2, "a (3)": 3, "a (2) (2)": 4}


def test_deep_nesting_ends_in_a_note_and_not_in_a_full_stack() -> None:
    deep: Any = "bottom"
    for _ in range(100_000):
        deep = [deep]
    cleaned = clean_json(deep)
    assert "[cut: deeper than 64 levels]" in json.dumps(cleaned.value)
    deep_object: Any = 1
    for _ in range(5_000):
        deep_object = {"k": deep_object}
    assert "[cut: deeper than 64 levels]" in json.dumps(clean_json(deep_object).value)


def test_many_values_and_much_text_end_in_a_note() -> None:
    many = clean_json(list(range(50_000))).value
    assert len(many) <= 20_001
    assert many[-1] == "[cut: 30,001 more values]"
    fields = clean_json({str(number): number for number in range(50_000)}).value
    assert fields["[cut]"].endswith("more fields")
    texts = clean_json(["word " * 3_000] * 100).value
    assert texts[-1] == "[cut: 15,000 characters]"
    assert sum(map(len, texts)) < 500_000


def test_one_long_string_keeps_head_and_tail() -> None:
    stored = clean_json({"stdout": "HEAD " + "word " * 20_000 + "TAIL"}).value["stdout"]
    assert len(stored) <= 16_000
    assert stored.startswith("HEAD")
    assert stored.endswith("TAIL")


@pytest.mark.parametrize(
    ("value", "stored"),
    [
        ("data:image/png;base64," + "A" * 400, "[image: 300 bytes]"),
        ("iVBORw0KGgo" + "A" * 1_989, "[image: 1500 bytes]"),
        ("QUJD" * 500, "[base64: 1500 bytes]"),
    ],
)
def test_a_picture_becomes_its_size(value: str, stored: str) -> None:
    assert clean_json({"source": value}).value == {"source": stored}


def test_a_number_too_long_to_write_becomes_a_note() -> None:
    stored = clean_json(10**9_000).value
    assert stored == f"[number of {(10**9_000).bit_length():,} bits]"


def test_cleaning_twice_changes_nothing() -> None:
    once = clean_json({"a\x00": [math.nan, GITHUB, {"password": "Sommer2026!"}], "a": "x" * 20_000})
    twice = clean_json(once.value)
    assert twice.value == once.value
    assert not twice.changed


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec=None, exclude_categories=()), max_size=40),
    lambda inner: (
        st.lists(inner, max_size=5)
        | st.dictionaries(st.text(st.characters(codec=None, exclude_categories=()), max_size=8), inner, max_size=5)
    ),
    max_leaves=20,
)


@example({"\\u0000": None})
@example({"\0": ["\0"]})
@given(values)
def test_whatever_comes_in_is_strict_json_afterwards(value: Any) -> None:
    written = json.dumps(clean_json(value).value, allow_nan=False, ensure_ascii=False)
    written.encode("utf-8")
    # Read back: somebody may well have typed a backslash, a u and four zeros.
    assert all("\0" not in found for found in _strings(json.loads(written)))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (found for pair in value.items() for part in pair for found in _strings(part))
    elif isinstance(value, list):
        yield from (found for part in value for found in _strings(part))
