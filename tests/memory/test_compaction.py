"""Lessons that sessions keep teaching become one standing lesson, as a card for a person."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import Any

import pytest

from memory import compaction
from memory.learned import Cited, Learned
from memory.models import Decision, Evidence, Fact, StandingPart, Status, Subject
from memory.reconciliation import place
from projects.models import AuditEvent
from review.deciding import decisions, undoing
from tests import factories
from tests.factories import Cast

SEED = "Run make seed before the integration tests"
SEED_AGAIN = "Before the integration tests, run make seed"


def taught(
    cast: Cast,
    now: datetime,
    text: str = SEED,
    *,
    about: str = "repo:shop/api",
    key: str = "fix:seed",
    sessions: int = 1,
    approve: bool = True,
    **fields: Any,
) -> Fact:
    """A memory that so many sessions told, countersigned."""
    fact = None
    subject = factories.subject(cast.project, about)
    for _ in range(sessions):
        session = factories.session(cast.coder, f"run-{uuid.uuid4()}")
        quote = factories.observation(session, text)
        learned = Learned(
            type=key.partition(":")[0],
            key=key,
            value=fields.get("value"),
            text=text,
            cited=(Cited(quote, 0, len(text)),),
            agent_ids=fields.get("agent_ids", ()),
        )
        fact = place(learned, subject=subject, agent=cast.coder, session=session, now=now).fact
    assert fact is not None
    if approve and fact.status == Status.PROPOSED:
        fact.approve(cast.rita, revision=fact.revision, now=now)
    fact.refresh_from_db()
    return fact


def propose(cast: Cast, now: datetime) -> list[Fact]:
    return compaction.propose(cast.project, now)


def test_a_lesson_of_three_sessions_is_proposed_as_a_standing_one(shop: Cast, now: datetime) -> None:
    part = taught(shop, now, sessions=3)
    [standing] = propose(shop, now)
    assert (standing.status, standing.standing, standing.text, standing.times_seen) == (
        Status.PROPOSED,
        True,
        SEED,
        3,
    )
    assert [row.part for row in standing.parts.all()] == [part]
    assert {row.quote for row in standing.evidence.all()} == {SEED}
    assert standing.evidence.count() == 3
    assert standing.expires_at is not None
    assert standing.expires_at >= now + timedelta(days=365)
    part.refresh_from_db()
    assert part.status == Status.APPROVED, "nothing leaves a brief before a person said so"
    assert AuditEvent.objects.filter(action="compaction", object_ids=[standing.pk]).exists()


def test_nearly_the_same_from_several_repositories_becomes_one_of_the_project(shop: Cast, now: datetime) -> None:
    parts = [
        taught(shop, now, SEED, about="repo:shop/api", key="fix:seed.api"),
        taught(shop, now, SEED_AGAIN, about="repo:shop/web", key="fix:seed.web", sessions=2),
        taught(shop, now, SEED, about="repo:shop/jobs", key="fix:seed.jobs"),
    ]
    [standing] = propose(shop, now)
    assert standing.subject == Subject.objects.of_project(shop.project)
    assert (standing.text, standing.times_seen) == (SEED_AGAIN, 4)
    assert {row.part for row in standing.parts.all()} == set(parts)
    assert standing.evidence.count() == 4


@pytest.mark.parametrize(
    "texts",
    [
        ["Run make seed before the integration tests"] * 2,
        ["Pin urllib3 below 2.0", "Pin urllib3 below 2.1", "Pin urllib3 below 2.2"],
        ["Seed before the tests", "Never seed before the tests", "Seed after the tests"],
        ["Routes live in web/a.ts", "Routes live in web/b.ts", "Routes live in web/c.ts"],
        ["Ana owns billing", "Ben owns billing", "Kim owns billing"],
    ],
)
def test_what_is_not_repeated_or_not_the_same_is_left_alone(shop: Cast, now: datetime, texts: list[str]) -> None:
    for number, text in enumerate(texts):
        taught(shop, now, text, about=f"repo:shop/{number}", key=f"fix:lesson.{number}")
    assert propose(shop, now) == []


@pytest.mark.parametrize("about", ["person:ana@example.com", "customer:c1"])
def test_what_is_about_somebody_is_never_joined_with_what_is_about_another(
    shop: Cast, now: datetime, about: str
) -> None:
    for number in range(4):
        taught(shop, now, "Prefers e-mail", about=f"{about}{number}", key="user_preference:channel", sessions=3)
    assert propose(shop, now) == []


def test_what_is_about_one_person_may_be_joined_for_that_person(shop: Cast, now: datetime) -> None:
    for number in range(3):
        taught(shop, now, "Prefers short answers", about="person:ana@example.com", key=f"note:style.{number}")
    # The same under other keys waits beside the first as nearly the same; a person kept all three.
    assert Fact.objects.filter(status=Status.APPROVED).count() == 3
    [standing] = propose(shop, now)
    assert str(standing.subject) == "person:ana@example.com"
    assert standing.parts.count() == 3


@pytest.mark.parametrize("kind", ["problem", "commitment", "sentiment"])
def test_what_holds_for_a_moment_is_no_lesson(shop: Cast, now: datetime, kind: str) -> None:
    for number in range(3):
        taught(shop, now, "The export is broken", key=f"{kind}:export.{number}", sessions=2)
    assert propose(shop, now) == []


def test_lessons_for_other_readers_stay_apart(shop: Cast, now: datetime) -> None:
    taught(shop, now, SEED, about="repo:shop/a", key="fix:a")
    taught(shop, now, SEED, about="repo:shop/b", key="fix:b", agent_ids=(shop.coder.pk,))
    taught(shop, now, SEED, about="repo:shop/c", key="fix:c", agent_ids=(shop.coder.pk, shop.sales.pk))
    assert propose(shop, now) == []


def test_what_was_only_said_often_and_never_shown_is_no_lesson(shop: Cast, now: datetime) -> None:
    fact = factories.approved(shop.project, shop.rita, "Deploys need a tag.", key="fix:deploys", about="repo:orders")
    for _ in range(30):
        fact.count_again(now)
    assert propose(shop, now) == []


def test_what_nobody_countersigned_is_no_part(shop: Cast, now: datetime) -> None:
    taught(shop, now, sessions=5, approve=False)
    assert propose(shop, now) == []


def test_what_has_ended_or_is_frozen_is_no_part(shop: Cast, now: datetime) -> None:
    taught(shop, now, sessions=3)
    assert propose(shop, now + timedelta(days=4000)) == []
    Subject.objects.filter(entity_id="shop/api").update(frozen_at=now)
    assert propose(shop, now) == []


def test_a_lesson_is_proposed_once(shop: Cast, now: datetime) -> None:
    taught(shop, now, sessions=3)
    assert len(propose(shop, now)) == 1
    assert propose(shop, now + timedelta(days=1)) == []


@pytest.mark.parametrize("verb", ["reject", "approve", "remove", "lapse"])
def test_whatever_became_of_it_it_is_not_proposed_again(shop: Cast, now: datetime, verb: str) -> None:
    taught(shop, now, sessions=3)
    [standing] = propose(shop, now)
    if verb == "reject":
        standing.reject(shop.rita, revision=standing.revision, now=now, reason="vague")
    elif verb == "lapse":
        standing.lapse(now)
    else:
        getattr(standing, verb)(shop.rita, revision=standing.revision, now=now)
    taught(shop, now, SEED, about="repo:shop/web", key="fix:web", sessions=3)
    taught(shop, now, SEED, sessions=2)
    again = propose(shop, now + timedelta(days=1))
    # The other repository's own lesson may stand for that repository; the first is never asked about again.
    assert [str(one.subject) for one in again] == ["repo:shop/web"]


def test_a_rejected_standing_lesson_holds_its_parts_back_from_nothing(shop: Cast, now: datetime) -> None:
    part = taught(shop, now, sessions=3)
    [standing] = propose(shop, now)
    standing.reject(shop.rita, revision=standing.revision, now=now, reason="vague")
    quote = part.evidence.order_by("pk")[0].observation
    assert quote is not None
    again = place(
        Learned(part.type, part.key, part.value, part.text, (Cited(quote, 0, len(quote.text)),)),
        subject=part.subject,
        agent=shop.coder,
        session=quote.session,
        now=now,
    )
    assert (again.outcome, again.fact) == ("same", part)
    part.remove(shop.rita, revision=part.revision, now=now)
    Fact.objects.filter(pk=part.pk).update(status=Status.EXPIRED)
    anew = taught(shop, now, SEED, approve=False)
    assert (anew.status, anew.pk != standing.pk) == (Status.PROPOSED, True)


def test_approving_it_replaces_its_parts_and_undo_brings_all_back(shop: Cast, now: datetime) -> None:
    parts = [
        taught(shop, now, SEED, about="repo:shop/api", key="fix:seed.api", sessions=2),
        taught(shop, now, SEED_AGAIN, about="repo:shop/web", key="fix:seed.web"),
    ]
    [standing] = propose(shop, now)
    late = taught(shop, now, SEED_AGAIN, about="repo:shop/web", key="fix:seed.web")
    assert late == parts[1], "it was counted once more while the card waited"
    revisions = {fact.pk: fact.revision for fact in (*parts, standing)}
    membership = shop.rita.memberships.get(project=shop.project)
    outcome = decisions.decide(membership, standing, "approve", standing.revision, {}, now)
    for part in parts:
        part.refresh_from_db()
        assert (part.status, part.superseded_by) == (Status.SUPERSEDED, standing)
    standing.refresh_from_db()
    assert standing.status == Status.APPROVED
    assert standing.evidence.count() == 4, "the quote that came meanwhile is joined as well"
    batch = Decision.objects.filter(batch=outcome.decision.batch)
    assert {step.fact_id for step in batch} == {standing.pk, *(part.pk for part in parts)}
    assert list(Fact.objects.visible_to(shop.coder, now)) == [standing]

    undoing.undo(membership, outcome.decision, now)
    standing.refresh_from_db()
    assert standing.status == Status.PROPOSED
    for part in parts:
        part.refresh_from_db()
        assert (part.status, part.superseded_by, part.valid_to) == (Status.APPROVED, None, None)
        assert part.revision > revisions[part.pk]
    assert set(Fact.objects.visible_to(shop.coder, now)) == set(parts)


def test_a_lesson_learned_again_is_counted_on_the_standing_one(shop: Cast, now: datetime) -> None:
    taught(shop, now, SEED, about="repo:shop/api", key="fix:seed", sessions=2)
    taught(shop, now, SEED_AGAIN, about="repo:shop/web", key="fix:seed")
    [standing] = propose(shop, now)
    standing.approve(shop.rita, revision=standing.revision, now=now)
    again = taught(shop, now, SEED_AGAIN, about="repo:shop/jobs", key="fix:seed")
    assert (again, again.times_seen) == (standing, 4)


def test_what_moved_meanwhile_stays_as_it_is(shop: Cast, now: datetime) -> None:
    parts = [
        taught(shop, now, SEED, about="repo:shop/api", key="fix:seed.api", sessions=2),
        taught(shop, now, SEED_AGAIN, about="repo:shop/web", key="fix:seed.web"),
    ]
    [standing] = propose(shop, now)
    parts[1].remove(shop.rita, revision=parts[1].revision, now=now)
    standing.approve(shop.rita, revision=standing.revision, now=now)
    parts[0].refresh_from_db()
    parts[1].refresh_from_db()
    assert [part.status for part in parts] == [Status.SUPERSEDED, Status.REMOVED]


def test_a_part_about_a_frozen_subject_stops_the_approval(shop: Cast, now: datetime) -> None:
    from memory.models import NotAllowed

    taught(shop, now, SEED, about="repo:shop/api", key="fix:seed.api", sessions=2)
    taught(shop, now, SEED_AGAIN, about="repo:shop/web", key="fix:seed.web")
    [standing] = propose(shop, now)
    Subject.objects.filter(entity_id="shop/web").update(frozen_at=now)
    with pytest.raises(NotAllowed, match="frozen"):
        standing.approve(shop.rita, revision=standing.revision, now=now)
    assert not Fact.objects.filter(status=Status.SUPERSEDED).exists()


def test_one_run_proposes_ten_at_most_those_of_most_sessions_first(shop: Cast, now: datetime) -> None:
    words = ["alder", "birch", "cedar", "elder", "fir", "gorse", "hazel", "ivy", "juniper", "larch", "maple", "oak"]
    for number, word in enumerate(words):
        taught(shop, now, f"Rebuild {word} first", key=f"fix:{word}", sessions=3 + (number == 11))
    made = propose(shop, now)
    assert len(made) == compaction.MOST_PROPOSED
    assert made[0].text == "Rebuild oak first"
    assert len(propose(shop, now)) == 2


def test_the_work_is_bounded(shop: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []
    monkeypatch.setattr(compaction, "MOST_COMPARED", 50)
    monkeypatch.setattr(compaction, "_are_near", lambda one, two: compared.append(1) or False)
    for number in range(20):
        factories.approved(
            shop.project, shop.rita, f"Retry upload {number} twice", about="repo:a", key=f"fix:u.{number}", now=now
        )
    propose(shop, now)
    assert 0 < len(compared) <= 50


def test_a_sweep_looks_through_every_project(cast: Cast, now: datetime) -> None:
    from projects import tenancy

    with tenancy.project(cast.project.pk):
        taught(cast, now, sessions=3)
    assert compaction.sweep(now) == 1
    assert compaction.sweep(now) == 0
    with tenancy.project(cast.project.pk):
        assert StandingPart.objects.count() == 1
        assert Evidence.objects.filter(fact__standing=True).count() == 3


def test_it_runs_every_day() -> None:
    from config.schedules import JOBS

    [job] = [job for job in JOBS if job.task == "memory.tasks.propose_standing"]
    assert job.every_minutes == 24 * 60
