"""The local reader against sessions with written-down expectations."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory.distillers.local import LocalDistiller
from memory.grounding import Grounded, ground
from memory.scoring import Proposed, SessionScore, pool, score_session, seen_from_gold

CASES = Path(__file__).parents[1] / "cases" / "distill_gold.jsonl"
MORE = Path(__file__).parents[1] / "cases" / "distill_gold_more.jsonl"
REAL = Path(__file__).parents[3] / "shared" / "cases" / "distill_gold_real.jsonl"
NOW = datetime(2026, 11, 30, tzinfo=UTC)


def sessions(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]


def scored(gold: dict[str, Any]) -> SessionScore:
    seen = seen_from_gold(gold)
    candidates = LocalDistiller().read(seen, timezone=gold.get("timezone", "UTC"), now=NOW)
    by_ref = {one.ref: one for one in seen}
    assert all(isinstance(ground(candidate, by_ref), Grounded) for candidate in candidates)
    return score_session(gold, [Proposed.from_candidate(candidate) for candidate in candidates])


def check(scores: list[SessionScore]) -> None:
    total = pool(scores)
    assert total.must_not_errors == 0
    assert total.lint_faults == 0
    assert total.junk_per_session <= 0.5
    assert total.recall >= 0.75, [score.missed for score in scores if score.missed]


def test_the_hand_written_sessions_meet_the_bar() -> None:
    check([scored(gold) for gold in sessions(CASES)])


def test_the_sessions_written_later_meet_the_bar() -> None:
    check([scored(gold) for gold in sessions(MORE)])


def test_nothing_is_proposed_where_nothing_was_learned() -> None:
    empty = [gold for gold in sessions(CASES) + sessions(MORE) if gold.get("expected_count") == 0]
    assert empty
    assert all(scored(gold).junk == 0 for gold in empty)


def test_the_sessions_from_public_transcripts_meet_the_bar() -> None:
    if not REAL.exists():
        pytest.skip(
            "../shared/cases/distill_gold_real.jsonl is not here: the sessions from public transcripts were not scored"
        )
    check([scored(gold) for gold in sessions(REAL)])
