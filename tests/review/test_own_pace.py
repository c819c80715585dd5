"""Own pace and accuracy: told to oneself alone, and not before there is enough to tell."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.template.loader import render_to_string
from django.utils import timezone

from memory.models import Decision, Fact
from projects import tenancy
from projects.models import Membership, Person
from review.deciding import decisions, undoing
from review.deciding.pace import gaps
from review.insights import own_pace
from review.models import GoldAnswer, GoldItem
from tests.factories import Cast
from tests.review.arriving import found
from tests.review.test_desk import signed_in

pytestmark = pytest.mark.django_db


def decide(cast: Cast, person: Person, verb: str, at: datetime, number: int, **form: str) -> Fact:
    fact = found(cast, number, now=at)
    member = Membership.objects.get(project=cast.project, person=person)
    decisions.decide(member, fact, verb, fact.revision, dict(form), at)
    return fact


def pace(cast: Cast, person: Person, now: datetime) -> own_pace.Pace:
    return own_pace.of(person, [cast.project.pk], now)


def test_few_decisions_tell_nothing(shop: Cast, now: datetime) -> None:
    decide(shop, shop.rita, "approve", now, 1)
    told = pace(shop, shop.rita, now)
    assert (told.yes, told.no, told.median_seconds) == (1, 0, None)
    assert not told.is_enough
    assert told.planted_interval is None


def test_gaps_of_a_break_are_left_out() -> None:
    start = timezone.now()
    moments = [start + timedelta(seconds=seconds) for seconds in (0, 10, 10, 30, 209.9, 600, 612)]
    assert gaps(at.timestamp() for at in moments) == pytest.approx([10, 20, 179.9, 12])


def test_enough_decisions_tell_the_median_and_the_fastest_tenth(
    shop: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert own_pace.ENOUGH == 20
    monkeypatch.setattr(own_pace, "ENOUGH", 4)
    at = now - timedelta(minutes=10)
    for number, seconds in enumerate((0, 8, 12, 10, 10)):
        at += timedelta(seconds=seconds)
        decide(shop, shop.rita, "reject" if number == 2 else "approve", at, number, reason="vague")
    told = pace(shop, shop.rita, now)
    assert told.median_seconds == 10
    assert told.quick_seconds is not None
    assert told.quick_seconds <= 8
    assert (told.yes_share, told.decided) == (80, 5)
    assert pace(shop, shop.olga, now).decided == 0
    assert pace(shop, shop.rita, now + timedelta(days=31)).decided == 0


@pytest.mark.parametrize(
    ("median", "quick", "said"),
    [
        (8.2, 3.4, "8 s, one in ten less than 4 s"),
        (2.0, 1.0, "2 s, one in ten less than 1 s"),
        (0.9, 0.2, "&lt; 1 s, one in ten less than 1 s"),
        (0.0, 0.0, "&lt; 1 s, one in ten less than 1 s"),
        (None, None, "too few to tell"),
    ],
)
def test_no_card_takes_less_than_nothing(median: float | None, quick: float | None, said: str) -> None:
    told = own_pace.Pace(median_seconds=median, quick_seconds=quick)
    page = render_to_string("review/_own_pace.html", {"pace": told})
    assert said in page
    assert "0 s" not in page
    line = render_to_string("review/_own_pace.html", {"pace": told, "small": True})
    assert bool(line.strip()) == (median is not None)
    assert " 0 s" not in line


def test_what_was_taken_back_and_what_others_overturned(shop: Cast, now: datetime) -> None:
    own, others, withdrawn, kept = (decide(shop, shop.rita, "approve", now, number) for number in range(4))
    rita, olga = (Membership.objects.get(project=shop.project, person=one) for one in (shop.rita, shop.olga))
    undoing.undo(rita, Decision.objects.get(fact=own, verb="approve"), now)
    undoing.undo(olga, Decision.objects.get(fact=others, verb="approve"), now)
    withdrawn.refresh_from_db()
    decisions.decide(olga, withdrawn, "remove", withdrawn.revision, {"reason": "not_true"}, now)
    told = pace(shop, shop.rita, now)
    assert (told.taken_back, told.overturned) == (1, 2)
    assert told.yes == 2
    assert kept.pk


def test_planted_cards_are_told_with_how_sure_that_is(shop: Cast, now: datetime) -> None:
    for number in range(6):
        item = GoldItem.objects.create(project=shop.project, card={})
        said = {"item": item, "person": shop.rita, "verb": "approve", "is_right": number > 0, "at": now}
        GoldAnswer.objects.create(project=shop.project, **said)
    told = pace(shop, shop.rita, now)
    assert (told.planted_right, told.planted) == (5, 6)
    # Clopper and Pearson for 5 of 6: 35.9 to 99.6 %.
    assert told.planted_interval == (36, 100)


@pytest.mark.parametrize(("minutes", "said"), [((0, 4, 8, 12, 16, 20, 24), 0), ((0, 4, 8, 12, 16, 20, 24, 26), 26)])
def test_a_break_is_hinted_at_after_25_minutes_without_a_pause(shop: Cast, minutes: tuple[int, ...], said: int) -> None:
    start = timezone.now() - timedelta(hours=1)
    for number, minute in enumerate(minutes):
        decide(shop, shop.rita, "approve", start + timedelta(minutes=minute), number)
    now = start + timedelta(minutes=minutes[-1])
    assert own_pace.minutes_at_it(shop.rita, shop.project.pk, now) == said
    assert own_pace.minutes_at_it(shop.rita, shop.project.pk, now + timedelta(minutes=6)) == 0
    assert own_pace.minutes_at_it(shop.olga, shop.project.pk, now) == 0


def test_it_stands_on_ones_own_page_and_on_no_other(cast: Cast) -> None:
    now = timezone.now()
    with tenancy.project(cast.project.pk):
        for number in range(3):
            decide(cast, cast.rita, "approve", now, number)
    page = signed_in(cast.rita).get("/profile").content.decode()
    assert "Only you see this" in page
    assert "too few to tell" in page
    assert "Your pace" not in signed_in(cast.carl).get("/profile").content.decode(), "who decides nowhere"
    for address in ("/p/shop/people", "/p/shop/insights", "/p/shop/policy", "/p/shop/scorecard"):
        assert "Your pace" not in signed_in(cast.olga).get(address).content.decode()


def test_the_pace_is_three_queries(shop: Cast, now: datetime, django_assert_num_queries) -> None:  # type: ignore[no-untyped-def]
    for number in range(3):
        decide(shop, shop.rita, "approve", now, number)
    with django_assert_num_queries(3):
        pace(shop, shop.rita, now)
