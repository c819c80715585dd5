"""What stands beside a card about its consequences, in words and figures."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import pytest
from django.test import Client

from memory import brief
from memory.models import Fact, Relation, StandingPart
from memory.supposing import Supposing
from projects import tenancy
from projects.models import Agent, Person, Project
from review.cards import impact
from review.cards.impact import Impact, Reader
from review.cards.kinds import Kind
from review.models import Sample
from tests import factories
from tests.factories import Cast, approved, proposal

pytestmark = pytest.mark.django_db
ABOUT = [("customer", "cust_123")]


def signed_in(person: Person) -> Client:
    client = Client()
    client.force_login(person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


def again(fact: Fact) -> Fact:
    return Fact.objects.select_related("subject", "project", "related").get(pk=fact.pk)


def beside(shop: Cast, fact: Fact, kind: Kind, now: datetime, **labels: str) -> Impact:
    fact = again(fact)
    return impact.of_card(fact, kind, [shop.support, shop.sales], labels, now)


def reader(found: Impact, agent: Agent, outlook: int = 0) -> Reader:
    return next(one for one in found.outlooks[outlook].readers if one.agent == agent)


def test_an_agent_gains_the_tokens_of_the_line_and_its_heading(shop: Cast, now: datetime) -> None:
    fact = proposal(shop.project, everyone=False, agent_ids=[shop.support.pk])
    found = beside(shop, fact, Kind.NEW, now)
    fact.approve(shop.rita, revision=fact.revision, now=now)
    served = brief.build(shop.support, subjects=ABOUT, max_tokens=shop.project.brief_budget_tokens, now=now)
    assert reader(found, shop.support).change == f"+{served.tokens}"
    assert reader(found, shop.sales).state == "blind"


def test_what_no_longer_fits_is_named(shop: Cast, now: datetime) -> None:
    # Longer than the new one, whatever its id counts, which then fits alone.
    words = "Gift wrap is free in December for every order above 30 EUR that goes to one of our own shops."
    old = approved(shop.project, shop.rita, words, key="note:wrap", now=now)
    full = brief.build(shop.support, subjects=ABOUT, max_tokens=1200, now=now)
    Project.objects.filter(pk=shop.project.pk).update(brief_budget_tokens=full.tokens + 5)
    fact = proposal(shop.project, "Returned boots are refunded.", key="note:boots", times_seen=9)
    found = reader(beside(shop, fact, Kind.NEW, now), shop.support)
    assert found.pushed == (old.text,)
    # Taken out again, the other fits.
    fact.approve(shop.rita, revision=fact.revision, now=now)
    back = reader(beside(shop, fact, Kind.COMPLAINT, now), shop.support)
    assert (back.state, back.let_in) == ("loses", (old.text,))


def test_a_memory_that_would_not_fit_says_so(shop: Cast, now: datetime) -> None:
    approved(shop.project, shop.rita, "Gift wrap is free in December.", key="note:wrap", now=now, times_seen=9)
    full = brief.build(shop.support, subjects=ABOUT, max_tokens=1200, now=now)
    Project.objects.filter(pk=shop.project.pk).update(brief_budget_tokens=full.tokens + 5)
    fact = proposal(shop.project, "Returned boots are refunded.", key="note:boots")
    found = reader(beside(shop, fact, Kind.NEW, now), shop.support)
    assert (found.state, found.tokens, found.budget) == ("no_room", 0, full.tokens + 5)


def test_a_value_of_its_own_stays_with_the_agent(shop: Cast, now: datetime) -> None:
    approved(shop.project, shop.rita, "Prefers letters.", everyone=False, agent_ids=[shop.sales.pk])
    fact = proposal(shop.project, "Prefers the phone.", value="phone")
    found = beside(shop, fact, Kind.NEW, now)
    assert (reader(found, shop.support).state, reader(found, shop.sales).state) == ("gets", "own_value")


def test_who_is_paused_is_told_nothing(shop: Cast, now: datetime) -> None:
    shop.sales.pause(now)
    found = beside(shop, proposal(shop.project), Kind.NEW, now)
    assert reader(found, shop.sales).state == "paused"


def test_to_confirm_keeps_the_line_and_to_withdraw_takes_it(shop: Cast, now: datetime) -> None:
    fact = approved(shop.project, shop.rita, now=now - timedelta(days=200))
    found = beside(shop, fact, Kind.STILL_TRUE, now)
    assert [one.title for one in found.outlooks] == ["If you confirm", "If you withdraw it"]
    kept, gone = (reader(found, shop.support, number) for number in (0, 1))
    assert (kept.state, kept.stays, kept.tokens) == ("gets", True, 0)
    served = brief.build(shop.support, subjects=ABOUT, max_tokens=1200, now=now)
    assert (gone.state, gone.tokens) == ("loses", -served.tokens)


def test_a_conflict_shows_what_each_answer_does(shop: Cast, now: datetime) -> None:
    known = approved(shop.project, shop.rita, "Pays within 30 days of the invoice.", key="customer_fact:terms")
    newer = proposal(shop.project, "Pays within 45 days.", key="customer_fact:payment")
    Fact.objects.filter(pk=newer.pk).update(relation=Relation.CONFLICTS, related=known)
    found = beside(shop, newer, Kind.CONFLICT, now, keep_first="If a", keep_second="If b", keep_both="")
    assert [one.title for one in found.outlooks] == ["If b", "If a", "If both hold"]
    second, first, both = found.outlooks
    assert not second.is_nothing
    assert first.is_nothing
    assert reader(found, shop.support, 2).tokens > 0
    assert not both.is_nothing


def test_what_cannot_hold_together_is_not_offered_so(shop: Cast, now: datetime) -> None:
    known = approved(shop.project, shop.rita, "Pays within 30 days.", key="customer_fact:terms", value="30")
    newer = proposal(shop.project, "Pays within 45 days.", key="customer_fact:terms", value="45")
    Fact.objects.filter(pk=newer.pk).update(relation=Relation.CONFLICTS, related=known)
    found = beside(shop, newer, Kind.CONFLICT, now, keep_first="If a", keep_second="If b", keep_both="")
    assert [one.title for one in found.outlooks] == ["If b", "If a"]


def test_of_what_holds_everywhere_the_newest_sessions_are_shown(shop: Cast, now: datetime) -> None:
    run = factories.session(shop.support, now=now)
    run.subjects.add(factories.subject(shop.project), through_defaults={"project": shop.project})
    approved(shop.project, shop.rita, "Prefers e-mail.")
    fact = proposal(shop.project, "Deploys happen on Tuesdays.", about="project:shop", key="choice:deploy")
    found = beside(shop, fact, Kind.NEW, now)
    assert found.about
    suppose = Supposing(now)
    impact.approve(suppose, again(fact))
    built = brief.build(shop.support, subjects=ABOUT, max_tokens=1200, suppose=suppose.done(), now=now)
    before = brief.build(shop.support, subjects=ABOUT, max_tokens=1200, now=now)
    assert reader(found, shop.support).tokens == built.tokens - before.tokens > 0


def test_a_standing_lesson_shows_what_it_saves(shop: Cast, now: datetime) -> None:
    parts = [approved(shop.project, shop.rita, f"`make {one}` needs Postgres.", key=f"fix:{one}") for one in "abc"]
    standing = proposal(shop.project, "Every make target needs Postgres.", key="fix:make", standing=True)
    for part in parts:
        StandingPart.objects.create(project=shop.project, standing=standing, part=part)
    found = reader(beside(shop, standing, Kind.STANDING, now), shop.support)
    assert found.state == "gets"
    assert found.tokens < 0
    assert found.pushed == ()


def test_a_frozen_subject_says_why_nothing_can_be_approved(shop: Cast, now: datetime) -> None:
    fact = proposal(shop.project)
    type(fact.subject).objects.filter(pk=fact.subject_id).update(frozen_at=now)
    outlook = beside(shop, fact, Kind.NEW, now).outlooks[0]
    assert "frozen" in outlook.problem
    assert not outlook.readers


def test_what_is_told_earlier_than_in_the_last_brief_is_withdrawn_in_the_preview_too(shop: Cast, now: datetime) -> None:
    fact = approved(shop.project, shop.rita, now=now - timedelta(days=2))
    told = {"max_tokens": 600}
    brief.serve(shop.support, subjects=ABOUT, now=now - timedelta(hours=2), **told)
    brief.serve(shop.support, subjects=[("customer", "another")], now=now - timedelta(hours=1), **told)
    suppose = Supposing(now).remove(again(fact)).done()
    preview = brief.build(shop.support, subjects=ABOUT, suppose=suppose, now=now, **told)
    assert preview.retracted == (fact.short_id,)


def test_what_was_said_before_a_known_value_becomes_history_in_the_preview_too(shop: Cast, now: datetime) -> None:
    known = approved(shop.project, shop.rita, "Prefers e-mail.", valid_from=now - timedelta(days=1))
    earlier = proposal(shop.project, "Prefers letters.", value="letters", valid_from=now - timedelta(days=9))
    suppose = Supposing(now).approve(again(earlier)).done()
    preview = brief.build(shop.support, subjects=ABOUT, max_tokens=600, suppose=suppose, now=now)
    assert [item.id for item in preview.items] == [known.short_id]


def test_the_desk_shows_the_figures_and_the_link_works_without_javascript(cast: Cast) -> None:
    with tenancy.project(cast.project.pk):
        fact = proposal(cast.project, quote=factories.observation(factories.session(cast.support), "Write to me."))
    client = signed_in(cast.vera)
    page = client.get("/p/shop/review").content.decode()
    assert "If you approve" in page
    assert re.search(r"\+\d+ tokens", page)
    assert "hx-trigger" not in page.split('id="impact"')[1].split(">")[0]
    alone = client.get(f"/facts/{fact.short_id}/impact").content.decode()
    assert "<!doctype html>" in alone
    assert re.search(r"\+\d+ tokens", alone)
    fragment = client.get(f"/facts/{fact.short_id}/impact", headers={"HX-Request": "true"}).content.decode()
    assert "<!doctype html>" not in fragment
    assert re.search(r"\+\d+ tokens", fragment)


@pytest.mark.parametrize("is_drawn", [False, True])
def test_after_a_decision_the_card_comes_first_and_its_figures_in_the_same_lines(
    cast: Cast, now: datetime, is_drawn: bool
) -> None:
    with tenancy.project(cast.project.pk):
        first = proposal(cast.project, quote=factories.observation(factories.session(cast.support), "Write to me."))
        second = proposal(
            cast.project,
            "Deploys on Tuesdays.",
            key="choice:day",
            everyone=False,
            agent_ids=[cast.support.pk],
            quote=factories.observation(factories.session(cast.support, "call-2"), "On Tuesdays."),
        )
        if is_drawn:
            came_on_arrival(cast, second, now)
    client = signed_in(cast.rita)
    sent = {"verb": "approve", "revision": first.revision}
    page = client.post(f"/facts/{first.short_id}/decisions", sent, headers={"HX-Request": "true"}).content.decode()
    block = page.split('id="impact"')[1].split("<section><h2", 2)[1]
    element = page.split('id="impact"')[1].split(">")[0]
    assert 'aria-busy="true"' in element
    assert f'hx-get="/facts/{second.short_id}/impact"' in element
    assert ("If you approve" in block, block.count("being worked out"), block.count("does not see it")) == (True, 1, 2)
    fragment = client.get(f"/facts/{second.short_id}/impact", headers={"HX-Request": "true"}).content.decode()
    assert "aria-busy" not in fragment
    assert (fragment.count("<li>"), fragment.count("does not see it")) == (block.count("<li>"), 2)
    assert re.search(r"\+\d+ tokens", fragment)
    # Where no script asks for them, they are there.
    alone = client.get("/p/shop/review").content.decode()
    assert re.search(r"\+\d+ tokens", alone.split('id="impact"')[1])


def came_on_arrival(cast: Cast, fact: Fact, now: datetime) -> None:
    """As a rule lets it in and has it looked at: to a reviewer it is a new card like any other."""
    Fact.objects.filter(pk=fact.pk).update(status="approved", approved_at=now, review_due_at=now)
    Sample.objects.create(project=cast.project, fact=fact, type=fact.type, rule_since=now, drawn=True, at=now)


def test_where_many_briefs_would_be_built_the_card_does_not_wait_for_them(  # type: ignore[no-untyped-def]
    cast: Cast, django_assert_max_num_queries
) -> None:
    with tenancy.project(cast.project.pk):
        fact = proposal(cast.project, quote=factories.observation(factories.session(cast.support), "Write to me."))
        for number in range(30):
            Agent.objects.create(project=cast.project, slug=f"agent-{number}")
    client = signed_in(cast.vera)
    page = client.get("/p/shop/review").content.decode()
    element = page.split('id="impact"')[1].split(">")[0]
    assert f'hx-get="/facts/{fact.short_id}/impact"' in element
    assert 'hx-trigger="load"' in element
    # As many as are shown, not one more for each agent.
    with django_assert_max_num_queries(2 * 2 * impact.MOST_READERS + 28):
        shown = client.get(f"/facts/{fact.short_id}/impact").content.decode()
    assert shown.count("+") >= impact.MOST_READERS
    assert "and 21 agents more" in shown


def test_no_answer_is_left_out_for_its_words_in_some_language(
    shop: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(impact, "_", lambda words: "Wenn")
    late = proposal(shop.project, now=now - timedelta(days=9), expires_at=now - timedelta(days=1))
    (outlook,) = beside(shop, late, Kind.NEW, now).outlooks
    assert outlook.title == "Wenn"
    assert "ended" in outlook.problem
