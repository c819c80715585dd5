"""The scoring rules of the gold files."""

from __future__ import annotations

from typing import Any

from memory.scoring import Proposed, pool, score_session

GOLD: dict[str, Any] = {
    "id": "G1",
    "session": [],
    "expected_facts": [
        {"type": "fix", "must_contain": ["pycairo", ["cairo2", "headers"]], "evidence_index": [2, 4]},
        {"type": "owning_file", "must_contain": ["ci/Dockerfile"], "evidence_index": [6], "optional": True},
    ],
    "must_not": ["Great"],
}


def proposed(text: str, *cited: int, kind: str = "fix", value: Any = "") -> Proposed:
    return Proposed(kind, f"{kind}:x", value, text, frozenset(cited))


def test_a_required_fact_needs_every_item_and_one_of_the_places() -> None:
    assert score_session(GOLD, [proposed("PyCairo needs the headers.", 4)]).found == 1
    assert score_session(GOLD, [proposed("PyCairo needs the headers.", 3)]).found == 0
    assert score_session(GOLD, [proposed("PyCairo is missing.", 4)]).found == 0


def test_the_value_is_searched_too() -> None:
    assert score_session(GOLD, [proposed("pycairo fails.", 2, value={"install": "libcairo2-dev"})]).found == 1


def test_what_matches_nothing_expected_is_junk_and_an_optional_fact_is_not() -> None:
    score = score_session(GOLD, [proposed("Hats are nice.", 4), proposed("ci/Dockerfile is it.", 6)])
    assert (score.junk, score.found, score.required) == (1, 0, 1)


def test_facts_above_the_limit_are_junk() -> None:
    none = {"id": "G2", "session": [], "expected_facts": [], "expected_count": 0}
    assert score_session(none, [proposed("a b c.", 1), proposed("d e f.", 1)]).junk == 2
    capped = {**GOLD, "max_facts": 1}
    matching = [proposed("pycairo needs the headers.", 2), proposed("pycairo needs libcairo2.", 4)]
    assert score_session(capped, matching).junk == 1


def test_a_banned_string_is_an_error_only_in_its_own_case() -> None:
    assert score_session(GOLD, [proposed("Great, pycairo.", 2)]).must_not_errors == ["Great"]
    assert score_session(GOLD, [proposed("great pycairo.", 2)]).must_not_errors == []


def test_the_type_is_a_figure_of_its_own() -> None:
    total = pool([score_session(GOLD, [proposed("pycairo needs the headers.", 2, kind="choice")])])
    assert total.recall == 1.0
    assert total.type_agreement == 0.0


def test_files_are_pooled() -> None:
    scores = [score_session(GOLD, []), score_session(GOLD, [proposed("pycairo needs the headers.", 2)])]
    total = pool(scores)
    assert (total.sessions, total.recall, total.junk_per_session) == (2, 0.5, 0.0)
