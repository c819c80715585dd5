"""The brief over the wire: its shape, conditional requests, and a refusal for everything that does not fit."""

from __future__ import annotations

from datetime import datetime

import pytest

from memory import agent_auth
from memory.models import BriefServed
from projects import tenancy
from projects.models import Agent, ApiKey
from tests.factories import Cast, approved
from tests.memory.agent_client import AgentClient

pytestmark = pytest.mark.django_db
ASKED = {"subjects": ["customer:cust_123"], "max_tokens": 500}


@pytest.fixture
def client(cast: Cast) -> AgentClient:
    return AgentClient(cast.keys["support"])


def known(cast: Cast, text: str = "Prefers e-mail.", **fields: object) -> str:
    with tenancy.project(cast.project.pk):
        return approved(cast.project, cast.rita, text, **fields).short_id


def test_a_brief_has_the_documented_shape(cast: Cast, client: AgentClient) -> None:
    fact_id = known(cast)
    answer = client.post("briefs", ASKED)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/json")
    found = answer.json()
    with tenancy.project(cast.project.pk):
        (row,) = BriefServed.objects.all()
    assert list(found) == [
        *("brief_id", "url", "etag", "text", "items", "runbooks", "system", "tokens", "tokenizer", "budget"),
        *("dropped", "retracted", "paused", "capture_dropped"),
    ]
    assert found["url"] == f"http://localhost:8000/briefs/{found['brief_id']}"
    assert found["brief_id"].startswith("b-")
    assert (found["etag"], found["tokens"], found["text"]) == (row.etag, row.tokens, row.text)
    assert (found["tokenizer"], found["budget"], found["paused"], found["capture_dropped"]) == (
        "o200k_base",
        500,
        False,
        0,
    )
    (item,) = found["items"]
    assert list(item) == ["id", "type", "key", "value", "text", "score", "why", "tokens", "times_seen", "last_seen_on"]
    assert (item["id"], item["type"], item["key"]) == (fact_id, "user_preference", "user_preference:contact_channel")


def test_the_address_is_the_public_one_where_one_is_set(cast: Cast, client: AgentClient, settings) -> None:  # type: ignore[no-untyped-def]
    settings.PUBLIC_URL = "https://memory.example"
    assert client.post("briefs", ASKED).json()["url"].startswith("https://memory.example/briefs/b-")


def test_an_unchanged_brief_says_only_so_and_is_on_record(cast: Cast, client: AgentClient) -> None:
    known(cast)
    etag = client.post("briefs", ASKED).json()["etag"]
    assert client.post("briefs", {**ASKED, "known_etag": etag}).json() == {"unchanged": True, "etag": etag}
    with tenancy.project(cast.project.pk):
        assert BriefServed.objects.filter(unchanged=True, text="").count() == 1
    known(cast, "Pays late.", key="customer_fact:pays")
    assert "text" in client.post("briefs", {**ASKED, "known_etag": etag}).json()


def test_a_conditional_get_answers_304_until_something_changes(cast: Cast, client: AgentClient) -> None:
    known(cast, about="project:shop")
    first = client.get("brief?max_tokens=500")
    etag = first.headers["ETag"]
    assert etag == f'"{first.json()["etag"]}"'
    for sent in (etag, f"W/{etag}", f'"other", {etag}'):
        again = client.get("brief?max_tokens=500", IF_NONE_MATCH=sent, HTTP_IF_NONE_MATCH=sent)
        assert (again.status, again.content, again.headers["ETag"]) == (304, b"", etag)
    known(cast, "Deploys happen on Tuesdays.", about="project:shop", key="choice:deploy")
    assert client.get("brief?max_tokens=500", HTTP_IF_NONE_MATCH=etag).status == 200


def test_a_post_takes_no_notice_of_if_none_match(cast: Cast, client: AgentClient) -> None:
    known(cast)
    etag = client.post("briefs", ASKED).json()["etag"]
    assert client.post("briefs", ASKED, HTTP_IF_NONE_MATCH=f'"{etag}"').status == 200


def test_the_projects_budget_applies_where_none_is_named(cast: Cast, client: AgentClient) -> None:
    assert client.post("briefs", {}).json()["budget"] == 1200
    assert client.get("brief").json()["budget"] == 1200


def test_a_paused_agent_is_told_so(cast: Cast, client: AgentClient, now: datetime) -> None:
    known(cast)
    with tenancy.project(cast.project.pk):
        Agent.objects.get(pk=cast.support.pk).pause(now)
    agent_auth.forget()
    found = client.post("briefs", ASKED).json()
    assert (found["paused"], found["items"], found["text"]) == (True, [], "")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"max_token": 5}, "max_token"),
        ({"agent": "sales"}, "agent"),
        ({"project": "depot"}, "project"),
        ({"max_tokens": -1}, "max_tokens"),
        ({"max_tokens": "many"}, "max_tokens"),
        ({"max_tokens": 10**9}, "max_tokens"),
        ({"subjects": "customer:a"}, "subjects"),
        ({"subjects": ["customer:a\u200bb"]}, "subjects.0"),
        ({"subjects": ["customer:"]}, "subjects.0"),
        ({"subjects": [None]}, "subjects.0"),
        ({"session": ""}, "session"),
        ({"session": "a\x00b"}, "session"),
        ({"task": 7}, "task"),
        ({"task": "\ud800"}, "task"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(client: AgentClient, body: dict[str, object], field: str) -> None:
    answer = client.post("briefs", body)
    assert answer.status == 422
    assert set(answer.json()) == {"code", "message", "field"}
    assert answer.json()["field"] == field


def test_a_get_refuses_what_it_does_not_know(client: AgentClient) -> None:
    assert client.get("brief?task=x").status == 422
    assert client.get("brief?max_tokens=x").status == 422


@pytest.mark.parametrize("task", ["", "  ", "\x00", "🎉", "word " * 10_000, "& | ! :* '"])
def test_any_text_is_a_task(cast: Cast, client: AgentClient, task: str) -> None:
    known(cast)
    assert len(client.post("briefs", {**ASKED, "task": task}).json()["items"]) == 1


def test_a_key_without_the_permission_reads_no_brief(cast: Cast) -> None:
    with tenancy.system("command"):
        _, key = ApiKey.objects.issue(cast.support, cast.olga, permissions=("capture", "propose"))
    for answer in (AgentClient(key).post("briefs", {}), AgentClient(key).get("brief")):
        assert (answer.status, answer.json()["code"]) == (403, "not_permitted")


def test_without_a_key_there_is_no_brief(cast: Cast) -> None:
    for key in ("", "cs_00000000_" + "0" * 40):
        assert AgentClient(key).post("briefs", {}).status == 401


def test_a_brief_is_one_transaction_of_few_statements(
    cast: Cast,
    client: AgentClient,
    django_assert_num_queries,  # type: ignore[no-untyped-def]
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(agent_auth, "monotonic", lambda: 0.0)  # the key stays remembered, however slow the machine
    for number in range(10):
        known(cast, f"Lesson {number}.", key=f"fix:{number}")
    client.post("briefs", ASKED)
    with django_assert_num_queries(8):
        client.post("briefs", ASKED)
