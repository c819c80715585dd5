"""Facts over the wire: look-up, search, one by id, proposals; and what no call may ever give away."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import Any

import pytest

from memory.models import Evidence, Fact, Status
from projects import tenancy
from projects.models import ApiKey, AuditEvent
from tests.factories import Cast, approved, observation, session
from tests.memory.agent_client import AgentClient, Answer

pytestmark = pytest.mark.django_db
KEY = "user_preference:timezone"


@pytest.fixture
def client(cast: Cast) -> AgentClient:
    return AgentClient(cast.keys["support"])


@pytest.fixture
def sales(cast: Cast) -> AgentClient:
    return AgentClient(cast.keys["sales"])


def known(cast: Cast, text: str = "Lives in Europe/Berlin.", **fields: Any) -> Fact:
    with tenancy.project(cast.project.pk):
        return approved(cast.project, cast.rita, text, **{"key": KEY, **fields})


def texts(answer: Answer) -> list[str]:
    assert answer.status == 200, answer.content
    return [item["text"] for item in answer.json()["items"]]


# Reading -------------------------------------------------------------------------------------------------------------


def test_a_fact_is_found_by_key_by_prefix_by_words_and_by_id(cast: Cast, client: AgentClient) -> None:
    fact = known(cast)
    for answer in (
        client.post("facts/lookup", {"key": KEY}),
        client.post("facts/lookup", {"key": KEY, "subject": "cust_123"}),
        client.post("facts/lookup", {"key_prefix": "user_preference"}),
        client.get(f"facts?key={KEY}"),
        client.post("facts/search", {"query": "Berlin"}),
        client.post("facts/search", {"query": "Berlin", "subject": "customer:CUST_123", "types": ["user_preference"]}),
    ):
        assert texts(answer) == [fact.text]
    found = client.get(f"facts/{fact.short_id}").json()
    assert list(found) == [
        *("id", "type", "key", "value", "text", "subject", "standing", "times_seen"),
        *("last_seen_on", "confirmed_on", "expires_at", "use"),
    ]
    assert (found["id"], found["subject"]) == (fact.short_id, "customer:cust_123")


def test_a_search_says_how_relevant_a_fact_is_and_why(cast: Cast, client: AgentClient) -> None:
    known(cast)
    (hit,) = client.post("facts/search", {"query": "Berlin"}).json()["items"]
    assert (hit["score"], hit["why"]) == (1.0, "words")
    assert 0 < hit["priority"] <= 1


def test_a_subject_nobody_heard_of_has_no_facts_and_is_not_made(cast: Cast, client: AgentClient) -> None:
    known(cast)
    assert texts(client.post("facts/lookup", {"key": KEY, "subject": "customer:other"})) == []
    assert texts(client.post("facts/search", {"query": "Berlin", "subject": "customer:other"})) == []
    with tenancy.project(cast.project.pk):
        assert not cast.project.subjects.filter(entity_id="other").exists()


def test_pages_go_on_behind_the_cursor(cast: Cast, client: AgentClient) -> None:
    for number in range(5):
        known(cast, f"Lesson {number}.", key=f"fix:{number}")
    seen: list[str] = []
    cursor = None
    for _ in range(3):
        found = client.post(
            "facts/lookup", {"key": "fix:*", "limit": 2, **({"cursor": cursor} if cursor else {})}
        ).json()
        seen += [item["text"] for item in found["items"]]
        cursor = found["next_cursor"]
    assert seen == [f"Lesson {number}." for number in reversed(range(5))]
    assert cursor is None


def test_every_reading_is_in_the_audit(cast: Cast, client: AgentClient) -> None:
    fact = known(cast)
    client.post("facts/lookup", {"key": KEY})
    client.post("facts/search", {"query": "Berlin"})
    client.get(f"facts/{fact.short_id}")
    with tenancy.project(cast.project.pk):
        events = list(AuditEvent.objects.filter(actor_id=cast.support.pk, actor_kind="agent").order_by("pk"))
    assert [(event.action, event.object_ids) for event in events] == [
        ("facts.lookup", [fact.pk]),
        ("facts.search", [fact.pk]),
        ("fact.read", [fact.pk]),
    ]


def test_a_reading_that_gave_nothing_is_in_the_audit_too(cast: Cast, client: AgentClient) -> None:
    hidden = known(cast, everyone=False, agent_ids=[cast.sales.pk])
    client.post("facts/lookup", {"key": "no:such"})
    client.post("facts/lookup", {"key": KEY, "subject": "customer:nobody"})
    client.post("facts/search", {"query": "Berlin", "subject": "customer:nobody"})
    assert client.get(f"facts/{hidden.short_id}").status == 404
    assert client.get("facts/nonsense").status == 404
    with tenancy.project(cast.project.pk):
        events = AuditEvent.objects.filter(actor_id=cast.support.pk, actor_kind="agent").order_by("pk")
        assert [(event.action, event.object_ids, event.count) for event in events] == [
            ("facts.lookup", [], 0),
            ("facts.lookup", [], 0),
            ("facts.search", [], 0),
            ("fact.read", [], 0),
            ("fact.read", [], 0),
        ]


def test_a_fact_reaches_its_scope_by_every_door_and_nobody_else_by_any(
    cast: Cast, client: AgentClient, sales: AgentClient
) -> None:
    fact = known(cast, "Evaluates ZENITH.", everyone=False, agent_ids=[cast.support.pk])
    foreign = AgentClient(cast.keys["foreign"])

    def doors(agent: AgentClient) -> list[bytes]:
        return [
            agent.post("facts/lookup", {"key": KEY}).content,
            agent.post("facts/lookup", {"key_prefix": "user_preference", "subject": "cust_123"}).content,
            agent.get(f"facts?key={KEY}").content,
            agent.post("facts/search", {"query": "ZENITH", "min_score": 0}).content,
            agent.get(f"facts/{fact.short_id}").content,
            agent.post("briefs", {"subjects": ["cust_123"], "max_tokens": 500}).content,
            agent.post("briefs", {"subjects": ["cust_123"], "task": "ZENITH", "max_tokens": 500}).content,
            agent.post("briefs", {"subjects": ["cust_123"], "max_tokens": 10}).content,
        ]

    assert all(b"ZENITH" in said or fact.short_id.encode() in said for said in doors(client))
    for stranger in (sales, foreign):
        for said in doors(stranger):
            assert b"ZENITH" not in said
            assert fact.short_id.encode() not in said


def test_what_is_not_visible_answers_like_what_does_not_exist(cast: Cast, sales: AgentClient, now: datetime) -> None:
    hidden = known(cast, everyone=False, agent_ids=[cast.support.pk])
    removed = known(cast, "Was removed.", key="fix:a")
    with tenancy.project(cast.project.pk):
        removed.remove(cast.rita, revision=removed.revision, now=now)
    with tenancy.project(cast.other.pk):
        foreign = approved(cast.other, cast.sam, about="customer:x")
    answers = {
        (answer.status, answer.content)
        for fact_id in (
            hidden.short_id,
            removed.short_id,
            foreign.short_id,
            "f-000000",
            "f-",
            "x",
            "%00",
            "1",
            "F-2K81HD",
        )
        if (answer := sales.get(f"facts/{fact_id}"))
    }
    assert len(answers) == 1
    assert answers.pop()[0] == 404


def test_no_quote_and_no_session_leaves(cast: Cast, client: AgentClient) -> None:
    with tenancy.project(cast.project.pk):
        said = observation(session(cast.support, "call-secret-7"), "Call me in the QUOTED morning.")
        fact = approved(cast.project, cast.rita, "Prefers the morning.", key=KEY, quote=said)
    for answer in (
        client.get(f"facts/{fact.short_id}"),
        client.post("facts/lookup", {"key": KEY}),
        client.post("facts/search", {"query": "morning"}),
        client.post("briefs", {"subjects": ["cust_123"]}),
    ):
        assert b"Prefers the morning." in answer.content
        assert b"QUOTED" not in answer.content
        assert b"call-secret-7" not in answer.content


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("facts/lookup", {}),
        ("facts/lookup", {"key": "a", "key_prefix": "b"}),
        ("facts/lookup", {"key": "a", "agent": "sales"}),
        ("facts/lookup", {"key": "a", "limit": 0}),
        ("facts/lookup", {"key": "a", "cursor": "x"}),
        ("facts/lookup", {"key": "a", "subject": ""}),
        ("facts/lookup", {"key": "a", "subject": "a\u200bb"}),
        ("facts/lookup", {"key": None}),
        ("facts/search", {}),
        ("facts/search", {"query": None}),
        ("facts/search", {"query": "x", "min_score": 2}),
        ("facts/search", {"query": "x", "top_k": 2}),
        ("facts/search", b'{"query":"x","min_score":Infinity}'),
        ("facts/search", b'{"query":"x","min_score":NaN}'),
        ("facts", {"type": "fix", "key": "k"}),
        ("facts", b'{"type":"fix","key":"k","value":NaN}'),
        ("facts", b'{"type":"fix","key":"k","value":{"a":[Infinity]}}'),
        ("facts", b'{"type":"fix","key":"k","value":"v","confidence":NaN}'),
        ("facts", {"type": "a:b", "key": "k", "value": "v"}),
        ("facts", {"type": " ", "key": "k", "value": "v"}),
        ("facts", {"type": "fix", "key": "\u200b", "value": "v"}),
        ("facts", {"type": "fix", "key": "k" * 400, "value": "v"}),
        ("facts", {"type": "fix", "key": "k", "value": "v", "text": " \u200b "}),
        ("facts", {"type": "fix", "key": "k", "value": "v", "expires_at": "2026-12-01T00:00:00"}),
        ("facts", {"type": "fix", "key": "k", "value": "v", "scope": []}),
        ("facts", {"type": "fix", "key": "k", "value": "v", "scope": ["nobody"]}),
        ("facts", {"type": "fix", "key": "k", "value": "v", "scope": "support"}),
        ("facts", {"type": "fix", "key": "k", "value": "v", "scope": ["sup\u200bport"]}),
        ("facts", {"type": "fix", "key": "k", "value": "v", "status": "approved"}),
        ("facts", {"type": "fix", "key": "k", "value": ["x" * 500] * 100}),
        ("facts", b"{"),
        ("facts", b"[]"),
    ],
)
def test_what_does_not_fit_is_refused_in_strict_json(cast: Cast, client: AgentClient, path: str, body: Any) -> None:
    answer = client.post(path, body)
    assert answer.status == 422

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    assert set(json.loads(answer.content, parse_constant=refuse)) == {"code", "message", "field"}
    with tenancy.project(cast.project.pk):
        assert not Fact.objects.exists()


@pytest.mark.parametrize("query", ["", "   ", "\n\t", "\x00", "🎉", "& | ! :*", "x" * 100_000])
def test_any_text_is_a_query(cast: Cast, client: AgentClient, query: str) -> None:
    known(cast)
    assert texts(client.post("facts/search", {"query": query})) == []


def test_reading_and_proposing_are_permissions_of_their_own(cast: Cast) -> None:
    with tenancy.system("command"):
        reader = AgentClient(ApiKey.objects.issue(cast.support, cast.olga, permissions=("brief",))[1])
        proposer = AgentClient(ApiKey.objects.issue(cast.support, cast.olga, permissions=("propose",))[1])
    proposal = {"type": "fix", "key": "k", "value": "v"}
    assert reader.post("facts", proposal).status == 403
    assert proposer.post("facts", proposal).status == 201
    for answer in (
        proposer.post("facts/lookup", {"key": "a"}),
        proposer.get("facts?key=a"),
        proposer.post("facts/search", {"query": "a"}),
        proposer.get("facts/f-000000"),
    ):
        assert answer.status == 403


# Proposing -----------------------------------------------------------------------------------------------------------


def proposed(cast: Cast) -> Fact:
    with tenancy.project(cast.project.pk):
        return Fact.objects.select_related("subject").defer("search").get()


def test_a_proposal_waits_for_a_person(cast: Cast, client: AgentClient) -> None:
    answer = client.post(
        "facts", {"type": "user_preference", "key": "timezone", "value": "Europe/Berlin", "subject": "cust_7"}
    )
    assert answer.status == 201
    fact = proposed(cast)
    assert answer.json() == {"status": "proposed", "id": fact.short_id}
    assert (fact.status, fact.key, fact.text, fact.value) == (Status.PROPOSED, KEY, "Europe/Berlin", "Europe/Berlin")
    assert (str(fact.subject), fact.source, fact.proposed_by_agent_id) == (
        "customer:cust_7",
        "conversation",
        cast.support.pk,
    )
    assert texts(client.post("facts/lookup", {"key": KEY})) == []
    assert client.get(f"facts/{fact.short_id}").status == 404


def test_the_same_again_without_a_quote_is_known_and_talks_nothing_to_the_front(
    cast: Cast, client: AgentClient
) -> None:
    body = {"type": "user_preference", "key": KEY, "value": "Europe/Berlin", "subject": "cust_7"}
    assert client.post("facts", body).status == 201
    again = client.post("facts", {**body, "key": "timezone"})
    assert (again.status, again.json()["status"]) == (200, "counted")
    fact = proposed(cast)
    assert fact.times_seen == 1
    assert fact.last_seen_at > fact.first_seen_at
    with tenancy.project(cast.project.pk):
        fact.approve(cast.rita, revision=fact.revision, now=fact.last_seen_at)
    assert client.post("facts", body).json() == {"status": "counted", "id": fact.short_id}
    again = proposed(cast)
    assert (again.pk, again.times_seen) == (fact.pk, 1)
    assert again.last_seen_at > fact.last_seen_at


@pytest.mark.parametrize("became", ["waits", "rejected", "removed", "approved", "none"])
def test_an_answer_does_not_tell_what_only_another_agent_knows(
    cast: Cast, client: AgentClient, now: datetime, became: str
) -> None:
    body = {"type": "customer_fact", "key": "plan", "value": "gold", "subject": "cust_7"}
    sales = AgentClient(cast.keys["sales"])
    if became != "none":
        assert sales.post("facts", body).status == 201
        fact = proposed(cast)
        with tenancy.project(cast.project.pk):
            if became in ("approved", "removed"):
                fact.approve(cast.rita, revision=fact.revision, now=now)
            if became == "removed":
                fact.remove(cast.rita, revision=fact.revision, now=now)
            if became == "rejected":
                fact.reject(cast.rita, revision=fact.revision, now=now, reason="not_true")
    answer = client.post("facts", body)
    assert (answer.status, answer.json()["status"]) == (201, "proposed")


def test_what_a_person_refused_is_not_proposed_again(cast: Cast, client: AgentClient, now: datetime) -> None:
    body = {"type": "fix", "key": "k", "value": "v", "subject": "repo:a"}
    client.post("facts", body)
    fact = proposed(cast)
    with tenancy.project(cast.project.pk):
        fact.reject(cast.rita, revision=fact.revision, now=now, reason="wrong")
    answer = client.post("facts", body)
    assert (answer.status, answer.json()["status"]) == (200, "rejected before")
    assert proposed(cast).status == Status.REJECTED


def test_scope_and_lifetime_are_suggested(cast: Cast, client: AgentClient, now: datetime) -> None:
    ends = (now + timedelta(days=3)).isoformat()
    client.post("facts", {"type": "fix", "key": "k", "value": "v", "scope": [" Sales "], "expires_at": ends})
    fact = proposed(cast)
    assert (fact.everyone, fact.agent_ids, fact.expires_at) == (False, [cast.sales.pk], now + timedelta(days=3))


def test_a_type_that_belongs_to_one_agent_is_proposed_for_it(cast: Cast, client: AgentClient) -> None:
    client.post("facts", {"type": "customer_fact", "key": "plan", "value": "Business", "subject": "cust_7"})
    assert proposed(cast).agent_ids == [cast.support.pk]


@pytest.mark.parametrize(
    ("type_", "expected"),
    [("fix", "repo:a"), ("user_preference", "person:p@example.com"), ("choice", "repo:a"), ("note", "project:shop")],
)
def test_without_a_subject_the_session_gives_it(cast: Cast, client: AgentClient, type_: str, expected: str) -> None:
    client.observe(
        "s", {"kind": "message", "role": "user", "text": "Hello."}, subjects=["repo:a", "person:p@example.com"]
    )
    assert client.post("facts", {"type": type_, "key": "k", "value": "v", "session": "s"}).status == 201
    assert str(proposed(cast).subject) == expected


def test_without_subject_and_session_it_is_about_the_project(cast: Cast, client: AgentClient) -> None:
    client.post("facts", {"type": "fix", "key": "k", "value": "v"})
    assert str(proposed(cast).subject) == "project:shop"


def test_a_quote_from_the_agents_own_session_becomes_evidence(cast: Cast, client: AgentClient) -> None:
    with tenancy.project(cast.project.pk):
        said = observation(session(cast.support, "call-1"), "Please write, I am in Europe/Berlin.")
    body = {"type": "user_preference", "key": "timezone", "value": "Europe/Berlin", "subject": "cust_7"}
    assert client.post("facts", {**body, "session": "call-1", "quote": "I am in Europe/Berlin"}).status == 201
    with tenancy.project(cast.project.pk):
        evidence = Evidence.objects.get()
        assert (evidence.observation_id, evidence.quote, evidence.start) == (said.pk, "I am in Europe/Berlin", 14)
        assert evidence.verdict() == "holds"


@pytest.mark.parametrize(
    ("session_id", "quote", "code"),
    [
        ("call-1", "I am in Europe/Paris", "quote_not_found"),
        ("call-1", "i am in europe/berlin", "quote_not_found"),
        ("call-1", "Summary: all well.", "quote_not_found"),
        ("call-1", "Be kind.", "quote_not_found"),
        ("call-1", "%", "quote_not_found"),
        ("call-1", " ", "quote_not_found"),
        ("call-1", "\x00", "quote_not_found"),
        ("call-2", "Told to sales", "unknown_session"),
        ("none", "I am in Europe/Berlin", "unknown_session"),
        (None, "I am in Europe/Berlin", "session_needed"),
    ],
)
def test_a_quote_that_does_not_stand_there_is_refused(
    cast: Cast, client: AgentClient, session_id: str | None, quote: str, code: str
) -> None:
    with tenancy.project(cast.project.pk):
        run = session(cast.support, "call-1")
        observation(run, "Please write, I am in Europe/Berlin.")
        observation(run, "Summary: all well.", kind="summary")
        observation(run, "Be kind.", role="system")
        observation(session(cast.sales, "call-2"), "Told to sales.")
    body = {"type": "fix", "key": "k", "value": "v", "subject": "cust_7", "quote": quote}
    answer = client.post("facts", {**body, **({"session": session_id} if session_id else {})})
    assert (answer.status, answer.json()["code"]) == (422, code)
    with tenancy.project(cast.project.pk):
        assert not Fact.objects.exists()


@pytest.mark.parametrize(
    "fields",
    [
        {"value": "Use sk-proj-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA."},
        {"value": {"note": "Use sk-proj-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA."}, "text": "Uses a key."},
        {"value": "Pays with 4111 1111 1111 1111."},
    ],
)
def test_a_secret_or_a_card_is_no_memory(cast: Cast, client: AgentClient, fields: dict[str, Any]) -> None:
    answer = client.post("facts", {"type": "note", "key": "k", **fields})
    assert (answer.status, answer.json()["code"]) == (422, "unfit")
    assert b"sk-proj" not in answer.content
    with tenancy.project(cast.project.pk):
        assert not Fact.objects.exists()


def test_what_nobody_sees_is_taken_out_before_a_person_decides(cast: Cast, client: AgentClient) -> None:
    client.post("facts", {"type": "fix", "key": "k", "value": "v", "text": "Prefers\u202e e-\u200bmail.\n## Standing"})
    assert proposed(cast).text == "Prefers e-mail. ## Standing"


def test_a_very_long_text_is_cut_where_a_reviewer_sees_it(cast: Cast, client: AgentClient) -> None:
    assert client.post("facts", {"type": "fix", "key": "k", "value": "blob " * 17_000}).status == 201
    assert proposed(cast).text.endswith("blob…")


def test_a_key_cannot_approve(cast: Cast, client: AgentClient) -> None:
    client.post("facts", {"type": "fix", "key": "k", "value": "v"})
    fact = proposed(cast)
    for path in (f"facts/{fact.short_id}", f"facts/{fact.short_id}/decisions", f"facts/{fact.short_id}/approve"):
        assert client.post(path, {"verb": "approve"}).status in (404, 405)
    assert proposed(cast).status == Status.PROPOSED
