"""What a card says will follow is what follows: previews against the briefs that are served after the decision."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, Phase, example, given, note, settings
from hypothesis import strategies as st

from memory import brief
from memory.brief import Brief
from memory.models import BriefServed, Fact, NotAllowed, Relation, Retraction, StandingPart
from memory.models.fact_row import FactChanged
from memory.supposing import Supposing
from projects.models import Agent
from review.cards import impact
from review.deciding import decisions
from review.deciding.decisions import BadDecision
from tests.factories import Cast, proposal

pytestmark = pytest.mark.django_db

ABOUT = ["customer:cust_123", "customer:cust_123", "repo:orders-api", "project:shop"]
SUBJECTS = [("customer", "cust_123"), ("repo", "orders-api")]
# Single-valued ones meet under few keys, so that rivals and values of one's own are common.
KEYS = ["user_preference:channel", "user_preference:channel", "customer_fact:terms", "fix:lint", "commitment:refund"]
WORDS = st.text(st.sampled_from("abcde fghij 日本 é\u202e.,"), min_size=1, max_size=90)
AGENTS = ["support", "sales", "claude-code"]
SCOPE = st.none() | st.sets(st.sampled_from(AGENTS), min_size=1)
FACT = st.fixed_dictionaries(
    {
        "text": WORDS,
        "about": st.sampled_from(ABOUT),
        "key": st.sampled_from(KEYS),
        "scope": SCOPE,
        "standing": st.booleans(),
        "times_seen": st.integers(1, 9),
        "ends_in": st.none() | st.integers(1, 200),
        "age": st.integers(0, 100),
        "live": st.sampled_from([True, True, False]),
        "historical": st.booleans(),
    }
)
# A live memory whose vector is still to be made, and a proposal that says the same: to merge them makes none.
LIVE = {"text": "f", "about": "customer:cust_123", "key": "fix:lint", "scope": None, "standing": False, "times_seen": 2}
LIVE |= {"ends_in": None, "age": 9, "live": True, "historical": False}
UNSEARCHED = {"which": 1, "beside": 0, "act": "same", "scope": None, "relation": "conflicts", "budget": 343}
UNSEARCHED |= {"facts": [LIVE, LIVE | {"live": False}], "task": "gahj f", "told_before": 0}
NEVER = (FactChanged, NotAllowed, BadDecision)


def scope_of(cast: Cast, names: set[str] | None) -> dict[str, Any]:
    agents = {"support": cast.support, "sales": cast.sales, "claude-code": cast.coder}
    ids = sorted(agents[name].pk for name in names or ())
    return {"everyone": not ids, "agent_ids": ids}


def made(cast: Cast, now, number: int, told: dict[str, Any]) -> Fact:  # type: ignore[no-untyped-def]
    learned = now - timedelta(days=told["age"])
    fact = proposal(
        cast.project,
        f"{number} {told['text']}",
        about=told["about"],
        key=told["key"],
        now=learned,
        agent=cast.support,
        standing=told["standing"],
        times_seen=told["times_seen"],
        expires_at=None if told["ends_in"] is None else now + timedelta(days=told["ends_in"]),
        use="historical" if told["historical"] else "actionable",
        valid_from=learned if number % 2 else None,
        **scope_of(cast, told["scope"]),
    )
    if told["live"]:
        fact.approve(cast.rita, revision=fact.revision, now=learned)
    return fact


def served(agent: Agent, now, **asked: Any) -> Brief:  # type: ignore[no-untyped-def]
    asked.setdefault("subjects", SUBJECTS)
    return brief.serve(agent, now=now, **asked)


def sent(found: Brief) -> tuple[Any, ...]:
    """All that an answer holds but what names the single call."""
    return found.etag, found.text, found.items, found.tokens, found.budget, found.dropped, found.retracted


@pytest.mark.timeout(900)
@example(**UNSEARCHED)
@given(
    facts=st.lists(FACT, min_size=2, max_size=9),
    which=st.integers(0, 8),
    beside=st.integers(0, 8),
    act=st.sampled_from(
        [
            *["approve"] * 4,
            *["remove"] * 3,
            *["rescope"] * 2,
            *("reject", "same", "confirm", "keep_first", "keep_second", "keep_both", "none"),
        ]
    ),
    scope=SCOPE,
    relation=st.sampled_from(["", *Relation.values]),
    budget=st.integers(60, 420),
    task=st.none() | WORDS,
    told_before=st.sampled_from([0, 1, 2, 2]),
)
@settings(
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    # Each example takes a database; to shrink one took minutes.
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
)
def test_a_preview_is_the_brief_served_after_the_decision(  # type: ignore[no-untyped-def]
    shop: Cast, now, facts, which, beside, act, scope, relation, budget, task, told_before
) -> None:
    undone = transaction.savepoint()
    try:
        rows = [made(shop, now, number, told) for number, told in enumerate(facts)]
        fact = Fact.objects.get(pk=rows[which % len(rows)].pk)
        other = Fact.objects.filter(subject=fact.subject_id).exclude(pk=fact.pk).order_by("pk")
        if relation and other.exists():
            Fact.objects.filter(pk=fact.pk).update(relation=relation, related=other[beside % other.count()])
        if fact.standing:
            for part in other[:2]:
                StandingPart.objects.create(project=shop.project, standing=fact, part=part)
        agents = [shop.support, shop.sales, shop.coder]
        asked = {"max_tokens": budget, "task": task}
        # What the last brief told is seen by itself; of what an earlier one told somebody has to take note.
        for agent in agents * min(told_before, 1):
            served(agent, now - timedelta(hours=2), max_tokens=2_000)
        for agent in agents * (told_before - 1):
            served(agent, now - timedelta(hours=1), max_tokens=2_000, subjects=[("customer", "another")])
        fact = Fact.objects.select_related("subject", "project", "related").get(pk=fact.pk)
        membership = shop.rita.memberships.get(project=shop.project)
        form = {"beside": fact.related.revision if fact.related else 0, "reason": "not_true"}
        form |= scope_of(shop, scope) if act == "rescope" else {}
        before = state()
        what, supposed = Supposing(now), None
        try:
            SUPPOSED[act](what, fact, form)
            suppose = what.done()
            supposed = [brief.build(agent, subjects=SUBJECTS, suppose=suppose, now=now, **asked) for agent in agents]
        except NotAllowed as refused:
            note(f"supposed: {refused}")
        # Only reading: nothing that was supposed is left in the tables.
        assert before == state()
        if act != "none":
            try:
                with transaction.atomic():
                    decisions.decide(membership, Fact.objects.get(pk=fact.pk), act, fact.revision, form, now)
            except NEVER as refused:
                note(f"decided: {refused}")
                return
        assert supposed is not None
        for agent, preview in zip(agents, supposed, strict=True):
            assert sent(preview) == sent(served(agent, now, **asked))
    finally:
        transaction.savepoint_rollback(undone)


SUPPOSED: dict[str, Callable[[Supposing, Fact, dict[str, Any]], object]] = {
    "approve": lambda what, fact, form: impact.approve(what, fact),
    "remove": lambda what, fact, form: what.remove(fact),
    "rescope": lambda what, fact, form: what.rescope(fact, everyone=form["everyone"], agent_ids=form["agent_ids"]),
    "reject": lambda what, fact, form: what.reject(fact),
    "same": lambda what, fact, form: fact.related and what.merge(fact, fact.related),
    "confirm": lambda what, fact, form: what.confirm(fact),
    "keep_first": lambda what, fact, form: fact.related and impact.keep_first(what, fact, fact.related),
    "keep_second": lambda what, fact, form: fact.related and impact.keep_second(what, fact, fact.related),
    "keep_both": lambda what, fact, form: fact.related and impact.keep_both(what, fact, fact.related),
    "none": lambda what, fact, form: None,
}


def state() -> list[Any]:
    facts = list(Fact.objects.order_by("pk").values_list("pk", "status", "text", "revision", "times_seen", "agent_ids"))
    return [facts, BriefServed.objects.count(), Retraction.objects.count()]
