"""A memory's history: word by word, who did it, and any earlier version had back by a new decision."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memory.models import Decision, Fact, Status, Verb
from projects import tenancy
from review.cards.history import history
from review.deciding.decisions import REASON_WORDS, VERB_WORDS
from tests import factories
from tests.factories import Cast
from tests.review.test_batches import member
from tests.review.test_desk import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def fact(cast: Cast, now: datetime) -> Fact:
    """Approved, then with other words, another end and other readers, each by a decision of its own."""
    with tenancy.project(cast.project.pk):
        found = factories.approved(cast.project, cast.rita, "Pays within 30 days.", key="fix:terms", now=now)
        found.edit(cast.olga, revision=found.revision, now=now, text="Pays within 45 days.")
        found.edit(cast.rita, revision=found.revision, now=now, expires_at=now + timedelta(days=9))
        found.rescope(cast.rita, revision=found.revision, now=now, everyone=False, agent_ids=[cast.sales.pk])
    return found


def page_of(cast: Cast, fact: Fact, name: str = "rita") -> str:
    return unescape(signed_in(getattr(cast, name)).get(f"/facts/{fact.short_id}").content.decode())


def offers(page: str) -> list[tuple[str, str]]:
    return re.findall(r'name="version" value="(\d+)"><input type="hidden" name="what" value="(\w+)"', page)


def test_each_step_says_what_changed_word_by_word(cast: Cast, fact: Fact) -> None:
    page = page_of(cast, fact)
    assert re.search(r"<del>30</del>", page)
    assert re.search(r"<ins>45</ins>", page)
    assert "Edited by Olga" in page
    assert "Went to everyone, now to sales." in page
    assert "now until" in page
    assert {what for _version, what in offers(page)} == {"text", "end", "scope"}


@pytest.mark.parametrize("what", ["text", "end", "scope"])
def test_an_earlier_version_is_had_back_by_a_decision_of_its_own(cast: Cast, fact: Fact, what: str) -> None:
    version = next(version for version, kind in offers(page_of(cast, fact)) if kind == what)
    before = fact.decisions
    with tenancy.project(cast.project.pk):
        count = before.count()
    answer = signed_in(cast.rita).post(
        f"/facts/{fact.short_id}/restore", {"version": version, "what": what, "revision": fact.revision}
    )
    assert answer.status_code == 302
    with tenancy.project(cast.project.pk):
        now_is = Fact.objects.get(pk=fact.pk)
        first = Decision.objects.filter(fact=fact).order_by("pk")[0]
        last = Decision.objects.filter(fact=fact).order_by("-pk")[0]
        assert Decision.objects.filter(fact=fact).count() == count + 1
    assert last.verb == (Verb.RESCOPE if what == "scope" else Verb.EDIT)
    assert now_is.status == Status.APPROVED
    back = {
        "text": now_is.text == "Pays within 30 days.",
        "scope": now_is.everyone,
        "end": now_is.expires_at is not None and now_is.expires_at.isoformat() == first.after["expires_at"],
    }
    assert back[what]


@pytest.mark.parametrize(
    "form", [{"version": "1"}, {"version": "x"}, {"what": "status"}, {"what": ""}, {"version": "9" * 30}]
)
def test_a_version_that_is_none_changes_nothing(cast: Cast, fact: Fact, form: dict[str, str]) -> None:
    version = offers(page_of(cast, fact))[0][0]
    body = {"version": version, "what": "text", "revision": fact.revision} | form
    client = signed_in(cast.rita)
    answer = client.post(f"/facts/{fact.short_id}/restore", body)
    assert "There is no such version of this memory." in client.get(answer["Location"]).content.decode()
    with tenancy.project(cast.project.pk):
        assert Fact.objects.get(pk=fact.pk).revision == fact.revision


def test_whoever_restores_second_is_told_and_a_viewer_restores_nothing(cast: Cast, fact: Fact) -> None:
    version = offers(page_of(cast, fact))[-1][0]
    body = {"version": version, "what": "text", "revision": fact.revision - 1}
    assert signed_in(cast.rita).post(f"/facts/{fact.short_id}/restore", body).status_code == 409
    assert signed_in(cast.vera).post(f"/facts/{fact.short_id}/restore", body).status_code == 403
    assert not offers(page_of(cast, fact, "vera"))


def test_what_was_taken_back_says_so_and_what_stands_can_be_undone(cast: Cast, fact: Fact, now: datetime) -> None:
    with tenancy.project(cast.project.pk):
        last = fact.decisions.order_by("-pk")[0]
        fact.undo(last, cast.rita, now=now)
        steps = history(fact, member(cast), [cast.support, cast.sales], VERB_WORDS, REASON_WORDS)
    assert [step.can_undo for step in steps] == [False, False, True, False, False, False]
    assert steps[1].undone_by is not None
    assert "taken back" in page_of(cast, fact)


def test_a_long_history_takes_one_question(shop: Cast, now: datetime) -> None:
    fact: Any = factories.approved(shop.project, shop.rita, "Rule 0.", key="fix:rule", now=now)
    for n in range(12):
        fact.edit(shop.rita, revision=fact.revision, now=now, text=f"Rule {n + 1}.")
    with CaptureQueriesContext(connection) as asked:
        steps = history(fact, member(shop), [], VERB_WORDS, REASON_WORDS)
    assert len(steps) == 14
    assert len([one for one in asked if "memory_decision" in one["sql"]]) == 1
