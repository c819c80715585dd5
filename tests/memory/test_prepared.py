"""Visibility written once as SQL is that of `visible_to`, and the context of one call never reaches the next."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from memory.models import Fact
from memory.prepared import about, fetch, visible
from projects import tenancy
from projects.models import Agent
from tests import factories
from tests.factories import Cast, approved, proposal

pytestmark = pytest.mark.django_db


def seen(agent: Agent, now: datetime) -> set[int]:
    return {pk for (pk,) in fetch(Fact.objects.db, visible(agent, "id"), about(agent, now))}


def test_the_prepared_statement_shows_what_visible_to_shows(shop: Cast, now: datetime) -> None:
    mine = {"everyone": False, "agent_ids": [shop.support.pk]}
    theirs = {"everyone": False, "agent_ids": [shop.sales.pk]}
    proposal(shop.project, "Waits.", key="fix:a")
    approved(shop.project, shop.rita, "Everyone's.", key="customer_fact:plan")
    approved(shop.project, shop.rita, "Mine.", key="customer_fact:plan", **mine)
    approved(shop.project, shop.rita, "Theirs.", key="customer_fact:plan", **theirs)
    approved(shop.project, shop.rita, "Mine for an hour.", key="fix:b", expires_at=now + timedelta(hours=1), **mine)
    frozen = approved(shop.project, shop.rita, "Frozen.", key="fix:c", about="customer:frozen")
    frozen.subject.frozen_at = now
    frozen.subject.save()
    shown = set()
    for agent in (shop.support, shop.sales, shop.coder, shop.foreign):
        for at in (now, now + timedelta(hours=1), now + timedelta(days=400)):
            wanted = set(Fact.objects.visible_to(agent, at).values_list("pk", flat=True))
            assert seen(agent, at) == wanted
            shown |= {(agent.slug, len(wanted))}
    assert {("support", 2), ("support", 1), ("sales", 1), ("claude-code", 1), ("support", 0)} <= shown


def test_the_prepared_statement_keeps_to_the_types_of_the_project(shop: Cast, now: datetime) -> None:
    odd = "it's 100% \\odd"
    for type_ in ("fix", odd):
        approved(shop.project, shop.rita, "Everyone's.", key=f"{type_}:a")
        approved(shop.project, shop.rita, "Mine.", key=f"{type_}:a", everyone=False, agent_ids=[shop.support.pk])
    assert len(seen(shop.support, now)) == 4
    shop.support.project.types = {"fix": {"single_valued": True}, odd: {"single_valued": True}}
    assert len(seen(shop.support, now)) == 2
    assert seen(shop.support, now) == set(Fact.objects.visible_to(shop.support, now).values_list("pk", flat=True))


@pytest.mark.django_db(transaction=True)
def test_one_calls_project_is_unknown_to_the_next_on_the_same_connection(now: datetime) -> None:
    cast = factories.cast()
    with tenancy.project(cast.project.pk):
        fact = approved(cast.project, cast.rita)
    with tenancy.project(cast.project.pk):
        assert seen(cast.support, now) == {fact.pk}
    assert seen(cast.support, now) == set()
    with tenancy.project(cast.other.pk):
        assert seen(cast.support, now) == set()
        with tenancy.project(cast.project.pk):
            assert seen(cast.support, now) == {fact.pk}
        assert seen(cast.support, now) == set()
