"""Codex rollouts: what each line becomes, what says the same twice, and what is taken back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memory.importers import read_file
from memory.transcript import Incoming, ReadResult
from tests.memory.importers.lines import observations, user_words, write
from tests.memory.importers.rollouts import THREAD, asked, at, call, event, item, meta, output, read, row, told

ENVIRONMENT = "<environment_context>\n  <cwd>/srv/orders</cwd>\n</environment_context>"


def said(outcome: ReadResult) -> list[tuple[str, str, str]]:
    return [(one.kind, one.role, one.text) for one in observations(outcome)]


def only(outcome: ReadResult) -> Incoming:
    (one,) = observations(outcome)
    return one


def test_a_session_has_its_id_folder_zone_branch_and_tokens(tmp_path: Path) -> None:
    git = {"branch": "main", "repository_url": "https://git.example/acme/orders-api.git"}
    usage = {"input_tokens": 900, "cached_input_tokens": 600, "output_tokens": 40}
    outcome = read(
        tmp_path,
        meta(git=git),
        row(1, "turn_context", {"cwd": "/srv/orders", "timezone": "Europe/Berlin"}),
        asked(2, "Run the export."),
        event(3, "token_count", info=None),
        event(3, "token_count", info={"total_token_usage": {"input_tokens": 10, "output_tokens": 1}}),
        event(4, "token_count", info={"total_token_usage": usage}),
    )
    (session,) = outcome.sessions
    assert (session.external_id, session.cwd, session.branch) == (THREAD, "/srv/orders", "main")
    assert (session.timezone, session.git_remote) == ("Europe/Berlin", "acme/orders-api")
    assert session.usage == {"input_tokens": 300, "cache_read_input_tokens": 600, "output_tokens": 40}
    assert outcome.skipped == {"type:session_meta": 1, "type:turn_context": 1, "type:event_msg/token_count": 3}


@pytest.mark.parametrize(
    ("url", "remote"),
    [
        ("git@git.example:acme/orders-api.git", "acme/orders-api"),
        ("https://olga:hunter2-not-real@git.example/acme/orders-api", "acme/orders-api"),
        ("ssh://git@git.example:22/orders-api.git", "orders-api"),
        # The folder has the same name: every door calls it so.
        ("git@git.example:acme/orders.git", ""),
        (None, ""),
        ("nonsense", ""),
    ],
)
def test_a_remote_is_owner_and_name_without_host_and_password(tmp_path: Path, url: Any, remote: str) -> None:
    (session,) = read(tmp_path, meta(git={"repository_url": url}), asked(1, "x")).sessions
    assert session.git_remote == remote


def test_a_zone_that_is_none_is_left_out(tmp_path: Path) -> None:
    (session,) = read(tmp_path, meta(), row(1, "turn_context", {"timezone": "Mars/Olympus"}), asked(2, "x")).sessions
    assert session.timezone == ""


def test_the_same_words_as_item_and_as_event_are_one_observation(tmp_path: Path) -> None:
    outcome = read(
        tmp_path,
        meta(),
        asked(1, "Fix the export."),
        event(1, "user_message", message="Fix the export.", images=[]),
        event(5, "agent_message", message="Done."),
        told(6, "Done."),
    )
    assert said(outcome) == [("message", "user", "Fix the export."), ("message", "assistant", "Done.")]
    assert outcome.skipped["repeated_text"] == 2


def test_the_same_word_said_twice_is_two_whichever_lines_say_it(tmp_path: Path) -> None:
    both = [asked(1, "yes"), event(1, "user_message", message="yes")]
    again = [asked(60, "yes"), event(60, "user_message", message="yes")]
    assert len(observations(read(tmp_path, meta(), *both, told(2, "More?"), *again))) == 3
    assert user_words(read(tmp_path, meta(), asked(1, "yes"), asked(60, "yes"))) == ["yes", "yes"]
    events = [event(1, "user_message", message="yes"), event(2, "user_message", message="yes")]
    assert user_words(read(tmp_path, meta(), *events)) == ["yes", "yes"]
    # So far apart they are no twins.
    assert user_words(read(tmp_path, meta(), asked(1, "yes"), event(600, "user_message", message="yes"))) == [
        "yes",
        "yes",
    ]


@pytest.mark.parametrize(
    "text",
    [
        ENVIRONMENT,
        "<user_instructions>\nUse tabs.\n</user_instructions>",
        "# AGENTS.md instructions for /srv/orders\n\n<INSTRUCTIONS>\nUse tabs.\n</INSTRUCTIONS>",
        "<turn_aborted>\nThe user interrupted.\n</turn_aborted>",
        "<user_shell_command>\n<command>ls</command>\n</user_shell_command>",
    ],
)
def test_what_the_harness_says_in_the_users_name_is_meta(tmp_path: Path, text: str) -> None:
    outcome = read(tmp_path, meta(), asked(1, text))
    assert (only(outcome).kind, only(outcome).role) == ("meta", "system")


def test_the_request_below_an_editors_context_is_the_humans(tmp_path: Path) -> None:
    wrapped = (
        "# Context from my IDE setup:\n\n## Active file: src/pay.py\n\n## My request for Codex:\nRetry the charge.\n"
    )
    outcome = read(tmp_path, meta(), asked(1, wrapped), event(1, "user_message", message=wrapped))
    assert user_words(outcome) == ["Retry the charge."]


def test_instructions_and_thoughts_are_no_words_of_anybody(tmp_path: Path) -> None:
    outcome = read(
        tmp_path,
        meta(),
        item(1, "message", role="developer", content=[{"type": "input_text", "text": "Always ask first."}]),
        item(2, "reasoning", summary=[{"type": "summary_text", "text": "Perhaps the port."}], encrypted_content="x"),
        event(2, "agent_reasoning", text="Perhaps the port."),
    )
    assert said(outcome) == [("meta", "system", "Always ask first.")]
    assert outcome.skipped["thinking"] == 2


def test_a_picture_leaves_a_mark_and_no_bytes(tmp_path: Path) -> None:
    content = [
        {"type": "input_text", "text": "What is wrong here?"},
        {"type": "input_text", "text": "<image name=[Image #1]>"},
        {"type": "input_image", "image_url": "data:image/png;base64," + "QUJD" * 200},
        {"type": "input_text", "text": "</image>"},
    ]
    outcome = read(
        tmp_path,
        meta(),
        item(1, "message", role="user", content=content),
        event(1, "user_message", message="What is wrong here?", images=["data:image/png;base64," + "QUJD" * 200]),
    )
    assert only(outcome).text == "What is wrong here?\n[image]"
    assert "QUJDQUJD" not in str(only(outcome).payload)


def test_a_shells_call_is_the_line_it_ran_and_its_answer_has_the_exit_code(tmp_path: Path) -> None:
    outcome = read(
        tmp_path,
        meta(),
        call(1, "c1", "shell", command=["bash", "-lc", "make test"], workdir="/srv/orders"),
        output(2, "c1", "2 failed\n", exit_code=2),
        call(3, "c2", "exec_command", cmd="ls"),
        output(4, "c2", "Makefile\n"),
        call(5, "c3", "shell_command", command="make deploy"),
        output(6, "c3", "Exit code: 0\nWall time: 1.2 seconds\nOutput:\nshipped\n"),
        call(7, "c4", "exec_command", cmd="make lint"),
        output(8, "c4", "Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 1\nOutput:\nbad\n"),
    )
    found = observations(outcome)
    assert [one.text for one in found if one.kind == "tool_call"] == ["make test", "ls", "make deploy", "make lint"]
    answers = [(one.tool, one.exit_code, one.text) for one in found if one.kind == "tool_result"]
    assert answers == [
        ("shell", 2, "2 failed\n"),
        ("exec_command", None, "Makefile\n"),
        ("shell_command", 0, "shipped\n"),
        ("exec_command", 1, "bad\n"),
    ]
    assert outcome.raw["exit:2"] == 1
    assert outcome.raw["exit:none"] == 3


def test_another_tools_json_is_left_as_it_is(tmp_path: Path) -> None:
    text = '{"output":"warm","city":"Rome"}'
    outcome = read(tmp_path, meta(), call(1, "c1", "weather", city="Rome"), output(2, "c1", text))
    assert observations(outcome)[1].text == text


def test_a_patch_is_an_edit_of_its_files(tmp_path: Path) -> None:
    patch = (
        "*** Begin Patch\n*** Update File: src/pay.py\n@@\n-a\n+b\n"
        "*** Add File: /srv/orders/docs/x.md\n+hi\n*** End Patch"
    )
    outcome = read(
        tmp_path,
        meta(),
        item(1, "custom_tool_call", name="apply_patch", call_id="c1", input=patch),
        item(2, "custom_tool_call_output", call_id="c1", output='{"output":"Success","metadata":{"exit_code":0}}'),
        call(3, "c2", "shell", command=["bash", "-lc", f"apply_patch <<'EOF'\n{patch}\nEOF"]),
    )
    edit, answer, through_shell = observations(outcome)
    assert (edit.kind, edit.paths) == ("edit", ("src/pay.py", "docs/x.md"))
    assert edit.text.startswith("apply_patch\n*** Begin Patch")
    assert (answer.exit_code, answer.paths, answer.text) == (0, edit.paths, "Success")
    assert (through_shell.kind, through_shell.paths) == ("edit", edit.paths)
    # Only function_call_output counts.
    assert not [name for name in outcome.raw if name.startswith("exit:")]


def test_an_answer_told_as_event_too_is_one_whichever_comes_first(tmp_path: Path) -> None:
    ended = event(2, "exec_command_end", call_id="c1", command=["ls"], aggregated_output="a\n", exit_code=3)
    start, answer = call(1, "c1", "shell", command=["ls"]), output(3, "c1", "a\n", exit_code=3)
    for lines in ([start, ended, answer], [start, answer, ended]):
        outcome = read(tmp_path, meta(), *lines)
        assert [(one.kind, one.exit_code) for one in observations(outcome)] == [("tool_call", None), ("tool_result", 3)]
        assert outcome.skipped["repeated_answer"] == 1
    first, second = (observations(read(tmp_path, meta(), start, *some)) for some in ([ended], [answer]))
    assert [one.id for one in first] == [one.id for one in second]


def test_a_command_that_only_an_event_tells_is_call_and_answer(tmp_path: Path) -> None:
    outcome = read(
        tmp_path,
        meta(),
        event(1, "exec_command_begin", call_id="c1", command=["bash", "-lc", "make test"]),
        event(2, "exec_command_end", call_id="c1", command=["bash", "-lc", "make test"], stdout="ok", exit_code=0),
        event(
            3, "patch_apply_end", call_id="c2", success=False, stderr="no such file", changes={"a.py": {"type": "add"}}
        ),
        event(
            4,
            "mcp_tool_call_end",
            call_id="c3",
            invocation={"server": "jira", "tool": "find", "arguments": {"q": 1}},
            result={"Ok": {"content": [{"type": "text", "text": "2 found"}], "isError": False}},
        ),
    )
    assert [(one.kind, one.tool, one.text) for one in observations(outcome)] == [
        ("tool_call", "exec_command", "make test"),
        ("tool_result", "exec_command", "ok"),
        ("edit", "apply_patch", "apply_patch\n*** Begin Patch\n*** Add File: a.py\n*** End Patch"),
        ("tool_result", "apply_patch", "no such file"),
        ("tool_call", "mcp__jira__find", 'mcp__jira__find {"q":1}'),
        ("tool_result", "mcp__jira__find", "2 found"),
    ]
    assert [one.exit_code for one in observations(outcome)][1] == 0
    assert [one.is_error for one in observations(outcome)] == [False, False, False, True, False, False]


def test_a_call_id_used_twice_pairs_with_the_nearest_call(tmp_path: Path) -> None:
    outcome = read(
        tmp_path,
        meta(),
        call(1, "c1", "add", x=1),
        output(2, "c1", "one"),
        call(3, "c1", "subtract", x=2),
        output(4, "c1", "two"),
    )
    found = observations(outcome)
    assert [(one.tool, one.text) for one in found if one.kind == "tool_result"] == [("add", "one"), ("subtract", "two")]
    assert len({one.id for one in found}) == 4


def test_withdrawn_turns_are_left_out_with_all_that_came_of_them(tmp_path: Path) -> None:
    outcome = read(
        tmp_path,
        meta(),
        asked(1, ENVIRONMENT),
        asked(2, "Use port 5433."),
        event(2, "user_message", message="Use port 5433."),
        told(3, "Noted."),
        asked(4, "Drop the table."),
        event(4, "user_message", message="Drop the table."),
        call(5, "c1", "shell", command=["psql"]),
        output(6, "c1", "dropped", exit_code=0),
        asked(7, "And the index."),
        event(8, "thread_rolled_back", num_turns=2),
        asked(9, "Drop the table."),
    )
    assert [text for kind, _, text in said(outcome) if kind == "message"] == [
        "Use port 5433.",
        "Noted.",
        "Drop the table.",
    ]
    assert outcome.skipped["rolled_back"] == 4
    assert [one.occurred_at for one in observations(outcome)][-1].isoformat().startswith("2026-11-04T08:00:09")  # type: ignore[union-attr]
    everything = read(tmp_path, meta(), asked(1, "a"), told(2, "b"), event(3, "thread_rolled_back", num_turns=99))
    assert everything.sessions == []
    assert everything.error == ""


@pytest.mark.parametrize("number", [None, -3, True, "2", 0])
def test_a_withdrawal_of_no_number_withdraws_nothing(tmp_path: Path, number: Any) -> None:
    assert (
        len(observations(read(tmp_path, meta(), asked(1, "a"), event(2, "thread_rolled_back", num_turns=number)))) == 1
    )


def test_a_compaction_is_a_summary_and_an_abort_a_marker(tmp_path: Path) -> None:
    recap = "Another language model started to solve this problem and produced a summary of its thinking. Port 5433."
    outcome = read(
        tmp_path,
        meta(),
        row(1, "compacted", {"message": "Port 5433 is used.", "replacement_history": [{"type": "message"}]}),
        event(1, "context_compacted"),
        row(2, "compacted", {"message": ""}),
        asked(3, recap),
        event(4, "turn_aborted", turn_id="t", reason="interrupted"),
        event(5, "turn_aborted", reason="a reason of my own making"),
    )
    assert said(outcome) == [
        ("summary", "system", "Port 5433 is used."),
        ("meta", "system", "The conversation was compacted."),
        ("summary", "system", recap),
        ("meta", "system", "The turn was aborted: interrupted."),
        ("meta", "system", "The turn was aborted: other."),
    ]


def test_our_own_brief_is_no_evidence(tmp_path: Path) -> None:
    brief = (
        "# What is known · project shop · for agent codex\nCountersigned by people.\n\n"
        "## Standing\n- [f-2k81hd] Use 5433."
    )
    outcome = read(tmp_path, meta(), call(1, "c1", "shell", command=["curl", "x"]), output(2, "c1", brief))
    assert [one.kind for one in observations(outcome)] == ["tool_call", "brief"]


SUBAGENT = {"subagent": {"thread_spawn": {"parent_thread_id": THREAD, "depth": 1}}}


def test_a_sub_agents_lines_are_marked_and_its_task_is_no_human_word(tmp_path: Path) -> None:
    task = [asked(1, "Explore the parser."), event(1, "user_message", message="Explore the parser.")]
    outcome = read(tmp_path, meta(id="child", source=SUBAGENT), *task, told(2, "Found it."))
    assert said(outcome) == [("meta", "system", "Explore the parser."), ("message", "assistant", "Found it.")]
    assert all(one.sidechain for one in observations(outcome))
    assert outcome.sessions[0].external_id == "child"


def test_the_head_a_sub_agent_copied_from_its_parent_is_left_out(tmp_path: Path) -> None:
    outcome = read(
        tmp_path,
        {**meta(id="child", source=SUBAGENT, subagent_history_start_ordinal=3), "ordinal": 0},
        {**meta(), "ordinal": 1},
        {**asked(1, "The human's request."), "ordinal": 2},
        {**asked(1, "Look into the parser."), "ordinal": 3},
        {**told(2, "It is in parser.py."), "ordinal": 4},
    )
    assert [text for _, _, text in said(outcome)] == ["Look into the parser.", "It is in parser.py."]
    assert outcome.skipped["copied_history"] == 2
    assert outcome.raw["session_meta"] == 2


def test_what_a_fork_wrote_when_it_began_is_its_parents(tmp_path: Path) -> None:
    outcome = read(
        tmp_path,
        meta(60, id="fork", forked_from_id=THREAD),
        {**meta(60), "timestamp": at(60)},
        {**asked(60, "Written anew in the same moment.")},
        {**asked(3, "With the time it had.")},
        asked(90, "The fork's own request."),
    )
    assert user_words(outcome) == ["The fork's own request."]
    assert outcome.sessions[0].external_id == "fork"
    assert outcome.skipped["copied_history"] == 3


def test_an_unknown_type_is_counted_and_stops_nothing(tmp_path: Path) -> None:
    outcome = read(
        tmp_path,
        meta(),
        row(1, "future_top_level", {"anything": 1}),
        event(1, "future_event"),
        item(1, "future_item"),
        event(1, "<b>my secret</b>"),
        {"timestamp": at(2), "type": "response_item", "payload": "text"},
        asked(3, "x"),
        b'{"timestamp":"2026-11-04T08:00:04.000Z","type":"event_msg","payl',
        b'["a list"]',
        asked(5, "y"),
    )
    assert user_words(outcome) == ["x", "y"]
    assert outcome.skipped == {
        "type:session_meta": 1,
        "unknown_type:future_top_level": 1,
        "unknown_type:event_msg/future_event": 1,
        "unknown_type:response_item/future_item": 1,
        "unknown_type:event_msg/other": 1,
        "unknown_type:response_item": 1,
    }
    assert outcome.errors == ["Line 8 is cut or is no JSON.", "Line 9 is no JSON object."]
    assert outcome.faults == [(7, "bad_line"), (8, "not_an_object")]
    assert (outcome.raw["bad_json_lines"], outcome.raw["non_object_lines"]) == (1, 1)


def test_a_file_without_its_head_is_named_by_its_file_or_its_first_line(tmp_path: Path) -> None:
    name = f"rollout-2026-11-04T09-00-00-{THREAD}.jsonl"
    assert read(tmp_path, asked(1, "x"), name=name).sessions[0].external_id == THREAD
    shorter = read(tmp_path, asked(1, "x")).sessions[0].external_id
    assert shorter == read(tmp_path, asked(1, "x"), told(2, "y"), name="moved.jsonl").sessions[0].external_id
    assert shorter.startswith("file-")


def test_rollouts_without_envelopes_are_read(tmp_path: Path) -> None:
    old = [
        {"id": THREAD, "timestamp": at(0), "instructions": None, "git": {"branch": "main"}},
        {"record_type": "state"},
        {"type": "message", "id": None, "role": "user", "content": [{"type": "input_text", "text": "Run it."}]},
        {"type": "function_call", "name": "shell", "arguments": '{"command":["ls"]}', "call_id": "c1"},
        {"type": "function_call_output", "call_id": "c1", "output": '{"output":"a","metadata":{"exit_code":0}}'},
    ]
    outcome = read_file(write(tmp_path / f"rollout-2025-05-07T17-24-21-{THREAD}.jsonl", *old))
    assert outcome.format == "codex"
    assert [one.kind for one in observations(outcome)] == ["message", "tool_call", "tool_result"]
    assert outcome.sessions[0].external_id == THREAD
    assert outcome.books()["balanced"]


def test_a_file_that_grew_keeps_the_ids_of_what_was_there(tmp_path: Path) -> None:
    lines = [
        meta(),
        asked(1, "yes"),
        event(1, "user_message", message="yes"),
        call(2, "c1", "shell", command=["ls"]),
        event(3, "exec_command_end", call_id="c1", command=["ls"], stdout="a", exit_code=0),
        output(4, "c1", "a", exit_code=0),
        told(5, "Done."),
        event(5, "agent_message", message="Done."),
        asked(6, "yes"),
    ]
    whole = [one.id for one in observations(read(tmp_path, *lines))]
    for length in range(1, len(lines)):
        some = [one.id for one in observations(read(tmp_path, *lines[:length]))]
        assert some == whole[: len(some)]
    assert len(whole) == len(set(whole)) == 5


def test_one_thing_said_without_end_is_read_in_a_moment(tmp_path: Path) -> None:
    outcome = read(tmp_path, meta(), *[asked(1, "yes")] * 6_000, *[output(1, "c", "x")] * 2_000)
    assert len(observations(outcome)) == 8_000
