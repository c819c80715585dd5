"""Near-duplicates of one subject: one card, its lines ticked, and nothing decided that was not on the screen."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import pytest
from django.test import Client

from memory.models import Fact, Relation, Status
from projects import tenancy
from review.cards.cluster import MOST, cluster_of
from tests import factories
from tests.factories import Cast
from tests.review.test_desk import signed_in

pytestmark = pytest.mark.django_db
SAID = (
    "Klarna is offered only to customers with a delivery address in the UK.",
    "Klarna is only offered to customers with a UK delivery address.",
    "Klarna is offered to customers with a delivery address in the UK only.",
    "Only customers with a delivery address in the UK are offered Klarna.",
)


def chain(cast: Cast, now: datetime, texts: tuple[str, ...] = SAID, **last: Any) -> list[Fact]:
    """Proposals that each say nearly the same as the one before; the last with more fields."""
    facts: list[Fact] = []
    with tenancy.project(cast.project.pk):
        for n, text in enumerate(texts):
            talk = factories.session(cast.support, f"chat-{n}", now=now)
            beside = {"related": facts[-1], "relation": Relation.SAME_THING} if facts else {}
            more = last if n == len(texts) - 1 else {}
            quote = factories.observation(talk, f"{text} Is what I was told.", now=now)
            facts.append(
                factories.proposal(cast.project, text, key=f"fix:klarna.{n}", quote=quote, now=now, **beside, **more)
            )
    return facts


def states(cast: Cast, facts: list[Fact]) -> list[str]:
    with tenancy.project(cast.project.pk):
        found = dict(Fact.objects.filter(pk__in=[fact.pk for fact in facts]).values_list("pk", "status"))
    return [found[fact.pk] for fact in facts]


def tick(fact: Fact) -> str:
    return f"{fact.short_id}.{fact.revision}"


def desk(client: Client, fact: Fact) -> str:
    return client.get(f"/p/shop/review?card={fact.short_id}").content.decode()


def answer(client: Client, fact: Fact, how: str, ticked: list[Fact], **data: Any) -> Any:
    body = {"how": how, "kept": tick(fact), "tick": [tick(one) for one in ticked], **data}
    return client.post(f"/facts/{fact.short_id}/cluster", body)


def test_near_duplicates_are_one_card_whichever_of_them_is_opened(cast: Cast, now: datetime) -> None:
    facts = chain(cast, now)
    client = signed_in(cast.rita)
    for fact in facts:
        page = desk(client, fact)
        assert "Ticked lines become this one memory" in page
        assert "4 proposals" in page
        assert page.count('name="tick"') == 3
        heading = re.search(r"<h1[^>]*>(.*?)</h1>", page, re.DOTALL)
        assert heading is not None
        assert "Klarna is offered only to customers" in heading[1]


def test_two_that_say_the_same_stay_a_pair(cast: Cast, now: datetime) -> None:
    facts = chain(cast, now, SAID[:2])
    page = desk(signed_in(cast.rita), facts[1])
    assert "Ticked lines" not in page
    assert "Same thing" in page


@pytest.mark.parametrize(
    ("how", "after", "words"),
    [
        ("as_one", ["approved", "merged", "merged", "proposed"], "1 approved, 2 merged"),
        ("merge", ["proposed", "merged", "merged", "proposed"], "2 merged"),
        ("each", ["approved", "approved", "approved", "proposed"], "3 approved"),
        ("reject:vague", ["rejected", "rejected", "rejected", "proposed"], "3 rejected"),
        ("later", ["proposed"] * 4, "3 put off"),
    ],
)
def test_each_answer_touches_what_is_ticked_and_one_undo_takes_it_back(
    cast: Cast, now: datetime, how: str, after: list[str], words: str
) -> None:
    facts = chain(cast, now)
    client = signed_in(cast.rita)
    said = client.post(
        f"/facts/{facts[0].short_id}/cluster",
        {"how": how, "kept": tick(facts[0]), "tick": [tick(fact) for fact in facts[1:3]]},
        headers={"HX-Request": "true"},
    )
    assert said.status_code == 200
    assert words in said.content.decode()
    assert states(cast, facts) == after
    client.post("/p/shop/review/undo")
    assert states(cast, facts) == [Status.PROPOSED] * 4
    with tenancy.project(cast.project.pk):
        kept = Fact.objects.get(pk=facts[0].pk)
        assert (kept.times_seen, kept.evidence.count()) == (1, 1)


def test_approved_as_one_it_has_the_quotes_of_all(cast: Cast, now: datetime) -> None:
    facts = chain(cast, now)
    answer(signed_in(cast.rita), facts[0], "as_one", facts[1:])
    with tenancy.project(cast.project.pk):
        kept = Fact.objects.get(pk=facts[0].pk)
        assert (kept.status, kept.times_seen, kept.evidence.count()) == (Status.APPROVED, 4, 4)


def test_a_live_one_is_the_one_that_is_kept(cast: Cast, now: datetime) -> None:
    with tenancy.project(cast.project.pk):
        known = factories.approved(cast.project, cast.rita, SAID[0], key="fix:klarna", now=now)
    facts = chain(cast, now, SAID[1:])
    with tenancy.project(cast.project.pk):
        Fact.objects.filter(pk=facts[0].pk).update(related=known, relation=Relation.SAME_THING)
    client = signed_in(cast.rita)
    page = desk(client, facts[2])
    assert "Ticked lines are counted there" in page
    assert 'value="merge"' in page
    assert 'value="as_one"' not in page
    body = {"how": "merge", "kept": tick(known), "tick": [tick(fact) for fact in facts]}
    assert client.post(f"/facts/{facts[2].short_id}/cluster", body).status_code == 302
    assert states(cast, [known, *facts]) == [Status.APPROVED, *[Status.MERGED] * 3]


def test_what_is_flagged_cannot_be_ticked_and_is_decided_on_its_own_card(cast: Cast, now: datetime) -> None:
    facts = chain(cast, now, findings=[{"category": "contact"}])
    client = signed_in(cast.rita)
    page = desk(client, facts[0])
    line = re.search(rf'<li class="out">.*?{facts[3].short_id}.*?</li>', page, re.DOTALL)
    assert line is not None
    assert "disabled" in line[0]
    assert "flagged" in line[0]
    said = client.post(
        f"/facts/{facts[0].short_id}/cluster",
        {"how": "each", "kept": tick(facts[0]), "tick": [tick(fact) for fact in facts[1:]]},
        headers={"HX-Request": "true"},
    )
    assert "3 approved, 1 skipped: 1 flagged" in said.content.decode()
    assert states(cast, facts) == [*[Status.APPROVED] * 3, Status.PROPOSED]


def test_what_says_something_else_is_not_ticked_and_says_so(cast: Cast, now: datetime) -> None:
    facts = chain(cast, now, (*SAID[:3], "Klarna refunds take 5 working days."))
    page = desk(signed_in(cast.rita), facts[0])
    line = re.search(rf"<li>(?:(?!</li>).)*{facts[3].short_id}.*?</li>", page, re.DOTALL)
    assert line is not None
    assert "checked" not in line[0]
    assert "says something else" in line[0]
    assert page.count(" checked") == 2


def test_a_card_shows_at_most_so_many_lines_and_says_what_is_left(cast: Cast, now: datetime) -> None:
    with tenancy.project(cast.project.pk):
        first = factories.proposal(cast.project, SAID[0], key="fix:klarna", now=now)
        for n in range(MOST + 3):
            factories.proposal(
                cast.project,
                SAID[1] + f" ({n})",
                key=f"fix:k.{n}",
                related=first,
                relation=Relation.SAME_THING,
                now=now,
            )
    page = desk(signed_in(cast.rita), first)
    assert page.count('name="tick"') == MOST
    assert "3 more say the same" in page


@pytest.mark.parametrize("forged", ["nonsense", "f-aaaaaa.1", ""])
def test_a_broken_form_changes_nothing_and_keeps_what_was_unticked(cast: Cast, now: datetime, forged: str) -> None:
    facts = chain(cast, now)
    body = {
        "how": "merge",
        "kept": tick(facts[0]),
        "tick": [forged] if forged else [],
        "shown": [tick(fact) for fact in facts[1:]],
    }
    said = signed_in(cast.rita).post(f"/facts/{facts[0].short_id}/cluster", body)
    assert said.status_code == 422
    assert said.content.decode().count(" checked") == 0
    assert states(cast, facts) == [Status.PROPOSED] * 4


def test_what_somebody_changed_meanwhile_is_left_and_named(cast: Cast, now: datetime) -> None:
    facts = chain(cast, now)
    with tenancy.project(cast.project.pk):
        fresh = Fact.objects.get(pk=facts[2].pk)
        fresh.edit(cast.olga, revision=fresh.revision, now=now, text="Klarna, everywhere.")
    client = signed_in(cast.rita)
    said = answer(client, facts[0], "merge", facts[1:])
    assert "2 merged, 1 skipped: 1 changed by Olga." in client.get(said["Location"]).content.decode()
    with tenancy.project(cast.project.pk):
        kept = Fact.objects.get(pk=facts[0].pk)
        kept.edit(cast.olga, revision=kept.revision, now=now, text="Klarna, in the UK.")
    assert answer(client, facts[0], "merge", facts[3:]).status_code == 409


def test_lines_of_another_subject_are_never_taken_along(cast: Cast, now: datetime) -> None:
    facts = chain(cast, now)
    with tenancy.project(cast.project.pk):
        other = factories.proposal(cast.project, "Else.", key="fix:else", about="customer:cust_9", now=now)
    assert answer(signed_in(cast.rita), facts[0], "reject:vague", [*facts[1:], other]).status_code == 422
    assert states(cast, [*facts, other]) == [Status.PROPOSED] * 5
    assert answer(signed_in(cast.vera), facts[0], "merge", facts[1:]).status_code == 403


def test_a_cluster_takes_as_many_questions_for_many_lines_as_for_few(
    shop: Cast, now: datetime, django_assert_max_num_queries: Any
) -> None:
    first = factories.proposal(shop.project, SAID[0], key="fix:klarna", now=now)
    for n in range(20):
        factories.proposal(
            shop.project, f"{SAID[1]} ({n})", key=f"fix:k.{n}", related=first, relation=Relation.SAME_THING, now=now
        )
    with django_assert_max_num_queries(8):
        found = cluster_of(Fact.objects.select_related("project").get(pk=first.pk), now)
    assert found is not None
    assert found.count == 21
