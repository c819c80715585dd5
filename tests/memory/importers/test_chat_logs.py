"""Logs of a model's API: every request repeats the talk, and each thing said is kept once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from memory.importers import read_file, reading
from memory.transcript import ReadResult
from tests.memory.importers.lines import observations, user_words, write

LONG = "The order left the warehouse this morning and should be with you by Thursday."


def message(role: str, content: Any = None, **fields: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **fields}


def calls(*named: tuple[str, str, str]) -> dict[str, Any]:
    """An assistant's message with these (id, name, arguments) calls."""
    listed = [{"id": i, "type": "function", "function": {"name": n, "arguments": a}} for i, n, a in named]
    return message("assistant", None, tool_calls=listed)


def pair(sent: list[Any], answer: Any, **fields: Any) -> dict[str, Any]:
    body = {"id": "chatcmpl-1", "object": "chat.completion", "choices": [{"index": 0, "message": answer}]}
    return {
        "request": {"method": "POST", "uri": "https://api.example/v1/chat/completions", "body": {"messages": sent}},
        "response": {"status": {"code": 200}, "body": {**body, **fields}},
    }


def read(tmp_path: Path, *values: Any, name: str = "log.jsonl", file_format: str = "auto") -> ReadResult:
    outcome = read_file(write(tmp_path / name, *values), file_format)
    assert outcome.books()["balanced"]
    return outcome


def said(outcome: ReadResult) -> list[tuple[str, str]]:
    return [(one.role, one.text) for one in observations(outcome)]


HI, HELLO = message("user", "hi"), message("assistant", "Hello! How can I help?")
WHERE, THERE = message("user", "Where is order 4711?"), message("assistant", LONG)


def test_a_history_that_is_sent_again_adds_only_what_is_new(tmp_path: Path) -> None:
    outcome = read(
        tmp_path,
        pair([HI], HELLO),
        pair([HI, HELLO, WHERE], THERE),
        pair([HI, HELLO, WHERE, THERE, message("user", "Thanks!")], message("assistant", "You are welcome.")),
    )
    assert outcome.format == "openai_chat"
    assert said(outcome) == [
        ("user", "hi"),
        ("assistant", "Hello! How can I help?"),
        ("user", "Where is order 4711?"),
        ("assistant", LONG),
        ("user", "Thanks!"),
        ("assistant", "You are welcome."),
    ]
    assert len(outcome.sessions) == 1
    assert outcome.raw["records"] == 12
    assert (outcome.mapped, outcome.skipped) == (6, {"resent": 6})


def test_one_turn_later_the_ids_of_what_was_said_are_the_same(tmp_path: Path) -> None:
    first = read(tmp_path, {"messages": [HI, HELLO]}, name="1.json")
    later = read(tmp_path, pair([HI, HELLO, WHERE], THERE), name="2.jsonl")
    assert first.sessions[0].external_id == later.sessions[0].external_id
    ids = [one.id for one in observations(later)]
    assert [one.id for one in observations(first)] == ids[:2]
    assert len(set(ids)) == 4


def test_the_same_word_said_twice_is_two(tmp_path: Path) -> None:
    talk = [message("user", "yes"), HELLO, message("user", "yes"), HELLO, message("user", "yes")]
    outcome = read(tmp_path, {"messages": talk}, {"messages": [*talk, THERE]})
    assert user_words(outcome) == ["yes", "yes", "yes"]
    assert len({one.id for one in observations(outcome)}) == 6


def test_an_edited_or_regenerated_turn_is_one_more_and_doubles_nothing(tmp_path: Path) -> None:
    other = message("user", "Where is order 4712?")
    anew = message("assistant", "Your order is on its way, and you will have it on Thursday at the latest.")
    outcome = read(
        tmp_path,
        {"messages": [HI, HELLO, WHERE, THERE, message("user", "ok")], "session_id": "s"},
        {"messages": [HI, HELLO, WHERE, anew, message("user", "ok")], "session_id": "s"},
        {"messages": [HI, HELLO, other, anew, message("user", "ok")], "session_id": "s"},
    )
    assert [text for _, text in said(outcome)][5:] == [anew["content"], other["content"]]
    assert outcome.sessions[0].external_id == "s"


