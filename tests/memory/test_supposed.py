"""What is laid over the tables: the same rows, by the same indexes, and nothing of it where nothing is supposed."""

from __future__ import annotations

from datetime import datetime

import pytest
from django.db import connections

from memory import brief, brief_rows, rendering, supposed
from memory.models import Fact
from memory.models.subject import lookup_hmac
from memory.prepared import about, visible
from memory.rendering import SAYS_WHO
from memory.supposed import Suppose
from memory.supposing import Supposing
from tests.factories import Cast, approved, proposal, subject

pytestmark = pytest.mark.django_db
ABOUT = [("customer", "cust_123")]


def many(shop: Cast, now: datetime, count: int = 4_000) -> None:
    """Facts about two hundred others."""
    others = [
        type(subject(shop.project)).objects.create(
            project=shop.project,
            entity_type="customer",
            entity_id=f"c{number}",
            lookup_hmac=lookup_hmac(shop.project.pk, "customer", f"c{number}"),
        )
        for number in range(200)
    ]
    Fact.objects.bulk_create(
        Fact(
            project=shop.project,
            subject=others[number % 200],
            type="fix",
            key=f"fix:{number}",
            value="x",
            text=f"Lesson {number}.",
            status="approved",
            source="extraction",
            first_seen_at=now,
            last_seen_at=now,
            approved_at=now,
            confirmed_at=now,
            served_sha256=rendering.served_sha256("fix", f"fix:{number}", "x", f"Lesson {number}."),
            fingerprint=rendering.fingerprint("fix", f"fix:{number}", f"x{number}", "x"),
        )
        for number in range(count)
    )
    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE memory_fact")


def test_the_facts_of_a_subject_are_found_by_their_index_under_a_supposition(shop: Cast, now: datetime) -> None:
    many(shop, now)
    fact = proposal(shop.project)
    suppose = Supposing(now).approve(Fact.objects.get(pk=fact.pk)).done()
    sql = brief_rows._FACTS_OF.format(visible=visible(shop.support, *brief_rows._COLUMNS))
    asked = {**about(shop.support, now), "zone": "UTC", "says_who": list(SAYS_WHO), "limit": 300}
    asked |= {"subjects": [fact.subject_id], **suppose.parameters(sql)}
    with connections["default"].cursor() as cursor:
        cursor.execute(f"EXPLAIN {suppose.over(sql)}", asked)
        plan = "\n".join(row[0] for row in cursor.fetchall())
    assert "Seq Scan on memory_fact " not in plan, plan


def test_an_empty_supposition_is_how_things_are(shop: Cast, now: datetime) -> None:
    approved(shop.project, shop.rita)
    approved(shop.project, shop.rita, "Prefers letters.", everyone=False, agent_ids=[shop.support.pk])
    approved(shop.project, shop.rita, "Deploys happen on Tuesdays.", about="project:shop", key="choice:deploy")
    for task in (None, "when do deploys happen"):
        asked = {"subjects": ABOUT, "task": task, "max_tokens": 600, "now": now}
        plain = brief.build(shop.support, **asked)
        assert brief.build(shop.support, suppose=Suppose(), **asked).etag == plain.etag


def test_nothing_is_asked_more_where_nothing_is_supposed(shop: Cast, now: datetime, django_assert_num_queries) -> None:  # type: ignore[no-untyped-def]
    approved(shop.project, shop.rita)
    brief.build(shop.support, subjects=ABOUT, max_tokens=600, now=now)
    with django_assert_num_queries(2):
        brief.build(shop.support, subjects=ABOUT, max_tokens=600, now=now)


def test_ids_keeps_order_percent_signs_and_an_empty_answer(shop: Cast, now: datetime) -> None:
    one = approved(shop.project, shop.rita, "Takes 5% off.", key="fix:a")
    two = approved(shop.project, shop.rita, "Takes 50 off.", key="fix:b")
    there = Fact.objects.filter(project=shop.project).order_by("-pk")
    gone = Supposing(now).remove(Fact.objects.get(pk=two.pk)).done()
    live = there.live(now)
    assert supposed.ids(live, None) == [two.pk, one.pk]
    assert supposed.ids(live, gone) == [one.pk]
    assert supposed.ids(live.filter(text__contains="5%"), gone) == [one.pk]
    assert supposed.ids(there.none(), gone) == []
