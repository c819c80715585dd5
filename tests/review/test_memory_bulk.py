"""Deciding many from the list: what is ticked, all that the view shows, and never anything else."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client

from memory.models import Fact, Status
from projects import tenancy
from tests import factories
from tests.factories import Cast
from tests.review.test_desk import signed_in

pytestmark = pytest.mark.django_db
LIST = "/p/shop/memory"
BULK = "/p/shop/memory/decisions"


def proposals(cast: Cast, count: int, **fields: Any) -> list[Fact]:
    with tenancy.project(cast.project.pk):
        return [factories.proposal(cast.project, f"Lesson {n}.", key=f"fix:l.{n}", **fields) for n in range(count)]


def approved(cast: Cast, count: int) -> list[Fact]:
    with tenancy.project(cast.project.pk):
        return [factories.approved(cast.project, cast.rita, f"Rule {n}.", key=f"fix:r.{n}") for n in range(count)]


def ticks(facts: list[Fact]) -> list[str]:
    return [f"{fact.short_id}.{fact.revision}" for fact in facts]


def fields_of(page: str) -> dict[str, str]:
    """What the form of a page sends along: the fence, the moment, the count."""
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page)
    return {name: unescape(value) for name, value in found if name != "csrfmiddlewaretoken"}


def states(cast: Cast, facts: list[Fact]) -> list[str]:
    with tenancy.project(cast.project.pk):
        found = dict(Fact.objects.filter(pk__in=[fact.pk for fact in facts]).values_list("pk", "status"))
    return [found[fact.pk] for fact in facts]


def said(answer: Any, client: Client) -> str:
    """The page behind a redirect."""
    assert answer.status_code == 302, answer.content.decode()[:2000]
    return client.get(answer["Location"]).content.decode()


def test_what_is_ticked_is_decided_and_one_press_takes_it_back(cast: Cast) -> None:
    facts = proposals(cast, 4)
    client = signed_in(cast.rita)
    page = said(client.post(f"{BULK}?view=proposed", {"do": "approve", "tick": ticks(facts[:3])}), client)
    assert "3 approved." in page
    assert states(cast, facts) == [Status.APPROVED] * 3 + [Status.PROPOSED]
    undo = re.search(r'action="(/decisions/\d+/undo)"', page)
    assert undo is not None
    page = said(client.post(undo[1], {"back": "memory"}), client)
    assert "Undone: 3 memories." in page
    assert states(cast, facts) == [Status.PROPOSED] * 4


def test_the_list_shows_no_undo_for_an_act_of_somebody_else(cast: Cast) -> None:
    facts = proposals(cast, 2)
    answer = signed_in(cast.rita).post(f"{BULK}?view=proposed", {"do": "approve", "tick": ticks(facts)})
    assert "Undo that" not in signed_in(cast.olga).get(answer["Location"]).content.decode()
    assert signed_in(cast.olga).get(f"{LIST}?done=nonsense").status_code == 200


@pytest.mark.parametrize(
    ("do", "more", "words"),
    [
        ("remove:dated", {}, "2 withdrawn."),
        ("remove:other", {"note": "Old list."}, "2 withdrawn."),
        ("lifetime", {"expires_on": "2030-01-31"}, "2 have another end."),
        ("lifetime", {"no_end": "1"}, "2 have another end."),
        ("rescope", {"agent": "SUPPORT"}, "2 go to others now."),
    ],
)
def test_each_button_does_what_it_says(cast: Cast, do: str, more: dict[str, str], words: str) -> None:
    facts = approved(cast, 2)
    if "agent" in more:
        more = {"agent": str(cast.support.pk)}
    client = signed_in(cast.rita)
    assert words in said(client.post(BULK, {"do": do, "tick": ticks(facts), **more}), client)


@pytest.mark.parametrize(
    ("form", "words"),
    [
        ({"do": "remove:dated"}, "Tick at least one memory."),
        ({"do": "remove:nonsense", "ticked": True}, "choose one of the ten reasons"),
        ({"do": "lifetime", "ticked": True}, "Choose their last day"),
        ({"do": "lifetime", "expires_on": "2001-01-01", "ticked": True}, "Choose a day that is still to come"),
        ({"do": "lifetime", "expires_on": "9999-99-99", "ticked": True}, "Choose their last day"),
        ({"do": "rescope", "ticked": True}, "Choose at least one agent"),
        ({"do": "rescope", "scope": "everyone", "agent": "1", "ticked": True}, "Everyone and some agents are ticked"),
        ({"do": "", "ticked": True}, "Choose what to do with them."),
        ({"do": "put_off:never", "ticked": True}, "Choose when they come back."),
        ({"do": "remove:dated", "all": "1"}, "This form is incomplete"),
        ({"do": "remove:dated", "all": "1", "fence": "9", "shown_at": "2001-99-01"}, "This form is incomplete"),
    ],
)
def test_what_cannot_be_done_says_so_and_keeps_the_ticks(cast: Cast, form: dict[str, Any], words: str) -> None:
    facts = approved(cast, 2)
    form = dict(form)
    if form.pop("ticked", False):
        form["tick"] = ticks(facts[:1])
    answer = signed_in(cast.rita).post(BULK, form)
    page = answer.content.decode()
    assert answer.status_code == 422
    assert words in unescape(page)
    assert page.count(" checked") == len(form.get("tick", []))
    assert states(cast, facts) == [Status.APPROVED] * 2


def test_all_in_this_view_is_what_the_page_showed_and_nothing_that_came_since(cast: Cast, now: datetime) -> None:
    shown = proposals(cast, 3, type="fix")
    with tenancy.project(cast.project.pk):
        outside = factories.proposal(cast.project, "Of another type.", key="environment:x")
    client = signed_in(cast.rita)
    page = client.get(f"{LIST}?view=proposed&type=fix").content.decode()
    assert "all 3 in this view" in page
    with tenancy.project(cast.project.pk):
        late = factories.proposal(cast.project, "Came later.", key="fix:late")
        moved = Fact.objects.get(pk=shown[1].pk)
        moved.edit(cast.olga, revision=moved.revision, now=now + timedelta(minutes=1), text="Other words.")
    form = {**fields_of(page), "all": "1", "do": "reject:vague"}
    page = said(client.post(f"{BULK}?view=proposed&type=fix", form), client)
    assert "2 rejected, 1 skipped: 1 changed by Olga." in page
    assert states(cast, [*shown, outside, late]) == [
        Status.REJECTED,
        Status.PROPOSED,
        Status.REJECTED,
        Status.PROPOSED,
        Status.PROPOSED,
    ]


def test_a_long_act_goes_on_in_parts_and_never_past_its_fence(cast: Cast) -> None:
    facts = proposals(cast, 203)
    client = signed_in(cast.rita)
    page = client.get(f"{LIST}?view=proposed").content.decode()
    assert "all 203 in this view" in page
    assert "200 at a time" in page
    late = proposals(cast, 205)[203:]
    answer = client.post(f"{BULK}?view=proposed", {**fields_of(page), "all": "1", "do": "put_off:week"})
    page = answer.content.decode()
    assert "200 put off." in page
    assert "200 of 203 looked at" in page
    assert "Go on with the next 3" in page
    assert "3 put off." in said(client.post(f"{BULK}?view=proposed", fields_of(page)), client)
    with tenancy.project(cast.project.pk):
        assert not Fact.objects.filter(pk__in=[fact.pk for fact in facts], put_off_until__isnull=True).exists()
        assert not Fact.objects.filter(pk__in=[fact.pk for fact in late], put_off_until__isnull=False).exists()


def test_more_than_a_thousand_are_not_decided_in_one_go(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("review.pages.memory_pages.COUNT_CAP", 3)
    monkeypatch.setattr("review.pages.memory_bulk.COUNT_CAP", 3)
    facts = proposals(cast, 5)
    client = signed_in(cast.rita)
    page = client.get(f"{LIST}?view=proposed").content.decode()
    assert 'name="all"' not in page
    assert "more than 3 in this view: narrow it to act on all" in page
    answer = client.post(f"{BULK}?view=proposed", {**fields_of(page), "all": "1", "do": "reject:vague"})
    assert answer.status_code == 422
    assert "More than 3 are in this view." in answer.content.decode()
    assert states(cast, facts) == [Status.PROPOSED] * 5


def test_a_viewer_has_no_ticks_and_decides_nothing(cast: Cast) -> None:
    facts = proposals(cast, 1)
    client = signed_in(cast.vera)
    assert 'name="tick"' not in client.get(f"{LIST}?view=proposed").content.decode()
    assert client.post(BULK, {"do": "approve", "tick": ticks(facts)}).status_code == 403


def test_what_i_decided_last_stands_in_a_list_with_its_undo(cast: Cast, now: datetime) -> None:
    facts = proposals(cast, 3)
    client = signed_in(cast.rita)
    client.post(f"{BULK}?view=proposed", {"do": "reject:vague", "tick": ticks(facts)})
    page = client.get("/p/shop/review/decided").content.decode()
    assert "Rejected: too vague, 3 memories" in page
    undo = re.search(r'action="(/decisions/\d+/undo)"', page)
    assert undo is not None
    page = said(client.post(undo[1], {"back": "decided"}), client)
    assert "Undone today, " in page
    assert states(cast, facts) == [Status.PROPOSED] * 3
    assert "You decided nothing yet." in signed_in(cast.olga).get("/p/shop/review/decided").content.decode()


def test_the_list_asks_as_much_for_many_as_for_few(cast: Cast, django_assert_max_num_queries: Any) -> None:
    proposals(cast, 60, findings=[{"category": "contact"}])
    client = signed_in(cast.rita)
    with django_assert_max_num_queries(40):
        client.get(f"{LIST}?view=proposed")
