"""What reviewers decided becomes examples for a model: few, newest first, and nothing about a person."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from memory import distillation, tokens
from memory.distillers.hosted import prompt
from memory.examples import MOST_OFTEN, MOST_REJECTED, MOST_REWRITTEN, MOST_TOKENS, examples
from memory.models import Fact
from tests import factories
from tests.factories import Cast
from tests.memory.test_hosted_runs import fake, quiet, server
from tests.providers import FakeProvider

__all__ = ["fake", "server"]


def proposal(shop: Cast, text: str, number: int = 0, **fields: Any) -> Fact:
    base: dict[str, Any] = {"about": "repo:shop/api", "key": f"environment:thing.{number}", "value": text}
    return factories.proposal(shop.project, text, **(base | fields))


def reject(shop: Cast, now: datetime, fact: Fact, reason: str = "not_true") -> None:
    fact.reject(shop.rita, revision=fact.revision, now=now, reason=reason)


def lines(shop: Cast) -> list[str]:
    return [example.line() for example in examples(shop.project)]


def test_a_rejection_and_its_reason_become_an_example(shop: Cast, now: datetime) -> None:
    assert lines(shop) == []
    reject(shop, now, proposal(shop, "The tests take 4 minutes."), "once")
    assert lines(shop) == ["- environment: “The tests take 4 minutes.” was rejected: it held for this once only"]


def test_a_correction_becomes_an_example_whether_saved_or_approved_with(shop: Cast, now: datetime) -> None:
    saved = proposal(shop, "Port 5433 is used.")
    saved.edit(shop.rita, revision=saved.revision, now=now, text="Postgres listens on port 5433.")
    approved = proposal(shop, "Use make.", 1)
    approved.approve(shop.rita, revision=approved.revision, now=now, text="Run the tests with make check.")
    untouched = proposal(shop, "The cache is Redis.", 2)
    untouched.approve(shop.rita, revision=untouched.revision, now=now)
    assert lines(shop) == [
        "- environment: “Use make.” was rewritten as “Run the tests with make check.”",
        "- environment: “Port 5433 is used.” was rewritten as “Postgres listens on port 5433.”",
    ]


def test_what_was_taken_back_or_withdrawn_is_no_example(shop: Cast, now: datetime) -> None:
    undone = proposal(shop, "The tests take 4 minutes.")
    reject(shop, now, undone)
    undone.undo(undone.decisions.get(verb="reject"), shop.rita, now=now)
    withdrawn = proposal(shop, "Use make.", 1)
    withdrawn.approve(shop.rita, revision=withdrawn.revision, now=now, text="Run make check here.")
    withdrawn.remove(shop.rita, revision=withdrawn.revision, now=now)
    assert lines(shop) == []


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("The customer lives in Lisbon.", {"about": "customer:cust_9", "key": "customer_fact:city"}),
        ("Rita prefers tabs here.", {"about": "person:rita@example.com", "key": "user_preference:tabs"}),
        ("The owner is ana@example.com here.", {}),
        ("The repository shop/api is large.", {}),
        ("Only sales may know this rule.", {"everyone": False}),
        ("Written by a person at the desk.", {"source": "manual"}),
    ],
)
def test_nothing_about_a_person_and_nothing_of_one_agent_alone_is_sent(
    shop: Cast, now: datetime, text: str, fields: dict[str, Any]
) -> None:
    if fields.get("everyone") is False:
        fields = {**fields, "agent_ids": [shop.sales.pk]}
    reject(shop, now, proposal(shop, text, **fields))
    assert lines(shop) == []


def test_what_is_often_rejected_is_told_without_its_words(shop: Cast, now: datetime) -> None:
    for number in range(3):
        about = {"about": f"customer:cust_{number}", "key": "customer_fact:city"}
        reject(shop, now, proposal(shop, f"The customer lives in town {number}.", **about), "not_ours")
    assert lines(shop) == ["- customer_fact: often rejected: not ours to keep"]


def test_examples_are_few_newest_first_and_within_their_tokens(shop: Cast, now: datetime) -> None:
    for number in range(12):
        reject(shop, now, proposal(shop, f"Thing {number} is slow " + "word " * 40 + ".", number))
        edited = proposal(shop, f"Edited {number}.", 100 + number)
        edited.edit(shop.rita, revision=edited.revision, now=now, text=f"Thing {number} was edited.")
    found = examples(shop.project)
    assert found[0].text == "Edited 11."
    assert next(example.text[:8] for example in found if example.reason and example.text) == "Thing 11"
    assert len(found) <= MOST_REWRITTEN + MOST_REJECTED + MOST_OFTEN
    assert tokens.count("".join(f"{example.line()}\n" for example in found)) <= MOST_TOKENS


def test_another_project_learns_nothing_of_it(shop: Cast, now: datetime) -> None:
    reject(shop, now, proposal(shop, "The tests take 4 minutes."))
    assert examples(shop.other) == ()


def test_the_next_reading_is_told_and_its_facts_carry_another_version(
    fake: FakeProvider, shop: Cast, settings: Any, now: datetime
) -> None:
    fake.connect(settings, shop.project, "anthropic")
    fake.gives([])
    first = distillation.request(quiet(shop, now, "Hello.", name="call-1"), now, ring=False)
    assert first is not None
    distillation.run(first.pk, now)
    reject(shop, now, proposal(shop, "The tests take 4 minutes."), "once")
    second = distillation.request(quiet(shop, now, "Hello again.", name="call-2"), now, ring=False)
    assert second is not None
    distillation.run(second.pk, now)
    for job in (first, second):
        job.refresh_from_db()
    before, after = fake.calls
    assert "The tests take 4 minutes." not in before.system
    assert "“The tests take 4 minutes.” was rejected: it held for this once only" in after.system
    assert first.prompt_version == prompt.version()
    assert second.prompt_version == prompt.version(examples(shop.project)) != first.prompt_version
