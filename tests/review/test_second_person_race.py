"""The same person twice at the same moment: one yes counts, and the database itself refuses the second."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, connections, transaction
from django.utils import timezone

from memory.models import Fact, FactChanged, NotAllowed, Status, Verb
from memory.models.fact_of_two import FactOfTwo
from memory.models.fact_row import TWO_ARE_TWO
from projects import tenancy
from projects.models import Membership
from review.deciding import decisions, second_person
from tests import factories
from tests.factories import Cast
from tests.review.test_second_person import told_by_a_tool

pytestmark = pytest.mark.django_db(transaction=True)
AT_ONCE = 6


@pytest.fixture
def cast(transactional_db: None) -> Cast:
    return factories.cast()


@pytest.fixture
def order(cast: Cast) -> Fact:
    with tenancy.project(cast.project.pk):
        return told_by_a_tool(cast)


def at_once(count: int, call: Callable[[], str]) -> list[str]:
    """What each of `count` threads gave, each on a connection of its own, all started together."""
    start = threading.Barrier(count)
    given: list[str] = [""] * count

    def one(place: int) -> None:
        try:
            start.wait(30)
            given[place] = call()
        except Exception as problem:
            given[place] = f"{type(problem).__name__}: {problem}"
        finally:
            connections.close_all()

    threads = [threading.Thread(target=one, args=(place,)) for place in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return given


def approve(cast: Cast, order: Fact, name: str = "rita") -> str:
    with tenancy.project(cast.project.pk), transaction.atomic():
        fact = Fact.objects.select_related("subject", "project", "related").get(pk=order.pk)
        member = Membership.objects.select_related("person", "project").get(
            project=cast.project, person=getattr(cast, name)
        )
        try:
            done = decisions.decide(member, fact, "approve", fact.revision, {"opened": True}, timezone.now())
        except (FactChanged, NotAllowed) as refused:
            return type(refused).__name__
        return str(done.decision.verb)


def state(cast: Cast, order: Fact) -> tuple[str, Any, Any]:
    with tenancy.project(cast.project.pk):
        fact = Fact.objects.get(pk=order.pk)
        return fact.status, fact.first_yes_by_id, fact.approved_by_id


def test_one_person_who_says_yes_in_many_tabs_is_one(cast: Cast, order: Fact) -> None:
    said = at_once(AT_ONCE, lambda: approve(cast, order))
    assert said.count(Verb.FIRST_YES) == 1
    assert set(said) <= {Verb.FIRST_YES, "FactChanged", "NotAllowed"}
    assert state(cast, order) == (Status.PROPOSED, cast.rita.pk, None)
    assert approve(cast, order, "olga") == Verb.APPROVE
    assert state(cast, order) == (Status.APPROVED, cast.rita.pk, cast.olga.pk)


def test_where_our_own_check_is_blind_the_database_refuses_the_second_yes(
    cast: Cast, order: Fact, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert approve(cast, order) == Verb.FIRST_YES
    monkeypatch.setattr(FactOfTwo, "_refuse_the_same_person", lambda self, person: None)
    monkeypatch.setattr(second_person, "first_yes", lambda *given, **named: None)
    assert set(at_once(AT_ONCE, lambda: approve(cast, order))) == {"NotAllowed"}
    assert state(cast, order) == (Status.PROPOSED, cast.rita.pk, None)
    assert approve(cast, order, "olga") == Verb.APPROVE


def test_no_statement_makes_one_person_both(cast: Cast, order: Fact) -> None:
    assert approve(cast, order) == Verb.FIRST_YES
    with tenancy.project(cast.project.pk):
        row = Fact.objects.filter(pk=order.pk)
        with pytest.raises(IntegrityError, match=TWO_ARE_TWO), transaction.atomic():
            row.update(approved_by=cast.rita)
        row.update(approved_by=cast.olga)
        with pytest.raises(IntegrityError, match=TWO_ARE_TWO), transaction.atomic():
            row.update(first_yes_by=cast.olga)
