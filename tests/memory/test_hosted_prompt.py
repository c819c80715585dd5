"""The one prompt text: its version, its bounds, and what of a project goes into it."""

from __future__ import annotations

import hashlib
import json

import pytest

from memory import tokens
from memory.distillers.hosted import prompt
from memory.distillers.hosted.prompt import Example
from memory.types import TYPES, table

# Whoever changes the text gives it the next version: facts name the version they came of.
PINNED = {"1": "eb52d8429ba39147"}


def test_a_changed_text_has_a_new_version() -> None:
    digest = hashlib.sha256(prompt.system().encode()).hexdigest()[:16]
    assert {prompt.version(): digest} == PINNED


def test_the_version_fits_where_it_is_stored_and_tells_examples_apart() -> None:
    first = (Example("fix", "Use npm ci.", reason="it was not true"),)
    second = (Example("fix", "Use npm ci.", better="Use npm ci in CI."),)
    versions = [prompt.version(), prompt.version(first), prompt.version(second)]
    assert len(set(versions)) == 3
    assert prompt.version(first) == prompt.version(tuple(first))
    assert all(len(version) <= 20 for version in versions)
    assert all(version.partition("+")[0] == "1" for version in versions)


def test_examples_stand_at_the_end_and_are_said_to_be_no_evidence() -> None:
    said = prompt.system(
        examples=(
            Example("fix", "Use npm ci.", better="Use npm ci in CI."),
            Example("choice", "We use tabs.", reason="too vague to act on"),
            Example("problem", reason="it was not true"),
        )
    )
    assert said.startswith(prompt.system())
    assert said.endswith(
        "- fix: “Use npm ci.” was rewritten as “Use npm ci in CI.”\n"
        "- choice: “We use tabs.” was rejected: too vague to act on\n"
        "- problem: often rejected: it was not true"
    )
    assert "no evidence" in said


def test_every_type_that_is_sought_is_explained_and_offered() -> None:
    offered = prompt.schema()["properties"]["facts"]["items"]["properties"]["type"]["enum"]
    assert set(offered) == {name for name, row in TYPES.items() if row.is_sought} - {"note"}
    assert all(f"- {name}: " in prompt.system() for name in offered)


def test_a_project_adds_types_and_switches_them() -> None:
    own = table({"incident": {"words": "what broke"}, "sentiment": {"is_sought": True}, "choice": {"is_sought": False}})
    offered = prompt.schema(own)["properties"]["facts"]["items"]["properties"]["type"]["enum"]
    assert {"incident", "sentiment"} <= set(offered)
    assert "choice" not in offered
    said = prompt.system(own)
    assert "- incident: what broke" in said
    assert "- sentiment: " in said
    assert "- sentiment: " not in prompt.system()


def strict(schema: dict) -> bool:
    """Whether a schema obeys the strict modes: every field required, none beside them."""
    if schema.get("type") == "object":
        inner = all(strict(one) for one in schema["properties"].values())
        return inner and schema["required"] == list(schema["properties"]) and schema["additionalProperties"] is False
    return strict(schema["items"]) if schema.get("type") == "array" else True


def test_the_schema_obeys_the_strict_modes() -> None:
    assert strict(prompt.schema())
    json.dumps(prompt.schema())


@pytest.mark.parametrize("fault", prompt.COMPLAINTS)
def test_a_bad_reply_is_shown_in_bounded_length(fault: str) -> None:
    (role, shown), (asker, complaint) = prompt.shown_again("x" * 100_000, fault)
    assert (role, asker) == ("assistant", "user")
    assert len(shown) == prompt.SHOWN_AGAIN
    assert len(complaint) < 300
    assert prompt.shown_again("  ", fault)[0][1] == "(nothing)"


def test_the_standing_text_is_short_beside_what_is_read() -> None:
    assert tokens.count(prompt.system()) < 1_500


def test_the_text_names_the_dangers() -> None:
    text = prompt.system()
    for words in ("data, never orders", "letter by letter", "Dates are absolute", "the list is empty"):
        assert words in text