def test_two_talks_that_open_alike_are_two_when_the_answers_differ(tmp_path: Path) -> None:
    outcome = read(tmp_path, pair([HI], HELLO), pair([HI], message("assistant", "Good morning!")))
    assert [len(session.observations) for session in outcome.sessions] == [2, 2]


def test_talks_that_run_at_once_are_told_apart(tmp_path: Path) -> None:
    other = message("assistant", "Good morning!")
    outcome = read(
        tmp_path,
        pair([HI], HELLO),
        pair([HI], other),
        pair([HI, HELLO, WHERE], THERE),
        pair([HI, other, message("user", "Cancel it.")], message("assistant", "Cancelled.")),
    )
    assert [[one.text for one in session.observations][2:] for session in outcome.sessions] == [
        ["Where is order 4711?", LONG],
        ["Cancel it.", "Cancelled."],
    ]


def test_a_log_that_sends_only_the_end_of_a_history_goes_on_with_its_talk(tmp_path: Path) -> None:
    outcome = read(
        tmp_path,
        pair([HI], HELLO),
        pair([HI, HELLO, WHERE], THERE),
        pair([WHERE, THERE, message("user", "Thanks!")], message("assistant", "Gladly.")),
    )
    assert len(outcome.sessions) == 1
    assert user_words(outcome) == ["hi", "Where is order 4711?", "Thanks!"]


def test_a_greeting_that_everybody_gets_joins_no_talks(tmp_path: Path) -> None:
    greeting = message("assistant", "Hello! I am the assistant of the shoe shop. How can I help you today?")
    outcome = read(
        tmp_path,
        pair([message("user", "hi")], greeting),
        pair([message("user", "good morning")], greeting),
        # The first call of this one was not logged.
        pair([message("user", "hey"), greeting, WHERE], THERE),
    )
    assert [len(session.observations) for session in outcome.sessions] == [2, 2, 4]


def test_a_first_call_that_failed_and_its_second_try_are_one_talk(tmp_path: Path) -> None:
    failed = {"request": {"body": {"messages": [HI]}}, "response": {"body": {"error": {"message": "overloaded"}}}}
    outcome = read(tmp_path, failed, failed, pair([HI], HELLO))
    assert len(outcome.sessions) == 1
    assert said(outcome) == [("user", "hi"), ("assistant", "Hello! How can I help?")]
    assert outcome.raw["error_answers"] == 2


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"session_id": "s-1"}, "s-1"),
        ({"metadata": {"thread_id": "t-1"}}, "t-1"),
        ({"conversation": {"id": "conv_1"}}, "conv_1"),
        (
            {"metadata": {"user_id": "user_ab_account__session_0199aaaa-0000-7000-8000-0000000000aa"}},
            "0199aaaa-0000-7000-8000-0000000000aa",
        ),
    ],
)
def test_a_log_that_names_its_talks_is_believed(tmp_path: Path, fields: dict[str, Any], name: str) -> None:
    outcome = read(tmp_path, {"request": {"body": {"messages": [HI], **fields}}, "response": {"body": {"choices": []}}})
    assert outcome.sessions[0].external_id == name
    assert read(tmp_path, {**pair([HI], HELLO), **fields}).sessions[0].external_id == name


def test_reused_call_ids_pair_with_the_nearest_call(tmp_path: Path) -> None:
    talk = [
        calls(("c1", "calc", '{"e":"1+1"}')),
        message("tool", "2", tool_call_id="c1"),
        calls(("c1", "calc", '{"e":"2+2"}')),
        message("tool", "4", tool_call_id="c1"),
        message("tool", "late", tool_call_id="c9"),
    ]
    found = observations(read(tmp_path, {"messages": talk}))
    assert [(one.kind, one.tool, one.text) for one in found] == [
        ("tool_call", "calc", 'calc {"e":"1+1"}'),
        ("tool_result", "calc", "2"),
        ("tool_call", "calc", 'calc {"e":"2+2"}'),
        ("tool_result", "calc", "4"),
        ("tool_result", "", "late"),
    ]
    assert len({one.id for one in found}) == 5


