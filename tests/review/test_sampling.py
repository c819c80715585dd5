"""The watch over "on arrival": the sample, what a person finds in it, and the end at the first severe fault."""

from __future__ import annotations

import random
import statistics
from datetime import datetime, timedelta

import pytest

from memory.models import Decision, Fact, NotAllowed, Status
from projects.models import AuditEvent, Membership
from review.deciding import arrival, decisions, sampling, undoing
from review.deciding.decisions import REASONS
from review.deciding.policy import Level, Policy
from review.models import Sample
from tests.factories import Cast
from tests.review.arriving import found, rule_for

pytestmark = pytest.mark.django_db


def rita(cast: Cast) -> Membership:
    return Membership.objects.get(project=cast.project, person=cast.rita)


def again(fact: Fact) -> Fact:
    return Fact.objects.select_related("subject", "project").get(pk=fact.pk)


def answer(cast: Cast, fact: Fact, verb: str, now: datetime, **form: object) -> None:
    fact = again(fact)
    decisions.decide(rita(cast), fact, verb, fact.revision, dict(form), now)


def policy_of(cast: Cast) -> Policy:
    cast.project.refresh_from_db()
    return Policy.of(cast.project)


def arrived(cast: Cast, count: int, now: datetime, start: int = 0) -> list[Fact]:
    facts = [found(cast, start + number, now=now) for number in range(count)]
    assert arrival.sweep(now) == count
    return facts


def test_every_severe_reason_is_one_that_a_reviewer_can_choose() -> None:
    assert {code for _, code, _ in REASONS} >= sampling.SEVERE
    assert len(sampling.SEVERE) == 5


