"""Changing a project's type table: what it would do is said first, and is what it does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from memory.models import Fact, Status
from memory.models.lifetimes import ask_again_at, default_expiry
from memory.type_table import ChangedMeanwhile, Effects, change, preview
from memory.types import TYPES, BadType, type_of
from projects.models import AuditEvent, Project
from tests.factories import Cast, approved, proposal

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)


def days(number: float) -> timedelta:
    return timedelta(days=number)


def changed(shop: Cast, name: str, cells: dict[str, Any] | None, now: datetime = NOON) -> Effects:
    """Changes the row, and holds what was said before against what happened."""
    project = Project.objects.get(pk=shop.project.pk)
    ends = dict(Fact.objects.values_list("pk", "expires_at"))
    due = set(Fact.objects.filter(review_due_at__lte=now).values_list("pk", flat=True))
    said = preview(project, name, cells, now)
    assert Project.objects.get(pk=project.pk).types == project.types
    assert change(project, name, cells, seen=type_of(name, project.types), by=shop.olga, now=now) == said
    far = datetime.max.replace(tzinfo=UTC)
    moved = {pk: (ends[pk] or far, end or far) for pk, end in Fact.objects.values_list("pk", "expires_at")}
    assert said == Effects(
        sooner=sum(after < before for before, after in moved.values()),
        over=sum(after < before and after <= now for before, after in moved.values()),
        later=sum(after > before for before, after in moved.values()),
        asked=Fact.objects.filter(status=Status.APPROVED, review_due_at__lte=now).exclude(pk__in=due).count(),
    )
    return said


def ends(fact: Fact) -> datetime | None:
    fact.refresh_from_db()
    return fact.expires_at


def test_a_shorter_life_ends_what_its_type_ended_and_nothing_else(shop: Cast) -> None:
    old = approved(shop.project, shop.rita, "Old.", key="fix:a", now=NOON - days(50))
    young = approved(shop.project, shop.rita, "Young.", key="fix:b", now=NOON - days(5))
    waiting = proposal(shop.project, "Waits.", key="fix:c", now=NOON)
    named = approved(shop.project, shop.rita, "Named.", key="fix:d", now=NOON, expires_at=NOON + days(80))
    other = approved(shop.project, shop.rita, "Other.", key="error:a", now=NOON)
    gone = approved(shop.project, shop.rita, "Gone.", key="fix:e", now=NOON)
    gone.remove(shop.rita, revision=gone.revision, now=NOON)
    assert changed(shop, "fix", {"lifetime_days": 30}) == Effects(sooner=3, over=1)
    assert [ends(fact) for fact in (old, young, waiting)] == [NOON - days(20), NOON + days(25), NOON + days(30)]
    assert [ends(fact) for fact in (named, other, gone)] == [NOON + days(80), NOON + days(90), NOON + days(90)]
    assert old not in Fact.objects.visible_to(shop.support, NOON)
    (event,) = AuditEvent.objects.filter(action="types.change")
    assert (event.actor_id, event.object_ids, event.count) == (shop.olga.pk, [shop.project.pk], 3)


def test_a_longer_life_and_back_again(shop: Cast) -> None:
    fact = approved(shop.project, shop.rita, key="fix:a", now=NOON - days(50))
    assert changed(shop, "fix", {"lifetime_days": 200}) == Effects(later=1)
    assert ends(fact) == NOON + days(150)
    assert changed(shop, "fix", None) == Effects(sooner=1)
    assert ends(fact) == NOON + days(40)
    assert Project.objects.get(pk=shop.project.pk).types == {}


def test_an_end_where_there_was_none_counts_from_the_last_sight_or_confirmation(shop: Cast) -> None:
    fact = approved(shop.project, shop.rita, now=NOON - days(100))
    fact.count_again(NOON - days(20))
    confirmed = approved(
        shop.project, shop.rita, "Is a Monday person.", key="user_preference:day", now=NOON - days(100)
    )
    confirmed.reconfirm(shop.rita, revision=confirmed.revision, now=NOON - days(10))
    assert changed(shop, "user_preference", {"lifetime_days": 30, "ask_again_days": None}) == Effects(sooner=2)
    assert (ends(fact), ends(confirmed)) == (NOON + days(10), NOON + days(20))
    assert changed(shop, "user_preference", None) == Effects(later=2)
    assert (ends(fact), ends(confirmed)) == (None, None)


def test_what_is_due_moves_by_its_own_days(shop: Cast) -> None:
    due = approved(shop.project, shop.rita, key="commitment:a", value={"due_on": "2026-11-20"}, now=NOON)
    loose = approved(shop.project, shop.rita, "Will call.", key="commitment:b", now=NOON)
    assert changed(shop, "commitment", {"after_due_days": 2, "lifetime_days": 100}) == Effects(sooner=1, later=1)
    assert ends(due) == datetime(2026, 11, 22, tzinfo=UTC)
    assert ends(loose) == NOON + days(100)
    assert changed(shop, "commitment", {"after_due_days": None, "lifetime_days": 100}) == Effects()


def test_asking_sooner_asks_at_once_about_what_is_old(shop: Cast) -> None:
    old = approved(shop.project, shop.rita, "Old.", now=NOON - days(100))
    young = approved(shop.project, shop.rita, "Young.", key="user_preference:b", now=NOON - days(10))
    doubted = approved(shop.project, shop.rita, "Doubted.", key="user_preference:c", now=NOON - days(100))
    doubted.look_again(NOON - days(1))
    assert changed(shop, "user_preference", {"ask_again_days": 30}) == Effects(asked=1)
    for fact in (old, young, doubted):
        fact.refresh_from_db()
    assert [fact.review_due_at for fact in (old, young, doubted)] == [NOON - days(70), NOON + days(20), NOON - days(1)]
    assert changed(shop, "user_preference", {"ask_again_days": None}) == Effects()
    young.refresh_from_db()
    doubted.refresh_from_db()
    assert (young.review_due_at, doubted.review_due_at) == (None, NOON - days(1))


def test_asking_follows_an_end_that_moves(shop: Cast) -> None:
    fact = approved(shop.project, shop.rita, key="environment:port", now=NOON)
    changed(shop, "environment", {"lifetime_days": 60, "ask_again_days": 60})
    fact.refresh_from_db()
    types = Project.objects.get(pk=shop.project.pk).types
    assert fact.expires_at == default_expiry("environment", {}, NOON, types)
    assert fact.review_due_at == ask_again_at("environment", NOON, types, fact.expires_at) == NOON + days(46)


def test_an_added_type_can_go_and_its_memories_live_on_as_notes(shop: Cast) -> None:
    assert changed(shop, "visit", {"lifetime_days": 10}) == Effects()
    shop.project.refresh_from_db()
    fact = approved(shop.project, shop.rita, key="visit:a", now=NOON)
    assert ends(fact) == NOON + days(10)
    assert changed(shop, "visit", None) == Effects(later=1)
    assert ends(fact) == NOON + days(365)


def test_words_alone_move_nothing_and_count_nothing(
    shop: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    approved(shop.project, shop.rita, key="fix:a", now=NOON)
    with django_assert_num_queries(0):
        assert preview(shop.project, "fix", {"words": "mend"}, NOON) == Effects()
    with django_assert_num_queries(4):
        preview(shop.project, "fix", {"lifetime_days": 5}, NOON)


def test_another_project_is_left_alone(shop: Cast, cast: Cast) -> None:
    from projects import tenancy

    with tenancy.project(cast.other.pk):
        theirs = proposal(cast.other, key="fix:a", now=NOON)
    changed(shop, "fix", {"lifetime_days": 1})
    with tenancy.project(cast.other.pk):
        assert ends(theirs) == NOON + days(90)


def test_of_two_people_the_second_is_told(shop: Cast) -> None:
    seen = TYPES["fix"]
    change(shop.project, "fix", {"lifetime_days": 30}, seen=seen, by=shop.olga, now=NOON)
    with pytest.raises(ChangedMeanwhile):
        change(shop.project, "fix", {"lifetime_days": 60}, seen=seen, by=shop.olga, now=NOON)
    assert Project.objects.get(pk=shop.project.pk).types == {"fix": {"lifetime_days": 30}}


def test_what_no_table_can_hold_changes_nothing(shop: Cast) -> None:
    with pytest.raises(BadType):
        change(shop.project, "fix", {"lifetime_days": 0}, seen=TYPES["fix"], by=shop.olga, now=NOON)
    assert Project.objects.get(pk=shop.project.pk).types == {}
    assert not AuditEvent.objects.filter(action="types.change").exists()