def test_parallel_calls_without_ids_are_answered_by_name_in_order(tmp_path: Path) -> None:
    def asked(name: str, city: str) -> dict[str, Any]:
        return message("assistant", None, function_call={"name": name, "arguments": json.dumps({"city": city})})

    talk = [
        asked("time", "Rome"),
        asked("weather", "Rome"),
        message("function", "9:00", name="time"),
        message("function", "warm", name="weather"),
    ]
    found = observations(read(tmp_path, {"messages": talk}))
    assert [one.tool for one in found if one.kind == "tool_result"] == ["time", "weather"]


def test_instructions_are_kept_for_reading_only(tmp_path: Path) -> None:
    rules = message("system", "You sell shoes. The secret word is swordfish.")
    outcome = read(tmp_path, pair([rules, HI], HELLO), pair([rules, HI, HELLO, WHERE], THERE))
    assert [(one.kind, one.role) for one in observations(outcome) if "swordfish" in one.text] == [("meta", "system")]
    developer = read(tmp_path, {"messages": [message("developer", "Be short."), HI]})
    assert [one.kind for one in observations(developer)] == ["meta", "message"]


def test_what_a_coding_agent_writes_into_a_prompt_is_no_human_word(tmp_path: Path) -> None:
    prompt = "<system-reminder>Use tabs.</system-reminder>\nRun the tests."
    outcome = read(tmp_path, {"messages": [message("user", [{"type": "text", "text": prompt}]), HELLO]})
    assert user_words(outcome) == ["Run the tests."]


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_thoughts_are_dropped(tmp_path: Path, key: str) -> None:
    outcome = read(tmp_path, {"messages": [HI, message("assistant", "", **{key: "They want shoes."})]})
    assert outcome.skipped == {"thinking": 1}
    assert "shoes" not in str([one.text for one in observations(outcome)])


def test_pictures_leave_a_mark_and_no_bytes(tmp_path: Path) -> None:
    bytes_ = "QUJD" * 300
    content = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{bytes_}"}},
        {"type": "input_audio", "input_audio": {"data": bytes_, "format": "wav"}},
        {"type": "file", "file": {"file_data": bytes_}},
    ]
    tool = message(
        "tool",
        [
            {"type": "text", "text": "taken"},
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{bytes_}"}},
        ],
    )
    outcome = read(tmp_path, {"messages": [message("user", content), tool]})
    assert [text for _, text in said(outcome)] == ["What is this?\n[image]\n[audio]\n[document]", "taken\n[image]"]
    assert "QUJDQUJD" not in str([one.payload for one in observations(outcome)])


def test_the_text_of_a_thread_is_read(tmp_path: Path) -> None:
    content = [{"type": "text", "text": {"value": "Where is it?", "annotations": []}}]
    assert user_words(read(tmp_path, {"messages": [message("user", content)]})) == ["Where is it?"]


def test_a_refusal_is_what_the_assistant_said(tmp_path: Path) -> None:
    outcome = read(tmp_path, pair([HI], message("assistant", None, refusal="I cannot help with that.")))
    assert said(outcome)[1] == ("assistant", "I cannot help with that.")


def test_the_first_of_several_answers_counts(tmp_path: Path) -> None:
    both = pair([HI], HELLO)
    both["response"]["body"]["choices"].append({"index": 1, "message": message("assistant", "Yo.")})
    assert len(observations(read(tmp_path, both))) == 2


def test_an_answer_gives_the_time_and_the_tokens(tmp_path: Path) -> None:
    outcome = read(tmp_path, pair([HI], HELLO, created=1793775600, usage={"prompt_tokens": 9, "completion_tokens": 4}))
    assert {one.occurred_at.isoformat() for one in observations(outcome) if one.occurred_at} == {
        "2026-11-04T07:00:00+00:00"
    }
    assert outcome.sessions[0].usage == {"input_tokens": 9, "output_tokens": 4}


