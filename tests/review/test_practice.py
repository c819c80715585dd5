"""Practice: three invented cards before the first sitting, told at once, and never a memory."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from memory.models import Decision, Fact, Status
from projects import tenancy
from projects.models import Membership
from review.models import GoldAnswer
from review.piles import practice
from tests.factories import Cast
from tests.review.test_desk import HTMX, proposed, signed_in

pytestmark = pytest.mark.django_db

PAGE = "/p/shop/practice"
CARDS = {card.number: card for card in practice.cards()}


@pytest.fixture
def newcomer(cast: Cast) -> Client:
    """Rita, as if she had just been invited, with one card that waits."""
    proposed(cast)
    with tenancy.project(cast.project.pk):
        Membership.objects.filter(person=cast.rita).update(practised_at=None)
    return signed_in(cast.rita)


def practised(cast: Cast) -> bool:
    with tenancy.project(cast.project.pk):
        return Membership.objects.get(project=cast.project, person=cast.rita).practised_at is not None


def test_there_is_one_that_holds_one_that_says_too_much_and_one_instruction() -> None:
    assert [card.holds for card in CARDS.values()] == [True, False, False]
    assert [bool(card.flag) for card in CARDS.values()] == [False, False, True]
    assert ("unsupported", "Always") in CARDS[2].sentence
    for card in CARDS.values():
        assert any(mark == "mark" for turn in card.turns for mark, _ in turn.pieces)
        for told in (card.right, card.wrong):
            assert 1 <= len(re.findall(r"[.!?](?:\s|$)", told)) <= 2


@pytest.mark.parametrize("address", ["/p/shop/review", "/p/shop/review?as=list"])
def test_the_first_sitting_begins_with_practice(newcomer: Client, cast: Cast, address: str) -> None:
    answer = newcomer.get(address)
    assert answer.status_code == 302
    assert answer["Location"] == PAGE
    page = newcomer.get(PAGE).content.decode()
    for words in ("Practice", "1 of 3", "Skip practice", "Approve", "Reject", 'data-key="a"', 'data-key="x"'):
        assert words in page


def test_who_practised_who_only_looks_and_who_was_sent_a_card_go_on(newcomer: Client, cast: Cast) -> None:
    assert signed_in(cast.olga).get("/p/shop/review").status_code == 200
    assert signed_in(cast.vera).get("/p/shop/review").status_code == 200
    assert signed_in(cast.vera).get(PAGE).status_code == 403
    with tenancy.project(cast.project.pk):
        fact = Fact.objects.get()
    assert newcomer.get(f"/p/shop/review?card={fact.short_id}").status_code == 200


def test_an_empty_pile_is_no_sitting(newcomer: Client, cast: Cast) -> None:
    with tenancy.project(cast.project.pk):
        Fact.objects.update(status=Status.LAPSED)
    assert newcomer.get("/p/shop/review").status_code == 200
    assert not practised(cast)


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("answer", practice.ANSWERS)
def test_each_answer_is_told_at_once_in_the_same_place(newcomer: Client, number: int, answer: str) -> None:
    card = CARDS[number]
    right = {1: ("approve",), 2: ("edit", "reject"), 3: ("edit", "reject")}[number]
    told = card.right if answer in right else card.wrong
    page = newcomer.post(PAGE, {"n": number, "answer": answer}, headers=HTMX).content.decode()
    assert page.lstrip().startswith('<div id="desk"')
    assert f'data-announce="{told.split("“")[0]}' in page
    plain = newcomer.post(PAGE, {"n": number, "answer": answer})
    assert plain.status_code == 302, "without JavaScript it is a redirect"
    page = newcomer.get(plain["Location"]).content.decode()
    assert told in page
    assert ("Next card" in page) == (number < 3)
    assert ("To the real cards" in page) == (number == 3)


def test_reject_asks_why_by_the_same_digits(newcomer: Client) -> None:
    page = newcomer.get(f"{PAGE}?n=3&panel=reject", headers=HTMX).content.decode()
    assert 'value="instruction" data-key="8"' in page
    answer = newcomer.post(PAGE, {"n": 3, "answer": "reject", "reason": "instruction"}, headers=HTMX)
    assert CARDS[3].right in answer.content.decode()


def test_after_the_last_card_comes_the_real_pile(newcomer: Client, cast: Cast) -> None:
    answer = newcomer.post(PAGE)
    assert (answer.status_code, answer["Location"]) == (302, "/p/shop/review")
    assert practised(cast)
    page = newcomer.get("/p/shop/review")
    assert page.status_code == 200
    assert "From here on the cards are real." in page.content.decode()


def test_skipping_is_going_on_and_practising_again_keeps_the_first_day(newcomer: Client, cast: Cast) -> None:
    assert newcomer.post(PAGE, headers=HTMX)["HX-Redirect"] == "/p/shop/review"
    with tenancy.project(cast.project.pk):
        first = Membership.objects.get(person=cast.rita).practised_at
    page = newcomer.get("/p/shop/review").content.decode()
    assert "Practise again" in page
    assert newcomer.get(PAGE).status_code == 200
    newcomer.post(PAGE)
    with tenancy.project(cast.project.pk):
        assert Membership.objects.get(person=cast.rita).practised_at == first


def test_practice_is_never_a_memory_a_decision_or_a_count(newcomer: Client, cast: Cast) -> None:
    for number in CARDS:
        for answer in practice.ANSWERS:
            newcomer.post(PAGE, {"n": number, "answer": answer, "reason": "not_true"})
    newcomer.post(PAGE)
    with tenancy.project(cast.project.pk):
        assert Fact.objects.count() == 1
        assert not Decision.objects.filter(person=cast.rita).exists()
        assert not GoldAnswer.objects.exists()
    page = newcomer.get("/p/shop/review").content.decode()
    assert "0 of 1" in page


@pytest.mark.parametrize("sent", [{"n": "9"}, {"n": "x"}, {"n": "1", "answer": "delete"}, {"n": "²"}])
def test_a_made_up_address_shows_the_first_card(newcomer: Client, sent: dict[str, str]) -> None:
    page = newcomer.get(PAGE, sent)
    assert page.status_code == 200
    assert "1 of 3" in page.content.decode()
