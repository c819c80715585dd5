"""`POST /sessions/{id}/transcript`: the talk so far, again and again, and transcripts as they lie on a disk."""

from __future__ import annotations

import json
from typing import Any

import pytest

from memory import agent_auth, api_limits, api_transcripts, capture, capture_writer
from memory.models import Observation, Payload, Session
from projects import tenancy
from projects.models import ApiKey
from tests.factories import Cast
from tests.memory.agent_client import AgentClient, Answer
from tests.memory.importers import lines, rollouts

pytestmark = pytest.mark.django_db

YES, MORE = {"role": "user", "content": "yes"}, {"role": "assistant", "content": "Anything else?"}
TALK: list[dict[str, Any]] = [
    {"role": "system", "content": "You sell shoes."},
    {"role": "user", "content": "Where is order 4711?"},
    {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "find", "arguments": '{"order":4711}'}}]},
    {"role": "tool", "tool_call_id": "c1", "content": "shipped"},
    {"role": "assistant", "content": "It is on its way."},
]

PAIR = {"request": {"body": {"messages": TALK[:4]}}, "response": {"body": {"choices": [{"message": TALK[4]}]}}}


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    agent_auth.forget()
    api_limits.forget()


@pytest.fixture
def agent(cast: Cast) -> AgentClient:
    return AgentClient(cast.keys["support"])


def send(agent: AgentClient, messages: Any, session: str = "call-1", **frame: Any) -> dict[str, Any]:
    answer = agent.post(f"sessions/{session}/transcript", {"messages": messages, **frame})
    assert answer.status == 202, answer.content
    return dict(answer.json())


def post_lines(agent: AgentClient, *records: Any, session: str = "call-1") -> Answer:
    raw = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in records]
    return agent.post(f"sessions/{session}/transcript", b"\n".join(raw))


def stored(session: str = "call-1") -> list[tuple[str, str, str]]:
    with tenancy.system("command"):
        rows = Observation.objects.filter(session__external_id=session).order_by("seq", "pk")
        return list(rows.values_list("kind", "role", "text"))


def refused(answer: Answer, status: int, code: str, field: str | None = None) -> None:
    assert (answer.status, answer.json()["code"], answer.json()["field"]) == (status, code, field)
    with tenancy.system("command"):
        assert not Session.objects.exists()


def test_a_talk_is_stored_and_the_whole_of_it_again_adds_only_what_is_new(agent: AgentClient) -> None:
    assert send(agent, TALK) == {"accepted": 5, "duplicates": 0, "dropped": {}, "errors": []}
    assert send(agent, TALK) == {"accepted": 0, "duplicates": 5, "dropped": {}, "errors": []}
    assert send(agent, [*TALK, {"role": "user", "content": "Thanks!"}])["accepted"] == 1
    assert stored() == [
        ("meta", "system", "You sell shoes."),
        ("message", "user", "Where is order 4711?"),
        ("tool_call", "assistant", 'find {"order":4711}'),
        ("tool_result", "tool", "shipped"),
        ("message", "assistant", "It is on its way."),
        ("message", "user", "Thanks!"),
    ]
    with tenancy.system("command"):
        assert Session.objects.get().turn_count == 2
        assert Payload.objects.filter(observation__text="shipped").get().body["tool_call_id"] == "c1"


def test_the_same_word_said_twice_is_two_and_a_third_one_is_new(agent: AgentClient) -> None:
    assert send(agent, [YES, MORE, YES])["accepted"] == 3
    assert send(agent, [YES, MORE, YES, MORE, YES]) == {"accepted": 2, "duplicates": 3, "dropped": {}, "errors": []}
    assert [text for _, role, text in stored() if role == "user"] == ["yes"] * 3


def test_an_edited_or_regenerated_turn_is_one_more_and_doubles_nothing(agent: AgentClient) -> None:
    send(agent, TALK)
    regenerated = [*TALK[:-1], {"role": "assistant", "content": "It ships tomorrow."}]
    assert send(agent, regenerated)["accepted"] == 1
    edited = [TALK[0], {"role": "user", "content": "Where is order 4712?"}, *regenerated[2:]]
    assert send(agent, edited) == {"accepted": 1, "duplicates": 4, "dropped": {}, "errors": []}
    assert len(stored()) == 7


def test_a_history_whose_beginning_was_cut_off_adds_only_what_is_new(agent: AgentClient) -> None:
    send(agent, TALK)
    assert send(agent, [*TALK[3:], {"role": "user", "content": "Thanks!"}])["accepted"] == 1


def test_every_shape_of_the_same_talk_is_the_same_talk(agent: AgentClient) -> None:
    send(agent, TALK)
    anthropic = [
        {"role": "user", "content": [{"type": "text", "text": "Where is order 4711?"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "find", "input": {"order": 4711}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "shipped"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "It is on its way."}]},
    ]
    assert send(agent, anthropic, system="You sell shoes.") == {
        "accepted": 0,
        "duplicates": 5,
        "dropped": {},
        "errors": [],
    }
    langchain = [
        {"type": "system", "content": "You sell shoes."},
        {"type": "human", "content": "Where is order 4711?"},
        {"type": "ai", "content": "", "tool_calls": [{"name": "find", "args": {"order": 4711}, "id": "c1"}]},
        {"type": "tool", "content": "shipped", "tool_call_id": "c1"},
        {"type": "ai", "content": "It is on its way."},
    ]
    assert send(agent, langchain)["duplicates"] == 5


