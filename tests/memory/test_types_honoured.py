"""A project's own table reaches every place that asks about a type."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from memory import brief, distillation, retrieval, short_ids
from memory.models import Fact, Session
from memory.reconciliation import Learned, place
from memory.transcript import Candidate, Quote, Seen
from projects.models import Project
from review.cards import card
from tests import factories
from tests.factories import Cast, approved, proposal

pytestmark = pytest.mark.django_db
ANGRY = "I am really angry about how long this refund takes."
CUSTOMER = ("customer", "cust_123")


class Reader:
    """Proposes one statement of each message."""

    NAME = "fake"
    VERSION = "1"

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def read(self, observations: Any, *, timezone: str, now: datetime) -> list[Candidate]:
        return [self._of(seen) for seen in observations if seen.kind == "message"]

    def _of(self, seen: Seen) -> Candidate:
        said = Quote(seen.ref, 0, len(seen.text), seen.text)
        base = {"key": f"{self.fields['type']}:mood", "value": "angry", "text": "Is angry about the slow refund."}
        return Candidate(**{**base, "quotes": (said,), "about": "customer", **self.fields})


def ruled(cast: Cast, **types: dict[str, Any]) -> Project:
    Project.objects.filter(pk=cast.project.pk).update(types=types)
    for agent in (cast.support, cast.sales, cast.coder):
        agent.refresh_from_db()
    cast.project.refresh_from_db()
    return cast.project


def read(cast: Cast, now: datetime, reader: Reader) -> tuple[list[Fact], dict[str, int]]:
    session = factories.session(cast.support, last_seen_at=now - timedelta(minutes=10))
    session.subjects.add(factories.subject(cast.project), through_defaults={"project_id": cast.project.pk})
    factories.observation(session, ANGRY)
    job = distillation.request(Session.objects.get(pk=session.pk), now, ring=False)
    assert job is not None
    done = distillation.run(job.pk, now, reader)
    assert done is not None
    return list(Fact.objects.all()), done.counts["dropped"]


@pytest.mark.parametrize("fields", [{"type": "sentiment"}, {"type": "customer_fact", "nature": "sentiment"}])
def test_a_mood_is_only_kept_where_the_project_wants_moods(shop: Cast, now: datetime, fields: dict[str, str]) -> None:
    assert read(shop, now, Reader(**fields)) == ([], {"sentiment_off": 1})


@pytest.mark.parametrize("fields", [{"type": "sentiment"}, {"type": "customer_fact", "nature": "sentiment"}])
def test_where_it_does_a_mood_is_proposed_for_the_agent_that_heard_it(
    shop: Cast, now: datetime, fields: dict[str, str]
) -> None:
    ruled(shop, sentiment={"is_sought": True, "lifetime_days": 7})
    (fact,), dropped = read(shop, now, Reader(**fields))
    assert dropped == {}
    assert (fact.nature, fact.agent_ids) == (fields.get("nature", "factual"), [shop.support.pk])
    assert fact.expires_at == now + timedelta(days=7 if fact.type == "sentiment" else 365)


def test_what_a_project_does_not_look_for_is_dropped(shop: Cast, now: datetime) -> None:
    ruled(shop, problem={"is_sought": False})
    assert read(shop, now, Reader(type="problem")) == ([], {"type_off": 1})


@pytest.mark.parametrize("own", [False, True])
def test_the_table_proposes_who_gets_it(shop: Cast, now: datetime, own: bool) -> None:
    ruled(shop, choice={"own_agent_only": own})
    learned = Learned(type="choice", key="choice:deploys", value="Tuesdays", text="Deploys happen on Tuesdays.")
    placed = place(learned, subject=factories.subject(shop.project, "project:shop"), agent=shop.support, now=now)
    assert placed.fact.everyone is not own


def test_the_table_flags_a_card_that_goes_too_far(shop: Cast, now: datetime) -> None:
    membership = shop.rita.memberships.get(project=shop.project)
    fact = proposal(shop.project, key="choice:deploys", source="manual")
    assert "Goes to every agent." not in [flag.finding for flag in card.build(fact, membership, now).flags]
    ruled(shop, choice={"own_agent_only": True})
    fact = Fact.objects.get()
    assert "Goes to every agent." in [flag.finding for flag in card.build(fact, membership, now).flags]


def test_the_table_orders_a_brief_and_a_search(shop: Cast, now: datetime) -> None:
    then = now - timedelta(days=60)
    for kind in ("choice", "account_detail"):
        approved(shop.project, shop.rita, f"The refund goes by {kind}.", key=f"{kind}:refund", now=then)

    def order() -> list[str]:
        served = brief.build(shop.support, subjects=[CUSTOMER], max_tokens=500, now=now)
        found = retrieval.search(shop.support, "refund", now=now)
        by_priority = sorted(found, key=lambda hit: -hit.priority)
        assert [item.type for item in served.items] == [hit.fact.type for hit in by_priority]
        return [item.type for item in served.items]

    ruled(shop, choice={"half_life_days": 10})
    assert order() == ["account_detail", "choice"]
    ruled(shop, account_detail={"half_life_days": 10})
    assert order() == ["choice", "account_detail"]


def test_a_brief_says_that_a_value_of_ones_own_stands_instead(shop: Cast, now: datetime) -> None:
    everyones = approved(shop.project, shop.rita, "Runs on Tuesdays.", key="fix:runs")
    approved(shop.project, shop.rita, "Runs on Fridays.", key="fix:runs", everyone=False, agent_ids=[shop.support.pk])
    ask: dict[str, Any] = {"subjects": [CUSTOMER], "max_tokens": 500, "now": now}
    assert len(brief.build(shop.support, **ask).items) == 2
    ruled(shop, fix={"single_valued": True})
    built = brief.build(shop.support, **ask)
    assert [item.text for item in built.items] == ["Runs on Fridays."]
    assert built.dropped == ((short_ids.encode(everyones.pk), "own value instead"),)


def test_history_comes_behind_and_says_that_it_is_over(shop: Cast, now: datetime) -> None:
    approved(shop.project, shop.rita, "Lived in Rome.", key="customer_fact:town", now=now, use="historical")
    approved(shop.project, shop.rita, "Lives in Oslo.", key="customer_fact:home", now=now - timedelta(days=30))
    built = brief.build(shop.support, subjects=[CUSTOMER], max_tokens=500, now=now)
    assert [item.text for item in built.items] == ["Lives in Oslo.", "Lived in Rome."]
    assert "Lived in Rome. (in the past; confirmed " in built.text
    assert "in the past" not in built.text.split("Lived in Rome.")[0]


def test_a_confirmation_stops_the_fading(shop: Cast, now: datetime) -> None:
    mood = approved(shop.project, shop.rita, "Is angry.", key="sentiment:mood", now=now - timedelta(days=28))
    (before,) = brief.build(shop.support, subjects=[CUSTOMER], max_tokens=500, now=now).items
    mood.reconfirm(shop.rita, revision=mood.revision, now=now)
    (after,) = brief.build(shop.support, subjects=[CUSTOMER], max_tokens=500, now=now).items
    assert after.score > 3 * before.score
