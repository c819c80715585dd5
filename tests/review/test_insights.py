"""Insights: each sentence says what the rows say, on an empty project, a new one and one with a history."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise

import pytest
from django.test import Client
from django.utils import timezone

from memory.models import BriefServed, Fact, Feedback, Verdict
from projects import tenancy
from review.insights import costing, helping, keeping_up, misleading, rejecting, working
from review.insights.answers import Bars, Columns, Lines
from tests import factories
from tests.factories import Cast

NOW = timezone.now()
SINCE = NOW - timedelta(days=90)
QUESTIONS = (helping, keeping_up, rejecting, working, misleading, costing)


@pytest.fixture
def shop(cast: Cast):  # type: ignore[no-untyped-def]
    with tenancy.project(cast.project.pk):
        yield cast


def said(cast: Cast, fact: Fact, verdict: Verdict, days_ago: int) -> None:
    at = NOW - timedelta(days=days_ago)
    Feedback.objects.create(
        project=cast.project, fact=fact, agent=cast.support, verdict=verdict, said_on=at.date(), at=at
    )


def served(cast: Cast, facts: list[Fact], tokens: int, session: str = "") -> None:
    BriefServed.objects.create(
        project=cast.project,
        agent=cast.support,
        session=factories.session(cast.support, session) if session else None,
        etag="x",
        tokens=tokens,
        budget=1200,
        fact_ids=[fact.pk for fact in facts],
        at=NOW - timedelta(days=1),
    )


@pytest.mark.parametrize("question", QUESTIONS)
def test_an_empty_project_gets_an_answer_without_a_figure(shop: Cast, question) -> None:  # type: ignore[no-untyped-def]
    answer = question.of(shop.project, SINCE, NOW)
    assert answer.sentence
    assert answer.figure is None


def test_what_came_in_and_was_decided_is_counted_by_day_and_agent(shop: Cast) -> None:
    facts = [factories.proposal(shop.project, key=f"note:k{place}", text=f"Sentence {place}.") for place in range(6)]
    for fact in facts[:2]:
        fact.approve(shop.rita, revision=fact.revision, now=NOW)
    facts[2].reject(shop.rita, revision=facts[2].revision, now=NOW, reason="vague")
    undone = facts[3].reject(shop.rita, revision=facts[3].revision, now=NOW, reason="vague")
    facts[3].undo(undone, shop.rita, now=NOW)
    answer = keeping_up.of(shop.project, SINCE, NOW)
    assert answer.sentence.startswith("No. 6 came in and 3 were decided; 3 wait")
    assert isinstance(answer.figure, Lines)
    assert (sum(answer.figure.first), sum(answer.figure.second)) == (3, 6)
    assert (answer.figure.is_weekly, len(answer.figure.days), answer.figure.days[-1]) == (
        True,
        13,
        NOW.date() - timedelta(days=6),
    )
    by_day = keeping_up.of(shop.project, NOW - timedelta(days=30), NOW).figure
    assert isinstance(by_day, Lines)
    assert (by_day.is_weekly, len(by_day.series[0]), sum(by_day.second)) == (False, 31, 6)
    assert answer.doubt == "Rita decided all of it. When they are away, nothing moves."
    assert answer.table is not None
    assert answer.table.rows[0][1:4] == ("6", "3", "3")


def test_one_is_said_as_one(shop: Cast) -> None:
    for place in range(2):
        fact = factories.proposal(shop.project, key=f"note:k{place}", text=f"Sentence {place}.")
    fact.approve(shop.rita, revision=fact.revision, now=NOW)
    assert " and 1 was decided; 1 waits, for " in keeping_up.of(shop.project, SINCE, NOW).sentence
    assert working.of(shop.project, SINCE, NOW).sentence == (
        "Of 1 live memory 0 were used at least once; 1 was in no brief."
    )
    assert rejecting.of(shop.project, SINCE, NOW).sentence == "Nothing. The one was approved."
    said(shop, fact, Verdict.HELPED, 2)
    assert helping.of(shop.project, SINCE, NOW).sentence.startswith("Agents said once that a memory helped")


def test_the_reasons_are_ranked_and_what_was_undone_does_not_count(shop: Cast) -> None:
    facts = [factories.proposal(shop.project, key=f"note:k{place}", text=f"Sentence {place}.") for place in range(9)]
    facts[0].approve(shop.rita, revision=facts[0].revision, now=NOW)
    for fact, reason in zip(facts[1:5], ["vague", "vague", "vague", "misread"], strict=True):
        fact.reject(shop.rita, revision=fact.revision, now=NOW, reason=reason)
    back = facts[5].reject(shop.rita, revision=facts[5].revision, now=NOW, reason="instruction")
    facts[5].undo(back, shop.rita, now=NOW)
    answer = rejecting.of(shop.project, SINCE, NOW)
    assert answer.sentence == "4 of 5, most often because: too vague."
    assert isinstance(answer.figure, Bars)
    assert [(bar.words, bar.value, round(bar.share)) for bar in answer.figure.rows] == [
        ("Too vague", "3", 100),
        ("Misread the quote", "1", 33),
    ]


@pytest.mark.parametrize(("part", "whole", "words"), [(1, 9, "One in nine"), (5, 5, "All of them"), (2, 7, "2 of 7")])
def test_a_share_is_said_as_people_say_it(part: int, whole: int, words: str) -> None:
    assert rejecting._share(part, whole) == words


def test_briefs_and_use_are_two_numbers(shop: Cast) -> None:
    facts = [factories.proposal(shop.project, key=f"note:k{place}", text=f"Sentence {place}.") for place in range(3)]
    for fact in facts:
        fact.approve(shop.rita, revision=fact.revision, now=NOW)
    served(shop, facts[:2], 120)
    served(shop, facts[:1], 60)
    facts[0].count_help()
    answer = working.of(shop.project, SINCE, NOW)
    assert answer.sentence == "Of 3 live memories 1 was used at least once; 1 was in no brief."
    assert isinstance(answer.figure, Bars)
    assert [bar.value for bar in answer.figure.rows] == ["1 of 2", "0 of 1"]


def test_complaints_stand_in_their_week_and_wait_for_an_answer(shop: Cast) -> None:
    fact = factories.proposal(shop.project, text="Gift wrap is free.")
    fact.approve(shop.rita, revision=fact.revision, now=NOW - timedelta(days=40))
    said(shop, fact, Verdict.MISLED, 20)
    said(shop, fact, Verdict.STALE, 20)
    said(shop, fact, Verdict.HELPED, 20)
    fact.reconfirm(shop.rita, revision=fact.revision, now=NOW - timedelta(days=19))
    said(shop, fact, Verdict.MISLED, 0)
    answer = misleading.of(shop.project, SINCE, NOW)
    assert answer.sentence == "3 complaints in 12 weeks, about 1 memory."
    assert answer.doubt == "From complaint to answer: 24 hours, in the middle. 1 is open."
    assert isinstance(answer.figure, Columns)
    assert sum(answer.figure.values) == 3
    assert len(answer.figure.columns) == len([value for value in answer.figure.values if value])


def test_the_cost_names_the_cheapest_and_the_dearest_agent(shop: Cast) -> None:
    served(shop, [], 100, "one")
    served(shop, [], 300, "two")
    served(shop, [], 120, "three")
    assert costing.of(shop.project, SINCE, NOW).sentence == (
        "Nothing for reading: the local reader did it, and 120 tokens at the start of a session."
    )


def test_people_time_is_the_middle_gap_and_a_batch_is_one_decision(shop: Cast) -> None:
    facts = [factories.proposal(shop.project, key=f"note:k{place}", text=f"Sentence {place}.") for place in range(4)]
    for place, fact in enumerate(facts):
        fact.approve(shop.rita, revision=fact.revision, now=NOW - timedelta(hours=1) + timedelta(seconds=8 * place))
    answer = costing.of(shop.project, SINCE, NOW)
    assert answer.doubt.startswith("A decision takes 8 seconds in the middle")


def test_the_page_shows_six_answers_and_asks_the_same_whatever_there_is(
    client: Client, shop: Cast, django_assert_max_num_queries
) -> None:  # type: ignore[no-untyped-def]
    facts = [factories.proposal(shop.project, key=f"note:k{place}", text=f"Say <b>{place}</b>.") for place in range(30)]
    for fact in facts[:20]:
        fact.approve(shop.rita, revision=fact.revision, now=NOW)
    served(shop, facts[:20], 500, "one")
    said(shop, facts[0], Verdict.MISLED, 3)
    client.force_login(shop.rita)
    with django_assert_max_num_queries(45):
        page = client.get("/p/shop/insights?days=30").content.decode()
    assert page.count('class="q6"') == 6
    assert "The last 30 days" in page
    assert "<b>" not in page.split("<main")[1]
    assert "Say &lt;b&gt;0&lt;/b&gt;." in page
    assert client.get("/p/shop/insights?days=7 OR 1").status_code == 200


def test_another_project_counts_for_nothing(client: Client, shop: Cast) -> None:
    client.force_login(shop.sam)
    assert client.get("/p/shop/insights").status_code == 404
    assert "Nothing to look at yet" in client.get("/p/depot/insights").content.decode()


@pytest.mark.parametrize("last", [(3, 15), (15, 15), (0, 0), (15, 14), (8, 7), (15, 0)])
def test_the_words_of_a_figure_never_lie_on_each_other(last: tuple[int, int]) -> None:
    day = NOW.date()
    figure = Lines((day, day), (0, last[0]), (15, last[1]), "decided", "came in", "both")
    axis = 17
    heights = sorted((axis, figure.first_at, figure.second_at))
    assert min(b - a for a, b in pairwise(heights)) >= 17
    assert heights[-1] <= 116