def test_the_frame_names_subjects_folder_and_zone(cast: Cast, agent: AgentClient) -> None:
    send(agent, TALK, subjects=["customer:cust_123"], cwd="/srv/orders", timezone="Europe/Berlin")
    with tenancy.system("command"):
        session = Session.objects.get()
        assert sorted(map(str, session.subjects.all())) == [
            "customer:cust_123",
            "person:olga@example.com",
            "repo:orders",
        ]
        assert (session.timezone, session.cwd, session.source_format) == ("Europe/Berlin", "/srv/orders", "openai_chat")


def test_what_becomes_no_observation_is_in_the_books(agent: AgentClient) -> None:
    answer = send(agent, [YES, "text", {"role": "narrator", "content": "x"}, {"role": "user", "content": ""}, None])
    assert answer == {
        "accepted": 1,
        "duplicates": 0,
        "dropped": {"not_an_object": 2, "unknown_role:narrator": 1, "empty_text": 1},
        "errors": [
            {"index": 1, "code": "not_an_object"},
            {"index": 2, "code": "unknown_role"},
            {"index": 4, "code": "not_an_object"},
        ],
    }
    assert send(agent, [5], system="Be short.")["errors"] == [{"index": 0, "code": "not_an_object"}]
    assert send(agent, []) == {"accepted": 0, "duplicates": 0, "dropped": {}, "errors": []}


def test_a_claude_code_transcript_is_read_as_the_session_of_the_address(cast: Cast) -> None:
    agent = AgentClient(cast.keys["claude-code"])
    talk = [
        lines.user("Run the tests.", uuid="u1"),
        lines.assistant(lines.call("t1", "Bash", command="make test"), uuid="u2"),
        lines.result("t1", "Exit code 2\nrefused", is_error=True, uuid="u3"),
        lines.line("progress"),
        b'{"type":"user","cut',
    ]
    answer = post_lines(agent, *talk)
    assert answer.status == 202
    assert answer.json() == {
        "accepted": 3,
        "duplicates": 0,
        "dropped": {"type:progress": 1, "bad_line": 1},
        "errors": [{"index": 4, "code": "bad_line"}],
    }
    assert post_lines(agent, *talk).json()["duplicates"] == 3
    with tenancy.system("command"):
        session = Session.objects.get()
        assert (session.external_id, session.source_format, session.cwd) == ("call-1", "claude_code", "/srv/orders")
        assert sorted(map(str, session.subjects.all())) == ["person:olga@example.com", "repo:orders"]
        assert {row.occurred_source for row in session.observations.all()} == {"sent"}


def test_lines_that_another_session_holds_are_left_out_and_told(cast: Cast) -> None:
    agent = AgentClient(cast.keys["claude-code"])
    old = [lines.user("Run the tests.", uuid="u1"), lines.assistant(lines.text("Done."), uuid="u2")]
    post_lines(agent, *old, session="first")
    new = lines.user("And the docs.", uuid="u3", timestamp="2026-11-04T09:00:00Z")
    answer = post_lines(agent, *old, new, session="resumed").json()
    assert answer == {"accepted": 1, "duplicates": 0, "dropped": {"copied": 2}, "errors": []}
    assert stored("resumed") == [("message", "user", "And the docs.")]
    other = AgentClient(cast.keys["support"])
    assert post_lines(other, *old, session="theirs").json()["accepted"] == 2
    with tenancy.system("command"):
        assert [one.dropped_count for one in (cast.support, cast.coder) if not one.refresh_from_db()] == [0, 0]


def test_a_codex_rollout_is_read_and_one_that_grew_adds_only_what_is_new(cast: Cast) -> None:
    agent = AgentClient(cast.keys["claude-code"])
    rollout = [
        rollouts.meta(),
        rollouts.row(1, "turn_context", {"timezone": "Europe/Berlin"}),
        rollouts.asked(2, "Fix the export."),
        rollouts.event(2, "user_message", message="Fix the export."),
        rollouts.call(3, "c1", "shell", command=["bash", "-lc", "make export"]),
        rollouts.output(4, "c1", "failed", exit_code=1),
    ]
    assert post_lines(agent, *rollout).json()["accepted"] == 3
    again = post_lines(agent, *rollout, rollouts.told(5, "Done.")).json()
    assert (again["accepted"], again["duplicates"], again["dropped"]["repeated_text"]) == (1, 3, 1)
    with tenancy.system("command"):
        session = Session.objects.get()
        assert (session.external_id, session.timezone, session.source_format) == ("call-1", "Europe/Berlin", "codex")
        assert session.observations.get(kind="tool_result").exit_code == 1


