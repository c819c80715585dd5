"""A pause is heard by the next call, whatever a process remembers; nothing at all is told until it is taken back."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from memory import agent_auth
from memory.models import BriefServed, Retraction
from projects import configs, tenancy
from projects.models import Agent, Project
from tests.factories import Cast, approved, observation, session
from tests.memory.agent_client import AgentClient

pytestmark = pytest.mark.django_db
ASKED: dict[str, Any] = {"subjects": ["customer:cust_123"], "max_tokens": 500}


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    agent_auth.forget()
    yield
    agent_auth.forget()


@pytest.fixture
def client(cast: Cast) -> AgentClient:
    """A client whose key is remembered, with the agent as it was before any pause."""
    caller = AgentClient(cast.keys["support"])
    with tenancy.project(cast.project.pk):
        approved(cast.project, cast.rita, key="user_preference:contact")
        observation(session(cast.support, "call-1"), "Hello there.")
        config, _ = configs.write(cast.support, {"tone": "calm"}, by=cast.olga, now=config_time(cast))
        configs.deploy(config, by=cast.olga, now=config_time(cast))
    assert caller.post("briefs", ASKED).json()["items"]
    return caller


def config_time(cast: Cast) -> datetime:
    return cast.project.created_at


def pause(cast: Cast, who: str, now: datetime) -> None:
    with tenancy.project(cast.project.pk):
        row = Agent.objects.get(pk=cast.support.pk) if who == "agent" else Project.objects.get(pk=cast.project.pk)
        row.pause(now, cast.rita)


def resume(cast: Cast, who: str) -> None:
    with tenancy.project(cast.project.pk):
        row = Agent.objects.get(pk=cast.support.pk) if who == "agent" else Project.objects.get(pk=cast.project.pk)
        row.resume()


@pytest.mark.parametrize("who", ["agent", "project"])
def test_the_next_call_of_a_remembered_key_is_told_nothing_by_any_door(
    cast: Cast, client: AgentClient, now: datetime, who: str
) -> None:
    fact_id = client.post("facts/lookup", {"key_prefix": "user_preference"}).json()["items"][0]["id"]
    pause(cast, who, now)
    for answer in (client.post("briefs", ASKED), client.get("brief?max_tokens=500")):
        found = answer.json()
        assert (found["paused"], found["text"], found["system"]) == (True, "", None)
        assert (found["items"], found["dropped"], found["retracted"]) == ([], [], [])
    for answer in (
        client.post("facts/lookup", {"key_prefix": "user_preference"}),
        client.post("facts/lookup", {"key_prefix": "user_preference", "subject": "nobody"}),
        client.get("facts?key=user_preference:contact"),
        client.post("facts/search", {"query": "e-mail"}),
        client.post("facts/search", {"query": "e-mail", "subject": "nobody"}),
    ):
        assert (answer.json()["items"], answer.json()["paused"]) == ([], True)
    assert client.get(f"facts/{fact_id}").content == client.get("facts/f-000000").content
    assert client.get("sessions/call-1/context").json()["why"] == "paused"
    assert client.get("me").json()["paused"] is True
    assert client.get("me/config").json() == {"version": None, "deployed_at": None, "config": None}
    resume(cast, who)
    assert client.post("briefs", ASKED).json()["items"]
    assert client.post("facts/search", {"query": "e-mail"}).json()["paused"] is False


def test_what_is_sent_is_still_heard(cast: Cast, client: AgentClient, now: datetime) -> None:
    pause(cast, "agent", now)
    assert client.observe("call-1", {"id": "1", "kind": "message", "role": "user", "text": "Still here."}).status == 202


def test_a_key_remembered_as_paused_takes_nothing_back_once_resumed(
    cast: Cast, client: AgentClient, now: datetime
) -> None:
    """A stale row that saw the pause would find nothing visible, and tell the agent to drop what it knows."""
    pause(cast, "agent", now)
    agent_auth.forget()
    client.get("me")
    resume(cast, "agent")
    found = client.post("briefs", ASKED).json()
    assert (len(found["items"]), found["retracted"]) == (1, [])
    with tenancy.project(cast.project.pk):
        assert not Retraction.objects.exists()


def test_a_pause_costs_a_brief_no_statement_more(cast: Cast, client: AgentClient, now: datetime) -> None:
    def statements() -> int:
        with CaptureQueriesContext(connections[BriefServed.objects.db]) as seen:
            client.post("briefs", ASKED)
        return len(seen)

    before = statements()
    pause(cast, "agent", now)
    assert statements() < before
