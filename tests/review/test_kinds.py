"""The kinds of card beyond a new memory: each asks its own question, and one undo takes the whole answer back."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.test import Client

from memory.models import Fact, Feedback, Relation, StandingPart, Status
from projects import tenancy
from projects.models import Person
from review.cards.beside import MOST_SHOWN
from tests import factories
from tests.factories import Cast

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}


def signed_in(person: Person) -> Client:
    client = Client()
    client.force_login(person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


def desk(client: Client, fact: Fact | None = None) -> str:
    return client.get(f"/p/shop/review?card={fact.short_id}" if fact else "/p/shop/review").content.decode()


def answer(client: Client, fact: Fact, verb: str, **data: Any):  # type: ignore[no-untyped-def]
    with tenancy.project(fact.project_id):
        beside = {"beside": fact.related.revision} if fact.related else {}
    body = {"verb": verb, "revision": fact.revision, **beside, **data}
    return client.post(f"/facts/{fact.short_id}/decisions", body, headers=HTMX)


def states(cast: Cast, *facts: Fact) -> list[str]:
    with tenancy.project(cast.project.pk):
        return [Fact.objects.get(pk=fact.pk).status for fact in facts]


@pytest.fixture
def claims(cast: Cast) -> tuple[Fact, Fact]:
    """A live claim, and one learned since that contradicts it under a key of its own."""
    with tenancy.project(cast.project.pk):
        talk = factories.session(cast.support)
        first = factories.observation(talk, "Our terms are thirty days.")
        known = factories.approved(
            cast.project, cast.rita, "Pays within 30 days.", key="customer_fact:terms", value="30 days", quote=first
        )
        second = factories.observation(talk, "Since October we pay at 45 days.")
        newer = factories.proposal(
            cast.project,
            "Pays within 45 days.",
            key="customer_fact:payment",
            value="45 days",
            quote=second,
            relation=Relation.CONFLICTS,
            related=known,
        )
    return known, newer


@pytest.fixture
def due(cast: Cast, now: datetime) -> Fact:
    """A live memory that its type asks about again."""
    with tenancy.project(cast.project.pk):
        fact = factories.approved(cast.project, cast.rita, now=now - timedelta(days=200))
    return fact


def test_a_conflict_shows_two_claims_with_their_quotes_and_no_sentence_above(cast: Cast, claims: tuple) -> None:
    page = desk(signed_in(cast.rita))
    assert "Which one holds?" in page
    assert page.count('class="claim"') == 2
    assert "<mark>Our terms are thirty days.</mark>" in page
    assert "<mark>Since October we pay at 45 days.</mark>" in page
    assert "Keep 30 days" in page
    assert "Keep 45 days" in page
    assert 'class="fact"' not in page


@pytest.mark.parametrize(
    ("verb", "after"),
    [
        ("keep_first", [Status.APPROVED, Status.REJECTED]),
        ("keep_second", [Status.SUPERSEDED, Status.APPROVED]),
        ("keep_both", [Status.APPROVED, Status.APPROVED]),
        ("keep_neither", [Status.REMOVED, Status.REJECTED]),
    ],
)
def test_each_answer_to_a_conflict_and_its_undo(cast: Cast, claims: tuple, verb: str, after: list[str]) -> None:
    known, newer = claims
    client = signed_in(cast.rita)
    assert answer(client, newer, verb).status_code == 200
    assert states(cast, known, newer) == after
    client.post("/p/shop/review/undo", headers=HTMX)
    assert states(cast, known, newer) == [Status.APPROVED, Status.PROPOSED]


@pytest.mark.parametrize(
    ("verb", "after"),
    [
        ("keep_first", [Status.APPROVED, Status.REJECTED]),
        ("keep_second", [Status.REJECTED, Status.APPROVED]),
        ("keep_both", [Status.APPROVED, Status.APPROVED]),
        ("keep_neither", [Status.REJECTED, Status.REJECTED]),
    ],
)
def test_a_conflict_of_two_proposals_is_one_card_too(cast: Cast, verb: str, after: list[str]) -> None:
    with tenancy.project(cast.project.pk):
        first = factories.proposal(cast.project, "Pays within 30 days.", key="customer_fact:terms", value="30")
        second = factories.proposal(
            cast.project,
            "Pays within 45 days.",
            key="customer_fact:payment",
            value="45",
            relation=Relation.CONFLICTS,
            related=first,
        )
    client = signed_in(cast.rita)
    assert "Both wait. Which one holds?" in desk(client, second)
    assert answer(client, second, verb).status_code == 200
    assert states(cast, first, second) == after
    client.post("/p/shop/review/undo", headers=HTMX)
    assert states(cast, first, second) == [Status.PROPOSED, Status.PROPOSED]


def test_a_conflict_whose_other_side_is_gone_is_an_ordinary_card(cast: Cast, claims: tuple) -> None:
    known, newer = claims
    client = signed_in(cast.rita)
    with tenancy.project(cast.project.pk):
        Fact.objects.get(pk=known.pk).remove(cast.rita, revision=known.revision, now=known.first_seen_at)
    assert "Which one holds?" not in desk(client)
    refused = answer(client, newer, "keep_second")
    assert refused.status_code == 422
    assert "is gone by now" in refused.content.decode()


@pytest.mark.parametrize("verb", ["keep_first", "keep_second", "keep_both", "keep_neither", "same"])
def test_the_claim_beside_is_the_one_that_was_seen(cast: Cast, claims: tuple, verb: str) -> None:
    known, newer = claims
    seen = known.revision
    with tenancy.project(cast.project.pk):
        known.edit(cast.olga, revision=known.revision, now=known.first_seen_at, text="Pays within 14 days.")
    late = answer(signed_in(cast.rita), newer, verb, beside=seen)
    assert late.status_code == 409
    assert states(cast, known, newer) == [Status.APPROVED, Status.PROPOSED]


def test_a_claim_that_cannot_be_proved_is_never_kept(cast: Cast, claims: tuple) -> None:
    known, newer = claims
    with tenancy.project(cast.project.pk):
        newer.evidence.update(quote="Something else", sha256="0" * 64)
    client = signed_in(cast.rita)
    for verb in ("keep_second", "keep_both"):
        assert answer(client, newer, verb).status_code == 422
    assert states(cast, known, newer) == [Status.APPROVED, Status.PROPOSED]


def test_the_same_thing_is_counted_where_it_was_known(cast: Cast) -> None:
    with tenancy.project(cast.project.pk):
        known = factories.approved(cast.project, cast.rita, "Wants e-mail.", key="user_preference:channel")
        again = factories.proposal(
            cast.project,
            "Prefers to be written to.",
            key="user_preference:contact",
            relation=Relation.SAME_THING,
            related=known,
        )
    client = signed_in(cast.rita)
    page = desk(client)
    assert "Same thing" in page
    assert "Wants" in page
    assert answer(client, again, "same").status_code == 200
    with tenancy.project(cast.project.pk):
        assert Fact.objects.get(pk=known.pk).times_seen == 2
    assert states(cast, known, again) == [Status.APPROVED, Status.MERGED]
    client.post("/p/shop/review/undo", headers=HTMX)
    assert states(cast, known, again) == [Status.APPROVED, Status.PROPOSED]
    with tenancy.project(cast.project.pk):
        assert Fact.objects.get(pk=known.pk).times_seen == 1


def test_what_changes_without_a_common_key_takes_the_place_of_what_was_known(cast: Cast) -> None:
    with tenancy.project(cast.project.pk):
        known = factories.approved(cast.project, cast.rita, "Lives in Austin.", key="customer_fact:city")
        newer = factories.proposal(
            cast.project,
            "Lives in Dallas.",
            key="customer_fact:home_town",
            relation=Relation.CHANGES,
            related=known,
        )
    client = signed_in(cast.rita)
    assert "What changes" in desk(client)
    answer(client, newer, "approve")
    assert states(cast, known, newer) == [Status.SUPERSEDED, Status.APPROVED]


def test_still_true_comes_back_and_is_confirmed_or_withdrawn(cast: Cast, due: Fact) -> None:
    client = signed_in(cast.rita)
    page = desk(client)
    assert "Still true?" in page
    assert "0 of 1" in page
    assert "Confirmed" in page
    assert "Confirmed." in answer(client, due, "confirm").content.decode()
    assert "Still true?" not in desk(client)
    client.post("/p/shop/review/undo", headers=HTMX)
    assert "Still true?" in desk(client)
    with tenancy.project(cast.project.pk):
        due = Fact.objects.get(pk=due.pk)
    answer(client, due, "remove")
    assert states(cast, due) == [Status.REMOVED]


def test_a_live_memory_is_corrected_and_so_confirmed(cast: Cast, due: Fact) -> None:
    client = signed_in(cast.rita)
    panel = client.get(f"/p/shop/review?card={due.short_id}&panel=edit").content.decode()
    assert "Save and confirm" in panel
    assert "Save and approve" not in panel
    assert answer(client, due, "edit", text="Prefers letters.").status_code == 200
    assert "Still true?" not in desk(client)
    with tenancy.project(cast.project.pk):
        assert Fact.objects.get(pk=due.pk).text == "Prefers letters."


def test_what_a_memory_is_can_be_corrected(cast: Cast) -> None:
    with tenancy.project(cast.project.pk):
        fact = factories.proposal(cast.project, "Was on the Basic plan.", key="note:plan")
    client = signed_in(cast.rita)
    panel = client.get(f"/p/shop/review?card={fact.short_id}&panel=edit").content.decode()
    assert '<option value="note" selected>' in panel
    told = {"text": fact.text, "type": "customer_fact", "nature": "factual", "use": "historical"}
    assert answer(client, fact, "approve", **told).status_code == 200
    with tenancy.project(cast.project.pk):
        fact = Fact.objects.get(pk=fact.pk)
        assert (fact.type, fact.key, fact.use) == ("customer_fact", "customer_fact:plan", "historical")
    client.post("/p/shop/review/undo", headers=HTMX)
    with tenancy.project(cast.project.pk):
        fact = Fact.objects.get(pk=fact.pk)
        assert (fact.type, fact.key, fact.use, fact.status) == ("note", "note:plan", "actionable", Status.PROPOSED)


@pytest.mark.parametrize("wrong", [{"type": "invented"}, {"nature": "rumour"}, {"use": "none"}])
def test_what_a_memory_cannot_be_is_refused(cast: Cast, wrong: dict[str, str]) -> None:
    with tenancy.project(cast.project.pk):
        fact = factories.proposal(cast.project, "Was on the Basic plan.", key="note:plan")
    assert answer(signed_in(cast.rita), fact, "edit", text="Other words.", **wrong).status_code == 422
    assert states(cast, fact) == [Status.PROPOSED]


def test_what_is_put_off_comes_back_later(cast: Cast, due: Fact) -> None:
    client = signed_in(cast.rita)
    answer(client, due, "put_off", until="tomorrow")
    assert "Still true?" not in desk(client)
    assert states(cast, due) == [Status.APPROVED]


def test_a_complaint_comes_before_everything_else(cast: Cast, due: Fact, now: datetime) -> None:
    with tenancy.project(cast.project.pk):
        doubted = factories.approved(cast.project, cast.rita, "Codes run on.", key="choice:promo", now=now)
        Feedback.objects.create(
            project=cast.project, fact=doubted, agent=cast.sales, verdict="misled", at=now, said_on=now.date()
        )
        Fact.objects.filter(pk=doubted.pk).update(review_due_at=now)
        factories.proposal(cast.project, "Something new.", key="choice:new")
    client = signed_in(cast.rita)
    page = desk(client)
    assert '<b class="look">Complaint</b>' in page
    assert "sales: it misled" in page
    assert "1 of 4" in page  # the approval above is of today
    answer(client, doubted, "confirm")
    assert "Still true?" in desk(client)


def test_an_old_complaint_does_not_outlive_its_answer(cast: Cast, due: Fact, now: datetime) -> None:
    with tenancy.project(cast.project.pk):
        long_ago = now - timedelta(days=300)
        Feedback.objects.create(
            project=cast.project, fact=due, agent=cast.sales, verdict="misled", at=long_ago, said_on=long_ago.date()
        )
    assert "Complaint" not in desk(signed_in(cast.rita))


def test_an_older_statement_says_that_it_becomes_history(cast: Cast, now: datetime) -> None:
    with tenancy.project(cast.project.pk):
        factories.approved(cast.project, cast.rita, "On the Business plan.", key="customer_fact:plan")
        older = factories.proposal(cast.project, "On the Basic plan.", key="customer_fact:plan", valid_to=now)
    assert "It was said before what is known." in desk(signed_in(cast.rita), older)


def test_a_standing_brief_names_the_memories_it_stands_for(cast: Cast) -> None:
    with tenancy.project(cast.project.pk):
        parts = [
            factories.approved(cast.project, cast.rita, f"Lesson {number}.", key=f"fix:lesson.{number}")
            for number in range(MOST_SHOWN + 2)
        ]
        standing = factories.proposal(cast.project, "All lessons.", key="fix:lesson", standing=True)
        for part in parts:
            StandingPart.objects.create(project=cast.project, standing=standing, part=part)
    page = desk(signed_in(cast.rita))
    assert "Standing brief" in page
    assert "Lesson 0." in page
    assert "And 2 more." in page


def test_a_viewer_answers_nothing(cast: Cast, claims: tuple) -> None:
    known, newer = claims
    client = signed_in(cast.vera)
    for verb in ("keep_first", "keep_second", "keep_both", "keep_neither", "same", "confirm"):
        assert answer(client, newer, verb).status_code == 403
    assert states(cast, known, newer) == [Status.APPROVED, Status.PROPOSED]


def test_the_second_of_two_people_is_told(cast: Cast, claims: tuple) -> None:
    _, newer = claims
    answer(signed_in(cast.rita), newer, "keep_both")
    late = answer(signed_in(cast.olga), newer, "keep_first")
    assert late.status_code == 409
    assert "Keep the first" in late.content.decode()
