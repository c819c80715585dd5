"""What stands near a known fact: counted, shown beside it, held back, or kept as history."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from memory import embedding_store, embeddings
from memory.models import Fact, FactEmbedding, Observation, Relation, Session, Status, Subject, Suppression
from memory.reconciliation import Cited, Learned, Placed, place
from projects.models import Agent
from tests import factories
from tests.factories import Cast

TESTS = Learned(type="fix", key="fix:tests", value=None, text="Run the tests with pytest -q")
TEN = timedelta(days=10)


@pytest.fixture
def customer(shop: Cast) -> Subject:
    return factories.subject(shop.project)


def heard(agent: Agent, name: str, text: str = "As I said.", at: datetime | None = None) -> Observation:
    session = Session.objects.filter(agent=agent, external_id=name).first() or factories.session(agent, name)
    return factories.observation(session, text, **({"occurred_at": at} if at else {}))


def say(
    text: str,
    subject: Subject,
    agent: Agent,
    now: datetime,
    *,
    key: str = "note:a",
    session: str | None = "call-1",
    at: datetime | None = None,
    **fields: Any,
) -> Placed:
    learned = Learned(type=key.partition(":")[0], key=key, value=fields.pop("value", text), text=text, **fields)
    if session is None:
        return place(learned, subject=subject, agent=agent, now=now)
    quote = heard(agent, session, text, at)
    cited = (Cited(quote, 0, len(quote.text)),)
    return place(replace(learned, cited=cited), subject=subject, agent=agent, session=quote.session, now=now)


def approved(placed: Placed, cast: Cast, now: datetime) -> Fact:
    placed.fact.approve(cast.rita, revision=placed.fact.revision, now=now)
    return placed.fact


def rejected(placed: Placed, cast: Cast, now: datetime) -> Fact:
    placed.fact.reject(cast.rita, revision=placed.fact.revision, now=now, reason="not_true")
    return placed.fact


# The same ------------------------------------------------------------------------------------------------------------


def test_the_same_in_other_words_under_the_same_key_is_counted(shop: Cast, customer: Subject, now: datetime) -> None:
    known = say("Run the tests with pytest -q", customer, shop.support, now, key="fix:tests").fact
    again = say("Tests are run using `pytest -q`.", customer, shop.support, now, key="fix:tests", session="call-2")
    assert (again.outcome, again.counted, again.fact) == ("same", True, known)
    known.refresh_from_db()
    assert (known.times_seen, known.evidence.count()) == (2, 2)
    assert Fact.objects.count() == 1


def test_a_session_that_says_it_in_two_ways_counts_once(shop: Cast, customer: Subject, now: datetime) -> None:
    known = say("Run the tests with pytest -q", customer, shop.support, now, key="fix:tests").fact
    again = say("Tests are run using `pytest -q`.", customer, shop.support, now, key="fix:tests")
    assert (again.outcome, again.counted) == ("same", False)
    known.refresh_from_db()
    assert (known.times_seen, known.evidence.count()) == (1, 2)


def test_another_key_blocks_a_merge_and_is_shown(shop: Cast, customer: Subject, now: datetime) -> None:
    known = say("Prefers replies by e-mail", customer, shop.support, now, key="note:channel").fact
    again = say("Wants to be answered via email", customer, shop.support, now, key="note:answers", session="call-2")
    assert (again.outcome, again.fact.relation, again.fact.related) == ("same_thing", Relation.SAME_THING, known)
    assert (again.fact.status, again.is_proposal) == (Status.PROPOSED, True)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"port": 5433}, {"port": 5432}),
        ({"host": "db-1"}, {"host": "db-2"}),
        ({"open": True}, {"open": False}),
        (["a", "b"], ["a", "c"]),
    ],
)
def test_a_differing_value_blocks_a_merge_of_the_same_words(
    shop: Cast, customer: Subject, now: datetime, first: Any, second: Any
) -> None:
    say("The database is set up", customer, shop.support, now, value=first)
    again = say("The database is set up.", customer, shop.support, now, value=second, session="call-2")
    assert again.outcome == "conflicts"


def test_the_same_value_written_in_another_order_is_the_same(shop: Cast, customer: Subject, now: datetime) -> None:
    say("Deploys go to both regions", customer, shop.support, now, value={"regions": ["eu", "us"], "n": 2})
    again = say(
        "Deploys go to both regions!",
        customer,
        shop.support,
        now,
        value={"n": 2, "regions": ["us", "eu"], "by": "bot"},
        session="call-2",
    )
    assert again.outcome == "same"


def test_what_was_heard_in_the_very_same_words_is_one_fact(shop: Cast, customer: Subject, now: datetime) -> None:
    """A session read again by a model that words it anew makes no second card."""
    quote = heard(shop.support, "call-1", "mail me the invoices and the reminders, please")
    cited = (Cited(quote, 0, len(quote.text)),)
    said = Learned(
        type="note", key="note:invoices", value=None, text="Wants invoices and reminders by e-mail", cited=cited
    )
    known = place(said, subject=customer, agent=shop.support, now=now, session=quote.session).fact
    anew = replace(said, key="note:mail", text="Invoices and reminders should be sent by e-mail to the customer")
    again = place(anew, subject=customer, agent=shop.support, now=now, session=quote.session)
    assert (again.outcome, again.counted, again.fact) == ("same", False, known)
    assert Fact.objects.count() == 1


def test_a_standing_lesson_of_the_project_is_counted_for_every_repository(shop: Cast, now: datetime) -> None:
    lesson = factories.approved(
        shop.project, shop.rita, TESTS.text, about="project:shop", key=TESTS.key, value=TESTS.text, standing=True
    )
    repository = factories.subject(shop.project, "repo:shop/api")
    again = say("Tests are run using `pytest -q`.", repository, shop.coder, now, key=TESTS.key)
    assert (again.outcome, again.fact) == ("same", lesson)
    person = factories.subject(shop.project, "person:ana@example.com")
    assert say(TESTS.text, person, shop.coder, now, key=TESTS.key, session="call-3").outcome == "new"


# Changes and conflicts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("Ana owns the billing module", "Ben owns the billing module"),
        ("Run migrations before the deploy", "Do not run migrations before the deploy"),
        ("Catalogue goes to print on March 8", "Catalogue goes to print on March 9"),
        ("The upload limit is 20 MB", "The upload limit is 50 MB"),
        ("客户同意接收短信", "客户不同意接收短信"),
    ],
)
def test_what_cannot_both_hold_is_shown_as_a_conflict(
    shop: Cast, customer: Subject, now: datetime, known: str, said: str
) -> None:
    first = approved(say(known, customer, shop.support, now, key="note:a"), shop, now)
    second = say(said, customer, shop.support, now, key="note:b", session="call-2")
    assert (second.outcome, second.fact.related) == ("conflicts", first)
    first.refresh_from_db()
    assert first.status == Status.APPROVED


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (
            "We picked Redis over RabbitMQ for the kiosk queue",
            "We picked Mapbox over Leaflet for the store finder",
        ),
        ("Dana leads the warehouse team at Northwind", "Dana translates the Northwind newsletter"),
        ("Prefers replies by e-mail", "Is allergic to nuts"),
    ],
)
def test_two_facts_are_two_facts(shop: Cast, customer: Subject, now: datetime, known: str, said: str) -> None:
    say(known, customer, shop.support, now, key="note:a")
    second = say(said, customer, shop.support, now, key="note:b", session="call-2")
    assert (second.outcome, second.fact.relation, second.fact.related) == ("new", "", None)


def test_another_value_of_one_key_changes_what_is_approved(shop: Cast, customer: Subject, now: datetime) -> None:
    known = approved(say("Austin", customer, shop.support, now, key="account_detail:city"), shop, now)
    moved = say("moved from Austin to Dallas", customer, shop.support, now, key="account_detail:city", session="call-2")
    assert (moved.outcome, moved.fact.related, moved.fact.valid_to) == ("changes", known, None)
    approved(moved, shop, now)
    known.refresh_from_db()
    assert (known.status, known.superseded_by) == (Status.SUPERSEDED, moved.fact)
    assert known.valid_to == moved.fact.valid_from


def test_two_values_that_nobody_approved_conflict(shop: Cast, customer: Subject, now: datetime) -> None:
    first = say("Austin", customer, shop.support, now, key="account_detail:city").fact
    second = say("Dallas", customer, shop.support, now, key="account_detail:city", session="call-2")
    assert (second.outcome, second.fact.related) == ("conflicts", first)


def test_everyones_value_and_an_agents_own_stand_side_by_side(shop: Cast, customer: Subject, now: datetime) -> None:
    known = factories.approved(shop.project, shop.rita, "Austin", key="customer_fact:city")
    own = say("Dallas", customer, shop.support, now, key="customer_fact:city")
    assert (own.fact.agent_ids, own.outcome, own.fact.related) == ([shop.support.pk], "conflicts", known)


def test_what_only_another_agent_receives_is_no_neighbour(shop: Cast, customer: Subject, now: datetime) -> None:
    """A card about what support learned never shows what is for sales alone."""
    theirs = say("Austin", customer, shop.sales, now, key="customer_fact:city", session="visit-1")
    approved(theirs, shop, now)
    ours = say("Dallas", customer, shop.support, now, key="customer_fact:city")
    assert (ours.outcome, ours.fact.related) == ("new", None)
    note = say("Lives in Dallas", customer, shop.support, now, key="note:home", session="call-2")
    assert note.fact.related != theirs.fact


def test_the_card_asks_about_the_change_before_the_likeness(shop: Cast, customer: Subject, now: datetime) -> None:
    say("Gets invoices by e-mail every month", customer, shop.support, now, key="note:invoices")
    known = approved(say("Gets invoices by post", customer, shop.support, now, key="choice:invoices"), shop, now)
    said = say("Gets invoices by e-mail", customer, shop.support, now, key="choice:invoices", session="call-2")
    assert (said.outcome, said.fact.related) == ("changes", known)


# What was true before ------------------------------------------------------------------------------------------------


def told(text: str, at: datetime, customer: Subject, cast: Cast, now: datetime) -> Placed:
    name = f"call-{at:%Y%m%d}"
    return say(text, customer, cast.support, now, key="account_detail:plan", session=name, at=at)


def test_an_older_statement_becomes_history_before_the_current_one(
    shop: Cast, customer: Subject, now: datetime
) -> None:
    current = approved(told("Enterprise", now - TEN, customer, shop, now), shop, now)
    late = told("Basic", now - 20 * TEN, customer, shop, now)
    assert (late.outcome, late.fact.related, late.fact.valid_to) == ("changes", current, now - TEN)
    decision = late.fact.approve(shop.rita, revision=late.fact.revision, now=now)
    current.refresh_from_db()
    old = Fact.objects.get(pk=late.fact.pk)
    assert current.status == Status.APPROVED
    assert (old.status, old.superseded_by, old.valid_to) == (Status.SUPERSEDED, current, now - TEN)
    assert old.approved_by == shop.rita
    old.undo(decision, shop.rita, now=now)
    old.refresh_from_db()
    assert (old.status, old.superseded_by, old.approved_by) == (Status.PROPOSED, None, None)


def test_an_older_statement_that_a_person_edits_or_prefers_takes_over(
    shop: Cast, customer: Subject, now: datetime
) -> None:
    current = approved(told("Enterprise", now - TEN, customer, shop, now), shop, now)
    late = told("Basic", now - 20 * TEN, customer, shop, now).fact
    late.approve(shop.rita, revision=late.revision, now=now, replaces=current)
    assert (late.status, late.valid_to) == (Status.APPROVED, None)
    current.refresh_from_db()
    assert current.status == Status.SUPERSEDED
    older = told("Trial", now - 30 * TEN, customer, shop, now).fact
    older.approve(shop.rita, revision=older.revision, now=now, text="Trial again", value="Trial again")
    assert older.status == Status.APPROVED


def test_with_nothing_newer_left_an_older_statement_is_approved_as_any_other(
    shop: Cast, customer: Subject, now: datetime
) -> None:
    current = approved(told("Enterprise", now - TEN, customer, shop, now), shop, now)
    late = told("Basic", now - 20 * TEN, customer, shop, now).fact
    current.remove(shop.rita, revision=current.revision, now=now)
    late.approve(shop.rita, revision=late.revision, now=now)
    assert (late.status, late.valid_to) == (Status.APPROVED, None)


def test_a_clock_that_runs_ahead_wins_nothing(shop: Cast, customer: Subject, now: datetime) -> None:
    ahead = approved(told("Basic", now + TEN, customer, shop, now), shop, now)
    assert ahead.valid_from == now
    later = now + timedelta(hours=1)
    true = told("Enterprise", later, customer, shop, later)
    approved(true, shop, later)
    ahead.refresh_from_db()
    assert (ahead.status, true.fact.status) == (Status.SUPERSEDED, Status.APPROVED)


# Refused before ------------------------------------------------------------------------------------------------------


def test_near_something_rejected_is_held_back_and_written_down(shop: Cast, customer: Subject, now: datetime) -> None:
    refused = rejected(say("Prefers replies by e-mail", customer, shop.support, now, key="note:channel"), shop, now)
    later = now + TEN
    again = say("Wants to be answered via email", customer, shop.support, later, key="note:x", session="call-2")
    assert (again.outcome, again.fact, again.is_proposal) == ("suppressed", refused, False)
    assert Fact.objects.count() == 1
    row = Suppression.objects.get()
    assert (row.fact, row.session.external_id, row.text, row.at) == (
        refused,
        "call-2",
        "Wants to be answered via email",
        later,
    )
    assert 0.75 <= row.similarity <= 1


@pytest.mark.parametrize(
    "said",
    [
        "Does not prefer replies by e-mail",
        "Prefers replies by phone",
        "Prefers replies by e-mail before 9:00",
        "Prefers replies by e-mail from Ana",
        "Prefers short replies by e-mail with invoices attached",
        "Prefers replies by e-mail and printed letters",
        "Prefers replies by e-mail sent to Ana",
    ],
)
def test_a_sibling_of_something_rejected_is_proposed(shop: Cast, customer: Subject, now: datetime, said: str) -> None:
    rejected(say("Prefers replies by e-mail", customer, shop.support, now, key="note:channel"), shop, now)
    again = say(said, customer, shop.support, now, key="note:channel", session="call-2")
    assert again.is_proposal
    assert not Suppression.objects.exists()


@pytest.mark.parametrize(
    ("refused", "said"),
    [
        # All but one word of it, and one word more.
        ("Orders of the Lyon shop leave by courier on time", "Orders of the Lyon shop leave by courier insured"),
        # A word more, among many in common.
        (
            "The nightly backup of the orders database goes to the Frankfurt bucket",
            "The nightly backup of the orders database goes encrypted to the Frankfurt bucket",
        ),
        # A figure more.
        (
            "The nightly backup of the orders database goes to the Frankfurt bucket",
            "The nightly backup of the orders database goes to the Frankfurt bucket in 3 parts",
        ),
    ],
)
def test_what_says_more_than_what_was_rejected_is_proposed(
    shop: Cast, customer: Subject, now: datetime, refused: str, said: str
) -> None:
    rejected(say(refused, customer, shop.support, now, key="note:a"), shop, now)
    assert say(said, customer, shop.support, now, key="note:b", session="call-2").is_proposal


def test_what_leaves_a_figure_out_is_proposed(shop: Cast, customer: Subject, now: datetime) -> None:
    """Rejected may have been the figure alone."""
    rejected(
        say(
            "The nightly backup of the orders database goes to the Frankfurt bucket in 3 parts",
            customer,
            shop.support,
            now,
            key="note:a",
        ),
        shop,
        now,
    )
    said = "The nightly backup of the orders database goes to the Frankfurt bucket in parts"
    assert say(said, customer, shop.support, now, key="note:b", session="call-2").is_proposal


def test_a_rejected_figure_does_not_hold_back_the_right_one(shop: Cast, customer: Subject, now: datetime) -> None:
    rejected(say("The upload limit is 20 MB", customer, shop.support, now, key="note:limit"), shop, now)
    assert say("The upload limit is 50 MB", customer, shop.support, now, key="note:limit", session="c-2").is_proposal
    assert not say("Uploads are limited to 20 MB", customer, shop.support, now, key="note:x", session="c-3").is_proposal


def test_each_session_is_written_down_once(shop: Cast, customer: Subject, now: datetime) -> None:
    refused = rejected(say("Prefers replies by e-mail", customer, shop.support, now, key="note:a"), shop, now)
    for session in ("call-2", "call-2", "call-3"):
        say("Prefers replies by e-mail.", customer, shop.support, now, key="note:a", session=session)
    assert refused.suppressions.count() == 2
    for _ in range(3):
        say("Prefers replies by e-mail.", customer, shop.support, now, key="note:a", session=None)
    assert refused.suppressions.filter(session=None).count() == 1


def test_a_person_who_takes_back_the_rejection_lifts_it(shop: Cast, customer: Subject, now: datetime) -> None:
    placed = say("Prefers replies by e-mail", customer, shop.support, now, key="note:a")
    decision = placed.fact.reject(shop.rita, revision=placed.fact.revision, now=now, reason="not_true")
    placed.fact.undo(decision, shop.rita, now=now)
    assert (
        say("Prefers replies by e-mail.", customer, shop.support, now, key="note:a", session="call-2").outcome == "same"
    )


@pytest.mark.parametrize("said", ["Prefers replies by e-mail", "Prefers replies by e-mail!"])
def test_a_person_who_approves_the_same_by_hand_lifts_it(
    shop: Cast, customer: Subject, now: datetime, said: str
) -> None:
    rejected(say("Prefers replies by e-mail", customer, shop.support, now, key="note:a"), shop, now)
    known = factories.approved(shop.project, shop.rita, "Wants to be answered via email", key="note:a")
    again = say(said, customer, shop.support, now, key="note:a", session="call-2")
    assert (again.outcome, again.fact) == ("same", known)


# Cost ----------------------------------------------------------------------------------------------------------------


def test_a_subject_with_many_facts_takes_no_more_queries(
    shop: Cast,
    customer: Subject,
    now: datetime,
    django_assert_max_num_queries,  # type: ignore[no-untyped-def]
) -> None:
    for number in range(60):
        factories.proposal(shop.project, f"Order {number} of the red lamps arrived late", key=f"note:order.{number}")
    with django_assert_max_num_queries(22) as captured:
        placed = say("Order 4711 of the red lamps arrived late", customer, shop.support, now, key="note:order")
    assert placed.outcome == "conflicts"
    assert not [
        query
        for query in captured.captured_queries
        if "LIMIT" not in query["sql"] and "4711" in query["sql"] and "SELECT" in query["sql"][:6]
    ]


@pytest.mark.parametrize("stored", [True, False])
def test_stored_vectors_are_used_where_they_fit_their_text(
    shop: Cast, customer: Subject, now: datetime, monkeypatch: pytest.MonkeyPatch, stored: bool
) -> None:
    known = say("Ana owns the billing module", customer, shop.support, now, key="note:a").fact
    embedding_store.embed_facts([known])
    if not stored:
        FactEmbedding.objects.update(text_sha256="0" * 64)
    texts: list[str] = []
    embed = embeddings.embed
    monkeypatch.setattr(embeddings, "embed", lambda asked: texts.extend(asked) or embed(asked))
    assert say("Ben owns the billing module", customer, shop.support, now, key="note:b").outcome == "conflicts"
    assert texts == ["Ben owns the billing module"] + ([] if stored else [known.text])


def test_a_missing_model_stops_no_proposal(
    shop: Cast, customer: Subject, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unavailable(texts: object) -> None:
        raise embeddings.EmbedderUnavailable("gone")

    monkeypatch.setattr(embeddings, "embed", unavailable)
    say("Ana owns the billing module", customer, shop.support, now, key="note:a")
    second = say("Ben owns the billing module", customer, shop.support, now, key="note:b", session="call-2")
    assert second.outcome == "conflicts"