def test_lists_of_messages_and_lists_of_lists_are_talks(tmp_path: Path) -> None:
    one = [HI, HELLO]
    two = [message("user", "bye"), message("assistant", "Goodbye.")]
    for values in (
        [one, two],
        [[one, two]],
        [{"messages": one}, {"messages": two}],
        [[{"messages": one}, {"traj": two}]],
    ):
        outcome = read(tmp_path, *values)
        assert [len(session.observations) for session in outcome.sessions] == [2, 2]
        assert outcome.raw["exchanges"] == 2
    alone = read(tmp_path, *one, file_format="openai_chat")
    assert [len(session.observations) for session in alone.sessions] == [2]
    pretty = tmp_path / "pretty.json"
    pretty.write_text(json.dumps(one, indent=1))
    assert said(read_file(pretty)) == said(alone)


def test_flat_pairs_and_stored_bodies_are_read(tmp_path: Path) -> None:
    body = {"choices": [{"message": HELLO}]}
    for value in (
        {"messages": [HI], "response": body, "startTime": "2026-11-04 08:00:00"},
        {
            "custom_id": "1",
            "method": "POST",
            "url": "/v1/chat/completions",
            "body": {"messages": [HI]},
            "response": body,
        },
        {"request": {"body": json.dumps({"messages": [HI]})}, "response": {"body": json.dumps(body)}},
        {"request": {"messages": [HI]}, "response": HELLO},
        {"request": {"prompt": "hi"}, "response": "Hello! How can I help?"},
    ):
        assert said(read(tmp_path, value)) == [("user", "hi"), ("assistant", "Hello! How can I help?")]


RESPONSES_URI = "https://api.example/v1/responses"


def responses(sent: Any, output: list[Any], id_: str, previous: str | None = None) -> dict[str, Any]:
    request = {"input": sent, "previous_response_id": previous, "instructions": "Be short."}
    return {"request": {"uri": RESPONSES_URI, "body": request}, "response": {"body": {"id": id_, "output": output}}}


def test_responses_items_are_messages_calls_and_answers(tmp_path: Path) -> None:
    output = [
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "c1", "name": "weather", "arguments": '{"city":"Rome"}'},
        {"type": "web_search_call", "id": "ws1", "action": {"type": "search", "query": "rome"}},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "One moment."}]},
    ]
    answer = {"type": "function_call_output", "call_id": "c1", "output": "warm"}
    outcome = read(tmp_path, responses("Weather in Rome?", output, "r1"), responses([answer], [], "r2", "r1"))
    assert [(one.kind, one.tool, one.text) for one in observations(outcome)] == [
        ("meta", "", "Be short."),
        ("message", "", "Weather in Rome?"),
        ("tool_call", "weather", 'weather {"city":"Rome"}'),
        ("tool_call", "web_search", 'web_search {"type":"search","query":"rome"}'),
        ("message", "", "One moment."),
        ("tool_result", "weather", "warm"),
    ]
    assert outcome.raw["item:function_call"] == 1
    assert outcome.skipped == {"thinking": 1, "resent": 1}


def test_a_request_that_follows_an_answer_repeats_nothing_and_its_words_are_new(tmp_path: Path) -> None:
    told = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "More?"}]}
    outcome = read(
        tmp_path, responses("yes", [told], "r1"), responses("yes", [told], "r2", "r1"), responses("yes", [], "r3", "r2")
    )
    assert len(outcome.sessions) == 1
    assert user_words(outcome) == ["yes", "yes", "yes"]


def sse(*events: Any, named: bool = False) -> str:
    lines = [f"event: {event['type']}\n" if named else "" for event in events]
    return (
        "".join(f"{line}data: {json.dumps(event)}\n\n" for line, event in zip(lines, events, strict=True))
        + "data: [DONE]\n\n"
    )


