"""The door for agents: whose key it is, what a wrong call is told, and what it never tells."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from memory import agent_auth, api_limits
from memory.api import api
from memory.models import Session
from projects import tenancy
from projects.models import ApiKey
from tests.factories import Cast
from tests.memory.agent_client import AgentClient, Answer, Unread

pytestmark = pytest.mark.django_db
OBSERVATION = {"kind": "message", "role": "user", "text": "The port is 5433."}


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    agent_auth.forget()
    api_limits.forget()


@pytest.fixture
def agent(cast: Cast) -> AgentClient:
    return AgentClient(cast.keys["support"])


def refused(answer: Answer, status: int, code: str, field: str | None = None) -> str:
    assert (answer.status, answer.json()["code"], answer.json()["field"]) == (status, code, field)
    assert set(answer.json()) == {"code", "message", "field"}
    return str(answer.json()["message"])


def issue(cast: Cast, *permissions: str, **options: Any) -> str:
    with tenancy.system("command"):
        return ApiKey.objects.issue(cast.support, cast.olga, permissions or ("capture",), **options)[1]


def test_a_key_says_who_it_is(cast: Cast, agent: AgentClient) -> None:
    answer = agent.get("me")
    assert answer.status == 200
    assert answer.json() == {
        "agent": "support",
        "project": "shop",
        "permissions": ["brief", "capture", "propose"],
        "key": cast.keys["support"][:11],
        "paused": False,
    }
    assert answer.headers["Cache-Control"] == "no-store"


def test_a_paused_agent_is_told(cast: Cast, agent: AgentClient) -> None:
    with tenancy.system("command"):
        cast.support.pause(timezone.now())
    assert agent.get("me").json()["paused"] is True


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer cs_00000000_" + "0" * 40,
        "Bearer cs_short",
        "Bearer " + "x" * 100_000,
        "Bearer cs_\u00e9",
        "Basic dXNlcjpwYXNz",
        "Token cs_00000000_" + "0" * 40,
    ],
)
def test_a_wrong_key_is_nobody(cast: Cast, header: str) -> None:
    answer = AgentClient().post("sessions/s/observations", {"observations": []}, HTTP_AUTHORIZATION=header)
    refused(answer, 401, "bad_key")
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_revoked_expired_and_archived_keys_are_nobody(cast: Cast) -> None:
    now = timezone.now()
    expired = issue(cast, lifetime=timedelta(days=1), now=now - timedelta(days=2))
    revoked = issue(cast)
    with tenancy.system("command"):
        ApiKey.objects.get(prefix=revoked[:11]).revoke(now)
    for key in (expired, revoked):
        refused(AgentClient(key).get("me"), 401, "bad_key")
    cast.support.archived_at = now
    with tenancy.system("command"):
        cast.support.save(update_fields=["archived_at"])
    refused(AgentClient(cast.keys["support"]).get("me"), 401, "bad_key")


def test_a_revoked_key_ends_within_two_seconds(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(agent_auth, "monotonic", lambda: clock[0])
    agent = AgentClient(cast.keys["support"])
    assert agent.get("me").status == 200
    with tenancy.system("command"):
        ApiKey.objects.get(prefix=agent.key[:11]).revoke(timezone.now())
    clock[0] += 2.0
    assert agent.get("me").status == 401


def test_a_key_that_expires_while_it_is_remembered_ends_at_once(cast: Cast) -> None:
    key = issue(cast, lifetime=timedelta(minutes=1))
    now = timezone.now()
    assert agent_auth.caller_of(f"Bearer {key}", now).agent == cast.support
    with pytest.raises(agent_auth.ApiError):
        agent_auth.caller_of(f"Bearer {key}", now + timedelta(minutes=2))


def test_the_use_of_a_key_is_noted_once_a_minute(cast: Cast) -> None:
    key, now = cast.keys["support"], timezone.now()

    def noted(at: timedelta) -> object:
        agent_auth.forget()
        agent_auth.caller_of(f"Bearer {key}", now + at)
        with tenancy.system("command"):
            return ApiKey.objects.get(prefix=key[:11]).last_used_at

    assert noted(timedelta(0)) == now
    assert noted(timedelta(seconds=59)) == now
    assert noted(timedelta(seconds=61)) == now + timedelta(seconds=61)


def test_a_key_without_the_permission_is_told_which(cast: Cast) -> None:
    answer = AgentClient(issue(cast, "brief")).observe("s", OBSERVATION)
    assert "'capture'" in refused(answer, 403, "not_permitted")


def test_a_browser_s_session_is_no_key(cast: Cast) -> None:
    from django.test import Client

    browser = Client()
    browser.force_login(cast.olga, backend="django.contrib.auth.backends.ModelBackend")
    cookie = f"sessionid={browser.cookies['sessionid'].value}"
    refused(AgentClient().get("me", HTTP_COOKIE=cookie), 401, "bad_key")


def test_what_is_no_address_is_said_in_json(agent: AgentClient, caplog: pytest.LogCaptureFixture) -> None:
    for path in ("nothing", "sessions/s", "", "me/", "docs", "sessions/a%0Ab/observations"):
        refused(agent.get(path), 404, "not_found")
    assert "sessions" not in caplog.text


def test_the_document_needs_no_key_and_loads_nothing_from_elsewhere() -> None:
    answer = AgentClient().get("openapi.json")
    assert answer.status == 200
    assert {"/api/v1/me", "/api/v1/sessions/{external_id}/observations"} <= set(answer.json()["paths"])


def test_the_docs_name_every_call() -> None:
    words = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
    for path, methods in api.get_openapi_schema()["paths"].items():
        for method in methods:
            assert f"{method.upper()} {path.removeprefix('/api/v1')}" in words, (method, path)


def test_the_docs_name_every_code() -> None:
    root = Path(__file__).parents[2]
    words = (root / "docs" / "api.md").read_text()
    sources = [source.read_text() for source in (root / "memory").glob("*.py")]
    codes = {code for source in sources for code in re.findall(r'ApiError\(\s*\d{3},\s*"([a-z_]+)"', source)}
    assert {"bad_key", "wrong_method"} <= codes
    assert [code for code in sorted(codes) if f"`{code}`" not in words] == []


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        (b"", "malformed_json", None),
        (b"{", "malformed_json", None),
        (b'{"observations": [', "malformed_json", None),
        (b"\xff\xfe\x00", "malformed_json", None),
        (b"[" * 200_000, "malformed_json", None),
        (b'{"observations": [], "n": ' + b"9" * 10_000 + b"}", "malformed_json", None),
        (b"null", "not_an_object", None),
        (b"[]", "not_an_object", None),
        (b'"text"', "not_an_object", None),
        (b"{}", "missing_field", "observations"),
        (b'{"observations": null}', "missing_field", "observations"),
        (b'{"observations": {}}', "bad_value", "observations"),
        (b'{"observations": "[]"}', "bad_value", "observations"),
        (b'{"observations": [], "subjects": "customer:a"}', "bad_value", "subjects"),
        (b'{"observations": [], "subjects": [1]}', "bad_value", "subjects"),
        (b'{"observations": [], "subjects": ["customer:"]}', "bad_subject", "subjects.0"),
        ('{"observations": [], "subjects": ["customer:a\u200bb"]}'.encode(), "bad_subject", "subjects.0"),
        (b'{"observations": [], "timezone": "Mars/Olympus"}', "bad_timezone", "timezone"),
        (b'{"observations": [], "timezone": 7}', "bad_value", "timezone"),
        (b'{"observations": [], "cwd": []}', "bad_value", "cwd"),
        (b'{"observations": [], "batch_id": 7}', "bad_value", "batch_id"),
        (b'{"observations": [], "batch_id": ""}', "bad_id", "batch_id"),
    ],
)
def test_a_broken_body_is_refused_whole(agent: AgentClient, body: bytes, code: str, field: str | None) -> None:
    refused(agent.post("sessions/s/observations", body), 422, code, field)
    with tenancy.system("command"):
        assert not Session.objects.exists()


def test_an_error_never_repeats_what_was_sent(agent: AgentClient) -> None:
    secret = "ghp_" + "z" * 36
    for body in (
        {"observations": secret},
        {"observations": [], "subjects": [f"customer:{secret}\u200b"]},
        {"observations": [], "timezone": secret},
        {"observations": [], "batch_id": secret},
    ):
        answer = agent.post("sessions/s/observations", body)
        assert answer.status == 422
        assert secret.encode() not in answer.content
    answer = agent.observe("s", {"kind": secret, "role": secret, "text": secret})
    assert secret.encode() not in answer.content


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        ("text", "not_an_object"),
        (None, "not_an_object"),
        ([], "not_an_object"),
        ({}, "missing_kind"),
        ({"kind": "message", "text": "x"}, "missing_role"),
        ({"kind": "message", "role": "user"}, "missing_text"),
        ({**OBSERVATION, "text": None}, "missing_text"),
        ({**OBSERVATION, "text": 5}, "bad_text"),
        ({**OBSERVATION, "text": ["x"]}, "bad_text"),
        ({**OBSERVATION, "kind": 5}, "bad_kind"),
        ({**OBSERVATION, "role": {}}, "bad_role"),
        ({**OBSERVATION, "role": "narrator"}, "bad_role"),
        ({**OBSERVATION, "id": True}, "bad_id"),
        ({**OBSERVATION, "id": ""}, "bad_id"),
        ({**OBSERVATION, "id": 10**30}, "bad_id"),
        ({**OBSERVATION, "seq": "1"}, "bad_seq"),
        ({**OBSERVATION, "seq": 1.5}, "bad_seq"),
        ({**OBSERVATION, "seq": float("nan")}, "bad_seq"),
        ({**OBSERVATION, "tool": []}, "bad_tool"),
        ({**OBSERVATION, "call_id": 3}, "bad_call_id"),
        ({**OBSERVATION, "exit_code": "1"}, "bad_exit_code"),
        ({**OBSERVATION, "exit_code": True}, "bad_exit_code"),
        ({**OBSERVATION, "exit_code": 2**70}, "bad_exit_code"),
        ({**OBSERVATION, "is_error": "yes"}, "bad_is_error"),
        ({**OBSERVATION, "is_error": 1}, "bad_is_error"),
        ({**OBSERVATION, "sidechain": 0}, "bad_sidechain"),
        ({**OBSERVATION, "paths": "a.py"}, "bad_paths"),
        ({**OBSERVATION, "paths": [1]}, "bad_paths"),
        ({**OBSERVATION, "occurred_at": 1764500000}, "bad_occurred_at"),
    ],
)
def test_a_broken_observation_is_dropped_and_counted(agent: AgentClient, broken: Any, code: str) -> None:
    answer = agent.observe("s", OBSERVATION, broken, OBSERVATION)
    assert answer.status == 202
    assert answer.json() == {
        "accepted": 2,
        "duplicates": 0,
        "dropped": {code: 1},
        "errors": [{"index": 1, "code": code}],
    }


def stored(session: str = "s") -> list[Any]:
    with tenancy.system("command"):
        return list(Session.objects.get(external_id=session).observations.select_related("payload").order_by("seq"))


def test_unknown_fields_are_kept_in_the_payload(agent: AgentClient) -> None:
    first = {**OBSERVATION, "id": 7, "mood": "good", "payload": {"raw": 1}, "exit_code": None}
    second = {**OBSERVATION, "kind": "thinking"}
    answer = agent.observe("s", first, second, OBSERVATION, source="hook")
    assert answer.json()["errors"] == [{"index": 1, "code": "unknown_kind"}]
    one, two, three = stored()
    assert one.external_id == "7"
    assert one.payload.body == {"payload": {"raw": 1}, "mood": "good", "call": {"source": "hook"}}
    assert two.payload.body == {"kind": "thinking"}
    assert not hasattr(three, "payload")


def test_a_time_without_a_zone_is_in_the_zone_of_the_session(agent: AgentClient) -> None:
    at = [{**OBSERVATION, "occurred_at": written} for written in ("2026-11-29T17:30:00", "2026-11-29T17:30:00Z", "x")]
    agent.observe("s", *at, timezone="Asia/Shanghai")
    local, utc, none = stored()
    assert (utc.occurred_at - local.occurred_at) == timedelta(hours=8)
    assert [one.occurred_source for one in (local, utc, none)] == ["sent", "sent", "server"]


def test_bytes_that_are_no_utf8_and_odd_json_are_cleaned(agent: AgentClient) -> None:
    body = b'\xef\xbb\xbf{"observations": [{"kind": "message", "role": "user", "text": "caf\xe9 \\ud800 \\u0000",'
    body += b' "payload": {"n": NaN, "i": -Infinity}}]}'
    assert agent.post("sessions/s/observations", body).json()["accepted"] == 1
    [row] = stored()
    assert row.text == "caf\ufffd \ufffd "
    assert row.payload.body == {"n": None, "i": None}


def test_a_session_s_id_may_hold_anything_an_address_can(agent: AgentClient) -> None:
    for name in ("thread/7", "a b", "gr\u00fc\u00dfe", "x?y", "%41"):
        from urllib.parse import quote

        assert agent.observe(quote(name, safe=""), OBSERVATION).status == 202
        assert len(stored(name)) == 1


@pytest.mark.parametrize("name", ["%00", "%E2%80%8B", "x" * 3000, "ghp_" + "z" * 36, "%20"])
def test_a_session_s_id_that_cannot_be_kept_is_refused(agent: AgentClient, name: str) -> None:
    refused(agent.observe(name, OBSERVATION), 422, "bad_id", "external_id")


def test_a_large_body_is_refused_before_it_is_read(agent: AgentClient) -> None:
    answer = agent.call("POST", "sessions/s/observations", Unread(), length=50 * 1024 * 1024)
    assert "10 MB" in refused(answer, 413, "too_large")


def test_a_body_of_somebody_unknown_is_not_read(cast: Cast) -> None:
    refused(AgentClient().call("POST", "sessions/s/observations", Unread(), length=100), 401, "bad_key")


def test_a_body_without_a_length_is_read_up_to_the_limit(agent: AgentClient, monkeypatch: pytest.MonkeyPatch) -> None:
    body = b'{"observations": [{"kind": "message", "role": "user", "text": "x"}]}'
    chunked = {"HTTP_TRANSFER_ENCODING": "chunked"}
    assert agent.post("sessions/s/observations", body, **chunked).json()["accepted"] == 1
    monkeypatch.setattr("memory.api_body.BODY_LIMIT_BYTES", len(body) - 1)
    refused(agent.post("sessions/s/observations", body, **chunked), 413, "too_large")


def test_too_many_observations_in_one_call_are_refused(agent: AgentClient) -> None:
    refused(agent.observe("s", *([1] * 5001)), 413, "too_large", "observations")


def test_a_key_that_calls_too_often_is_told_when_to_come_back(
    cast: Cast, agent: AgentClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [100.0]
    monkeypatch.setattr(api_limits, "monotonic", lambda: clock[0])
    monkeypatch.setattr(api_limits, "CALLS_AT_ONCE", 2)
    assert [agent.observe("s", OBSERVATION).status for _ in range(3)] == [202, 202, 429]
    answer = agent.observe("s", OBSERVATION)
    refused(answer, 429, "too_many_calls")
    assert answer.headers["Retry-After"] == "1"
    assert AgentClient(cast.keys["sales"]).observe("s", OBSERVATION).status == 202
    clock[0] += 1
    assert agent.observe("s", OBSERVATION).status == 202


def test_a_database_that_is_down_is_said_and_nothing_is_promised(
    agent: AgentClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent.get("me")

    def down(*args: object) -> None:
        raise OperationalError("connection refused: password=hunter2")

    monkeypatch.setattr("memory.capture.store", down)
    answer = agent.observe("s", OBSERVATION)
    assert "again" in refused(answer, 503, "unavailable")
    assert int(answer.headers["Retry-After"]) > 0
    assert b"hunter2" not in answer.content


def test_a_fault_of_ours_shows_and_logs_nothing_that_was_sent(
    agent: AgentClient, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    agent.get("me")

    def broken(*args: object) -> None:
        raise ValueError("invalid text: my password is hunter2")

    monkeypatch.setattr("memory.capture.store", broken)
    refused(agent.observe("s", OBSERVATION), 500, "internal_error")
    assert "ValueError" in caplog.text
    assert "hunter2" not in caplog.text


def test_the_end_of_a_session_has_it_read(cast: Cast, agent: AgentClient, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr("memory.distillation.request", lambda session, now: asked.append(session.external_id))
    agent.observe("call/9", OBSERVATION)
    answer = agent.post("sessions/call%2F9/end")
    assert (answer.status, answer.json(), asked) == (202, {"status": "queued"}, ["call/9"])


def test_a_session_of_another_agent_is_as_unknown_as_none(cast: Cast, agent: AgentClient) -> None:
    AgentClient(cast.keys["sales"]).observe("theirs", OBSERVATION)
    AgentClient(cast.keys["foreign"]).observe("foreign", OBSERVATION)
    answers = [agent.post(f"sessions/{name}/end") for name in ("theirs", "foreign", "none", "%00")]
    assert {answer.status for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1


def test_two_projects_may_use_the_same_session_id(cast: Cast, agent: AgentClient) -> None:
    agent.observe("s", {**OBSERVATION, "id": "a"})
    assert AgentClient(cast.keys["foreign"]).observe("s", {**OBSERVATION, "id": "a"}).json()["accepted"] == 1


def test_a_wrong_method_is_refused(agent: AgentClient) -> None:
    assert agent.get("sessions/s/observations").status == 405


def test_every_sentence_ends() -> None:
    source = "".join(path.read_text() for path in (Path(__file__).parents[2] / "memory").glob("api_*.py"))
    for sentence in re.findall(r'ApiError\(\d+, "\w+", f?"([^"]+)"', source):
        assert sentence.endswith((".", "…")), sentence
