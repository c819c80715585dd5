"""What an agent says of a memory: noted once a day, heard by people, and never stronger than they are."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from memory import agent_auth, api_limits, feedback
from memory.models import Fact, Feedback, Status
from projects import tenancy
from projects.models import ApiKey, AuditEvent
from tests import factories
from tests.factories import Cast, approved, proposal
from tests.memory.agent_client import AgentClient, Answer

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    agent_auth.forget()
    api_limits.forget()


@pytest.fixture
def client(cast: Cast) -> AgentClient:
    return AgentClient(cast.keys["support"])


def known(cast: Cast, **fields: Any) -> Fact:
    with tenancy.project(cast.project.pk):
        return approved(cast.project, cast.rita, **fields)


def say(client: AgentClient, fact_id: str, verdict: Any = "misled", **more: Any) -> Answer:
    return client.post(f"facts/{fact_id}/feedback", {"verdict": verdict, **more})


def now_of(cast: Cast, fact: Fact) -> Fact:
    with tenancy.project(cast.project.pk):
        return Fact.objects.get(pk=fact.pk)


@pytest.mark.parametrize("verdict", ["misled", "stale"])
def test_a_complaint_brings_it_before_a_person_and_it_stays_in_use(
    cast: Cast, client: AgentClient, verdict: str
) -> None:
    fact = known(cast)
    answer = say(client, fact.short_id, verdict)
    assert (answer.status, answer.json()) == (202, {"status": "noted", "id": fact.short_id})
    found = now_of(cast, fact)
    assert (found.status, found.revision) == (Status.APPROVED, fact.revision)
    assert found.review_due_at is not None
    with tenancy.project(cast.project.pk):
        assert list(Fact.objects.due_for_review(found.review_due_at)) == [fact]
        (row,) = Feedback.objects.all()
        assert (row.agent, row.verdict) == (cast.support, verdict)
        (event,) = AuditEvent.objects.filter(action="fact.feedback")
        assert (event.actor_id, event.object_ids) == (cast.support.pk, [fact.pk])
    assert client.get(f"facts/{fact.short_id}").status == 200


def test_help_is_counted_and_brings_nothing_before_a_person(cast: Cast, client: AgentClient) -> None:
    fact = known(cast)
    assert say(client, fact.short_id, "helped").status == 202
    found = now_of(cast, fact)
    assert (found.helped_count, found.review_due_at, found.revision) == (1, fact.review_due_at, fact.revision)


def test_the_same_said_twice_in_a_day_is_said_once(shop: Cast) -> None:
    fact = approved(shop.project, shop.rita, now=NOON)
    said = [feedback.give(shop.support, fact.pk, "helped", NOON + timedelta(hours=hours)) for hours in (0, 5, 20)]
    assert said == ["noted", "noted before", "noted"]
    assert feedback.give(shop.support, fact.pk, "stale", NOON) == "noted"
    assert feedback.give(shop.sales, fact.pk, "helped", NOON) == "noted"
    fact.refresh_from_db()
    assert (Feedback.objects.count(), fact.helped_count) == (4, 3)


def test_a_day_is_the_projects(shop: Cast) -> None:
    shop.support.project.timezone = "Asia/Tokyo"
    fact = approved(shop.project, shop.rita, now=NOON)
    # Midnight in Tokyo is 15:00 UTC.
    assert feedback.give(shop.support, fact.pk, "helped", NOON) == "noted"
    assert feedback.give(shop.support, fact.pk, "helped", NOON + timedelta(hours=4)) == "noted"


def test_a_complaint_after_a_person_looked_brings_it_back(shop: Cast) -> None:
    fact = approved(shop.project, shop.rita, now=NOON)
    feedback.give(shop.support, fact.pk, "misled", NOON)
    fact.refresh_from_db()
    fact.reconfirm(shop.rita, revision=fact.revision, now=NOON + timedelta(hours=1))
    # The same complaint of the same day was answered; another agent's was not.
    feedback.give(shop.support, fact.pk, "misled", NOON + timedelta(hours=2))
    assert not Fact.objects.due_for_review(NOON + timedelta(hours=2)).exists()
    feedback.give(shop.sales, fact.pk, "misled", NOON + timedelta(hours=2))
    assert list(Fact.objects.due_for_review(NOON + timedelta(hours=2))) == [fact]


def test_what_an_agent_may_not_see_answers_as_what_never_was(cast: Cast, client: AgentClient) -> None:
    with tenancy.project(cast.project.pk):
        others = approved(cast.project, cast.rita, "Theirs.", everyone=False, agent_ids=[cast.sales.pk])
        waits = proposal(cast.project, "Waits.", key="fix:a")
        gone = approved(cast.project, cast.rita, "Gone.", key="fix:b")
        gone.remove(cast.rita, revision=gone.revision, now=NOON)
    with tenancy.project(cast.other.pk):
        foreign = proposal(cast.other, "Foreign.")
    never = say(client, "f-000000")
    assert never.status == 404
    for one in (others, waits, gone, foreign):
        assert (say(client, one.short_id).status, say(client, one.short_id).content) == (404, never.content)
    for odd in ("F-000000", "x", "f-2k81hd\u200b", "%00"):
        assert say(client, odd).content == never.content
    with tenancy.system("command"):
        assert not Feedback.objects.exists()
        assert not AuditEvent.objects.filter(action="fact.feedback").exists()


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "verdict"),
        ({"verdict": "great"}, "verdict"),
        ({"verdict": None}, "verdict"),
        ({"verdict": ["helped"]}, "verdict"),
        ({"verdict": "helped", "agent": "sales"}, "agent"),
        ({"verdict": "helped", "note": "x"}, "note"),
    ],
)
def test_what_does_not_fit_is_refused(cast: Cast, client: AgentClient, body: Any, field: str) -> None:
    answer = client.post(f"facts/{known(cast).short_id}/feedback", body)
    assert (answer.status, answer.json()["field"]) == (422, field)


def test_it_needs_the_permission_to_read_briefs(cast: Cast) -> None:
    with tenancy.system("command"):
        _, key = ApiKey.objects.issue(cast.support, cast.olga, permissions=("capture", "propose"))
    answer = say(AgentClient(key), known(cast).short_id)
    assert (answer.status, answer.json()["code"]) == (403, "not_permitted")


def test_a_key_that_calls_too_often_is_told_when_to_call_again(
    cast: Cast, client: AgentClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_limits, "CALLS_AT_ONCE", 1)
    monkeypatch.setattr(api_limits, "monotonic", lambda: 1000.0)
    fact = known(cast)
    assert [say(client, fact.short_id).status for _ in range(2)] == [202, 429]


def test_it_takes_a_few_queries(
    shop: Cast, client: AgentClient, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    fact = factories.approved(shop.project, shop.rita)
    say(client, fact.short_id, "helped")
    # With the one that looks whether the agent or its project is paused.
    with django_assert_max_num_queries(16):
        assert say(client, fact.short_id, "misled").status == 202
