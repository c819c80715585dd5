"""Real and fixture transcripts of other projects, read from beside the checkout and never copied into it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memory.importers import read_file
from tests.memory.importers.lines import observations, user_words

SAMPLES = [
    "claude_code/ccusage_chat.jsonl",
    "claude_code/edge_cases.jsonl",
    "claude_code/queued_system_messages.jsonl",
    "claude_code/representative_messages.jsonl",
    "claude_code/session_b.jsonl",
    "claude_code/simonw_sample_session.jsonl",
    "claude_code/truncated.jsonl",
    "claude_code/viewer_agent_file.jsonl",
    "claude_code/viewer_init_session.jsonl",
    "claude_code/viewer_long_first180.jsonl",
    "claude_code/viewer_subagent_session.jsonl",
    "claude_code_variants/iflow_session_zh.jsonl",
    "hand_written/claude_code_all_line_types.jsonl",
]


@pytest.fixture
def inputs(shared: Path) -> Path:
    return shared / "inputs"


def test_every_expected_sample_is_in_the_list(inputs: Path) -> None:
    expected = json.loads((inputs / "EXPECTED_COUNTS.json").read_text())
    assert {name for name in expected if "claude_code" in name} == set(SAMPLES)


@pytest.mark.parametrize("sample", SAMPLES)
def test_counts_are_the_expected_ones_and_the_books_balance(inputs: Path, sample: str) -> None:
    expected = json.loads((inputs / "EXPECTED_COUNTS.json").read_text())[sample]
    outcome = read_file(inputs / sample)
    assert outcome.error == ""
    assert dict(outcome.raw) == expected
    assert outcome.books()["balanced"]
    assert outcome.raw["records"] == outcome.mapped + outcome.skipped.total()


def test_one_of_25_user_lines_of_a_real_session_is_the_humans(inputs: Path) -> None:
    outcome = read_file(inputs / "claude_code/viewer_subagent_session.jsonl")
    assert user_words(outcome) == ["@CLAUDE.md を最新の状態にアップデートしてください"]
    assert sum(one.sidechain for one in observations(outcome)) == 22


def test_every_line_type_is_taken_for_what_it_is(inputs: Path) -> None:
    outcome = read_file(inputs / "hand_written/claude_code_all_line_types.jsonl")
    found = observations(outcome)
    assert user_words(outcome) == ["Run the integration tests and make them pass."]
    assert [one.exit_code for one in found if one.kind == "tool_result"] == [2, None]
    assert [one.kind for one in found if "Postgres listens on 5433" in one.text] == ["summary"]
    assert [(one.kind, one.role) for one in found if one.sidechain] == [("meta", "system")]
    assert outcome.sessions[0].git_remote == "shop"


def test_gemini_shaped_results_are_read_as_text(inputs: Path) -> None:
    found = observations(read_file(inputs / "claude_code_variants/iflow_session_zh.jsonl"))
    results = [one for one in found if one.kind == "tool_result"]
    assert results[0].text.startswith("# Tauri + Yew")
    assert "system-reminder" not in results[0].text
    assert [one.tool for one in results] == ["read_file"] * 5 + ["replace"]
    assert [one.paths for one in found if one.kind == "edit"] == [("src-tauri/src/lib.rs",)]


def test_a_sub_agents_own_file_joins_its_parents_session(inputs: Path) -> None:
    parent = read_file(inputs / "claude_code/viewer_subagent_session.jsonl").sessions[0]
    agent = read_file(inputs / "claude_code/viewer_agent_file.jsonl").sessions[0]
    assert agent.external_id == parent.external_id
    assert all(one.sidechain for one in agent.observations)
