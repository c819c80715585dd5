"""Words of a page stay its words: marked and remembered, edited in, or had back, an order still takes two people."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
from django.test import Client

from memory import short_ids
from memory.models import Fact, NotAllowed, Observation, Status, Verb
from projects import tenancy
from tests import factories
from tests.factories import Cast
from tests.review.test_desk import signed_in
from tests.review.test_second_person import ORDER, say, told_by_a_tool

pytestmark = pytest.mark.django_db
HARMLESS = "The depot opens at nine."


def turn(cast: Cast, text: str, **fields: Any) -> Observation:
    with tenancy.project(cast.project.pk):
        return factories.observation(factories.session(cast.support, f"call-{text[:9]}"), text, **fields)


def page_of(cast: Cast, text: str = ORDER) -> Observation:
    return turn(cast, text, kind="tool_result", role="tool", tool="WebFetch")


def remember(client: Client, row: Observation, text: str) -> str:
    form = {"o": short_ids.encode(row.pk, "o"), "quote": row.text, "text": text, "type": "note"}
    answer = client.post(f"/sessions/{short_ids.encode(row.session_id, 's')}/remember", form, follow=True)
    assert answer.status_code == 200, answer.content.decode()[:500]
    return answer.content.decode()


def the_fact(cast: Cast) -> Fact:
    with tenancy.project(cast.project.pk):
        return Fact.objects.get()


def test_an_order_marked_in_a_page_is_no_word_of_who_marked_it(cast: Cast) -> None:
    said = remember(signed_in(cast.rita), page_of(cast), ORDER)
    assert "a second person decides" in said
    fact = the_fact(cast)
    assert (fact.status, fact.first_yes_by_id) == (Status.PROPOSED, cast.rita.pk)
    with tenancy.project(cast.project.pk):
        with pytest.raises(NotAllowed, match="A second person decides"):
            say(cast, "rita", fact)
        assert say(cast, "olga", fact).decision.verb == Verb.APPROVE


def test_one_that_a_viewer_marked_takes_two_reviewers(cast: Cast) -> None:
    remember(signed_in(cast.vera), page_of(cast), ORDER)
    with tenancy.project(cast.project.pk):
        assert say(cast, "rita", the_fact(cast)).decision.verb == Verb.FIRST_YES


@pytest.mark.parametrize(
    ("words", "role"), [(HARMLESS, "tool"), (ORDER, "user")], ids=["plain words of a page", "what the customer said"]
)
def test_everything_else_is_countersigned_at_once_as_before(cast: Cast, words: str, role: str) -> None:
    row = page_of(cast, words) if role == "tool" else turn(cast, words, role=role)
    assert "Countersigned." in remember(signed_in(cast.rita), row, words)
    assert the_fact(cast).status == Status.APPROVED


def test_an_order_that_an_edit_brings_in_takes_two(shop: Cast) -> None:
    fact = told_by_a_tool(shop, HARMLESS)
    said = say(shop, "rita", fact, text=ORDER)
    assert said.decision.verb == Verb.FIRST_YES
    fact.refresh_from_db()
    assert (fact.status, fact.text, fact.first_yes_by) == (Status.PROPOSED, ORDER, shop.rita)
    assert say(shop, "olga", fact).decision.verb == Verb.APPROVE


def test_a_wording_that_was_never_approved_is_not_had_back_by_one(cast: Cast, now: datetime) -> None:
    """Edited until it was harmless, approved by one, and then the order of the proposal restored."""
    with tenancy.project(cast.project.pk):
        session = factories.session(cast.support, "call-7")
        row = factories.observation(session, HARMLESS, kind="tool_result", role="tool", tool="WebFetch")
        fact = factories.proposal(cast.project, ORDER, quote=row, agent=cast.support)
        proposed = fact.decisions.get()
        say(cast, "rita", fact, "edit", text=HARMLESS)
        fact.refresh_from_db()
        assert say(cast, "rita", fact).decision.verb == Verb.APPROVE
        fact.refresh_from_db()
        assert fact.status == Status.APPROVED
    form = {"version": proposed.pk, "what": "text", "revision": fact.revision}
    said = signed_in(cast.rita).post(f"/facts/{fact.short_id}/restore", form, follow=True).content.decode()
    assert "was never approved" in said
    assert the_fact(cast).text == HARMLESS