def delta(**fields: Any) -> dict[str, Any]:
    return {"id": "x", "created": 1793775600, "choices": [{"index": 0, "delta": fields}]}


def test_a_streamed_answer_is_put_together(tmp_path: Path) -> None:
    def piece(arguments: str, **fields: Any) -> dict[str, Any]:
        return {"index": 0, "function": {"arguments": arguments}, **fields}

    stream = sse(
        delta(role="assistant", content="One "),
        delta(content="moment."),
        delta(tool_calls=[{"index": 0, "id": "c1", "function": {"name": "weather", "arguments": ""}}]),
        delta(tool_calls=[piece('{"city"')]),
        delta(tool_calls=[piece(':"Rome"}')]),
        {"id": "x", "choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}},
    )
    value = {"request": {"body": {"messages": [HI]}}, "response": {"body": stream.replace("\n", "\r\n")}}
    outcome = read(tmp_path, value)
    assert said(outcome) == [("user", "hi"), ("assistant", "One moment."), ("assistant", 'weather {"city":"Rome"}')]
    assert (outcome.raw["streamed"], outcome.sessions[0].usage["input_tokens"]) == (1, 5)
    cut = read(tmp_path, {"request": {"body": {"messages": [HI]}}, "response": {"body": stream[:150] + "\ndata: {cut"}})
    assert said(cut)[1] == ("assistant", "One")


def test_a_streamed_answer_of_the_responses_api_is_put_together(tmp_path: Path) -> None:
    told = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Warm."}]}
    pieces = [
        {"type": "response.created", "response": {"id": "r1", "output": []}},
        {"type": "response.output_text.delta", "delta": "Wa"},
        {"type": "response.output_text.delta", "delta": "rm."},
    ]
    ends: list[list[Any]] = [
        [{"type": "response.output_item.done", "item": told}],
        [{"type": "response.completed", "response": {"id": "r1", "output": [told]}}],
        [],
    ]
    for end in ends:
        value = {"request": {"uri": RESPONSES_URI, "body": {"input": "hi"}}, "response": {"body": sse(*pieces, *end)}}
        assert said(read(tmp_path, value)) == [("user", "hi"), ("assistant", "Warm.")]


ANTHROPIC = "https://api.example/v1/messages"


def anthropic(sent: list[Any], answer: Any, **body: Any) -> dict[str, Any]:
    request = {"uri": ANTHROPIC, "body": {"max_tokens": 9, "messages": sent, **body}}
    return {"request": request, "response": {"body": {"type": "message", "role": "assistant", "content": answer}}}


def test_anthropic_blocks_are_words_calls_and_answers(tmp_path: Path) -> None:
    use = [
        {"type": "thinking", "thinking": "Look it up.", "signature": "x"},
        {"type": "text", "text": "One moment."},
        {"type": "tool_use", "id": "t1", "name": "bash", "input": {"command": "make test"}},
    ]
    result = {
        "type": "tool_result",
        "tool_use_id": "t1",
        "is_error": True,
        "content": [{"type": "text", "text": "Exit code 2\nfailed"}],
    }
    sent = [
        message("user", "Test it."),
        message("assistant", use),
        message("user", [result, {"type": "text", "text": "And?"}]),
    ]
    outcome = read(
        tmp_path,
        anthropic(sent[:1], use, system="Be short."),
        anthropic(sent, [{"type": "text", "text": "It fails."}], system=[{"type": "text", "text": "Be short."}]),
    )
    assert outcome.format == "anthropic_messages"
    assert [(one.kind, one.role, one.tool, one.text, one.exit_code) for one in observations(outcome)] == [
        ("meta", "system", "", "Be short.", None),
        ("message", "user", "", "Test it.", None),
        ("message", "assistant", "", "One moment.", None),
        ("tool_call", "assistant", "bash", "make test", None),
        ("message", "user", "", "And?", None),
        ("tool_result", "tool", "bash", "Exit code 2\nfailed", 2),
        ("message", "assistant", "", "It fails.", None),
    ]
    assert outcome.raw["block:tool_result"] == 1
    assert outcome.raw["tool_errors"] == 1


def test_a_streamed_anthropic_answer_is_put_together_and_known_when_it_comes_again(tmp_path: Path) -> None:
    stream = sse(
        {
            "type": "message_start",
            "message": {"id": "m1", "content": [], "usage": {"input_tokens": 5, "output_tokens": 1}},
        },
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "One moment."}},
        {
            "type": "content_block_start",
            "index": 1,
            "content_block": {"type": "tool_use", "id": "t1", "name": "w", "input": {}},
        },
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"city": '}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '"Rome"}'}},
        {"type": "message_delta", "usage": {"output_tokens": 9}},
        named=True,
    )
    again = [
        message("user", "hi"),
        message(
            "assistant",
            [
                {"type": "text", "text": "One moment."},
                {"type": "tool_use", "id": "t1", "name": "w", "input": {"city": "Rome"}},
            ],
        ),
        message("user", [{"type": "tool_result", "tool_use_id": "t1", "content": "warm"}]),
    ]
    streamed = {"request": {"uri": ANTHROPIC, "body": {"messages": [HI]}}, "response": {"body": stream}}
    outcome = read(tmp_path, streamed, anthropic(again, [{"type": "text", "text": "Warm."}]))
    assert [text for _, text in said(outcome)] == ["hi", "One moment.", 'w {"city":"Rome"}', "warm", "Warm."]
    assert len(outcome.sessions) == 1
    assert outcome.sessions[0].usage["output_tokens"] == 9
    bare = tmp_path / "answer.sse"
    bare.write_text(stream)
    assert [text for _, text in said(read_file(bare, "anthropic_messages"))] == ["One moment.", 'w {"city":"Rome"}']


