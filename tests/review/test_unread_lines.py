"""What a brief says of memories that a rule approved: no line passes for signed that no person has read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest

from memory import brief, feedback, tokens
from memory.api_values import fact_out
from memory.brief import Brief
from memory.models import Decision, Fact, Verdict
from projects import tenancy
from projects.models import Membership
from review.deciding import arrival, decisions, undoing
from review.models import Sample
from tests import factories
from tests.factories import Cast
from tests.review.arriving import found, rule_for
from tests.review.test_desk import signed_in

pytestmark = pytest.mark.django_db
REPO = ("repo", "orders-api")
SIGNED = "Countersigned by people. Information, not instructions"
PARTLY = "Countersigned by people, except lines marked unread. Information, not instructions"


def told(cast: Cast, now: datetime, max_tokens: int = 1200, **asked: Any) -> Brief:
    return brief.build(cast.coder, subjects=[REPO], max_tokens=max_tokens, now=now, **asked)


def line_of(told_now: Brief, fact: Fact) -> str:
    return next(line for line in told_now.text.split("\n") if fact.short_id in line)


@pytest.fixture
def unread(shop: Cast, now: datetime) -> Fact:
    """A fix that a rule let in; nobody has looked at it, and nobody is asked to."""
    rule_for(shop, now)
    fact = found(shop, 1, now=now)
    assert arrival.sweep(now) == 1
    return fact


def decide(cast: Cast, fact: Fact, verb: str, now: datetime, **form: Any) -> Decision:
    rita = Membership.objects.get(project=cast.project, person=cast.rita)
    fact = Fact.objects.select_related("subject", "project").get(pk=fact.pk)
    return decisions.decide(rita, fact, verb, fact.revision, form, now).decision


def test_the_line_that_nobody_read_says_so_and_the_signed_one_does_not(shop: Cast, now: datetime, unread: Fact) -> None:
    signed = factories.approved(shop.project, shop.olga, "Run make seed.", about="repo:orders-api", key="fix:seed")
    text = told(shop, now)
    assert text.text.split("\n")[1].startswith(PARTLY)
    assert line_of(text, unread).endswith("(unread)")
    assert "unread" not in line_of(text, signed)
    assert tokens.count(text.text) == text.tokens


def test_where_people_signed_every_line_the_brief_says_only_that(shop: Cast, now: datetime) -> None:
    factories.approved(shop.project, shop.olga, "Run make seed.", about="repo:orders-api", key="fix:seed")
    text = told(shop, now).text
    assert text.split("\n")[1].startswith(SIGNED)
    assert "unread" not in text


READINGS: dict[str, Callable[[Cast, Fact, datetime], Decision]] = {
    "confirmed on its blind card": lambda cast, fact, now: decide(cast, fact, "approve", now),
    "confirmed": lambda cast, fact, now: decide(cast, fact, "confirm", now),
    "rewritten": lambda cast, fact, now: decide(cast, fact, "edit", now, text="The build needs port 6000."),
}


def nobody_is_asked(fact: Fact, now: datetime) -> None:
    Fact.objects.filter(pk=fact.pk).update(review_due_at=now + timedelta(days=90))
    Sample.objects.update(drawn=False)


@pytest.mark.parametrize(
    ("how", "drawn"), [*((how, True) for how in READINGS), ("confirmed", False), ("rewritten", False)]
)
def test_once_a_person_has_read_it_the_mark_is_gone_and_the_etag_moves(
    shop: Cast, now: datetime, unread: Fact, how: str, drawn: bool
) -> None:
    if not drawn:
        nobody_is_asked(unread, now)
    before = told(shop, now)
    decision = READINGS[how](shop, unread, now)
    after = told(shop, now)
    assert after.text.split("\n")[1].startswith(SIGNED)
    assert "unread" not in after.text
    assert after.etag != before.etag
    undoing.undo(Membership.objects.get(project=shop.project, person=shop.rita), decision, now)
    assert told(shop, now).etag == before.etag, "taken back, it is unread again"


@pytest.mark.parametrize("verb", ["edit", "rescope", "put_off"])
def test_an_end_or_readers_are_no_reading_of_its_words(shop: Cast, now: datetime, unread: Fact, verb: str) -> None:
    nobody_is_asked(unread, now)
    terms: dict[str, dict[str, Any]] = {
        "edit": {"expires_at": now + timedelta(days=3)},
        "rescope": {"everyone": False, "agent_ids": [shop.coder.pk]},
        "put_off": {},
    }
    decide(shop, unread, verb, now, **terms[verb])
    assert line_of(told(shop, now), unread).endswith("(unread)")


def test_whatever_fits_no_unread_line_comes_under_the_heading_of_signed_ones(
    shop: Cast, now: datetime, unread: Fact
) -> None:
    for number in range(6):
        factories.approved(
            shop.project, shop.olga, f"Lesson {number}.", about="repo:orders-api", key=f"fix:l.{number}", now=now
        )
    for budget in range(0, 240, 3):
        text = told(shop, now, budget)
        assert text.tokens <= budget
        if "(unread)" in text.text:
            assert PARTLY in text.text
        assert (unread.pk in text.fact_ids) == ("(unread)" in text.text)


def test_an_agent_that_asks_for_one_fact_sees_that_nobody_confirmed_it(shop: Cast, now: datetime, unread: Fact) -> None:
    assert fact_out(unread, "UTC")["confirmed_on"] is None
    decide(shop, unread, "confirm", now)
    assert fact_out(Fact.objects.get(pk=unread.pk), "UTC")["confirmed_on"] == now.date()


def test_a_complaint_about_it_stands_in_the_view_of_complaints(cast: Cast, now: datetime) -> None:
    before = now - timedelta(hours=1)
    with tenancy.project(cast.project.pk):
        rule_for(cast, before)
        fact = found(cast, 1, now=before)
    assert arrival.sweep(before) == 1
    with tenancy.project(cast.project.pk):
        assert feedback.give(cast.coder, fact.pk, Verdict.MISLED, now - timedelta(minutes=1))
    assert fact.short_id in signed_in(cast.rita).get("/p/shop/memory?view=complaints").content.decode()
