"""How good the readers were, and what came again after people had refused it."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from memory.models import Fact, Suppression
from projects import tenancy
from review.insights import scorecard
from tests import factories
from tests.factories import Cast

pytestmark = pytest.mark.django_db


def proposals(cast: Cast, now: datetime, count: int, version: str = "1", kind: str = "fix") -> list[Fact]:
    base = Fact.objects.count()
    return [
        factories.proposal(
            cast.project,
            f"Lesson {base + number}.",
            key=f"{kind}:lesson.{base + number}",
            distiller="local",
            prompt_version=version,
            now=now,
        )
        for number in range(count)
    ]


def test_each_outcome_is_counted_once_under_its_reader_type_and_week(cast: Cast, now: datetime) -> None:
    with tenancy.project(cast.project.pk):
        plain, edited, before, refused, undone, _ = proposals(cast, now, 6)
        plain.approve(cast.rita, revision=plain.revision, now=now)
        edited.approve(cast.rita, revision=edited.revision, now=now, text="Better words.")
        before.edit(cast.rita, revision=before.revision, now=now, text="Other words.")
        before.approve(cast.rita, revision=before.revision, now=now)
        refused.reject(cast.rita, revision=refused.revision, now=now, reason="vague")
        undone.undo(undone.reject(cast.rita, revision=undone.revision, now=now, reason="vague"), cast.rita, now=now)
        # Words that were changed long after say nothing against the reader.
        plain.edit(cast.rita, revision=plain.revision, now=now + timedelta(days=3), text="Later words.")
        proposals(cast, now - timedelta(weeks=20), 1, version="2", kind="choice")
        factories.proposal(cast.project, "By hand.", key="note:hand")
        card = scorecard.of(cast.project, now)
    assert (card.total.as_it_stood, card.total.edited, card.total.rejected, card.total.waiting) == (1, 2, 1, 3)
    assert card.total.why == "Too vague 1"
    assert [name for name, _ in card.readers] == ["local reader 2", "local reader 1"]
    assert dict(card.readers)["local reader 1"].share == "25 %"
    assert dict(card.readers)["local reader 2"].share == ""
    assert {name: score.decided for name, score in card.types} == {"fix": 4, "choice": 0}
    assert [score.waiting for _, score in card.weeks] == [2]


def test_the_scorecard_takes_two_queries(
    cast: Cast, now: datetime, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with tenancy.project(cast.project.pk):
        for fact in proposals(cast, now, 12):
            fact.reject(cast.rita, revision=fact.revision, now=now, reason="vague")
        with django_assert_num_queries(2):
            scorecard.of(cast.project, now)


def page(cast: Cast, address: str) -> str:
    client = Client()
    client.force_login(cast.vera, backend="allauth.account.auth_backends.AuthenticationBackend")
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def test_an_empty_scorecard_says_what_will_stand_there(cast: Cast) -> None:
    assert "Nothing has been proposed yet." in page(cast, "/p/shop/scorecard")
    assert "Nothing was filtered out." in page(cast, "/p/shop/memory/filtered")


def test_the_page_says_the_figures_in_a_sentence(cast: Cast, now: datetime) -> None:
    with tenancy.project(cast.project.pk):
        kept, refused = proposals(cast, now, 2)
        kept.approve(cast.rita, revision=kept.revision, now=now)
        refused.reject(cast.rita, revision=refused.revision, now=now, reason="vague")
    words = page(cast, "/p/shop/scorecard")
    assert "Decided: 2. Approved as it stood: 1; after an edit: 0; rejected: 1." in words
    assert "Too few to judge a reader by; 50 are enough." in words


def test_the_list_of_what_came_again_asks_as_often_for_many_as_for_one(
    cast: Cast, now: datetime, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    def refuse(count: int) -> None:
        with tenancy.project(cast.project.pk):
            for fact in proposals(cast, now, count):
                fact.reject(cast.rita, revision=fact.revision, now=now, reason="vague")
                Suppression.objects.create(project=cast.project, fact=fact, text="Again.", similarity=0.9, at=now)

    refuse(1)
    page(cast, "/p/shop/memory/filtered")
    with CaptureQueriesContext(connection) as one:
        page(cast, "/p/shop/memory/filtered")
    refuse(12)
    with django_assert_max_num_queries(len(one)):
        assert page(cast, "/p/shop/memory/filtered").count("Too vague") == 13


def test_what_came_again_is_counted_and_can_be_opened(cast: Cast, now: datetime) -> None:
    with tenancy.project(cast.project.pk):
        (fact,) = proposals(cast, now, 1)
        fact.reject(cast.rita, revision=fact.revision, now=now, reason="vague")
        for number in range(3):
            talk = factories.session(cast.support, f"call-{number}")
            said = f"Lesson again {number}."
            Suppression.objects.create(project=cast.project, fact=fact, session=talk, text=said, similarity=0.9, at=now)
    assert "3 times</a>" in page(cast, "/p/shop/scorecard")
    listed = page(cast, "/p/shop/memory/filtered")
    assert f"/facts/{fact.short_id}" in listed
    assert "Too vague" in listed
    assert "3 times" in listed
    opened = page(cast, f"/facts/{fact.short_id}")
    assert "Came again" in opened
    assert "Lesson again 2." in opened
    assert "call-2" in opened