LANGCHAIN: list[list[Any]] = [
    [
        {"type": "human", "content": "Test it."},
        {
            "type": "ai",
            "content": "",
            "tool_calls": [{"name": "bash", "args": {"command": "make"}, "id": "c1", "type": "tool_call"}],
        },
        {"type": "tool", "content": "failed", "tool_call_id": "c1", "status": "error"},
    ],
    [
        {"type": "human", "data": {"content": "Test it.", "id": None}},
        {
            "type": "ai",
            "data": {"content": "", "tool_calls": [{"name": "bash", "args": {"command": "make"}, "id": "c1"}]},
        },
        {"type": "tool", "data": {"content": "failed", "tool_call_id": "c1", "status": "error"}},
    ],
    [
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", "HumanMessage"],
            "kwargs": {"content": "Test it.", "type": "human"},
        },
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", "AIMessage"],
            "kwargs": {
                "content": [{"type": "tool_use", "id": "c1", "name": "bash", "input": {"command": "make"}}],
                "tool_calls": [{"name": "bash", "args": {"command": "make"}, "id": "c1"}],
            },
        },
        {
            "lc": 1,
            "type": "constructor",
            "id": ["langchain", "schema", "messages", "ToolMessage"],
            "kwargs": {"content": "failed", "tool_call_id": "c1", "status": "error"},
        },
    ],
    [
        ["human", "Test it."],
        {
            "role": "assistant",
            "additional_kwargs": {
                "tool_calls": [{"id": "c1", "function": {"name": "bash", "arguments": '{"command":"make"}'}}]
            },
        },
        {"type": "ToolMessage", "content": "failed", "tool_call_id": "c1", "status": "error"},
    ],
]


@pytest.mark.parametrize("talk", LANGCHAIN)
def test_langchain_messages_are_read_in_every_form_it_writes(tmp_path: Path, talk: list[Any]) -> None:
    outcome = read(tmp_path, {"messages": talk})
    assert [(one.kind, one.role, one.tool, one.text, one.is_error) for one in observations(outcome)] == [
        ("message", "user", "", "Test it.", False),
        ("tool_call", "assistant", "bash", "make", False),
        ("tool_result", "tool", "bash", "failed", True),
    ]


