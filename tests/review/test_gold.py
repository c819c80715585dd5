"""Planted cards: offered to busy teams, made of what is about nobody, seen at the desk alone, and told at once."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from memory import brief, short_ids
from memory.models import Decision, Fact, Status
from projects import tenancy
from projects.models import Membership, Person, Project
from review.deciding import decisions, policy
from review.deciding.policy import Policy
from review.models import GoldAnswer, GoldItem
from review.piles import gold
from review.piles.pile import Pile
from tests import factories
from tests.factories import Cast
from tests.review.arriving import found
from tests.review.test_desk import HTMX, signed_in
from tests.test_guards import addresses, filled

pytestmark = pytest.mark.django_db

MARK = "zanzibar"


@pytest.fixture
def busy(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> Cast:
    """Three reviewers, enough decisions, the switch on, six memories to make cards of, and one card that waits."""
    monkeypatch.setattr(gold, "A_WEEK", 4)
    now = timezone.now()
    with tenancy.project(cast.project.pk):
        Membership.objects.filter(person=cast.vera).update(role="reviewer")
        for number in range(6):
            text = f"Step {number} of `{MARK}{number}` does not need port {5100 + number}."
            decide(cast, found(cast, number, text=text, now=now), "approve", now)
        found(cast, 50, now=now, text="Step 50 waits for a person.", kind="message", role="user")
        turn_on(cast)
        assert gold.stock_up(cast.project, now) > 0
    return cast


def decide(cast: Cast, fact: Fact, verb: str, now: datetime, person: Person | None = None, **form: str) -> None:
    member = Membership.objects.get(project=cast.project, person=person or cast.olga)
    decisions.decide(member, fact, verb, fact.revision, dict(form), now)


def turn_on(cast: Cast) -> None:
    policy.change(cast.project, seen=Policy.of(cast.project).version, by=cast.olga, now=timezone.now(), gold=True)


def member_of(cast: Cast, person: Person) -> Membership:
    return Membership.objects.select_related("project", "person").get(project=cast.project, person=person)


def make_due(cast: Cast, person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the next card of this person is a planted one."""
    monkeypatch.setattr(gold, "FEWEST_BETWEEN", 0)
    monkeypatch.setattr(gold, "MOST_BETWEEN", 0)


def test_a_team_is_offered_them_from_three_reviewers_and_three_hundred_decisions(shop: Cast, now: datetime) -> None:
    assert (gold.REVIEWERS, gold.A_WEEK) == (3, 300)
    offer = gold.Offer(3, 300)
    assert offer.is_open
    assert not offer.missing
    for few in (gold.Offer(2, 300), gold.Offer(3, 299)):
        assert not few.is_open
        assert "in the last week" in few.missing
    assert gold.offer(shop.project, now) == gold.Offer(2, 0)
    fact = found(shop, 1, now=now)
    decide(shop, fact, "approve", now - timedelta(days=8))
    assert gold.offer(shop.project, now).decisions == 0, "of the last week"
    decide(shop, found(shop, 2, now=now), "approve", now)
    assert gold.offer(shop.project, now).decisions == 1


def test_without_the_switch_none_is_made_or_shown(shop: Cast, now: datetime, django_assert_num_queries) -> None:  # type: ignore[no-untyped-def]
    assert gold.sweep(now) == 0
    with django_assert_num_queries(0):
        assert gold.next_for(member_of_cached(shop), now) is None


def member_of_cached(cast: Cast) -> Membership:
    return Membership(project=cast.project, person=cast.rita, role="reviewer")


def test_they_are_made_of_what_is_about_nobody(busy: Cast) -> None:
    now = timezone.now()
    with tenancy.project(busy.project.pk):
        quote = factories.observation(factories.session(busy.coder, "about people", now=now), "Call on 5555 now.")
        of_people = [
            factories.proposal(busy.project, "Wants calls on 5555.", about=about, key="fix:call", quote=quote, **more)
            for about, more in (
                ("customer:cust_1", {}),
                ("person:nils", {}),
                ("repo:with-findings", {"findings": [{"category": "contact"}]}),
                ("repo:with-feelings", {"nature": "sentiment"}),
            )
        ]
        for fact in of_people:
            found_in_it = fact.findings
            Fact.objects.filter(pk=fact.pk).update(proposed_by_agent=busy.coder, findings=[])
            fact.refresh_from_db()
            decide(busy, fact, "approve", now)
            Fact.objects.filter(pk=fact.pk).update(findings=found_in_it)
        used = set(gold.sources(busy.project, now).values_list("pk", flat=True))
        assert not used & {fact.pk for fact in of_people}
        assert set(GoldItem.objects.values_list("card__source", flat=True)) <= used


