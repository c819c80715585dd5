"""Whatever arrives, capture answers: never with a fault, and the books balance."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from memory import agent_auth, api_limits
from memory.api_observations import FIELDS, FRAME
from memory.models import Observation
from memory.transcript import KINDS, ROLES
from projects import tenancy
from tests.factories import Cast
from tests.memory.agent_client import AgentClient

pytestmark = pytest.mark.django_db

# Half characters, NUL and all: JSON can carry them.
TEXT = st.text(st.characters(), max_size=40)
SCALAR = st.none() | st.booleans() | st.integers() | st.floats() | TEXT
ANY = st.recursive(
    SCALAR, lambda one: st.lists(one, max_size=4) | st.dictionaries(TEXT, one, max_size=4), max_leaves=12
)
LIKELY = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(KINDS) | ANY,
        "role": st.sampled_from(ROLES) | ANY,
        "text": TEXT | ANY,
    },
    optional={
        "id": st.sampled_from(["a", "b", "c"]) | st.integers(0, 5) | ANY,
        "seq": st.integers(0, 9) | ANY,
        "exit_code": st.integers(-1, 255) | ANY,
        "paths": st.lists(TEXT, max_size=3) | ANY,
        "occurred_at": st.datetimes().map(str) | ANY,
        **dict.fromkeys(("tool", "call_id", "is_error", "sidechain", "payload", "else"), ANY),
    },
)
BODY = st.fixed_dictionaries(
    {"observations": st.lists(LIKELY | ANY, max_size=6)},
    optional={
        "subjects": st.lists(TEXT, max_size=2) | ANY,
        "timezone": st.sampled_from(["UTC", "Asia/Shanghai"]) | ANY,
        "batch_id": st.sampled_from(["b-1", "b-2"]) | ANY,
        "cwd": TEXT | ANY,
        "else": ANY,
    },
)


def count() -> int:
    with tenancy.system("command"):
        return Observation.objects.count()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=BODY)
@example(
    body={"observations": [{"kind": "message", "role": "user", "text": "\ud800\x00", "payload": {"": float("nan")}}]}
)
def test_any_batch_is_answered_and_its_books_balance(cast: Cast, body: dict[str, Any]) -> None:
    api_limits.forget()
    before = count()
    answer = AgentClient(cast.keys["support"]).post("sessions/s/observations", json.dumps(body).encode())
    assert answer.status in (202, 422)
    if answer.status == 422:
        assert count() == before
        return
    said = answer.json()
    if "batch_id" not in body:
        assert len(body["observations"]) == said["accepted"] + said["duplicates"] + sum(said["dropped"].values())
        assert count() - before == said["accepted"]
    assert sum(said["dropped"].values()) == sum(one["code"] != "unknown_kind" for one in said["errors"])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(body=ANY.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=60))
def test_any_body_is_answered(cast: Cast, body: bytes) -> None:
    agent_auth.forget()
    api_limits.forget()
    for path in ("sessions/s/observations", "briefs", "facts", "facts/lookup", "facts/search"):
        answer = AgentClient(cast.keys["support"]).post(path, body)
        assert answer.status < 500
        assert answer.status < 300 or set(answer.json()) == {"code", "message", "field"}


def test_the_strategies_know_every_field() -> None:
    assert {"observations", "subjects", "timezone", "batch_id", "cwd"} == FRAME
    assert set(FIELDS) == {"kind", "role", "text", "id", "seq", "exit_code", "paths", "occurred_at"} | {
        "tool",
        "call_id",
        "is_error",
        "sidechain",
    }
