"""How long a memory lives: by its type, seen again, used, asked about, under a project's own table."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import Any

import pytest
from django.db import connections
from pytest_django import DjangoAssertNumQueries

from memory import brief, expiry
from memory.models import Fact, NotAllowed, Status
from memory.models.lifetimes import ask_again_at, default_expiry
from memory.retrieval import priority
from projects.models import Project
from tests.factories import Cast, approved, proposal

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)


def days(number: float) -> timedelta:
    return timedelta(days=number)


def with_types(cast: Cast, **types: dict[str, Any]) -> Project:
    cast.project.types = types
    cast.project.save(update_fields=["types"])
    for agent in (cast.support, cast.sales, cast.coder):
        agent.refresh_from_db()
    return cast.project


@pytest.mark.parametrize(
    ("type_", "value", "overrides", "lives"),
    [
        ("fix", {}, {}, days(90)),
        ("user_preference", {}, {}, None),
        ("fix", {}, {"fix": {"lifetime_days": None}}, None),
        ("user_preference", {}, {"user_preference": {"lifetime_days": 7}}, days(7)),
        ("commitment", {"due_on": "2026-11-20"}, {}, days(5.5 + 14)),
        ("commitment", {"due_on": "2026-11-20"}, {"commitment": {"after_due_days": 1}}, days(5.5 + 1)),
        ("commitment", {"due_on": "soon"}, {}, days(90)),
        ("commitment", {"due_on": "2026-11-20"}, {"commitment": {"after_due_days": None}}, days(90)),
        ("task", {"due_on": "2026-11-20"}, {"task": {"after_due_days": 2}}, days(5.5 + 2)),
        ("anything", {"due_on": "2026-11-20"}, {}, days(365)),
    ],
)
def test_when_a_new_memory_ends(type_: str, value: Any, overrides: Any, lives: timedelta | None) -> None:
    assert default_expiry(type_, value, NOON, overrides) == (None if lives is None else NOON + lives)


def test_still_true_is_asked_before_a_memory_ends() -> None:
    assert ask_again_at("user_preference", NOON) == NOON + days(180)
    assert ask_again_at("environment", NOON, ends_at=NOON + days(180)) == NOON + days(166)
    assert ask_again_at("environment", NOON, ends_at=NOON + days(14)) is None
    assert ask_again_at("fix", NOON) is None
    assert ask_again_at("fix", NOON, {"fix": {"ask_again_days": 10}}) == NOON + days(10)


@pytest.mark.parametrize("type_", ["fix", "error", "failed_command", "problem"])
def test_being_seen_again_lets_a_memory_live_on(shop: Cast, type_: str) -> None:
    fact = proposal(shop.project, key=f"{type_}:tests", now=NOON)
    fact.approve(shop.rita, revision=1, now=NOON)
    fact.count_again(NOON + days(60))
    assert fact.expires_at == NOON + days(150)
    assert (fact.revision, fact.times_seen) == (2, 2)
    # An older word that comes in late does not shorten it.
    fact.count_again(NOON + days(10))
    assert fact.expires_at == NOON + days(150)


def test_an_end_that_somebody_named_stays(shop: Cast) -> None:
    suggested = proposal(shop.project, "Use port 5433.", key="fix:port", now=NOON, expires_at=NOON + days(5))
    edited = approved(shop.project, shop.rita, "Run make first.", key="fix:make", now=NOON)
    edited.edit(shop.rita, revision=edited.revision, now=NOON, expires_at=NOON + days(7))
    for fact, ends in ((suggested, days(5)), (edited, days(7))):
        fact.count_again(NOON + days(1))
        assert (fact.expires_at, fact.ends_by_type) == (NOON + ends, False)


def test_an_end_named_meanwhile_is_not_written_over(shop: Cast) -> None:
    fact = approved(shop.project, shop.rita, key="fix:port", now=NOON)
    read_before = Fact.objects.get(pk=fact.pk)
    fact.edit(shop.rita, revision=fact.revision, now=NOON, expires_at=NOON + days(7))
    read_before.count_again(NOON + days(1))
    assert read_before.expires_at == NOON + days(7)


def test_a_type_whose_days_count_from_the_start_is_not_renewed(shop: Cast) -> None:
    fact = proposal(shop.project, key="environment:port", now=NOON)
    fact.count_again(NOON + days(60))
    assert fact.expires_at == NOON + days(180)


def test_a_projects_table_rules_its_own_memories(shop: Cast) -> None:
    project = with_types(
        shop,
        user_preference={"lifetime_days": 10, "ask_again_days": 5, "counts_from": "seen"},
        visit={"lifetime_days": 3},
    )
    wish = approved(project, shop.rita, now=NOON)
    assert (wish.expires_at, wish.review_due_at) == (NOON + days(10), None)
    wish.count_again(NOON + days(4))
    assert wish.expires_at == NOON + days(14)
    assert proposal(project, key="visit:first", now=NOON).expires_at == NOON + days(3)


def test_a_type_that_a_project_made_single_valued_holds_one_value(shop: Cast, now: datetime) -> None:
    old = approved(with_types(shop), shop.rita, "Runs on Tuesdays.", key="fix:runs")
    project = with_types(shop, fix={"single_valued": True})
    new = approved(project, shop.rita, "Runs on Fridays.", key="fix:runs")
    old.refresh_from_db()
    assert (old.status, old.superseded_by_id) == (Status.SUPERSEDED, new.pk)
    own = approved(project, shop.rita, "Runs on Sundays.", key="fix:runs", everyone=False, agent_ids=[shop.support.pk])
    assert list(Fact.objects.visible_to(shop.support, now)) == [own]
    assert list(Fact.objects.visible_to(shop.sales, now)) == [new]


def test_reconfirming_counts_lifetime_and_asking_from_now(shop: Cast) -> None:
    fact = approved(shop.project, shop.rita, key="environment:port", now=NOON)
    assert fact.review_due_at == NOON + days(166)
    assert not Fact.objects.due_for_review(NOON + days(165)).exists()
    later = NOON + days(166)
    assert list(Fact.objects.due_for_review(later)) == [fact]
    assert list(Fact.objects.visible_to(shop.support, later)) == [fact]
    before = fact._snapshot()
    decision = fact.reconfirm(shop.olga, revision=fact.revision, now=later)
    assert (fact.confirmed_at, fact.expires_at) == (later, later + days(180))
    assert fact.review_due_at == later + days(166)
    assert not Fact.objects.due_for_review(later).exists()
    fact.undo(decision, shop.olga, now=later)
    assert fact._snapshot() == before


def test_reconfirming_keeps_an_end_that_somebody_named(shop: Cast) -> None:
    fact = approved(shop.project, shop.rita, key="environment:port", now=NOON, expires_at=NOON + days(40))
    assert fact.review_due_at == NOON + days(26)
    fact.reconfirm(shop.rita, revision=fact.revision, now=NOON + days(26))
    assert (fact.expires_at, fact.review_due_at) == (NOON + days(40), None)


def test_what_nobody_receives_cannot_be_confirmed(shop: Cast) -> None:
    waiting = proposal(shop.project, now=NOON)
    ended = approved(shop.project, shop.rita, key="fix:port", now=NOON, expires_at=NOON + days(1))
    for fact in (waiting, ended):
        with pytest.raises(NotAllowed, match="Nobody receives"):
            fact.reconfirm(shop.rita, revision=fact.revision, now=NOON + days(1))


def test_a_doubted_memory_comes_back_and_stays_in_use(shop: Cast, now: datetime) -> None:
    fact = approved(shop.project, shop.rita)
    revision = fact.revision
    fact.look_again(now + days(2))
    assert (fact.review_due_at, fact.revision) == (now + days(2), revision)
    assert list(Fact.objects.due_for_review(now + days(2))) == [fact]
    assert fact in Fact.objects.visible_to(shop.support, now + days(2))
    # An earlier doubt is not put off by a later one.
    due = fact.review_due_at
    fact.look_again(now + days(9))
    assert fact.review_due_at == due


def test_editing_what_was_due_settles_it(shop: Cast, now: datetime) -> None:
    fact = approved(shop.project, shop.rita, now=now)
    fact.look_again(now)
    fact.edit(shop.olga, revision=fact.revision, now=now + days(1), text="Prefers letters.")
    assert (fact.confirmed_at, fact.review_due_at) == (now + days(1), now + days(181))
    assert not Fact.objects.due_for_review(now + days(1)).exists()


def test_another_type_brings_its_key_and_its_lifetime(shop: Cast) -> None:
    fact = proposal(shop.project, "The refund was late.", key="problem:refund", now=NOON)
    decision = fact.edit(
        shop.rita, revision=fact.revision, now=NOON + days(2), type="customer_fact", nature="factual", use="historical"
    )
    assert (fact.type, fact.key, fact.use) == ("customer_fact", "customer_fact:refund", "historical")
    assert fact.expires_at == NOON + days(367)
    assert decision.before["type"] == "problem"
    fact.undo(decision, shop.rita, now=NOON + days(2))
    fact.refresh_from_db()
    assert (fact.type, fact.key, fact.use, fact.expires_at) == (
        "problem",
        "problem:refund",
        "actionable",
        NOON + days(90),
    )


def test_another_type_keeps_an_end_that_somebody_named(shop: Cast) -> None:
    fact = proposal(shop.project, key="problem:refund", now=NOON, expires_at=NOON + days(3))
    fact.edit(shop.rita, revision=fact.revision, now=NOON, type="customer_fact")
    assert (fact.expires_at, fact.ends_by_type) == (NOON + days(3), False)


def test_an_approval_may_change_type_nature_and_use(shop: Cast) -> None:
    known = approved(shop.project, shop.rita, "Prefers e-mail.", key="user_preference:contact", now=NOON)
    fact = proposal(shop.project, "Prefers letters.", key="note:contact", now=NOON)
    fact.approve(shop.rita, revision=1, now=NOON, type="user_preference", nature="sentiment", use="historical")
    known.refresh_from_db()
    assert (fact.key, fact.expires_at, fact.nature) == ("user_preference:contact", None, "sentiment")
    assert fact.review_due_at == NOON + days(180)
    assert (known.status, known.superseded_by_id) == (Status.SUPERSEDED, fact.pk)


def test_another_due_day_moves_the_end(shop: Cast) -> None:
    fact = proposal(shop.project, key="commitment:refund", value={"due_on": "2026-11-20"}, now=NOON)
    assert fact.expires_at == datetime(2026, 12, 4, tzinfo=UTC)
    fact.edit(shop.rita, revision=1, now=NOON, value={"due_on": "2026-11-22"})
    assert fact.expires_at == datetime(2026, 12, 6, tzinfo=UTC)


@pytest.mark.parametrize(
    ("key", "end", "gained"),
    [
        ("fix:a", None, days(20)),
        ("error:a", None, days(20)),
        ("problem:a", None, days(0)),
        ("environment:a", None, days(0)),
        ("fix:a", NOON + days(40), days(0)),
    ],
)
def test_being_in_a_brief_lets_live_on_what_counts_from_use(
    shop: Cast, key: str, end: datetime | None, gained: timedelta
) -> None:
    fact = approved(shop.project, shop.rita, key=key, now=NOON, expires_at=end)
    ends_at = fact.expires_at
    assert expiry.renew_used(NOON + days(20)) == 0
    brief.serve(shop.support, subjects=[("customer", "cust_123")], max_tokens=500, now=NOON + days(20))
    assert expiry.renew_used(NOON + days(21)) == (1 if gained else 0)
    assert expiry.renew_used(NOON + days(21)) == 0
    fact.refresh_from_db()
    assert fact.expires_at is not None
    assert ends_at is not None
    assert (fact.expires_at - ends_at, fact.revision) == (gained, 2)


def test_a_use_is_rolled_up_once_a_day_at_most_and_in_few_queries(
    shop: Cast, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    facts = [approved(shop.project, shop.rita, f"Lesson {n}.", key=f"fix:{n}", now=NOON) for n in range(30)]
    asked = {"subjects": [("customer", "cust_123")], "max_tokens": 5000}
    brief.serve(shop.support, now=NOON + days(1 / 24), **asked)
    # An hour more is not worth a write; the two reads stay two however many there are.
    with django_assert_max_num_queries(8):
        assert expiry.renew_used(NOON + days(2 / 24)) == 0
    brief.serve(shop.support, now=NOON + days(30 / 24), **asked)
    assert expiry.renew_used(NOON + days(31 / 24)) == len(facts)


@pytest.mark.parametrize(
    "edits",
    [{"nature": "moody"}, {"use": "now and then"}, {"type": ""}, {"type": "a:b"}, {"type": "a\nb"}, {"type": "x" * 41}],
)
def test_values_that_no_memory_has_are_refused(shop: Cast, now: datetime, edits: dict[str, str]) -> None:
    fact = proposal(shop.project)
    with pytest.raises(NotAllowed):
        fact.edit(shop.rita, revision=1, now=now, **edits)
    fact.refresh_from_db()
    assert fact.revision == 1


def test_an_edit_never_makes_a_second_value_of_a_key(shop: Cast, now: datetime) -> None:
    mine = {"everyone": False, "agent_ids": [shop.support.pk]}
    approved(shop.project, shop.rita, "Prefers e-mail.", key="user_preference:contact", **mine)
    note = approved(shop.project, shop.rita, "Prefers letters.", key="note:contact", **mine)
    with pytest.raises(NotAllowed, match="Another value is approved"):
        note.edit(shop.rita, revision=note.revision, now=now, type="user_preference")
    note.edit(shop.rita, revision=note.revision, now=now, text="Prefers long letters.")


def test_of_older_memories_only_an_end_that_is_not_their_types_counts_as_named(shop: Cast) -> None:
    plain = proposal(shop.project, key="fix:a", now=NOON)
    unlisted = proposal(shop.project, key="whatever:b", now=NOON)
    endless = proposal(shop.project, key="user_preference:c", now=NOON)
    named = [
        proposal(shop.project, key="fix:d", now=NOON, expires_at=NOON + days(5)),
        proposal(shop.project, key="user_preference:e", now=NOON, expires_at=NOON + days(5)),
    ]
    Fact.objects.update(ends_by_type=True)
    import_module("memory.migrations.0007_ends_that_somebody_named").note(None, connections["default"].schema_editor())
    assert {fact.pk for fact in Fact.objects.filter(ends_by_type=False)} == {fact.pk for fact in named}
    assert Fact.objects.filter(pk__in=[plain.pk, unlisted.pk, endless.pk], ends_by_type=True).count() == 3


def test_a_mood_of_three_months_ago_ranks_behind_a_plain_fact() -> None:
    assert priority("sentiment", "manual", 1, 90) < 0.02
    assert priority("customer_fact", "manual", 1, 90) > 0.3
    slower = {"sentiment": {"half_life_days": 3650}}
    assert priority("sentiment", "manual", 1, 90, types=slower) > 0.3


def test_history_ranks_behind_what_one_can_act_on_and_help_lifts_a_little() -> None:
    plain = priority("note", "extraction", 1, 10, 0.5)
    assert priority("note", "extraction", 1, 10, 0.5, use="historical") == pytest.approx(plain / 2)
    assert plain < priority("note", "extraction", 1, 10, 0.5, helped_count=3) < plain + 0.05
    # However often it is said, never above a person's own words.
    assert priority("note", "extraction", 1, 10, 0.5, helped_count=10**6) == priority("note", "manual", 1, 10, 0.5)
