"""Statements that are compiled once, run prepared, and asked for together."""

from __future__ import annotations

from datetime import datetime

import pytest
from django.db import DataError, transaction

from memory import reads
from memory.models import Evidence, Fact
from projects import tenancy
from projects.models.membership import OF_PERSON
from projects.prepared import Kept, asked_ahead, literal, run, run_all
from tests import factories
from tests.factories import Cast

pytestmark = pytest.mark.django_db
DB = "default"


def same(one: Fact, other: Fact) -> bool:
    columns = [field.attname for field in Fact._meta.concrete_fields if not field.generated]
    return all(getattr(one, name) == getattr(other, name) for name in columns)


def test_a_kept_query_set_gives_the_rows_that_django_gives(  # type: ignore[no-untyped-def]
    shop: Cast, now: datetime, django_assert_num_queries
) -> None:
    value = {"when": ["Monday", 7], "odd": "100% 'so'"}
    facts = [
        factories.proposal(shop.project, "Odd: 100% 'so'.", key="note:a", value=value, findings=[{"category": "x"}]),
        factories.approved(shop.project, shop.rita, everyone=False, agent_ids=[shop.support.pk], now=now),
    ]
    for fact in facts:
        with django_assert_num_queries(1):
            found = reads.FACT.first(fact=fact.pk)
            assert found is not None
            assert found.subject.entity_id == "cust_123", "joined"
        assert same(found, Fact.objects.get(pk=fact.pk))
        assert not found._state.adding
    assert reads.FACT.first(fact=0) is None
    memberships = OF_PERSON.all(person=shop.rita.pk)
    assert [(one.project, one.role) for one in memberships] == [(shop.project, "reviewer")]


def test_what_is_joined_and_gone_is_none(shop: Cast) -> None:
    fact = factories.proposal(shop.project, quote=factories.observation(factories.session(shop.support), "Write."))
    quote = reads.QUOTES.all(fact=fact.pk)[0]
    assert quote.observation is not None
    assert quote.observation.session.external_id == "call-1"
    Evidence.objects.update(observation=None)
    assert reads.QUOTES.all(fact=fact.pk)[0].observation is None


def test_it_is_compiled_once_with_its_numbers_named(shop: Cast) -> None:
    built = []

    def build(at):  # type: ignore[no-untyped-def]
        built.append(1)
        return Fact.objects.filter(project=at("project"), pk=at("fact"), status="proposed").order_by()

    kept = Kept(build)
    first, second = (factories.proposal(shop.project, f"Number {n}.", key=f"note:{n}") for n in "ab")
    project = shop.project.pk
    assert kept.all(project=project, fact=first.pk) == [first]
    assert kept.all(project=project, fact=second.pk) == [second]
    assert kept.all(project=shop.other.pk, fact=second.pk) == []
    assert built == [1]


def test_what_was_asked_ahead_is_answered_once(shop: Cast, django_assert_num_queries) -> None:  # type: ignore[no-untyped-def]
    fact = factories.proposal(shop.project)
    reads.FACT.first(fact=fact.pk)
    with asked_ahead(DB, [reads.FACT.asked(fact=fact.pk), reads.QUOTES.asked(fact=fact.pk)]):
        Fact.objects.filter(pk=fact.pk).update(text="Moved.")
        with django_assert_num_queries(0):
            told = reads.FACT.first(fact=fact.pk)
        again = reads.FACT.first(fact=fact.pk)
        assert told is not None
        assert again is not None
        assert (told.text, again.text) == (fact.text, "Moved.")
        assert reads.FACT.first(fact=fact.pk + 1) is None, "another number is another question"
    with django_assert_num_queries(1):
        assert reads.QUOTES.all(fact=fact.pk) == [], "nothing is kept beyond the block"


def test_nothing_that_was_asked_ahead_outlives_a_failure(shop: Cast) -> None:
    fact = factories.proposal(shop.project)
    with pytest.raises(KeyError), asked_ahead(DB, [reads.FACT.asked(fact=fact.pk)]):
        raise KeyError
    Fact.objects.filter(pk=fact.pk).update(text="Moved.")
    told = reads.FACT.first(fact=fact.pk)
    assert told is not None
    assert told.text == "Moved."


def test_statements_asked_together_come_in_their_order_and_fail_as_one(shop: Cast) -> None:
    ask = "SELECT %(number)s::int"
    assert run_all(DB, [(ask, {"number": n}) for n in (3, 1, 2)]) == [[(3,)], [(1,)], [(2,)]]
    with pytest.raises(DataError), transaction.atomic():
        run_all(DB, [(ask, {"number": 1}), ("SELECT 1 / %(by)s::int", {"by": 0}), (ask, {"number": 2})])
    assert run(DB, ask, {"number": 4}) == [(4,)]


def test_a_constant_with_a_quote_or_a_percent_sign_stays_one() -> None:
    assert literal("it's 100%") == "'it''s 100%%'"
    assert (literal(True), literal(7)) == ("true", "7")


@pytest.mark.django_db(transaction=True)
def test_a_kept_query_set_sees_the_projects_of_its_transaction_alone() -> None:
    cast = factories.cast()
    with tenancy.project(cast.project.pk):
        fact = factories.proposal(cast.project)
        assert reads.FACT.first(fact=fact.pk) == fact
    assert reads.FACT.first(fact=fact.pk) is None
    with tenancy.project(cast.other.pk), asked_ahead(DB, [reads.FACT.asked(fact=fact.pk)]):
        assert reads.FACT.first(fact=fact.pk) is None
    with tenancy.reader(lambda: [one.project_id for one in OF_PERSON.all(person=cast.rita.pk)]):
        assert reads.FACT.first(fact=fact.pk) == fact
        assert [one.project_id for one in OF_PERSON.all(person=cast.sam.pk)] == [], "the sign-in is over"
