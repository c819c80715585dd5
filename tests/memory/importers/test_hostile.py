"""Whatever stands in a file, a reader answers: no exception, and books that balance."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory import privacy
from memory.importers import FORMATS, read_file, reading
from memory.transcript import KINDS, ROLES
from tests.memory.importers.lines import observations, read, result, user, user_words, write

SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["type", "text", "content", "id", "name", "input"]), inner)
    ),
    max_leaves=8,
)
BLOCK = st.fixed_dictionaries(
    {"type": st.sampled_from(["text", "tool_use", "tool_result", "image", "thinking"]) | VALUES},
    optional=dict.fromkeys(("text", "id", "name", "input", "content", "tool_use_id", "is_error", "source"), VALUES),
)
OTHER_FIELDS = [
    *("uuid", "sessionId", "timestamp", "cwd", "gitBranch", "isMeta", "isSidechain", "toolUseResult", "attachment"),
    *("summary", "leafUuid", "subtype", "error", "compactMetadata", "prRepository", "agentId"),
]
MESSAGE = st.fixed_dictionaries({"content": st.lists(BLOCK | VALUES, max_size=4) | VALUES}, optional={"usage": VALUES})
RECORD = st.fixed_dictionaries(
    {"type": st.sampled_from(["user", "assistant", "summary", "system", "attachment", "pr-link"]) | VALUES},
    optional={"message": VALUES | MESSAGE, **dict.fromkeys(OTHER_FIELDS, VALUES)},
)
QUICK = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)


ITEM_TYPES = [
    *("message", "function_call", "function_call_output", "custom_tool_call", "reasoning", "web_search_call"),
    *("user_message", "agent_message", "exec_command_end", "patch_apply_end", "mcp_tool_call_end", "token_count"),
    *("thread_rolled_back", "turn_aborted", "ghost_snapshot", "human", "ai", "HumanMessage", "constructor"),
]
ITEM_FIELDS = [
    *(
        "role",
        "content",
        "text",
        "message",
        "call_id",
        "tool_call_id",
        "name",
        "arguments",
        "input",
        "output",
        "tool_calls",
    ),
    *(
        "function_call",
        "args",
        "num_turns",
        "reason",
        "command",
        "changes",
        "invocation",
        "result",
        "exit_code",
        "info",
    ),
    *("id", "source", "timezone", "git", "forked_from_id", "subagent_history_start_ordinal", "kwargs", "lc", "data"),
    *(
        "status",
        "is_error",
        "refusal",
        "audio",
        "reasoning",
        "summary",
        "kind",
        "tool",
        "paths",
        "session",
        "ts",
        "cwd",
    ),
]
ROLE = st.sampled_from(["user", "assistant", "tool", "system", "developer"]) | VALUES
ITEM = st.fixed_dictionaries(
    {"type": st.sampled_from(ITEM_TYPES) | VALUES},
    optional={
        **dict.fromkeys(ITEM_FIELDS, VALUES),
        "role": ROLE,
        "content": st.lists(BLOCK | VALUES, max_size=3) | VALUES,
    },
)
LINE_TYPES = st.sampled_from(["session_meta", "response_item", "event_msg", "turn_context", "compacted"]) | VALUES
ROLLOUT = st.fixed_dictionaries(
    {"type": LINE_TYPES, "payload": ITEM | VALUES},
    optional={"timestamp": st.just("2026-11-04T08:00:00Z") | VALUES, "ordinal": VALUES},
)
BODY = st.fixed_dictionaries(
    {},
    optional={
        "messages": st.lists(ITEM | VALUES, max_size=4) | VALUES,
        **dict.fromkeys(("input", "output", "content"), st.lists(ITEM | VALUES, max_size=3) | VALUES),
        "choices": st.lists(
            st.fixed_dictionaries({}, optional={"message": ITEM, "delta": ITEM, "index": VALUES}), max_size=2
        ),
        **dict.fromkeys(
            ("system", "instructions", "previous_response_id", "usage", "error", "tools", "metadata"), VALUES
        ),
        **dict.fromkeys(("created", "session_id", "conversation", "prompt", "id"), VALUES),
    },
)
STREAM = st.lists(BODY | ITEM | VALUES, max_size=4).map(
    lambda events: "".join(f"data: {json.dumps(event)}\n\n" for event in events)
)
EXCHANGE = st.fixed_dictionaries(
    {"request": BODY | VALUES, "response": BODY | STREAM | VALUES | st.fixed_dictionaries({"body": BODY | STREAM})},
    optional={"uri": VALUES},
)

# Each example is read in every format.
FEWER = settings(QUICK, max_examples=35)


def checked(path: Path) -> None:
    for name in FORMATS:
        outcome = read_file(path, name)
        assert outcome.books()["balanced"]
        for session in outcome.sessions:
            ids = [one.id for one in session.observations]
            assert all(ids)
            assert len(ids) == len(set(ids))
            privacy.clean_id(session.external_id)
        for one in observations(outcome):
            assert one.kind in KINDS
            assert one.role in ROLES
            assert isinstance(one.text, str)
            assert one.occurred_at is None or one.occurred_at.tzinfo
    read_file(path)


@given(raw=st.binary(max_size=400))
@QUICK
def test_any_bytes_are_answered(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "any.jsonl"
    path.write_bytes(raw)
    checked(path)


@given(records=st.lists(RECORD | VALUES, max_size=6))
@QUICK
def test_any_records_are_answered(tmp_path: Path, records: list[Any]) -> None:
    checked(write(tmp_path / "any.jsonl", *records))


@given(records=st.lists(ROLLOUT | ITEM | VALUES, max_size=6))
@FEWER
def test_any_rollout_is_answered(tmp_path: Path, records: list[Any]) -> None:
    checked(write(tmp_path / "any.jsonl", *records))


@given(records=st.lists(EXCHANGE | BODY | st.lists(ITEM, max_size=3), max_size=4), pretty=st.booleans())
@FEWER
def test_any_log_is_answered(tmp_path: Path, records: list[Any], pretty: bool) -> None:
    path = write(tmp_path / "any.jsonl", *records)
    if pretty:
        path.write_text(json.dumps(records, indent=1)[:10_000])
    checked(path)


@pytest.mark.parametrize("name", FORMATS)
def test_nesting_without_end_is_told_in_every_format(tmp_path: Path, name: str) -> None:
    deep = b"[" * 100_000 + b"]" * 100_000
    path = write(
        tmp_path / "deep.jsonl", b'{"role":"user","content":' + deep + b"}", deep, {"role": "user", "content": "x"}
    )
    outcome = read_file(path, name)
    assert outcome.books()["balanced"]
    assert outcome.raw["bad_json_lines"] == 2
    assert outcome.errors[0] == "Line 1 is nested too deeply."


def test_nesting_without_end_is_one_bad_line(tmp_path: Path) -> None:
    deep = b'{"type":"user","message":{"content":' + b"[" * 100_000 + b"]" * 100_000 + b"}}"
    outcome = read(tmp_path, deep, user("after"))
    assert outcome.errors == ["Line 1 is nested too deeply."]
    assert user_words(outcome) == ["after"]


def test_nesting_that_parses_is_cut_off_in_the_payload(tmp_path: Path) -> None:
    deep: Any = "bottom"
    for _ in range(300):
        deep = {"in": [deep]}
    outcome = read(tmp_path, result("t", deep), user("x", extra=deep, type="user"))
    assert "[nested too deeply]" in json.dumps([one.payload for one in observations(outcome)])


def test_a_line_too_long_to_hold_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_LINE_BYTES", 2 * 1024 * 1024)
    outcome = read(tmp_path, user("x" * (5 * 1024 * 1024)), user("y" * (1024 * 1024)), user("after"))
    assert [len(said) for said in user_words(outcome)] == [1024 * 1024, 5]
    assert outcome.raw["bad_json_lines"] == 1
    assert outcome.errors == ["Line 1 is longer than 2 MB."]


def test_openings_without_an_end_cost_no_more_than_their_length(tmp_path: Path) -> None:
    many = "<system-reminder>" * 100_000
    outcome = read(tmp_path, user("ask " + many), user(many), result("t", many))
    assert len(observations(outcome)) == 3


def test_an_id_that_no_key_can_hold_is_hashed(tmp_path: Path) -> None:
    outcome = read(tmp_path, user("x", uuid="u" * 5000, sessionId="s\x00" * 3))
    (session,) = outcome.sessions
    assert session.external_id.startswith("hashed-")
    assert len(session.observations[0].id or "") < 100


def test_captured_text_in_a_type_is_not_repeated_in_the_books(tmp_path: Path) -> None:
    outcome = read(tmp_path, {"type": "<b>my secret</b>"}, user([{"type": "my secret"}]))
    assert outcome.skipped == {"unknown_type:other": 1, "block:other": 1}
