"""The brief: what comes and why, what stays out, what never appears, and the record of what was told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory import brief, embedding_store, short_ids, tokens
from memory.models import BriefServed, Fact, Observation, Retraction, SessionSubject
from projects import tenancy
from projects.models import Agent, AuditEvent, Project
from tests.factories import Cast, approved, observation, proposal, session, subject

pytestmark = pytest.mark.django_db
GOLDEN = Path(__file__).parent / "golden"
CUSTOMER = ("customer", "cust_123")
PROJECT = "project:shop"
REPO = "repo:orders-api"


def told(shop: Cast, now: datetime, agent: Agent | None = None, **asked: Any) -> brief.Brief:
    asked.setdefault("subjects", [CUSTOMER])
    return brief.build(agent or shop.support, max_tokens=asked.pop("max_tokens", 1200), now=now, **asked)


def texts(found: brief.Brief) -> list[str]:
    return [item.text for item in found.items]


def why_not(found: brief.Brief, fact: Fact) -> str:
    return {one.id: one.why for one in found.dropped}.get(fact.short_id, "")


def said_in(shop: Cast, text: str, role: str = "user", external_id: str = "call-1") -> Observation:
    run = shop.support.sessions.filter(external_id=external_id).first() or session(shop.support, external_id)
    return observation(run, text, role=role)


# What comes ----------------------------------------------------------------------------------------------------------


def test_a_whole_brief_reads_as_the_golden_one(shop: Cast) -> None:
    learned = datetime(2026, 11, 14, 10, tzinfo=UTC)
    signed = datetime(2026, 11, 18, 10, tzinfo=UTC)

    def known(text: str, standing: bool = False, seen: int = 1, **fields: Any) -> Fact:
        fact = proposal(shop.project, text, now=learned, agent=shop.support, **fields)
        fact.approve(shop.rita, revision=fact.revision, now=signed)
        Fact.objects.filter(pk=fact.pk).update(standing=standing, times_seen=seen)
        return fact

    facts = [
        known("Refunds above 200 EUR need a manager's release.", True, 9, about=PROJECT, key="choice:refunds"),
        known("Prefers e-mail, in the morning.", quote=said_in(shop, "E-mail me, in the morning.")),
        known(
            "Open: refund RF-2091 is due in the account by 2026-11-17.",
            key="commitment:rf-2091",
            quote=said_in(shop, "You will have it by the 17th.", "assistant"),
        ),
        known("Promo codes are honoured for 7 days after they end.", seen=4, about=PROJECT, key="fix:promo"),
        known("Invoices are printed on Mondays.", about=PROJECT, key="choice:print"),
    ]
    ended = known("Promo codes end at midnight.", about=PROJECT, key="note:midnight")
    brief.serve(shop.support, max_tokens=1200, now=signed)
    ended.refresh_from_db()
    ended.remove(shop.rita, revision=ended.revision, now=signed)
    brief.retract(ended, signed)

    written = told(shop, signed, task="A customer asks whether an ended promo code is honoured").text
    for number, fact in enumerate([*facts, ended]):
        written = written.replace(fact.short_id, f"f-id{number}")
    assert written == (GOLDEN / "built_brief.txt").read_text("utf-8")


def test_without_a_task_all_that_holds_here_comes(shop: Cast, now: datetime) -> None:
    approved(shop.project, shop.rita, "Run make lint first.", about=REPO, key="fix:lint")
    approved(shop.project, shop.rita, "Deploys happen on Tuesdays.", about=PROJECT, key="choice:deploy")
    found = told(shop, now, subjects=[("repo", "orders-api")])
    assert [item.why for item in found.items] == ["holds here", "holds here"]
    assert found.text.index("## About repo orders-api") < found.text.index("## About the project")


def test_with_a_task_only_what_it_asks_for_comes_of_that(shop: Cast, now: datetime) -> None:
    lint = approved(shop.project, shop.rita, "Run make lint before each commit.", about=REPO, key="fix:lint")
    other = approved(shop.project, shop.rita, "Deploys happen on Tuesdays.", about=PROJECT, key="choice:deploy")
    wish = approved(shop.project, shop.rita, "Prefers short answers.", about="person:rita@example.com")
    embedding_store.embed_facts([lint, other, wish])
    asked = [("repo", "orders-api"), ("person", "rita@example.com")]
    found = told(shop, now, subjects=asked, task="fix the lint errors before the commit")
    assert texts(found) == ["Prefers short answers.", "Run make lint before each commit."]
    assert [item.why for item in found.items] == ["about the subject", "for the task"]
    assert why_not(found, other) == "below the floor"
    assert found.items[1].score >= 0.3


def test_a_session_brings_its_subjects(shop: Cast, now: datetime) -> None:
    approved(shop.project, shop.rita, "Prefers e-mail.")
    run = session(shop.support, "call-7")
    about = subject(shop.project)
    SessionSubject.objects.create(project=shop.project, session=run, subject=about)
    assert texts(told(shop, now, subjects=[], session="call-7")) == ["Prefers e-mail."]
    # The same id of another agent is another session.
    assert texts(told(shop, now, shop.sales, subjects=[], session="call-7")) == []


def test_a_brief_about_nobody_is_about_the_work_never_about_a_customer(shop: Cast, now: datetime) -> None:
    approved(shop.project, shop.rita, "Prefers e-mail.")
    approved(shop.project, shop.rita, "Run make lint first.", about=REPO, key="fix:lint")
    approved(shop.project, shop.rita, "Wants short answers.", about="person:olga@example.com", key="user_preference:a")
    approved(shop.project, shop.rita, "Wants long answers.", about="person:vera@example.com", key="user_preference:a")
    found = told(shop, now, subjects=[], person=shop.olga)
    assert texts(found) == ["Wants short answers.", "Run make lint first."]


def test_the_higher_priority_comes_first_and_ties_keep_their_order(shop: Cast, now: datetime) -> None:
    for number in range(4):
        approved(shop.project, shop.rita, f"Lesson {number}.", key=f"fix:{number}", now=now)
    approved(shop.project, shop.rita, "Seen often.", key="fix:often", times_seen=16, now=now)
    approved(shop.project, shop.rita, "Old.", key="fix:old", now=now - timedelta(days=60))
    assert texts(told(shop, now)) == ["Seen often.", *(f"Lesson {number}." for number in range(4)), "Old."]


def test_nothing_to_say_is_an_empty_text(shop: Cast, now: datetime) -> None:
    found = told(shop, now)
    assert (found.text, found.items, found.tokens, found.dropped) == ("", (), 0, ())


# What stays out ------------------------------------------------------------------------------------------------------


def test_what_does_not_fit_is_named(shop: Cast, now: datetime) -> None:
    big = approved(shop.project, shop.rita, "blob " * 380, key="fix:big", times_seen=50)
    for number in range(9):
        approved(shop.project, shop.rita, f"Short lesson {number}.", key=f"fix:{number}")
    found = told(shop, now, max_tokens=500)
    assert sorted(texts(found)) == [f"Short lesson {number}." for number in range(9)]
    assert why_not(found, big) == "did not fit"
    assert tokens.count(found.text) == found.tokens <= 500


def test_without_room_for_a_line_everything_did_not_fit(shop: Cast, now: datetime) -> None:
    fact = approved(shop.project, shop.rita)
    for budget in (0, 1, 60):
        found = told(shop, now, max_tokens=budget)
        assert (found.text, found.items) == ("", ())
        assert why_not(found, fact) == "did not fit"


def test_an_agents_own_value_comes_instead_of_everyones(shop: Cast, now: datetime) -> None:
    common = approved(shop.project, shop.rita, "Prefers e-mail.")
    approved(shop.project, shop.rita, "Prefers a call.", everyone=False, agent_ids=[shop.support.pk])
    assert texts(told(shop, now)) == ["Prefers a call."]
    assert why_not(told(shop, now), common) == "own value instead"
    assert texts(told(shop, now, shop.sales)) == ["Prefers e-mail."]
    assert told(shop, now, shop.sales).dropped == ()


def test_what_may_not_be_seen_leaves_no_trace(shop: Cast, now: datetime) -> None:
    waiting = proposal(shop.project, "Waits for a person.", key="fix:a")
    refused = proposal(shop.project, "Was refused.", key="fix:b")
    refused.reject(shop.rita, revision=refused.revision, now=now, reason="wrong")
    hidden = approved(shop.project, shop.rita, "For sales.", key="fix:c", everyone=False, agent_ids=[shop.sales.pk])
    ended = approved(shop.project, shop.rita, "Ended.", key="fix:d", expires_at=now + timedelta(seconds=1), now=now)
    removed = approved(shop.project, shop.rita, "Removed.", key="fix:e")
    removed.remove(shop.rita, revision=removed.revision, now=now)
    frozen = approved(shop.project, shop.rita, "Frozen.", key="fix:f", about="customer:frozen")
    frozen.subject.frozen_at = now
    frozen.subject.save()
    found = told(shop, now + timedelta(seconds=1), subjects=[CUSTOMER, ("customer", "frozen")], max_tokens=80)
    said = repr(found)
    for fact in (waiting, refused, hidden, ended, removed, frozen):
        assert fact.short_id not in said
        assert fact.text not in said


def test_a_paused_agent_or_project_gets_an_empty_brief_that_says_so(shop: Cast, now: datetime) -> None:
    approved(shop.project, shop.rita)
    for model, pk in ((Agent, shop.support.pk), (Project, shop.project.pk)):
        # A row of its own: the caller's may be two seconds old, and says nothing of it.
        model.objects.get(pk=pk).pause(now)
        found = told(shop, now)
        assert (found.paused, found.text, found.items, found.dropped, found.retracted) == (True, "", (), (), ())
        model.objects.get(pk=pk).resume()
    assert not told(shop, now).paused


def test_another_projects_subjects_and_sessions_are_unknown(cast: Cast, now: datetime) -> None:
    with tenancy.project(cast.project.pk):
        approved(cast.project, cast.rita)
        session(cast.support, "call-1")
    with tenancy.project(cast.other.pk):
        assert told(cast, now, cast.foreign, session="call-1").text == ""


# ETag ----------------------------------------------------------------------------------------------------------------


def test_the_etag_stays_while_nothing_changes(shop: Cast, now: datetime) -> None:
    now = now.replace(hour=9, minute=0)
    approved(shop.project, shop.rita, now=now - timedelta(days=3))
    shop.support.dropped_count = 0
    first = told(shop, now)
    shop.support.dropped_count = 7
    later = told(shop, now + timedelta(hours=2), known_etags=[first.etag])
    assert later.etag == first.etag
    assert later.unchanged
    assert later.capture_dropped == 7


CHANGES = {
    "approve": lambda shop, fact, now: approved(shop.project, shop.rita, "Pays late.", key="customer_fact:pays"),
    "edit": lambda shop, fact, now: fact.edit(shop.rita, revision=fact.revision, now=now, text="Prefers a call."),
    "edit the value": lambda shop, fact, now: fact.edit(shop.rita, revision=fact.revision, now=now, value="call"),
    "remove": lambda shop, fact, now: fact.remove(shop.rita, revision=fact.revision, now=now),
    "rescope": lambda shop, fact, now: fact.rescope(
        shop.rita, revision=fact.revision, now=now, everyone=False, agent_ids=[shop.sales.pk]
    ),
    "expire by the clock": lambda shop, fact, now: Fact.objects.filter(pk=fact.pk).update(expires_at=now),
    "count": lambda shop, fact, now: fact.count_again(now),
    "freeze": lambda shop, fact, now: type(fact.subject).objects.update(frozen_at=now),
    "pause": lambda shop, fact, now: shop.support.pause(now),
    "erase": lambda shop, fact, now: Fact.objects.filter(pk=fact.pk).update(status="removed"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_etag_moves_with_every_change(shop: Cast, now: datetime, change: str) -> None:
    fact = approved(shop.project, shop.rita)
    before = told(shop, now)
    fact.refresh_from_db()
    CHANGES[change](shop, fact, now)
    assert told(shop, now).etag != before.etag


# What was told -------------------------------------------------------------------------------------------------------


def test_a_served_brief_is_on_record(shop: Cast, now: datetime) -> None:
    fact = approved(shop.project, shop.rita)
    run = session(shop.support, "call-1")
    served = brief.serve(
        shop.support,
        session="call-1",
        subjects=[CUSTOMER],
        task="Answer  with\nkey sk-proj-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        max_tokens=500,
        now=now,
    )
    row = BriefServed.objects.get(pk=served.served_pk)
    assert (row.agent_id, row.session_id, row.etag, row.fact_ids) == (shop.support.pk, run.pk, served.etag, [fact.pk])
    assert (row.text, row.tokens, row.budget, row.unchanged, row.paused) == (
        served.text,
        served.tokens,
        500,
        False,
        False,
    )
    assert row.items == [
        {"id": fact.pk, "why": "about the subject", "tokens": served.items[0].tokens, "score": served.items[0].score}
    ]
    assert set(row.subject_ids) >= {fact.subject_id}
    assert "sk-proj" not in row.task
    assert row.task.startswith("Answer with key [secret")
    event = AuditEvent.objects.get(action="brief.serve")
    assert (event.actor_id, event.object_ids, event.count) == (shop.support.pk, [fact.pk], 1)
    shop.support.refresh_from_db()
    assert shop.support.last_brief_at == now


def test_a_long_task_is_shortened_on_record() -> None:
    assert len(brief.cleaned_task("word " * 10_000)) == 500
    assert brief.cleaned_task(None) == ""


def test_building_a_brief_writes_nothing(shop: Cast, now: datetime) -> None:
    approved(shop.project, shop.rita)
    told(shop, now)
    assert not BriefServed.objects.exists()


def test_a_served_fact_that_ended_is_named_for_thirty_days(shop: Cast, now: datetime) -> None:
    fact = approved(shop.project, shop.rita)
    brief.serve(shop.support, subjects=[CUSTOMER], max_tokens=500, now=now)
    decision = fact.remove(shop.rita, revision=fact.revision, now=now)
    brief.retract(fact, now)
    found = told(shop, now)
    assert found.retracted == (fact.short_id,)
    assert f"## Withdrawn since your last brief\n- [{fact.short_id}] Do not rely on it any more.\n" in found.text
    assert told(shop, now, shop.sales).retracted == ()
    assert told(shop, now + timedelta(days=31)).retracted == ()
    fact.undo(decision, shop.rita, now=now)
    brief.retract(fact, now)
    assert told(shop, now).retracted == ()
    assert texts(told(shop, now)) == [fact.text]


def test_taking_an_agent_out_of_the_scope_is_told_to_that_agent_only(shop: Cast, now: datetime) -> None:
    fact = approved(shop.project, shop.rita)
    for agent in (shop.support, shop.sales):
        brief.serve(agent, subjects=[CUSTOMER], max_tokens=500, now=now)
    fact.rescope(shop.rita, revision=fact.revision, now=now, everyone=False, agent_ids=[shop.sales.pk])
    brief.retract(fact, now)
    assert told(shop, now).retracted == (fact.short_id,)
    assert told(shop, now, shop.sales).retracted == ()


def test_a_fact_that_holds_again_is_not_named_even_where_nobody_took_the_note_back(shop: Cast, now: datetime) -> None:
    fact = approved(shop.project, shop.rita)
    brief.serve(shop.support, subjects=[CUSTOMER], max_tokens=500, now=now)
    decision = fact.remove(shop.rita, revision=fact.revision, now=now)
    brief.retract(fact, now)
    fact.undo(decision, shop.rita, now=now)
    assert told(shop, now, subjects=[("customer", "other")]).retracted == ()


def test_a_fact_never_served_is_never_named(shop: Cast, now: datetime) -> None:
    fact = approved(shop.project, shop.rita)
    fact.remove(shop.rita, revision=fact.revision, now=now)
    brief.retract(fact, now)
    assert told(shop, now).retracted == ()


def test_what_ended_by_the_clock_alone_is_named_in_every_later_brief(shop: Cast, now: datetime) -> None:
    fact = approved(shop.project, shop.rita, expires_at=now + timedelta(hours=1), now=now)
    brief.serve(shop.support, subjects=[CUSTOMER], max_tokens=500, now=now)
    for hours in (1, 2, 3):
        found = brief.serve(shop.support, subjects=[CUSTOMER], max_tokens=500, now=now + timedelta(hours=hours))
        assert found.retracted == (fact.short_id,)
    assert Retraction.objects.count() == 1


def test_a_brief_about_somebody_else_retracts_nothing(shop: Cast, now: datetime) -> None:
    approved(shop.project, shop.rita)
    brief.serve(shop.support, subjects=[CUSTOMER], max_tokens=500, now=now)
    assert told(shop, now, subjects=[("customer", "other")]).retracted == ()


# For any facts and budgets -------------------------------------------------------------------------------------------


@given(
    facts=st.lists(
        st.tuples(
            st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=200),
            st.booleans(),
            st.sampled_from(["customer:cust_123", PROJECT, REPO]),
        ),
        max_size=8,
    ),
    budget=st.integers(0, 500),
    task=st.none() | st.text(max_size=60),
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_brief_exceeds_its_budget_or_shows_what_is_hidden(
    shop: Cast, now: datetime, facts: list[tuple[str, bool, str]], budget: int, task: str | None
) -> None:
    undone = transaction.savepoint()
    try:
        _check(shop, now, facts, budget, task)
    finally:
        transaction.savepoint_rollback(undone)


def _check(shop: Cast, now: datetime, facts: list[tuple[str, bool, str]], budget: int, task: str | None) -> None:
    hidden = set()
    for number, (text, is_hidden, about) in enumerate(facts):
        scope = {"everyone": False, "agent_ids": [shop.sales.pk]} if is_hidden else {}
        fact = approved(shop.project, shop.rita, f"{text}.", key=f"fix:{number}", about=about, **scope)
        if is_hidden:
            hidden.add(fact.short_id)
    asked = {"subjects": [CUSTOMER, ("repo", "orders-api")], "task": task, "max_tokens": budget}
    found = told(shop, now, **asked)
    assert tokens.count(found.text) == found.tokens <= budget
    assert hidden.isdisjoint(item.id for item in found.items)
    assert hidden.isdisjoint(one.id for one in found.dropped)
    assert not any(short_id in found.text for short_id in hidden)
    assert {item.id for item in found.items} | {one.id for one in found.dropped} == {
        short_ids.encode(pk) for pk in Fact.objects.visible_to(shop.support, now).values_list("pk", flat=True)
    }
    assert told(shop, now, **asked) == found


@pytest.mark.parametrize(("task", "queries"), [(None, 2), ("Answer by e-mail", 4)])
def test_a_brief_takes_few_queries_however_many_facts_there_are(
    shop: Cast,
    now: datetime,
    django_assert_num_queries,  # type: ignore[no-untyped-def]
    task: str | None,
    queries: int,
) -> None:
    for number in range(12):
        approved(shop.project, shop.rita, f"Lesson {number}.", key=f"fix:{number}")
    run = session(shop.support, "call-1")
    with django_assert_num_queries(queries):
        told(shop, now, session=run.external_id, task=task)
