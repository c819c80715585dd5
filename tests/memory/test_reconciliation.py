"""New, the same again, or refused before: what reconciliation makes of what was learned."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from memory import reconciliation
from memory.models import Evidence, Fact, Observation, Session, Status, Subject
from memory.reconciliation import Cited, Learned, Placed, place, subject_for
from projects.models import Agent
from tests import factories
from tests.factories import Cast

MORNING = Learned(
    type="user_preference",
    key="user_preference:contact_channel",
    value={"channel": "e-mail"},
    text="Prefers e-mail, in the morning.",
)


@pytest.fixture
def customer(shop: Cast) -> Subject:
    return factories.subject(shop.project)


def heard(agent: Agent, name: str, text: str = "Please write me an e-mail in the morning.") -> Observation:
    return factories.observation(factories.session(agent, name), text)


def placed(
    learned: Learned, subject: Subject, agent: Agent, session: Session | None, now: datetime, *quotes: Observation
) -> Placed:
    cited = tuple(Cited(quote, 0, len(quote.text)) for quote in quotes)
    return place(replace(learned, cited=cited), subject=subject, agent=agent, session=session, now=now)


def test_what_nobody_knows_is_proposed_with_its_evidence(shop: Cast, customer: Subject, now: datetime) -> None:
    quote = heard(shop.support, "call-1")
    result = placed(MORNING, customer, shop.support, quote.session, now, quote)
    assert (result.outcome, result.fact.status, result.fact.times_seen) == ("new", Status.PROPOSED, 1)
    assert result.fact.proposed_by_agent == shop.support
    evidence = Evidence.objects.get(fact=result.fact)
    assert (evidence.quote, evidence.verdict()) == (quote.text, "holds")


@pytest.mark.parametrize("approved", [False, True])
def test_the_same_from_another_session_is_counted_on_the_known_fact(
    shop: Cast, customer: Subject, now: datetime, approved: bool
) -> None:
    first = heard(shop.support, "call-1")
    known = placed(MORNING, customer, shop.support, first.session, now, first).fact
    if approved:
        known.approve(shop.rita, revision=known.revision, now=now)
    revision = known.revision
    later = now + timedelta(days=3)
    second = heard(shop.support, "call-2")
    result = placed(MORNING, customer, shop.support, second.session, later, second)
    assert (result.outcome, result.counted, result.fact) == ("same", True, known)
    known.refresh_from_db()
    assert (known.times_seen, known.last_seen_at, known.revision) == (2, later, revision)
    assert known.evidence.count() == 2
    assert Fact.objects.count() == 1


def test_a_session_read_twice_counts_once(shop: Cast, customer: Subject, now: datetime) -> None:
    quote = heard(shop.support, "call-1")
    known = placed(MORNING, customer, shop.support, quote.session, now, quote).fact
    again = placed(MORNING, customer, shop.support, quote.session, now, quote)
    assert (again.outcome, again.counted, again.fact) == ("same", False, known)
    known.refresh_from_db()
    assert known.times_seen == 1
    assert known.evidence.count() == 1


def test_a_session_that_counted_on_a_known_fact_counts_once_when_read_again(
    shop: Cast, customer: Subject, now: datetime
) -> None:
    for name in ("call-1", "call-2"):
        quote = heard(shop.support, name)
        known = placed(MORNING, customer, shop.support, quote.session, now, quote).fact
        placed(MORNING, customer, shop.support, quote.session, now, quote)
    known.refresh_from_db()
    assert known.times_seen == 2


@pytest.mark.parametrize("verb", ["reject", "remove"])
@pytest.mark.parametrize("session", ["call-1", "call-2"])
def test_what_a_person_refused_is_not_proposed_again(
    shop: Cast, customer: Subject, now: datetime, verb: str, session: str
) -> None:
    quote = heard(shop.support, "call-1")
    refused = placed(MORNING, customer, shop.support, quote.session, now, quote).fact
    getattr(refused, verb)(shop.rita, revision=refused.revision, now=now, reason="wrong")
    if session == "call-2":
        quote = heard(shop.support, session)
    result = placed(MORNING, customer, shop.support, quote.session, now, quote)
    assert (result.outcome, result.fact) == ("suppressed", refused)
    assert Fact.objects.get() == refused


def test_what_a_person_corrected_is_not_proposed_again_by_the_session_that_said_it(
    shop: Cast, customer: Subject, now: datetime
) -> None:
    quote = heard(shop.support, "call-1")
    fact = placed(MORNING, customer, shop.support, quote.session, now, quote).fact
    fact.approve(
        shop.rita, revision=fact.revision, now=now, text="Prefers e-mail before ten.", value={"until": "10:00"}
    )
    result = placed(MORNING, customer, shop.support, quote.session, now, quote)
    assert (result.outcome, result.counted, result.fact) == ("same", False, fact)


def test_what_was_merged_is_counted_where_it_went(shop: Cast, customer: Subject, now: datetime) -> None:
    quote = heard(shop.support, "call-1")
    twin = placed(MORNING, customer, shop.support, quote.session, now, quote).fact
    heir = factories.approved(shop.project, shop.rita, "Write e-mails, in the morning.", value="mail")
    twin.merge_into(heir, shop.rita, revision=twin.revision, now=now)
    second = heard(shop.support, "call-2")
    result = placed(MORNING, customer, shop.support, second.session, now, second)
    assert (result.outcome, result.fact) == ("same", heir)


def test_an_expired_value_is_proposed_anew(shop: Cast, customer: Subject, now: datetime) -> None:
    first = heard(shop.support, "call-1")
    old = placed(MORNING, customer, shop.support, first.session, now, first).fact
    old.approve(shop.rita, revision=old.revision, now=now, expires_at=now + timedelta(days=1))
    second = heard(shop.support, "call-2")
    result = placed(MORNING, customer, shop.support, second.session, now + timedelta(days=2), second)
    assert result.outcome == "new"
    assert result.fact != old


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"channel": "phone"}, "Prefers a phone call, in the morning."),
        ({"channel": "e-mail", "not": True}, "Does not prefer e-mail in the morning."),
        ({"channel": "e-mail 2"}, "Prefers e-mail, in the morning."),
    ],
)
def test_what_differs_in_a_word_stays_apart_and_touches_nothing_approved(
    shop: Cast, customer: Subject, now: datetime, value: dict[str, object], text: str
) -> None:
    first, second = heard(shop.support, "call-1"), heard(shop.support, "call-2")
    known = placed(MORNING, customer, shop.support, first.session, now, first).fact
    known.approve(shop.rita, revision=known.revision, now=now)
    result = placed(replace(MORNING, value=value, text=text), customer, shop.support, second.session, now, second)
    assert (result.outcome, result.fact.status) == ("changes", Status.PROPOSED)
    assert (result.fact.relation, result.fact.related) == ("changes", known)
    known.refresh_from_db()
    assert (known.status, known.times_seen) == (Status.APPROVED, 1)


def test_another_agents_own_fact_does_not_swallow_what_this_agent_learned(
    shop: Cast, customer: Subject, now: datetime
) -> None:
    mine = replace(MORNING, type="customer_fact", key="customer_fact:city", value="Austin", text="Lives in Austin.")
    first, second = heard(shop.sales, "visit-1"), heard(shop.support, "call-1")
    known = placed(mine, customer, shop.sales, first.session, now, first).fact
    known.approve(shop.rita, revision=known.revision, now=now)
    result = placed(mine, customer, shop.support, second.session, now, second)
    assert result.outcome == "new"
    assert (result.fact.everyone, result.fact.agent_ids) == (False, [shop.support.pk])
    known.refresh_from_db()
    assert (known.agent_ids, known.times_seen) == ([shop.sales.pk], 1)


def test_a_proposal_that_two_agents_made_by_themselves_is_proposed_for_both(
    shop: Cast, customer: Subject, now: datetime
) -> None:
    mine = replace(MORNING, type="customer_fact", key="customer_fact:city", value="Austin", text="Lives in Austin.")
    first, second = heard(shop.sales, "visit-1"), heard(shop.support, "call-1")
    placed(mine, customer, shop.sales, first.session, now, first)
    result = placed(mine, customer, shop.support, second.session, now, second)
    assert result.outcome == "same"
    fact = Fact.objects.get()
    assert set(fact.agent_ids) == {shop.sales.pk, shop.support.pk}
    assert (fact.status, fact.times_seen) == (Status.PROPOSED, 2)


@pytest.mark.parametrize(
    ("change", "quote", "everyone"),
    [
        ({}, "Please write me an e-mail in the morning.", True),
        ({"type": "customer_fact"}, "I live in Austin.", False),
        ({"type": "problem"}, "The export fails.", False),
        ({"nature": "sentiment"}, "I am fed up.", False),
        ({"text": "Has diabetes and prefers e-mail."}, "I have diabetes, so write me.", False),
        ({}, "Card 4111 1111 1111 1111, write me an e-mail.", False),
        ({}, "This is confidential: write me an e-mail.", False),
    ],
)
def test_scope_is_proposed_by_type_and_findings(
    shop: Cast, customer: Subject, now: datetime, change: dict[str, str], quote: str, everyone: bool
) -> None:
    said = heard(shop.support, "call-1", quote)
    fact = placed(replace(MORNING, **change), customer, shop.support, said.session, now, said).fact
    assert fact.everyone is everyone
    assert fact.agent_ids == ([] if everyone else [shop.support.pk])


def test_findings_of_a_quote_flag_the_fact_without_marking_its_sentence(
    shop: Cast, customer: Subject, now: datetime
) -> None:
    said = heard(shop.support, "call-1", "Write to ana.lima@example.com in the morning.")
    fact = placed(MORNING, customer, shop.support, said.session, now, said).fact
    assert [(row["category"], row["in"], row["start"], row["end"]) for row in fact.findings] == [
        ("contact", "quote", 0, 0)
    ]


@pytest.mark.parametrize(
    ("subjects", "about", "mentioned", "wanted"),
    [
        (["repo:shop/api", "person:rita@example.com"], "person", "", "person:rita@example.com"),
        (["repo:shop/api", "person:rita@example.com"], "repo", "", "repo:shop/api"),
        (["repo:shop/api", "person:rita@example.com"], "customer", "", "person:rita@example.com"),
        (["customer:cust_1"], "person", "", "customer:cust_1"),
        (["customer:cust_1"], "repo", "", "project:shop"),
        (["customer:cust_1"], "project", "", "project:shop"),
        (["customer:cust_1", "order:77"], "customer", "", "customer:cust_1"),
        (["customer:cust_1", "order:77"], "customer", "Where is order 77?", "order:77"),
        ([], "person", "", "project:shop"),
    ],
)
def test_a_fact_goes_to_the_subject_it_is_about(
    shop: Cast, subjects: list[str], about: str, mentioned: str, wanted: str
) -> None:
    session = factories.session(shop.support)
    for written in subjects:
        session.subjects.add(factories.subject(shop.project, written), through_defaults={"project_id": shop.project.pk})
    assert str(subject_for(about, session, mentioned)) == wanted


def test_subjects_are_locked_in_one_order(shop: Cast, django_assert_num_queries) -> None:  # type: ignore[no-untyped-def]
    subjects = [factories.subject(shop.project, f"customer:c{number}") for number in range(3)]
    with django_assert_num_queries(1) as captured:
        reconciliation.lock(reversed(subjects))
    assert "ORDER BY" in captured.captured_queries[0]["sql"]
    assert "FOR NO KEY UPDATE" in captured.captured_queries[0]["sql"]
