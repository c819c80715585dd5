"""Plain JSONL: one message a line, under whatever names its writer chose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from memory.importers import read_file
from memory.transcript import ReadResult
from tests.memory.importers.lines import observations, user_words, write


def read(tmp_path: Path, *lines: Any, name: str = "talk.jsonl") -> ReadResult:
    outcome = read_file(write(tmp_path / name, *lines))
    assert outcome.format == "jsonl"
    assert outcome.books()["balanced"]
    return outcome


@pytest.mark.parametrize(
    "line",
    [
        {"role": "user", "content": "Where is my order?"},
        {"role": "human", "text": "Where is my order?"},
        {"speaker": "Customer", "utterance": "Where is my order?"},
        {"from": "human", "value": "Where is my order?"},
        {"author": {"role": "user"}, "message": "Where is my order?"},
        {"type": "human", "content": "Where is my order?"},
        {"role": "user", "message": {"content": [{"type": "text", "text": "Where is my order?"}]}},
        {"kind": "message", "role": "user", "text": "Where is my order?"},
    ],
)
def test_a_users_line_is_known_under_many_names(tmp_path: Path, line: dict[str, Any]) -> None:
    assert user_words(read(tmp_path, line)) == ["Where is my order?"]


@pytest.mark.parametrize(
    ("fields", "moment"),
    [
        ({"timestamp": "2026-11-04T08:00:00Z"}, "2026-11-04T08:00:00+00:00"),
        ({"time": "2026-11-04 08:00:00"}, "2026-11-04T08:00:00+00:00"),
        ({"ts": "2026-11-04T08:00:00", "timezone": "Europe/Berlin"}, "2026-11-04T07:00:00+00:00"),
        ({"at": 1793779200}, "2026-11-04T08:00:00+00:00"),
        ({"created_at": 1793779200000}, "2026-11-04T08:00:00+00:00"),
        ({"date": "yesterday"}, None),
        ({"timestamp": True}, None),
    ],
)
def test_a_time_is_read_in_its_zone(tmp_path: Path, fields: dict[str, Any], moment: str | None) -> None:
    (one,) = observations(read(tmp_path, {"role": "user", "content": "x", **fields}))
    assert (one.occurred_at.isoformat() if one.occurred_at else None) == moment


def test_sessions_folder_and_zone_come_from_the_lines(tmp_path: Path) -> None:
    outcome = read(
        tmp_path,
        {"role": "user", "content": "a", "session": "one", "cwd": "/srv/orders", "timezone": "Europe/Berlin"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c", "conversation_id": 7, "timezone": "Mars/Olympus"},
    )
    assert [(one.external_id, one.cwd, one.timezone, len(one.observations)) for one in outcome.sessions] == [
        ("one", "/srv/orders", "Europe/Berlin", 2),
        ("7", "", "", 1),
    ]


def test_a_talk_without_an_id_keeps_its_name_while_it_grows(tmp_path: Path) -> None:
    talk = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": "Hello!"},
        {"role": "user", "content": "bye"},
    ]
    names = {read(tmp_path, *talk[:length], name=f"{length}.jsonl").sessions[0].external_id for length in (2, 3)}
    assert len(names) == 1
    timed = [{**line, "ts": f"2026-11-04T08:00:0{second}Z"} for second, line in enumerate(talk)]
    names = {read(tmp_path, *timed[:length]).sessions[0].external_id for length in (1, 2, 3)}
    assert len(names) == 1
    other = [{**timed[0], "ts": "2026-11-05T08:00:00Z"}, *timed[1:]]
    assert read(tmp_path, *other).sessions[0].external_id not in names


def test_ids_stay_and_the_same_word_twice_is_two(tmp_path: Path) -> None:
    talk = [
        {"role": "user", "content": "yes"},
        {"role": "assistant", "content": "More?"},
        {"role": "user", "content": "yes"},
    ]
    ids = [one.id for one in observations(read(tmp_path, *talk))]
    assert len(set(ids)) == 3
    assert ids == [one.id for one in observations(read(tmp_path, *talk, {"role": "assistant", "content": "Done."}))][:3]


def test_a_line_with_an_id_counts_once(tmp_path: Path) -> None:
    line = {"id": "m1", "role": "user", "content": "x"}
    outcome = read(tmp_path, line, line, {**line, "content": "edited"}, {**line, "id": 7})
    assert user_words(outcome) == ["x", "edited", "x"]
    assert outcome.skipped == {"repeated_line": 1}


def test_calls_and_answers_are_read_in_a_providers_shape_and_in_ours(tmp_path: Path) -> None:
    outcome = read(
        tmp_path,
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c1", "function": {"name": "bash", "arguments": '{"command":"make"}'}}],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "failed", "exit_code": 2, "is_error": True},
        {"role": "assistant", "tool": "bash", "text": "make test", "call_id": "c2", "paths": ["Makefile", 5]},
        {"role": "tool", "tool": "bash", "text": "ok", "call_id": "c2", "exit_code": 0},
        {"kind": "edit", "role": "assistant", "tool": "Edit", "text": "Edit a.py", "sidechain": True},
        {"kind": "tool_result", "role": "tool", "text": "", "exit_code": True},
    )
    assert [
        (one.kind, one.tool, one.call_id, one.text, one.exit_code, one.is_error) for one in observations(outcome)
    ] == [
        ("tool_call", "bash", "c1", "make", None, False),
        ("tool_result", "bash", "c1", "failed", 2, True),
        ("tool_call", "bash", "c2", "make test", None, False),
        ("tool_result", "bash", "c2", "ok", 0, False),
        ("edit", "Edit", "", "Edit a.py", None, False),
        ("tool_result", "", "", "", None, False),
    ]
    assert observations(outcome)[2].paths == ("Makefile",)
    assert observations(outcome)[4].sidechain


def test_instructions_are_no_evidence_and_unknown_speakers_are_counted(tmp_path: Path) -> None:
    outcome = read(
        tmp_path,
        {"role": "system", "content": "You sell shoes."},
        {"role": "narrator", "content": "Meanwhile"},
        {"content": "whose?"},
        {"role": "user", "content": ""},
        {
            "role": "user",
            "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64," + "QUJD" * 100}}],
        },
        b"[1",
        5,
        {"role": "user", "content": "x"},
    )
    assert [(one.kind, one.text) for one in observations(outcome)] == [
        ("meta", "You sell shoes."),
        ("message", "[image]"),
        ("message", "x"),
    ]
    assert outcome.skipped == {"unknown_role:narrator": 1, "no_role": 1, "empty_text": 1}
    assert outcome.faults == [(1, "unknown_role"), (2, "unknown_role"), (5, "bad_line"), (6, "not_an_object")]
    assert dict(outcome.raw) == {
        "records": 6,
        "bad_json_lines": 1,
        "non_object_lines": 1,
        "role:system": 1,
        "role:narrator": 1,
        "role:": 1,
        "role:user": 3,
        "content_string": 5,
        "block:image_url": 1,
    }