@pytest.mark.parametrize(
    "body",
    [
        json.dumps(TALK).encode(),
        json.dumps(TALK, indent=1).encode(),
        json.dumps([PAIR]).encode(),
        "\n".join(map(json.dumps, TALK)).encode(),
        b"\xef\xbb\xbf" + json.dumps({"messages": TALK}).encode(),
    ],
)
def test_whatever_the_importers_read_may_be_the_body(agent: AgentClient, body: bytes) -> None:
    answer = agent.post("sessions/call-1/transcript", body)
    assert (answer.status, answer.json()["accepted"]) == (202, 5)


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        (b"", "malformed_json", None),
        (b"  \n", "malformed_json", None),
        (b'{"messages": [', "malformed_json", None),
        (b"\xff\xfe\x00\x01", "malformed_json", None),
        (b"# Notes\nfix the port\n", "malformed_json", None),
        (b'{"name": "shop"}', "not_a_transcript", None),
        (b'{\n "name": "shop"\n}', "not_a_transcript", None),
        (b"[1, 2]", "not_a_transcript", None),
        (b'{"messages": "hi"}', "bad_value", "messages"),
        (b'{"messages": null}', "bad_value", "messages"),
        (b'{"messages": [], "subjects": "customer:1"}', "bad_value", "subjects"),
        (b'{"messages": [], "subjects": ["customer:"]}', "bad_subject", "subjects.0"),
        (b'{"messages": [], "timezone": "Mars/Olympus"}', "bad_timezone", "timezone"),
        (b'{"messages": [], "cwd": 5}', "bad_value", "cwd"),
    ],
)
def test_a_body_that_is_none_stores_nothing_and_says_why(
    agent: AgentClient, body: bytes, code: str, field: str | None
) -> None:
    refused(agent.post("sessions/call-1/transcript", body), 422, code, field)


def test_an_id_that_is_none_stores_nothing(agent: AgentClient) -> None:
    refused(agent.post("sessions/%E2%80%8B/transcript", {"messages": TALK}), 422, "bad_id", "external_id")


def test_too_much_at_once_stores_nothing(agent: AgentClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_transcripts, "MOST_OBSERVATIONS", 4)
    refused(agent.post("sessions/call-1/transcript", {"messages": TALK}), 413, "too_large")
    monkeypatch.setattr(api_transcripts, "MOST_RECORDS", 3)
    refused(agent.post("sessions/call-1/transcript", {"messages": [{}, {}, {}, {}]}), 413, "too_large")
    refused(post_lines(agent, *[lines.line("progress")] * 5), 413, "too_large")
    big = b'{"messages": [' + b" " * (10 * 1024 * 1024) + b"]}"
    refused(agent.post("sessions/call-1/transcript", big), 413, "too_large")


def test_the_kind_of_body_that_curl_names_makes_no_difference(agent: AgentClient) -> None:
    raw = json.dumps(TALK).encode()
    for kind in ("application/x-www-form-urlencoded", "application/x-ndjson", "multipart/form-data; boundary=x", ""):
        assert agent.post("sessions/call-1/transcript", raw, CONTENT_TYPE=kind).status == 202
    assert len(stored()) == 5


def test_a_key_without_capture_may_not_send(cast: Cast) -> None:
    with tenancy.system("command"):
        reader = ApiKey.objects.issue(cast.support, cast.olga, ("brief",))[1]
    refused(AgentClient().post("sessions/call-1/transcript", {"messages": TALK}), 401, "bad_key")
    refused(AgentClient(reader).post("sessions/call-1/transcript", {"messages": TALK}), 403, "not_permitted")


def test_a_database_that_is_late_is_told_at_once(agent: AgentClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def late(_: capture.Batch) -> capture.Receipt:
        raise capture_writer.NotInTime

    monkeypatch.setattr(capture, "commit", late)
    answer = agent.post("sessions/call-1/transcript", {"messages": TALK})
    assert (answer.status, answer.json()["code"], "Retry-After" in answer.headers) == (503, "unavailable", True)


def test_reading_a_transcript_asks_the_database_nothing(
    agent: AgentClient, monkeypatch: pytest.MonkeyPatch, django_assert_num_queries: Any
) -> None:
    agent.get("me")  # the key is remembered
    monkeypatch.setattr(capture, "commit", lambda batch: batch.receipt(len(batch.rows)))
    with django_assert_num_queries(0):
        assert agent.post("sessions/call-1/transcript", {"messages": TALK}).status == 202


def test_hostile_content_is_stored_clean_and_secrets_never(agent: AgentClient) -> None:
    raw = (
        b'{"messages":[{"role":"user","content":"a\\u0000b \\ud83d key AKIAEXAMPLEEXAMPLE12","x":NaN,"k\\u0000":1},'
        b'{"role":"user","content":"one\xe2\x80\xa8two"}]}'
    )
    assert agent.post("sessions/call-1/transcript", raw).json()["accepted"] == 2
    first, second = (text for _, _, text in stored())
    assert "\x00" not in first
    assert "AKIAEXAMPLE" not in first
    assert first.encode()
    assert second == "one\u2028two"
