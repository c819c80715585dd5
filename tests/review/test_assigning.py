"""A card put before somebody: first in their pile, with a note, until it is decided; never in anybody else's way."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from memory.models import Decision, Fact
from projects.models import AuditEvent, Membership, Role
from review.deciding import assigning, decisions, undoing
from review.deciding.decisions import BadDecision
from review.models import Assignment
from tests import factories
from tests.factories import Cast

pytestmark = pytest.mark.django_db


def member(cast: Cast, name: str) -> Membership:
    return Membership.objects.select_related("person", "project").get(project=cast.project, person=getattr(cast, name))


def test_it_names_who_put_it_before_whom_and_why(shop: Cast, now: datetime) -> None:
    fact = factories.proposal(shop.project)
    assigning.put_before(member(shop, "rita"), fact, shop.olga.pk, "Is this\nours?", now)
    made = assigning.of(fact, now)
    assert made is not None
    assert (made.person, made.assigned_by, made.note) == (shop.olga, shop.rita, "Is this ours?")
    assert assigning.put_before_ids(shop.project, shop.olga, now) == [fact.pk]
    assert assigning.put_before_ids(shop.project, shop.rita, now) == []
    assert AuditEvent.objects.filter(action="fact.assign", object_ids=[fact.pk]).count() == 1


@pytest.mark.parametrize("whom", ["vera", "rita", "sam", "carl"])
def test_only_somebody_else_who_can_review(shop: Cast, now: datetime, whom: str) -> None:
    fact = factories.proposal(shop.project)
    with pytest.raises(BadDecision):
        assigning.put_before(member(shop, "rita"), fact, getattr(shop, whom).pk, "", now)


def test_it_ends_with_the_decision_of_anybody_and_comes_back_with_undo(shop: Cast, now: datetime) -> None:
    fact = factories.proposal(shop.project)
    assigning.put_before(member(shop, "rita"), fact, shop.olga.pk, "", now)
    done = decisions.decide(member(shop, "rita"), fact, "approve", fact.revision, {}, now)
    assert assigning.of(fact, now) is None
    assert assigning.put_before_ids(shop.project, shop.olga, now) == []
    undoing.undo(member(shop, "rita"), Decision.objects.get(pk=done.decision.pk), now)
    assert assigning.put_before_ids(shop.project, shop.olga, now) == [fact.pk]


def test_a_live_memory_that_was_confirmed_is_not_put_before_anybody_when_it_is_due_again(
    shop: Cast, now: datetime
) -> None:
    fact = factories.approved(shop.project, shop.rita, now=now - timedelta(days=2))
    fact.look_again(now)
    assigning.put_before(member(shop, "rita"), fact, shop.olga.pk, "", now)
    assert assigning.of(fact, now) is not None
    fact.refresh_from_db()
    decisions.decide(member(shop, "olga"), fact, "confirm", fact.revision, {}, now + timedelta(hours=1))
    fact.look_again(now + timedelta(days=1))
    assert assigning.of(fact, now + timedelta(days=2)) is None


def test_it_can_be_given_to_another_and_taken_back(shop: Cast, now: datetime) -> None:
    Membership.objects.filter(person=shop.vera).update(role=Role.REVIEWER)
    fact = factories.proposal(shop.project)
    assigning.put_before(member(shop, "rita"), fact, shop.olga.pk, "One.", now)
    assigning.put_before(member(shop, "olga"), fact, shop.vera.pk, "Two.", now)
    assert Assignment.objects.get().person == shop.vera
    assert assigning.take_back(member(shop, "rita"), fact, now)
    assert not assigning.take_back(member(shop, "rita"), fact, now)
    assert assigning.of(fact, now) is None


def test_what_is_decided_is_put_before_nobody(shop: Cast, now: datetime) -> None:
    fact = factories.approved(shop.project, shop.rita)
    with pytest.raises(BadDecision):
        assigning.put_before(member(shop, "rita"), Fact.objects.get(pk=fact.pk), shop.olga.pk, "", now)
