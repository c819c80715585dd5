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
    "codex/function_calls.jsonl",
    "codex/rollout_real_lmstudio.jsonl",
    "codex/rollout_subagent_traex.jsonl",
    "codex/standard_session.jsonl",
    "hand_written/codex_all_line_types.jsonl",
]
NOTHING_BAD = {"bad_json_lines": 0, "non_object_lines": 0}
# No counts come with these: they were counted by hand, in the files. (raw, mapped, observations of each talk)
COUNTED: dict[str, tuple[dict[str, int], int, list[list[str]]]] = {
    "openai_chat/chat_tools_pair.json": (
        {"records": 2, "exchanges": 1, "role:user": 1, "role:assistant": 1, "content_string": 1, "content_missing": 1}
        | {"tool_calls": 1},
        2,
        [["message", "tool_call"]],
    ),
    "openai_chat/chat_tools_streaming_pair.json": (
        {"records": 2, "exchanges": 1, "role:user": 1, "role:assistant": 1, "content_string": 1, "content_missing": 1}
        | {"tool_calls": 1, "streamed": 1},
        2,
        [["message", "tool_call"]],
    ),
    # The same question at two times, years apart, answered with other calls: two talks.
    "openai_chat/parallel_tools_pair.json": (
        {"records": 4, "exchanges": 2, "role:user": 2, "role:assistant": 2, "content_string": 2, "content_missing": 2}
        | {"tool_calls": 4},
        4,
        [["message", "tool_call", "tool_call"]] * 2,
    ),
    "openai_chat/responses_api_tool_calls_pair.json": (
        {"records": 6, "exchanges": 2, "role:user": 2, "content_string": 2, "item:function_call": 4},
        6,
        [["message", "tool_call", "tool_call"]] * 2,
    ),
    "anthropic_messages/tools_history_pair.json": (
        {"records": 4, "exchanges": 1, "role:user": 2, "role:assistant": 2, "content_string": 1, "block:text": 1}
        | {"block:tool_use": 2, "block:tool_result": 1},
        4,
        [["message", "message", "tool_call", "tool_result", "tool_call"]],
    ),
    "anthropic_messages/tools_pair.json": (
        {"records": 2, "exchanges": 1, "role:user": 1, "role:assistant": 1, "content_string": 1, "block:text": 1}
        | {"block:tool_use": 2},
        2,
        [["message", "message", "tool_call", "tool_call"]],
    ),
    "anthropic_messages/tools_streaming_pair.json": (
        {"records": 2, "exchanges": 1, "role:user": 1, "role:assistant": 1, "content_string": 1, "block:text": 1}
        | {"block:tool_use": 2, "streamed": 1},
        2,
        [["message", "message", "tool_call", "tool_call"]],
    ),
}


@pytest.fixture
def inputs(shared: Path) -> Path:
    return shared / "inputs"


def test_every_expected_sample_is_in_the_list(inputs: Path) -> None:
    expected = json.loads((inputs / "EXPECTED_COUNTS.json").read_text())
    assert {name for name in expected if "claude_code" in name or "codex" in name} == set(SAMPLES)
    folders = ("openai_chat", "anthropic_messages")
    logs = {f"{folder}/{path.name}" for folder in folders for path in (inputs / folder).glob("*.json")}
    assert logs == set(COUNTED)


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


@pytest.mark.parametrize("sample", COUNTED)
def test_logs_hold_what_was_counted_in_them_by_hand(inputs: Path, sample: str) -> None:
    raw, mapped, talks = COUNTED[sample]
    outcome = read_file(inputs / sample)
    assert (outcome.format, outcome.error) == (sample.partition("/")[0], "")
    assert dict(outcome.raw) == raw | NOTHING_BAD
    assert (outcome.mapped, outcome.skipped) == (mapped, {})
    assert [[one.kind for one in session.observations] for session in outcome.sessions] == talks
    assert all(one.call_id for one in observations(outcome) if one.kind in ("tool_call", "tool_result"))


def test_streamed_answers_read_as_they_were_said(inputs: Path) -> None:
    chat = observations(read_file(inputs / "openai_chat/chat_tools_streaming_pair.json"))
    assert chat[1].text == 'get_current_weather {"location":"San Francisco"}'
    talk = observations(read_file(inputs / "anthropic_messages/tools_streaming_pair.json"))
    assert talk[1].text.endswith("Let me fetch that data for you.")
    assert [one.text for one in talk[2:]] == [
        'get_weather {"location":"San Francisco, CA","unit":"celsius"}',
        'get_time {"timezone":"America/Los_Angeles"}',
    ]


def test_a_real_rollout_has_one_request_and_39_calls_with_their_exit_codes(inputs: Path) -> None:
    outcome = read_file(inputs / "codex/rollout_real_lmstudio.jsonl")
    found = observations(outcome)
    assert len(user_words(outcome)) == 1
    assert [one.kind for one in found].count("tool_call") + [one.kind for one in found].count("edit") == 39
    codes = [one.exit_code for one in found if one.kind == "tool_result"]
    assert [codes.count(code) for code in (0, 2, 1, None)] == [34, 2, 1, 2]
    assert all(one.tool for one in found if one.kind == "tool_result")
    assert outcome.sessions[0].cwd.endswith("/chatbot-ui")
    assert outcome.sessions[0].git_remote == ""


def test_every_line_type_of_a_rollout_is_taken_for_what_it_is(inputs: Path) -> None:
    outcome = read_file(inputs / "hand_written/codex_all_line_types.jsonl")
    (session,) = outcome.sessions
    assert user_words(outcome) == ["Fix the nightly export"]
    assert (session.timezone, session.git_remote) == ("Europe/Berlin", "shop")
    assert [(one.kind, one.exit_code, one.text) for one in session.observations[2:6]] == [
        ("tool_call", None, "python export.py"),
        ("tool_result", 1, "UnicodeEncodeError: ascii codec\n"),
        ("tool_call", None, "PYTHONUTF8=1 python export.py"),
        ("tool_result", 0, "ok\n"),
    ]
    assert outcome.skipped["unknown_type:future_top_level"] == 1


def test_a_sub_agents_rollout_holds_no_human_word(inputs: Path) -> None:
    outcome = read_file(inputs / "codex/rollout_subagent_traex.jsonl")
    assert user_words(outcome) == []
    assert all(one.sidechain for one in observations(outcome))
    assert outcome.sessions[0].timezone == "Asia/Shanghai"


def test_real_dialogues_reuse_call_ids_and_lose_nothing(inputs: Path) -> None:
    trajectories = json.loads((inputs / "EXPECTED_COUNTS.json").read_text())["tau_bench/gpt-4o-airline_4of200.json"]
    outcome = read_file(inputs / "tau_bench/gpt-4o-airline_4of200.json")
    assert outcome.raw["records"] == outcome.mapped == sum(one["messages"] for one in trajectories)
    for session, expected in zip(outcome.sessions, trajectories, strict=True):
        calls = [one for one in session.observations if one.kind == "tool_call"]
        assert len(calls) == expected["tool_calls"]
        assert len({one.call_id for one in calls}) == expected["distinct_tool_call_ids"]
        assert len({one.id for one in session.observations}) == len(session.observations)
        results = [one for one in session.observations if one.kind == "tool_result"]
        assert [one.tool for one in results] == [one.tool for one in calls]
