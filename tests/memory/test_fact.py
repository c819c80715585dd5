"""The verbs of a fact: one table of moves, one winner of two people, undo for each."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.db import IntegrityError, transaction

from memory.models import TRANSITIONS, Decision, Fact, FactChanged, NotAllowed, Status, Verb
from tests.factories import Cast, approved, proposal

pytestmark = pytest.mark.django_db


def test_the_same_statement_is_counted_not_proposed_twice(shop: Cast, now: datetime) -> None:
    first = proposal(shop.project, "Prefers e-mail.", value="e-mail")
    again = proposal(shop.project, "prefers  E-mail", value="E-Mail")
    assert again.pk == first.pk
    assert again.times_seen == 2
    assert again.revision == 1


def test_one_digit_apart_is_another_statement(shop: Cast) -> None:
    assert proposal(shop.project, "Order 4821 is late.").pk != proposal(shop.project, "Order 4822 is late.").pk


def test_the_second_of_two_people_gets_the_fact_as_the_first_left_it(shop: Cast, now: datetime) -> None:
    fact = proposal(shop.project)
    seen_by_both = fact.revision
    Fact.objects.get(pk=fact.pk).approve(shop.rita, revision=seen_by_both, now=now)
    with pytest.raises(FactChanged) as caught:
        Fact.objects.get(pk=fact.pk).reject(shop.olga, revision=seen_by_both, now=now, reason="wrong")
    assert caught.value.fact.status == Status.APPROVED
    assert caught.value.fact.approved_by == shop.rita


def test_approving_another_value_of_a_single_valued_key_replaces_the_old_one(shop: Cast, now: datetime) -> None:
    old = approved(shop.project, shop.rita, "Prefers e-mail.", value="e-mail")
    new = proposal(shop.project, "Prefers the phone.", value="phone")
    new.approve(shop.olga, revision=new.revision, now=now)
    old.refresh_from_db()
    assert (old.status, old.superseded_by_id) == (Status.SUPERSEDED, new.pk)


def test_an_agents_own_value_stands_beside_everyones_and_beats_it(shop: Cast, now: datetime) -> None:
    everyones = approved(shop.project, shop.rita, "Prefers e-mail.", value="e-mail")
    own = approved(
        shop.project, shop.rita, "Prefers the phone.", value="phone", everyone=False, agent_ids=[shop.sales.pk]
    )
    assert set(Fact.objects.visible_to(shop.support, now)) == {everyones}
    assert set(Fact.objects.visible_to(shop.sales, now)) == {own}


def test_a_shared_value_gives_way_only_for_the_readers_they_share(shop: Cast, now: datetime) -> None:
    both = [shop.support.pk, shop.sales.pk]
    old = approved(shop.project, shop.rita, "Prefers e-mail.", value="e-mail", everyone=False, agent_ids=both)
    approved(shop.project, shop.rita, "Prefers the phone.", value="phone", everyone=False, agent_ids=[shop.sales.pk])
    old.refresh_from_db()
    assert (old.status, old.agent_ids) == (Status.APPROVED, [shop.support.pk])


def test_a_support_fact_never_reaches_sales(shop: Cast, now: datetime) -> None:
    fact = approved(shop.project, shop.rita, everyone=False, agent_ids=[shop.support.pk])
    assert fact in Fact.objects.visible_to(shop.support, now)
    assert fact not in Fact.objects.visible_to(shop.sales, now)


def test_a_fact_ends_by_the_clock_alone(shop: Cast, now: datetime) -> None:
    fact = approved(shop.project, shop.rita, expires_at=now + timedelta(hours=1))
    assert fact in Fact.objects.visible_to(shop.support, now)
    assert fact not in Fact.objects.visible_to(shop.support, now + timedelta(hours=1))


@pytest.mark.parametrize("who", ["agent", "project"])
def test_paused_means_nothing_is_visible(shop: Cast, now: datetime, who: str) -> None:
    approved(shop.project, shop.rita)
    target = shop.support if who == "agent" else shop.support.project
    target.paused_at = now
    assert not Fact.objects.visible_to(shop.support, now).exists()


def _decide(fact: Fact, verb: str, cast: Cast, now: datetime) -> Decision:
    calls = {
        "approve": lambda: fact.approve(cast.rita, revision=fact.revision, now=now),
        "edit": lambda: fact.edit(cast.rita, revision=fact.revision, now=now, text="Prefers letters."),
        "reject": lambda: fact.reject(cast.rita, revision=fact.revision, now=now, reason="wrong"),
        "rescope": lambda: fact.rescope(
            cast.rita, revision=fact.revision, now=now, everyone=False, agent_ids=[cast.sales.pk]
        ),
        "put off": lambda: fact.put_off(cast.rita, revision=fact.revision, now=now, until=now + timedelta(days=1)),
        "remove": lambda: fact.remove(cast.rita, revision=fact.revision, now=now, reason="wrong"),
        "merge": lambda: fact.merge_into(
            proposal(cast.project, "Another."), cast.rita, revision=fact.revision, now=now
        ),
        "lapse": lambda: fact.lapse(now),
    }
    return calls[verb]()


def test_undo_goes_back_step_by_step(shop: Cast, now: datetime) -> None:
    fact = proposal(shop.project)
    start = fact._snapshot()
    edit = fact.edit(shop.rita, revision=fact.revision, now=now, text="Prefers letters.")
    edited = fact._snapshot()
    approval = fact.approve(shop.rita, revision=fact.revision, now=now)
    with pytest.raises(FactChanged):
        fact.undo(edit, shop.rita, now=now)
    fact.undo(approval, shop.rita, now=now)
    assert fact._snapshot() == edited
    fact.undo(edit, shop.rita, now=now)
    assert fact._snapshot() == start
    for step in (edit, approval):
        with pytest.raises((NotAllowed, FactChanged)):
            fact.undo(Decision.objects.get(pk=step.pk), shop.rita, now=now)


@pytest.mark.parametrize("verb", ["approve", "edit", "reject", "rescope", "put off", "remove", "merge", "lapse"])
def test_undo_puts_everything_back(shop: Cast, now: datetime, verb: str) -> None:
    fact = proposal(shop.project)
    before = fact._snapshot()
    decision = _decide(fact, verb, shop, now)
    assert fact._snapshot() != before
    undone = fact.undo(decision, shop.rita, now=now)
    fact.refresh_from_db()
    assert fact._snapshot() == before
    assert undone.undoes == decision
    with pytest.raises((FactChanged, NotAllowed)):
        fact.undo(decision, shop.rita, now=now)


def test_undo_is_refused_when_somebody_moved_the_fact_since(shop: Cast, now: datetime) -> None:
    fact = proposal(shop.project)
    first = fact.approve(shop.rita, revision=fact.revision, now=now)
    fact.edit(shop.olga, revision=fact.revision, now=now, text="Prefers letters.")
    with pytest.raises(FactChanged):
        fact.undo(first, shop.rita, now=now)


@pytest.mark.parametrize("start", sorted(Status.values))
@pytest.mark.parametrize("end", ["approved", "rejected", "removed", "lapsed", "superseded", "expired", "merged"])
def test_no_move_outside_the_table(shop: Cast, now: datetime, start: str, end: str) -> None:
    fact = proposal(shop.project)
    Fact.objects.filter(pk=fact.pk).update(status=start)
    fact.refresh_from_db()
    legal = end in TRANSITIONS.get(start, ())
    if legal:
        fact._move(Verb.EDIT, shop.rita, now, to=end)
    else:
        with pytest.raises(NotAllowed):
            fact._move(Verb.EDIT, shop.rita, now, to=end)


def test_a_lifetime_that_is_over_cannot_be_approved(shop: Cast, now: datetime) -> None:
    fact = proposal(shop.project, expires_at=now - timedelta(days=1))
    with pytest.raises(NotAllowed, match="Lives until"):
        fact.approve(shop.rita, revision=fact.revision, now=now)


def test_the_database_refuses_an_empty_scope_and_two_values_for_everyone(shop: Cast, now: datetime) -> None:
    fact = approved(shop.project, shop.rita)
    with pytest.raises(IntegrityError), transaction.atomic():
        Fact.objects.filter(pk=fact.pk).update(everyone=False, agent_ids=[])
    other = proposal(shop.project, "Prefers the phone.", value="phone")
    with pytest.raises(IntegrityError), transaction.atomic():
        Fact.objects.filter(pk=other.pk).update(status="approved")


def test_history_only_grows(shop: Cast, now: datetime) -> None:
    from django.db import DatabaseError

    decision = proposal(shop.project).decisions.get()
    with pytest.raises(DatabaseError), transaction.atomic():
        Decision.objects.filter(pk=decision.pk).update(reason="x")
    with pytest.raises(DatabaseError), transaction.atomic():
        Decision.objects.filter(pk=decision.pk).delete()
