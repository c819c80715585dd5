"""A severe fault ends a rule; taken back, it never happened: the rule, what it let in, and what others did since."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from memory import feedback
from memory.models import Decision, Fact, Status, Verdict
from projects import tenancy
from projects.models import AuditEvent, Membership, Project
from review.deciding import arrival, decisions, policy, sampling, undoing
from review.deciding.policy import Level, Policy
from review.deciding.undoing import Undone
from review.models import Sample
from tests.factories import Cast
from tests.review.arriving import found, rule_for
from tests.review.test_desk import signed_in

pytestmark = pytest.mark.django_db


def rita(cast: Cast) -> Membership:
    return Membership.objects.select_related("project", "person").get(project=cast.project, person=cast.rita)


def decide(cast: Cast, fact: Fact, verb: str, now: datetime, **form: Any) -> Decision:
    fact = Fact.objects.select_related("subject", "project").get(pk=fact.pk)
    return decisions.decide(rita(cast), fact, verb, fact.revision, form, now).decision


def undo(cast: Cast, decision: Decision, now: datetime) -> Undone:
    return undoing.undo(rita(cast), Decision.objects.get(pk=decision.pk), now)


def policy_of(cast: Cast) -> Policy:
    return Policy.of(Project.objects.get(pk=cast.project.pk))


@pytest.fixture
def arrived(shop: Cast, now: datetime) -> list[Fact]:
    """Four that a rule let in: two of them drawn, two that nobody is asked about before 90 days."""
    rule_for(shop, now)
    facts = [found(shop, number, now=now) for number in range(4)]
    assert arrival.sweep(now) == 4
    asleep = [fact.pk for fact in facts[2:]]
    Sample.objects.filter(fact__in=asleep).update(drawn=False)
    Fact.objects.filter(pk__in=asleep).update(review_due_at=now + timedelta(days=90))
    return facts


def due(fact: Fact) -> datetime | None:
    return Fact.objects.values_list("review_due_at", flat=True).get(pk=fact.pk)


def test_the_rule_is_back_with_its_owner_and_lets_in_what_comes(shop: Cast, now: datetime, arrived: list[Fact]) -> None:
    before = policy_of(shop).rules["fix"]
    later = now + timedelta(minutes=1)
    ended = decide(shop, arrived[0], "reject", later, reason="not_true")
    assert policy_of(shop).ended.keys() == {"fix"}
    came = found(shop, 50, now=later)
    assert arrival.sweep(later) == 0
    undone = undo(shop, ended, later)
    assert "“On arrival” holds again for fix" in undone.words
    assert policy_of(shop).rules["fix"] == before
    assert not policy_of(shop).ended
    assert arrival.sweep(later) == 1
    assert Fact.objects.get(pk=came.pk).status == Status.APPROVED
    trail = AuditEvent.objects.get(action="policy.begin_again")
    assert trail.actor_id == shop.rita.pk


def test_what_went_back_in_the_pile_is_due_and_drawn_as_it_was(shop: Cast, now: datetime, arrived: list[Fact]) -> None:
    before = list(Fact.objects.order_by("pk").values_list("review_due_at", flat=True))
    drawn = list(Sample.objects.order_by("pk").values_list("drawn", "verdict"))
    later = now + timedelta(minutes=1)
    ended = decide(shop, arrived[0], "reject", later, reason="not_true")
    assert [due(fact) for fact in arrived[2:]] == [later, later]
    undo(shop, ended, later)
    assert list(Fact.objects.order_by("pk").values_list("review_due_at", flat=True)) == before
    assert list(Sample.objects.order_by("pk").values_list("drawn", "verdict")) == drawn
    assert sampling.open_ids(Fact.objects.all()) == {arrived[0].pk, arrived[1].pk}


def test_an_owner_who_noted_the_end_gets_the_rule_back_all_the_same(
    shop: Cast, now: datetime, arrived: list[Fact]
) -> None:
    ended = decide(shop, arrived[0], "reject", now, reason="not_true")
    policy.note(shop.project, "fix", by=shop.olga, now=now)
    assert not policy_of(shop).ended, "the strip is gone"
    undo(shop, ended, now)
    assert policy_of(shop).arriving.keys() == {"fix"}


@pytest.mark.parametrize("level", [Level.ONE_BY_ONE, Level.ARRIVAL])
def test_what_an_owner_chose_since_stands_and_the_undo_says_so(
    shop: Cast, now: datetime, arrived: list[Fact], level: Level
) -> None:
    ended = decide(shop, arrived[0], "reject", now, reason="not_true")
    seen = policy_of(shop).version
    policy.change(shop.project, seen=seen, by=shop.olga, now=now + timedelta(minutes=1), levels={"fix": level})
    chosen = policy_of(shop).rules["fix"]
    undone = undo(shop, ended, now + timedelta(minutes=2))
    assert "How fix is reviewed stays as Olga chose it since" in undone.words
    assert policy_of(shop).rules["fix"] == chosen
    assert Fact.objects.get(pk=arrived[0].pk).status == Status.APPROVED
    assert due(arrived[2]) == now, "what went back in the pile stays there"


def test_another_severe_fault_keeps_it_ended_until_that_is_taken_back_too(
    shop: Cast, now: datetime, arrived: list[Fact]
) -> None:
    first = decide(shop, arrived[0], "reject", now, reason="not_true")
    second = decide(shop, arrived[1], "remove", now, reason="instruction")
    decide(shop, found(shop, 60, now=now), "reject", now, reason="vague")
    undone = undo(shop, first, now)
    assert "stays ended for fix: there was another severe reject" in undone.words
    ending = policy_of(shop).ended["fix"].ending
    assert ending is not None
    assert (ending.decision, ending.reason) == (second.pk, "instruction")
    assert due(arrived[2]) == now
    undo(shop, second, now)
    assert policy_of(shop).arriving.keys() == {"fix"}
    assert due(arrived[2]) == now + timedelta(days=90)


def test_a_severe_fault_that_ended_nothing_begins_nothing(shop: Cast, now: datetime, arrived: list[Fact]) -> None:
    first = decide(shop, arrived[0], "reject", now, reason="not_true")
    second = decide(shop, arrived[1], "remove", now, reason="instruction")
    assert undo(shop, second, now).words == "Undone: remove"
    assert not policy_of(shop).arriving
    undo(shop, first, now)
    assert policy_of(shop).arriving.keys() == {"fix"}


SINCE: dict[str, Callable[[Cast, Fact, datetime], object]] = {
    "confirmed": lambda cast, fact, at: decide(cast, fact, "confirm", at),
    "edited": lambda cast, fact, at: decide(cast, fact, "edit", at, text="The build needs port 6000."),
    "put off": lambda cast, fact, at: decide(cast, fact, "put_off", at),
    "withdrawn": lambda cast, fact, at: decide(cast, fact, "remove", at, reason="dated"),
    "complained of": lambda cast, fact, at: feedback.give(cast.coder, fact.pk, Verdict.MISLED, at),
}


@pytest.mark.parametrize("what", SINCE)
def test_what_somebody_said_of_one_of_them_since_stands(
    shop: Cast, now: datetime, arrived: list[Fact], what: str
) -> None:
    ended = decide(shop, arrived[0], "reject", now, reason="not_true")
    SINCE[what](shop, arrived[2], now + timedelta(minutes=1))
    after = Fact.objects.filter(pk=arrived[2].pk).values("status", "text", "confirmed_at", "review_due_at").get()
    undo(shop, ended, now + timedelta(minutes=2))
    assert Fact.objects.filter(pk=arrived[2].pk).values(*after).get() == after
    assert due(arrived[3]) == now + timedelta(days=90), "the others are as before"
    assert policy_of(shop).arriving.keys() == {"fix"}


def test_over_the_desk_it_is_said(cast: Cast, now: datetime) -> None:
    with tenancy.project(cast.project.pk):
        rule_for(cast, now)
        fact = found(cast, 1, now=now)
    assert arrival.sweep(now) == 1
    with tenancy.project(cast.project.pk):
        ended = decide(cast, fact, "remove", now, reason="not_true")
    client = signed_in(cast.rita)
    page = client.post(f"/decisions/{ended.pk}/undo", {"back": "fact"}, follow=True)
    assert "“On arrival” holds again for fix" in page.content.decode()
    told = signed_in(cast.olga).get("/p/shop/policy").content.decode()
    assert "a severe reject taken back" in told