def test_right_and_wrong_ones_are_mixed_and_never_repeated(busy: Cast) -> None:
    now = timezone.now()
    with tenancy.project(busy.project.pk):
        for _ in range(4):
            gold.stock_up(busy.project, now)
        items = list(GoldItem.objects.order_by("pk"))
        assert len(items) <= gold.STOCK
        assert len({(item.card["source"], item.flaw) for item in items}) == len(items)
        first = items[: gold.MADE_AT_ONCE]
        right = sum(not item.flaw for item in first)
        assert 1 <= right < len(first) / 2
        assert len({item.flaw for item in items}) >= 4
        assert not Fact.objects.filter(pk__in=[item.card["number"] for item in items]).exists()


def test_a_card_goes_when_its_memory_no_longer_holds(busy: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    now = timezone.now()
    with tenancy.project(busy.project.pk):
        item = GoldItem.objects.order_by("pk")[0]
        fact = Fact.objects.get(pk=item.card["source"])
        decide(busy, fact, "remove", now, reason="not_true")
    make_due(busy, busy.rita, monkeypatch)
    page = signed_in(busy.rita).get("/p/shop/review").content.decode()
    assert item.card["text"] not in page
    with tenancy.project(busy.project.pk):
        assert GoldItem.objects.get(pk=item.pk).retired_at is not None


@pytest.mark.parametrize(("right_of_ten", "between"), [(8, range(20, 26)), (9, (50,)), (10, (50,))])
def test_one_in_twenty_or_so_and_fewer_for_who_is_reliable(shop: Cast, right_of_ten: int, between) -> None:  # type: ignore[no-untyped-def]
    now = timezone.now()
    for number in range(10):
        item = GoldItem.objects.create(project=shop.project, card={})
        GoldAnswer.objects.create(
            project=shop.project,
            item=item,
            person=shop.rita,
            verb="approve",
            is_right=number < right_of_ten,
            at=now + timedelta(seconds=number),
        )
    last = GoldAnswer.objects.latest("pk")
    assert gold._between(shop.project, shop.rita, last) in between
    assert gold._between(shop.project, shop.olga, None) in range(20, 26), "each by themselves"


def test_the_next_one_comes_after_so_many_cards(busy: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gold, "FEWEST_BETWEEN", 3)
    monkeypatch.setattr(gold, "MOST_BETWEEN", 3)
    now = timezone.now()
    with tenancy.project(busy.project.pk):
        member = member_of(busy, busy.rita)
        for number in range(200, 203):
            assert gold.next_for(member, now) is None
            decide(busy, found(busy, number, now=now), "approve", now, busy.rita)
        item = gold.next_for(member, now)
        assert item is not None
        gold.answer(member, item, "approve", "", now + timedelta(seconds=1))
        assert gold.next_for(member, now + timedelta(seconds=1)) is None
        assert gold.next_for(member_of(busy, busy.vera), now) is None, "each person has decided their own number"


def on_top(cast: Cast, client: Client) -> tuple[GoldItem, str, str]:
    """(the planted card on top, its address, its page)."""
    page = client.get("/p/shop/review").content.decode()
    with tenancy.project(cast.project.pk):
        item = next(one for one in GoldItem.objects.order_by("pk") if f'id="fact-{_short(one)}"' in page)
    return item, f"/facts/{_short(item)}/decisions", page


def _short(item: GoldItem) -> str:
    return Fact(pk=item.card["number"]).short_id


def test_it_looks_like_any_card_and_its_panels_open(busy: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    make_due(busy, busy.rita, monkeypatch)
    client = signed_in(busy.rita)
    item, _address, page = on_top(busy, client)
    for words in ("New", "Proposed", "Countersigned", "claude-code · local reader 3", "Approve", "0 of 1"):
        assert words in page
    for telling in ("planted", "gold", "approved_at", item.explanation):
        assert telling not in page.replace("Mix in planted", "")
    assert f'/facts/{Fact(pk=item.card["source"]).short_id}"' not in page, "what it was made from is not beside it"
    for panel in ("edit", "reject", "scope", "later", "same"):
        opened = client.get(f"/p/shop/review?card={_short(item)}&panel={panel}", headers=HTMX)
        assert opened.status_code == 200, panel
        assert f'id="fact-{_short(item)}"' in opened.content.decode(), panel


def test_its_figures_come_as_those_of_any_card(busy: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    client = signed_in(busy.rita)
    with tenancy.project(busy.project.pk):
        waiting = [found(busy, number, now=timezone.now()) for number in (60, 61, 62)]
    blocks = []
    for fact, is_planted in ((waiting[0], False), (waiting[1], True)):
        if is_planted:
            make_due(busy, busy.rita, monkeypatch)
        sent = {"verb": "approve", "revision": fact.revision}
        page = client.post(f"/facts/{fact.short_id}/decisions", sent, headers=HTMX).content.decode()
        block = page.split('id="impact"')[1].split("</div>")[0]
        address = re.search(r'hx-get="(/facts/([\w-]+)/impact)"', block)
        assert address is not None
        with tenancy.project(busy.project.pk):
            assert Fact.objects.filter(pk=short_ids.decode(address[2])).exists() != is_planted
        figures = client.get(address[1], headers=HTMX)
        assert re.search(r"\+\d+ tokens", figures.content.decode())
        blocks.append(without_nonce(block.replace(address[2], "")))
        last = address[1]
    assert blocks[0] == blocks[1], "nothing tells which one it is"
    assert signed_in(busy.sam).get(last).status_code == 404
    assert "+" in client.get(last).content.decode(), "without JavaScript a page"
    client.post(last.replace("impact", "decisions"), {"verb": "approve", "revision": 1})
    assert client.get(last).status_code == 404, "once it was answered"


def without_nonce(block: str) -> str:
    return re.sub(r'hx-nonce="[^"]*"', "", block)


@pytest.mark.parametrize("htmx", [True, False])
@pytest.mark.parametrize("verb", ["approve", "reject", "put_off", "edit"])
def test_its_answer_is_told_at_once_and_changes_nothing(
    busy: Cast, monkeypatch: pytest.MonkeyPatch, verb: str, htmx: bool
) -> None:
    make_due(busy, busy.rita, monkeypatch)
    client = signed_in(busy.rita)
    item, address, _page = on_top(busy, client)
    with tenancy.project(busy.project.pk):
        decided = Decision.objects.count()
        before = list(Fact.objects.order_by("pk").values())
    form = {"verb": "approve" if verb == "edit" else verb, "revision": 1, "reason": "7", "text": "Other words."}
    form = {name: value for name, value in form.items() if name != "text" or verb == "edit"}
    answer = client.post(address, form, headers=HTMX if htmx else {}, follow=not htmx)
    assert answer.status_code == 200
    page = answer.content.decode()
    assert "This one was planted" in page
    assert item.explanation.split("“")[0] in page
    with tenancy.project(busy.project.pk):
        assert Decision.objects.count() == decided
        assert list(Fact.objects.order_by("pk").values()) == before
        said = GoldAnswer.objects.get(item=item, person=busy.rita)
        assert said.verb == verb
        assert said.is_right == (verb in ("edit", "reject") if item.flaw else verb in ("approve", "edit"))
    if htmx:
        assert 'data-key="u" disabled' in page or 'data-key="u"' not in page, "U would take back an earlier card"
    assert client.post(address, form).status_code == 404, "once"


@pytest.mark.parametrize("flaw", ["", "number"])
def test_what_was_right_and_what_does_not_count(shop: Cast, flaw: str) -> None:
    member = member_of(shop, shop.rita)
    told = {"approve": not flaw, "reject": bool(flaw), "edit": True}
    for verb, is_right in told.items():
        item = GoldItem.objects.create(project=shop.project, card={}, flaw=flaw, explanation="what it was.")
        said = gold.answer(member, item, verb, "", timezone.now())
        assert said.is_right == is_right
        assert "what it was." in gold.feedback(said)
    right, answered = gold.accuracy(shop.rita, [shop.project.pk])
    assert (right, answered) == (sum(told.values()), 3)
    for verb, reason in (("put_off", ""), ("rescope", ""), ("reject", "known")):
        item = GoldItem.objects.create(project=shop.project, card={}, flaw=flaw, explanation="what it was.")
        gold.answer(member, item, verb, reason, timezone.now())
    counted = gold.accuracy(shop.rita, [shop.project.pk])[1]
    assert counted == (4 if flaw else 3), "that a true sentence is known already is no mistake"
    assert gold.accuracy(shop.olga, [shop.project.pk]) == (0, 0)


def test_nobody_else_can_answer_it(busy: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    make_due(busy, busy.rita, monkeypatch)
    _item, address, _page = on_top(busy, signed_in(busy.rita))
    assert signed_in(busy.sam).post(address, {"verb": "approve", "revision": 1}).status_code == 404
    assert Client().post(address, {"verb": "approve", "revision": 1}).status_code == 302
    with tenancy.project(busy.project.pk):
        Membership.objects.filter(person=busy.vera).update(role="viewer")
    assert signed_in(busy.vera).post(address, {"verb": "approve", "revision": 1}).status_code in (403, 404)
    with tenancy.project(busy.project.pk):
        assert not GoldAnswer.objects.exists()


def test_it_is_in_no_pile_no_count_and_no_brief(busy: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    make_due(busy, busy.rita, monkeypatch)
    client = signed_in(busy.rita)
    item, address, page = on_top(busy, client)
    assert "0 of 1" in page
    client.post(address, {"verb": "approve", "revision": 1})
    now = timezone.now()
    with tenancy.project(busy.project.pk):
        pile = Pile.of(busy.project, busy.rita, now)
        assert (pile.done, pile.open.total) == (0, 1)
        project = Project.objects.get(pk=busy.project.pk)
        for agent in project.agents.all():
            served = brief.build(agent, subjects=[("repo", "orders-api")], max_tokens=4000, now=now)
            assert _short(item) not in served.text
        assert Fact.objects.filter(status=Status.APPROVED).count() == 6


def test_no_door_but_the_desk_shows_one(busy: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every address there is, as each person and with a key: no sentence of a planted card, no number of one."""
    monkeypatch.setattr(gold, "FEWEST_BETWEEN", 10_000)
    monkeypatch.setattr(gold, "MOST_BETWEEN", 10_000)
    with tenancy.project(busy.project.pk):
        wrong = [item for item in GoldItem.objects.all() if item.flaw]
    telling = [item.card["text"] for item in wrong] + [_short(item) for item in wrong]
    assert telling
    looked_at = 0
    people = [signed_in(person) for person in (busy.rita, busy.olga, busy.carl)]
    for route in addresses():
        address = filled(route, busy)
        for client in people:
            answer = client.get(address)
            body = answer.getvalue().decode(errors="replace") if answer.status_code == 200 else ""
            looked_at += answer.status_code == 200
            assert not [one for one in telling if one in body], address
    assert looked_at > 30
    headers = {"Authorization": f"Bearer {busy.keys['claude-code']}"}
    for path, body in (
        ("/api/v1/briefs", {"subjects": ["repo:orders-api"], "max_tokens": 4000, "task": MARK}),
        ("/api/v1/facts/lookup", {"subject": "repo:orders-api", "key_prefix": "fix:*", "limit": 100}),
        ("/api/v1/facts/search", {"query": MARK, "subject": "repo:orders-api"}),
    ):
        answer = people[0].post(path, json.dumps(body), content_type="application/json", headers=headers)
        said = answer.content.decode()
        assert not [one for one in telling if one in said], path


@pytest.mark.django_db(transaction=True)
def test_they_are_made_under_row_level_security(monkeypatch: pytest.MonkeyPatch) -> None:
    cast = factories.cast()
    monkeypatch.setattr(gold, "A_WEEK", 1)
    now = timezone.now()
    with tenancy.project(cast.project.pk):
        Membership.objects.filter(person=cast.vera).update(role="reviewer")
        text = f"`{MARK}` does not need port 5100."
        decide(cast, found(cast, 1, text=text, now=now), "approve", now)
        turn_on(cast)
    assert gold.sweep(now) > 0
    with tenancy.project(cast.project.pk):
        assert GoldItem.objects.exists()