def test_the_first_thirty_of_a_week_are_all_looked_at(
    shop: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sampling.LEAST_A_WEEK == 30
    monkeypatch.setattr(sampling, "LEAST_A_WEEK", 4)
    rule_for(shop, now)
    arrived(shop, 9, now)
    assert all(sample.drawn for sample in Sample.objects.order_by("pk")[:4])
    later = list(Sample.objects.order_by("pk")[4:])
    assert [sample.drawn for sample in later] == [sampling.is_drawn(sample.fact_id, 30) for sample in later]
    Sample.objects.update(at=now - timedelta(days=8))
    arrived(shop, 2, now, start=100)
    assert Sample.objects.filter(at=now, drawn=True).count() == 2, "a new week begins with all of them"


def test_one_in_ten_is_drawn_and_the_same_each_time() -> None:
    drawn = [sampling.is_drawn(pk, 30) for pk in range(1, 20_001)]
    assert 0.09 < sum(drawn) / len(drawn) < 0.11
    assert drawn == [sampling.is_drawn(pk, 30) for pk in range(1, 20_001)]


def test_nobody_outside_can_tell_what_is_drawn(settings) -> None:  # type: ignore[no-untyped-def]
    before = [sampling.is_drawn(pk, 30) for pk in range(1, 1001)]
    settings.SECRET_KEY = "another installation has another secret, long enough"
    assert before != [sampling.is_drawn(pk, 30) for pk in range(1, 1001)]


def test_a_drawn_memory_is_live_and_asks_a_person(shop: Cast, now: datetime) -> None:
    rule_for(shop, now)
    (fact,) = arrived(shop, 1, now)
    assert Fact.objects.visible_to(shop.coder, now).filter(pk=fact.pk).exists()
    assert Fact.objects.asking(now).filter(pk=fact.pk).exists()
    assert sampling.is_open(again(fact), now)
    assert sampling.open_ids([again(fact)]) == {fact.pk}


@pytest.mark.parametrize(
    ("verb", "form", "verdict", "verb_kept", "status"),
    [
        ("approve", {}, "holds", "reconfirm", Status.APPROVED),
        ("approve", {"text": "Step 0 of the build needs port 6000."}, "minor", "edit", Status.APPROVED),
        ("reject", {"reason": "vague"}, "minor", "remove", Status.REMOVED),
        ("reject", {"reason": "7"}, "severe", "remove", Status.REMOVED),
        ("same_as", {}, "minor", "remove", Status.REMOVED),
        ("confirm", {}, "holds", "reconfirm", Status.APPROVED),
    ],
)
def test_an_answer_to_a_drawn_card_is_one_about_a_live_memory(
    shop: Cast, now: datetime, verb: str, form: dict[str, str], verdict: str, verb_kept: str, status: str
) -> None:
    rule_for(shop, now)
    (fact,) = arrived(shop, 1, now)
    answer(shop, fact, verb, now, **form)
    sample = Sample.objects.get(fact=fact)
    assert (sample.verdict, sample.answered_by, sample.answered_at) == (verdict, shop.rita, now)
    decision = Decision.objects.filter(fact=fact, person=shop.rita).get()
    assert decision.verb == verb_kept
    fact = again(fact)
    assert fact.status == status
    assert not sampling.is_open(fact, now)
    assert not Fact.objects.asking(now).filter(pk=fact.pk).exists()


@pytest.mark.parametrize("form", [{}, {"reason": "not_true"}, {"text": "Step 0 of the build needs port 6000."}])
def test_undo_opens_the_card_again(shop: Cast, now: datetime, form: dict[str, str]) -> None:
    rule_for(shop, now)
    (fact,) = arrived(shop, 1, now)
    answer(shop, fact, "reject" if "reason" in form else "approve", now, **form)
    undoing.undo(rita(shop), Decision.objects.get(fact=fact, person=shop.rita), now)
    sample = Sample.objects.get(fact=fact)
    assert (sample.verdict, sample.answered_by, sample.answered_at) == ("", None, None)
    assert sampling.is_open(again(fact), now)
    assert again(fact).status == Status.APPROVED


def test_who_gets_it_and_later_are_no_verdicts(shop: Cast, now: datetime) -> None:
    rule_for(shop, now)
    (fact,) = arrived(shop, 1, now)
    answer(shop, fact, "rescope", now, everyone=False, agent_ids=[shop.coder.pk])
    answer(shop, fact, "put_off", now, until=now + timedelta(days=1))
    assert Sample.objects.get(fact=fact).verdict == ""
    assert sampling.is_open(again(fact), now + timedelta(days=2))


@pytest.mark.parametrize("reason", sorted(sampling.SEVERE))
def test_the_first_severe_fault_ends_the_rule_and_its_last_memories_come_back(
    shop: Cast, now: datetime, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert sampling.BACK_IN_THE_PILE == 30
    monkeypatch.setattr(sampling, "BACK_IN_THE_PILE", 3)
    rule_for(shop, now)
    facts = arrived(shop, 6, now)
    answer(shop, facts[0], "approve", now)
    later = now + timedelta(minutes=1)
    answer(shop, facts[1], "reject", later, reason=reason)
    policy = policy_of(shop)
    assert policy.level("fix") == Level.LIST
    assert not policy.arriving
    ending = policy.ended["fix"].ending
    assert ending is not None
    decision = Decision.objects.get(fact=facts[1], verb="remove")
    assert (ending.at, ending.reason, ending.decision, ending.back) == (later, reason, decision.pk, 3)
    back = Fact.objects.due_for_review(later)
    assert set(back) == set(facts[2:]), "the last three, and one that was drawn and lay there already"
    assert sampling.open_ids(back) == {facts[2].pk}, "they come as memories to be confirmed, no new cards"
    assert again(facts[4]).status == Status.APPROVED, "they stay in use until somebody says otherwise"
    trail = AuditEvent.objects.get(action="policy.end_on_arrival")
    assert trail.actor_kind == "machine"
    found(shop, 500, now=later)
    assert arrival.sweep(later) == 0


def test_a_severe_fault_found_on_another_card_of_the_type_ends_it_too(shop: Cast, now: datetime) -> None:
    rule_for(shop, now)
    asked = found(shop, 1, now=now, kind="message", role="user")
    assert arrival.sweep(now) == 0
    answer(shop, asked, "reject", now, reason="misread")
    assert not policy_of(shop).arriving


def test_a_memory_that_was_withdrawn_later_ends_it_too(shop: Cast, now: datetime) -> None:
    rule_for(shop, now)
    (fact,) = arrived(shop, 1, now)
    Sample.objects.update(drawn=False)
    answer(shop, fact, "remove", now, reason="not_ours")
    assert Sample.objects.get(fact=fact).verdict == "severe"
    assert not policy_of(shop).arriving


def test_what_is_a_matter_of_taste_ends_nothing(shop: Cast, now: datetime) -> None:
    rule_for(shop, now)
    for fact, reason in zip(arrived(shop, 4, now), ("vague", "known", "once", "dated"), strict=True):
        answer(shop, fact, "reject", now, reason=reason)
    assert policy_of(shop).arriving


def test_a_severe_fault_of_another_type_ends_nothing(shop: Cast, now: datetime) -> None:
    rule_for(shop, now)
    arrived(shop, 1, now)
    other = found(shop, 50, now=now, key="error:step")
    answer(shop, other, "reject", now, reason="not_true")
    assert policy_of(shop).arriving


def decided(cast: Cast, count: int, now: datetime, start: int = 0, **form: str) -> list[Fact]:
    facts = [found(cast, start + number, now=now) for number in range(count)]
    for fact in facts:
        answer(cast, fact, "reject" if form else "approve", now, **form)
    return facts


def test_the_record_counts_memories_decided_since_the_last_severe_fault(shop: Cast, now: datetime) -> None:
    decided(shop, 3, now)
    decided(shop, 1, now, 10, reason="not_true")
    decided(shop, 2, now, 20)
    decided(shop, 1, now, 30, reason="vague")
    assert sampling.records(shop.project)["fix"].clean == 3
    assert not sampling.records(shop.project)["fix"].is_enough
    assert "error" not in sampling.records(shop.project)


def test_the_record_is_enough_at_sixty(shop: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sampling.NEEDED == 60
    monkeypatch.setattr(sampling, "NEEDED", 4)
    decided(shop, 3, now)
    assert not sampling.records(shop.project)["fix"].is_enough
    decided(shop, 1, now, 10)
    assert sampling.records(shop.project)["fix"].is_enough


def test_a_memory_withdrawn_for_a_severe_reason_sets_the_record_back(shop: Cast, now: datetime) -> None:
    first, second = decided(shop, 2, now)
    answer(shop, second, "remove", now, reason="vague")
    assert sampling.records(shop.project)["fix"].clean == 2
    answer(shop, first, "remove", now, reason="instruction")
    assert sampling.records(shop.project)["fix"].clean == 0
    undoing.undo(rita(shop), Decision.objects.filter(fact=first).latest("pk"), now)
    assert sampling.records(shop.project)["fix"].clean == 2, "what was taken back does not count"


def test_what_was_brought_in_or_written_by_hand_is_no_record(shop: Cast, now: datetime) -> None:
    for number, source in enumerate(("import", "manual", "conversation")):
        fact = found(shop, number, now=now, key=f"fix:{source}", source=source)
        answer(shop, fact, "approve", now)
    assert not sampling.records(shop.project)


def test_records_are_one_query(shop: Cast, now: datetime, django_assert_num_queries) -> None:  # type: ignore[no-untyped-def]
    decided(shop, 4, now)
    with django_assert_num_queries(1):
        sampling.records(shop.project)


DEFECTS = 0.03
# Seeded classes; the mean of a geometric law at 3 % is 1 / 0.03 samples, its median ln 2 / −ln 0.97.
CLASSES = 200
EXPECTED_MEAN, EXPECTED_MEDIAN = 33.3, 22.8


def samples_until_the_end(seed: int) -> tuple[int, int]:
    """Memories that came in, and samples a person answered, until a class with 3 % severe faults lost "on arrival"."""
    chance = random.Random(seed)
    drawn, answered, fact_id = 0, 0, seed * 1_000_000
    while True:
        fact_id += 1
        is_bad = chance.random() < DEFECTS
        if not sampling.is_drawn(fact_id, drawn):
            continue
        drawn += 1
        answered += 1
        verb, reason = ("remove", "misread") if is_bad else ("reconfirm", "")
        if sampling.is_severe(verb, reason):
            return fact_id - seed * 1_000_000, answered


def test_a_class_with_three_per_cent_severe_faults_ends_within_the_expected_samples() -> None:
    runs = [samples_until_the_end(seed) for seed in range(1, CLASSES + 1)]
    answered = [samples for _, samples in runs]
    # Four standard errors of the mean of 200 such classes: 32.8 / √200 each.
    assert abs(statistics.mean(answered) - EXPECTED_MEAN) < 4 * 32.8 / CLASSES**0.5
    assert abs(statistics.median(answered) - EXPECTED_MEDIAN) < 8
    # After the first thirty a person looks at one in ten.
    longer = [(came - 30, samples - 30) for came, samples in runs if samples > 30]
    assert 9 < sum(came for came, _ in longer) / sum(samples for _, samples in longer) < 11


def test_a_class_with_severe_faults_loses_on_arrival_through_the_real_doors(shop: Cast, now: datetime) -> None:
    """Proposals come in, the sweep lets them in, Rita answers what is drawn as she sees it; one in 33 is wrong."""
    rule_for(shop, now)
    chance = random.Random(3)
    answered, bad_ones, number = 0, 0, 0
    while policy_of(shop).arriving:
        assert answered < 200, "it should have ended long ago"
        number += 1
        fact = found(shop, number, now=now)
        assert arrival.sweep(now) == 1
        is_bad = chance.random() < DEFECTS
        bad_ones += is_bad
        if sampling.is_open(again(fact), now):
            answered += 1
            answer(
                shop, fact, *(("reject", now) if is_bad else ("approve", now)), **({"reason": "7"} if is_bad else {})
            )
    assert bad_ones >= 1
    assert Sample.objects.filter(verdict="severe").count() == 1, "the first one ends it"
    assert Sample.objects.filter(verdict="holds").count() == answered - 1
    last = found(shop, number + 1, now=now)
    assert arrival.sweep(now) == 0
    assert again(last).status == Status.PROPOSED
    with pytest.raises(NotAllowed):
        again(fact).approve_on_arrival(revision=again(fact).revision, now=now, note="", rule={})