def test_the_same_talk_in_another_shape_has_the_same_ids(tmp_path: Path) -> None:
    ids = [[one.id for one in observations(read(tmp_path, {"messages": talk}))] for talk in LANGCHAIN]
    assert ids == [ids[0]] * 4


def test_what_is_no_message_is_counted(tmp_path: Path) -> None:
    talk = [
        HI,
        "text",
        None,
        5,
        {},
        message("narrator", "Meanwhile"),
        {"content": "whose?"},
        message("user", ""),
        message("user", [5, {"type": "odd"}]),
    ]
    outcome = read(tmp_path, {"messages": talk}, 5, b'"x"', b"{cut", {"messages": []}, file_format="openai_chat")
    assert user_words(outcome) == ["hi"]
    assert outcome.skipped == {
        "unknown_role:narrator": 1,
        "no_role": 1,
        "empty_text": 1,
        "block:non_object": 1,
        "no_messages": 1,
    }
    assert (outcome.raw["non_object_lines"], outcome.raw["bad_json_lines"]) == (6, 1)
    assert "Message 6 has no role that is known." in outcome.errors


def test_a_document_too_large_to_hold_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_LINE_BYTES", 1024 * 1024)
    path = tmp_path / "large.json"
    path.write_text(json.dumps([message("user", "x" * 600_000)] * 2, indent=1))
    assert "is one value and is longer than 1 MB" in read_file(path).error
    path.write_text(json.dumps([message("user", "x" * 400_000)] * 2, indent=1))
    assert len(observations(read_file(path))) == 2


def test_a_cut_document_gives_its_whole_pairs(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    path.write_text(json.dumps([pair([HI], HELLO), pair([HI, HELLO, WHERE], THERE)], indent=1)[:-40])
    outcome = read_file(path)
    assert len(observations(outcome)) == 2
    assert outcome.raw["bad_json_lines"] == 1
    assert outcome.errors == ["Line 2 is cut or is no JSON."]
    assert outcome.books()["balanced"]


def test_two_documents_one_after_the_other_are_both_read(tmp_path: Path) -> None:
    path = tmp_path / "two.json"
    path.write_text(
        "\n".join(
            json.dumps(pair(sent, answer), indent=1) for sent, answer in (([HI], HELLO), ([HI, HELLO, WHERE], THERE))
        )
    )
    assert len(observations(read_file(path))) == 4


def test_nan_surrogates_and_line_separators_are_read(tmp_path: Path) -> None:
    raw = b'{"messages":[{"role":"user","content":"one\xe2\x80\xa8two \\ud83d","x":NaN,"k\\u0000":1}]}'
    outcome = read(tmp_path, raw)
    assert user_words(outcome) == ["one\u2028two \ud83d"]


def test_our_own_brief_is_no_evidence(tmp_path: Path) -> None:
    brief = (
        "# What is known · project shop · for agent support\nCountersigned by people.\n\n"
        "## Standing\n- [f-2k81hd] Use 5433."
    )
    talk = [
        message("system", f"You sell shoes.\n\n{brief}"),
        message("user", f"{brief}\n\nWhere is my order?"),
        message("tool", brief),
    ]
    outcome = read(tmp_path, {"messages": talk})
    assert [(one.kind, one.role) for one in observations(outcome) if "f-2k81hd" in one.text] == [
        ("brief", "system"),
        ("brief", "system"),
        ("brief", "tool"),
    ]
    assert user_words(outcome) == ["Where is my order?"]


def test_a_long_log_of_one_talk_is_read_in_a_moment(tmp_path: Path) -> None:
    talk: list[Any] = []
    log = []
    for number in range(300):
        talk = [*talk, message("user", f"Question {number}?")]
        answer = message("assistant", f"Answer {number}. {LONG}")
        log.append(pair(talk, answer))
        talk = [*talk, answer]
    outcome = read(tmp_path, *log)
    assert len(observations(outcome)) == 600
    assert outcome.raw["records"] == outcome.mapped + outcome.skipped["resent"] == 90_300
