"""Who is on a card: shown for three minutes, renewed without a storm of writes, never in anybody's way."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from memory.models import Fact
from projects import tenancy
from review.deciding import leases
from review.models import Lease
from tests import factories
from tests.factories import Cast

pytestmark = pytest.mark.django_db


def writes_of(call) -> int:  # type: ignore[no-untyped-def]
    with CaptureQueriesContext(connections[Lease.objects.db]) as seen:
        call()
    return sum("INSERT" in query["sql"] or "DELETE" in query["sql"] for query in seen.captured_queries)


def test_the_second_person_is_told_who_is_on_the_card(shop: Cast, now: datetime) -> None:
    fact = factories.proposal(shop.project)
    assert leases.take(fact, shop.rita, now) is None
    assert leases.take(fact, shop.olga, now) == shop.rita
    assert leases.holder(fact, now) == shop.rita
    assert leases.held_by_others(shop.project, shop.olga, now) == {fact.pk}
    assert leases.held_by_others(shop.project, shop.rita, now) == set()


def test_it_ends_by_the_clock_and_changes_hands(shop: Cast, now: datetime) -> None:
    fact = factories.proposal(shop.project)
    leases.take(fact, shop.rita, now)
    later = now + leases.LASTS
    assert leases.holder(fact, later) is None
    assert leases.take(fact, shop.olga, later) is None
    assert leases.holder(fact, later) == shop.olga


def test_showing_it_again_writes_nothing_until_it_runs_out_soon(shop: Cast, now: datetime) -> None:
    fact = factories.proposal(shop.project)
    assert writes_of(lambda: leases.take(fact, shop.rita, now)) == 1
    assert writes_of(lambda: leases.take(fact, shop.rita, now + timedelta(seconds=90))) == 0
    assert writes_of(lambda: leases.take(fact, shop.olga, now + timedelta(seconds=90))) == 0
    assert writes_of(lambda: leases.take(fact, shop.rita, now + timedelta(seconds=130))) == 1
    assert leases.holder(fact, now + timedelta(seconds=300)) == shop.rita


def test_a_person_is_on_one_card_of_a_project(shop: Cast, now: datetime) -> None:
    first = factories.proposal(shop.project)
    second = factories.proposal(shop.project, "Another.", key="user_preference:other")
    leases.take(first, shop.rita, now)
    leases.take(second, shop.rita, now)
    assert leases.holder(first, now) is None
    assert Lease.objects.get().fact == second


def test_a_decision_and_a_look_away_end_it(shop: Cast, now: datetime) -> None:
    fact = factories.proposal(shop.project)
    leases.take(fact, shop.rita, now)
    leases.end(fact)
    assert leases.holder(fact, now) is None
    leases.take(fact, shop.rita, now)
    leases.leave(shop.project, shop.rita)
    assert leases.holder(fact, now) is None


@pytest.mark.django_db(transaction=True)
def test_a_card_that_somebody_decides_at_this_moment_is_not_waited_for(cast: Cast, now: datetime) -> None:
    """Two who decide and are each shown the other's card would wait for one another for ever."""
    with tenancy.project(cast.project.pk):
        fact = factories.proposal(cast.project)
    with (
        tenancy.system("worker", using="owner"),
        connections["owner"].cursor() as cursor,
    ):
        cursor.execute("SELECT 1 FROM memory_fact WHERE id = %s FOR UPDATE", [fact.pk])
        with tenancy.project(cast.project.pk):
            with connections["default"].cursor() as own:
                own.execute("SET LOCAL lock_timeout = '1ms'")
            leases.take(fact, cast.rita, now)
            assert leases.holder(fact, now) is None


@pytest.mark.django_db(transaction=True)
def test_nor_does_a_pile_wait_for_a_card_that_somebody_decides(cast: Cast, now: datetime) -> None:
    with tenancy.project(cast.project.pk):
        fact = factories.proposal(cast.project)
        other = factories.proposal(cast.project, "Another.", key="user_preference:other")
    with tenancy.system("worker", using="owner"), connections["owner"].cursor() as cursor:
        cursor.execute("SELECT 1 FROM memory_fact WHERE id = %s FOR UPDATE", [fact.pk])
        with tenancy.project(cast.project.pk):
            with connections["default"].cursor() as own:
                own.execute("SET LOCAL lock_timeout = '1ms'")
            assert Fact.objects.lay_in_pile([fact.pk, other.pk], now) == 1
    with tenancy.project(cast.project.pk):
        assert Fact.objects.lay_in_pile([fact.pk, other.pk], now) == 1
