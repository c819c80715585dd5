"""From a session that went quiet to proposed facts: the job, its attempts, its lease, what it refuses to propose."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest

from memory import distillation, embedding_store, embeddings, readings
from memory.models import (
    DistillJob,
    Evidence,
    Fact,
    FactEmbedding,
    JobStatus,
    Observation,
    Session,
    SessionStatus,
    Status,
)
from memory.transcript import Candidate, Quote, Seen
from projects.models import AuditEvent
from tests import factories
from tests.factories import Cast

SAID = "Please always write me an e-mail in the morning."
NONE: dict[str, Any] = {
    **dict.fromkeys(("proposed", "same", "suppressed", "changes", "conflicts", "same_thing"), 0),
    "dropped": {},
}


class Fake:
    """A reader that proposes what `candidates` makes of the observations."""

    NAME = "fake"
    VERSION = "7"

    def __init__(self, candidates: Callable[[Sequence[Seen]], list[Candidate]]) -> None:
        self.candidates = candidates
        self.reads = 0

    def read(self, observations: Sequence[Seen], *, timezone: str, now: datetime) -> list[Candidate]:
        self.reads += 1
        return self.candidates(observations)


def whole(seen: Seen, **fields: Any) -> Candidate:
    """A preference that quotes the whole observation."""
    base: dict[str, Any] = {
        "type": "user_preference",
        "key": "user_preference:contact_channel",
        "value": "e-mail",
        "text": "Prefers e-mail in the morning.",
        "quotes": (Quote(seen.ref, 0, len(seen.text), seen.text),),
        "about": "customer",
    }
    return Candidate(**(base | fields))


def of_each_message(observations: Sequence[Seen]) -> list[Candidate]:
    return [whole(seen) for seen in observations if seen.kind == "message"]


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The ids the doorbell was rung with."""
    ids: list[int] = []
    monkeypatch.setattr(distillation, "async_task", lambda name, job_id: ids.append(job_id))
    return ids


@pytest.fixture
def session(shop: Cast, now: datetime) -> Session:
    made = factories.session(shop.support, last_seen_at=now - timedelta(minutes=10))
    made.subjects.add(factories.subject(shop.project), through_defaults={"project_id": shop.project.pk})
    factories.observation(made, SAID)
    return made


def sole_job(session: Session, now: datetime) -> DistillJob:
    [job_id] = distillation.sweep(now, ring=False)
    return DistillJob.objects.get(pk=job_id, session=session)


def state(session: Session) -> str:
    return Session.objects.get(pk=session.pk).status


# From idle to job -----------------------------------------------------------------------------------------------------


def test_a_session_is_asked_for_once_it_is_idle(session: Session, now: datetime) -> None:
    assert distillation.sweep(now - timedelta(minutes=6), ring=False) == []
    job = sole_job(session, now)
    assert (job.status, job.attempts, state(session)) == (JobStatus.QUEUED, 0, SessionStatus.IDLE)
    assert distillation.sweep(now, ring=False) == []


def test_each_project_has_its_own_idle_time(session: Session, shop: Cast, now: datetime) -> None:
    shop.project.idle_minutes = 30
    shop.project.save()
    assert distillation.sweep(now, ring=False) == []
    assert len(distillation.sweep(now + timedelta(minutes=20), ring=False)) == 1


def test_everything_unread_is_asked_for_when_wanted_now(session: Session, now: datetime) -> None:
    assert len(distillation.sweep(now - timedelta(minutes=9), ring=False, everything=True)) == 1


def test_an_empty_session_is_never_asked_for(shop: Cast, now: datetime) -> None:
    empty = factories.session(shop.support, "empty", last_seen_at=now - timedelta(days=1))
    assert distillation.sweep(now, ring=False, everything=True) == []
    assert distillation.request(empty, now) is None


def test_the_doorbell_rings_after_the_commit_with_an_id_alone(
    session: Session, now: datetime, rung: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        asked = distillation.sweep(now)
        assert rung == []
    assert rung == asked != []


def test_a_lost_ring_is_rung_again_but_not_at_once(
    session: Session, now: datetime, rung: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    job = sole_job(session, now)
    with django_capture_on_commit_callbacks(execute=True):
        distillation.sweep(now + timedelta(minutes=1))
    assert rung == []
    with django_capture_on_commit_callbacks(execute=True):
        distillation.sweep(now + timedelta(minutes=6))
    assert rung == [job.pk]


# Reading --------------------------------------------------------------------------------------------------------------


def test_a_reading_proposes_facts_with_hash_checked_evidence(session: Session, shop: Cast, now: datetime) -> None:
    job = distillation.run(sole_job(session, now).pk, now, Fake(of_each_message))
    assert job is not None
    assert (job.status, job.attempts, job.error) == (JobStatus.DONE, 1, "")
    assert job.counts == {**NONE, "proposed": 1}
    fact = Fact.objects.get()
    assert (fact.status, fact.source, fact.distiller, fact.prompt_version) == (
        Status.PROPOSED,
        "extraction",
        "fake",
        "7",
    )
    assert (str(fact.subject), fact.proposed_by_agent) == ("customer:cust_123", shop.support)
    assert Evidence.objects.get().verdict() == "holds"
    session.refresh_from_db()
    assert (session.status, session.distilled_at) == (SessionStatus.DISTILLED, now)
    assert session.distilled_through == Observation.objects.get().pk
    assert FactEmbedding.objects.get().fact == fact
    assert AuditEvent.objects.filter(action="distill", object_ids=[session.pk]).count() == 1


def test_a_job_that_is_done_is_not_done_again(session: Session, now: datetime) -> None:
    job, reader = sole_job(session, now), Fake(of_each_message)
    assert distillation.run(job.pk, now, reader) is not None
    assert distillation.run(job.pk, now, reader) is None
    assert reader.reads == 1


def test_a_job_that_is_gone_is_left_alone(db: None, now: datetime) -> None:
    assert distillation.run(4711, now) is None


def test_the_turns_beside_a_quote_are_its_context(session: Session, now: datetime) -> None:
    factories.observation(session, "Noted,\nI will.  " + "word " * 100, role="assistant")
    factories.observation(session, "our own words", kind="brief", role="system")
    factories.observation(session, "Thanks!")
    reader = Fake(lambda seen: [whole(seen[1])])
    distillation.run(sole_job(session, now).pk, now, reader)
    evidence = Evidence.objects.get()
    assert evidence.before == SAID
    assert evidence.after == "Thanks!"
    assert len(evidence.quote) > 400
    reader = Fake(lambda seen: [whole(seen[3], value="thanks")])
    factories.observation(session, "Bye.")
    Session.objects.update(status=SessionStatus.OPEN)
    distillation.run(sole_job(session, now).pk, now, reader)
    before = Evidence.objects.get(quote="Thanks!").before
    assert before.startswith("Noted, I will. word")
    assert before.endswith("…")
    assert len(before) == 200


@pytest.mark.parametrize(
    ("kind", "role"), [("summary", "assistant"), ("brief", "system"), ("meta", "user"), ("message", "system")]
)
def test_summaries_system_text_and_briefs_are_never_evidence(shop: Cast, now: datetime, kind: str, role: str) -> None:
    session = factories.session(shop.support, last_seen_at=now - timedelta(minutes=10))
    factories.observation(session, SAID, kind=kind, role=role)
    job = distillation.run(sole_job(session, now).pk, now, Fake(lambda seen: [whole(seen[0])]))
    assert job is not None
    assert job.counts["proposed"] == 0
    assert sum(job.counts["dropped"].values()) == 1
    assert Fact.objects.count() == 0


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"quotes": ()}, "no_quote"),
        ({"value": "pays with 4111 1111 1111 1111"}, "payment"),
        ({"text": "The key is [secret: aws-key] for all."}, "secret"),
        ({"value": {"token": "ghp_" + "b1" * 18}}, "secret"),
        ({"nature": "sentiment"}, "sentiment_off"),
        ({"type": "sentiment"}, "sentiment_off"),
        ({"text": "Sure thing"}, "wording_"),
        ({"text": "word " * 80 + "."}, "wording_too_long"),
    ],
)
def test_what_may_not_be_a_memory_is_dropped_and_counted(
    session: Session, now: datetime, fields: dict[str, Any], reason: str
) -> None:
    job = distillation.run(sole_job(session, now).pk, now, Fake(lambda seen: [whole(seen[0], **fields)]))
    assert job is not None
    [(name, count)] = job.counts["dropped"].items()
    assert name.startswith(reason)
    assert count == 1
    assert Fact.objects.count() == 0


def test_a_secret_beside_the_quoted_words_is_a_flag(session: Session, now: datetime) -> None:
    factories.observation(session, "API_KEY=[secret: openai-key] must be set, write me an e-mail.")
    distillation.run(sole_job(session, now).pk, now, Fake(lambda seen: [whole(seen[1])]))
    assert [row["category"] for row in Fact.objects.get().findings] == ["secret"]


def test_nothing_is_proposed_about_a_frozen_subject(session: Session, shop: Cast, now: datetime) -> None:
    subject = session.subjects.get()
    subject.frozen_at = now
    subject.save()
    job = distillation.run(sole_job(session, now).pk, now, Fake(of_each_message))
    assert job is not None
    assert job.counts["dropped"] == {"subject_frozen": 1}


def test_invisible_characters_never_reach_a_reviewer(session: Session, now: datetime) -> None:
    reader = Fake(lambda seen: [whole(seen[0], text="Prefers e-mail\u200b in the \u202emorning.")])
    distillation.run(sole_job(session, now).pk, now, reader)
    assert Fact.objects.get().text == "Prefers e-mail in the morning."


def test_a_missing_model_fails_no_job(session: Session, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(texts: Sequence[str]) -> list[list[float]]:
        raise embeddings.EmbedderUnavailable("The model is missing.")

    with monkeypatch.context() as broken:
        broken.setattr(embeddings, "embed", missing)
        job = distillation.run(sole_job(session, now).pk, now, Fake(of_each_message))
    assert job is not None
    assert job.status == JobStatus.DONE
    assert FactEmbedding.objects.count() == 0
    assert embedding_store.embed_missing() == 1
    assert embedding_store.embed_missing() == 0


# New observations -----------------------------------------------------------------------------------------------------


def test_a_session_that_goes_on_is_read_again_and_nothing_twice(session: Session, now: datetime) -> None:
    distillation.run(sole_job(session, now).pk, now, Fake(of_each_message))
    factories.observation(session, "And never call.")
    Session.objects.update(status=SessionStatus.OPEN)
    calls = {"key": "user_preference:calls", "value": "never", "text": "Wants no calls."}
    reader = Fake(lambda seen: [whole(seen[0]), whole(seen[1], **calls)])
    job = distillation.run(sole_job(session, now).pk, now, reader)
    assert job is not None
    assert job.counts == {**NONE, "proposed": 1, "same": 1}
    assert sorted(Fact.objects.values_list("key", "times_seen")) == [
        ("user_preference:calls", 1),
        ("user_preference:contact_channel", 1),
    ]
    assert state(session) == SessionStatus.DISTILLED


def test_a_session_that_was_reopened_without_news_is_not_read_again(session: Session, now: datetime) -> None:
    distillation.run(sole_job(session, now).pk, now, Fake(of_each_message))
    Session.objects.update(status=SessionStatus.OPEN)
    assert distillation.sweep(now, ring=False) == []
    assert state(session) == SessionStatus.DISTILLED
    assert DistillJob.objects.count() == 1


def test_what_comes_in_during_a_reading_leaves_the_session_unread(session: Session, now: datetime) -> None:
    def meanwhile(observations: Sequence[Seen]) -> list[Candidate]:
        factories.observation(session, "One more thing.")
        return of_each_message(observations)

    distillation.run(sole_job(session, now).pk, now, Fake(meanwhile))
    assert state(session) == SessionStatus.OPEN
    distillation.run(sole_job(session, now).pk, now, Fake(of_each_message))
    assert state(session) == SessionStatus.DISTILLED


def test_an_observation_that_was_committed_late_is_not_missed(session: Session, now: datetime) -> None:
    """Its id is lower than one that was read: ids are given before the commit."""
    late = factories.observation(session, "Late.", seq=7)
    low = Observation.objects.order_by("pk").first()
    assert low is not None
    Observation.objects.filter(pk=late.pk).delete()
    distillation.run(sole_job(session, now).pk, now, Fake(of_each_message))
    Observation.objects.filter(pk=low.pk).update(seq=9)
    late.pk = low.pk - 1
    late.save(force_insert=True)
    Session.objects.update(status=SessionStatus.OPEN)
    reader = Fake(of_each_message)
    distillation.run(sole_job(session, now).pk, now, reader)
    assert reader.reads == 1


# When it goes wrong ---------------------------------------------------------------------------------------------------


def broken(observations: Sequence[Seen]) -> list[Candidate]:
    raise ValueError(observations[0].text)


def test_an_error_is_kept_as_its_class_and_nothing_else(
    session: Session, now: datetime, caplog: pytest.LogCaptureFixture
) -> None:
    job = distillation.run(sole_job(session, now).pk, now, Fake(broken))
    assert job is not None
    assert (job.status, job.error, job.attempts) == (JobStatus.RETRY, "ValueError", 1)
    assert "ValueError" in caplog.text
    assert SAID not in caplog.text


def test_three_failed_starts_end_as_failed_and_the_pauses_grow(session: Session, now: datetime) -> None:
    job, reader = sole_job(session, now), Fake(broken)
    pauses = []
    for _ in range(5):
        distillation.run(job.pk, now, reader)
        job.refresh_from_db()
        assert job.lease_until is not None
        pauses.append(job.lease_until - now)
    assert (job.status, job.attempts, reader.reads) == (JobStatus.FAILED, 3, 3)
    assert pauses[0] < pauses[1]
    assert state(session) == SessionStatus.FAILED
    assert distillation.sweep(now + timedelta(days=1), ring=False) == []


def test_half_a_reading_leaves_nothing(session: Session, now: datetime, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **kwargs: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patched:
        patched.setattr(readings, "_close", fail)
        job = distillation.run(sole_job(session, now).pk, now, Fake(of_each_message))
    assert job is not None
    assert (job.status, Fact.objects.count(), Evidence.objects.count()) == (JobStatus.RETRY, 0, 0)
    distillation.run(job.pk, now, Fake(of_each_message))
    assert Fact.objects.count() == 1


def test_a_worker_that_died_is_followed_by_another_once_its_lease_ended(session: Session, now: datetime) -> None:
    job = sole_job(session, now)
    assert distillation._start(job.pk, now) == 1
    assert distillation.run(job.pk, now + timedelta(seconds=30), Fake(of_each_message)) is None
    assert distillation.sweep(now + timedelta(seconds=30), ring=False) == []
    later = now + timedelta(minutes=2)
    assert distillation.sweep(later, ring=False) == [job.pk]
    ended = distillation.run(job.pk, later, Fake(of_each_message))
    assert ended is not None
    assert (ended.status, ended.attempts, Fact.objects.count()) == (JobStatus.DONE, 2, 1)


def test_a_session_that_kills_its_worker_three_times_is_failed(session: Session, now: datetime) -> None:
    job = sole_job(session, now)
    for start in (1, 2, 3):
        now += timedelta(minutes=10)
        assert distillation._start(job.pk, now) == start
    assert distillation.sweep(now + timedelta(minutes=10), ring=False) == []
    job.refresh_from_db()
    assert (job.status, job.attempts, job.error) == (JobStatus.FAILED, 3, "WorkerDied")
    assert state(session) == SessionStatus.FAILED


def test_a_worker_that_comes_back_after_its_lease_writes_nothing(session: Session, now: datetime) -> None:
    job = sole_job(session, now)
    first = distillation._start(job.pk, now)
    assert first == 1
    assert distillation._start(job.pk, now + timedelta(minutes=2)) == 2
    reader = Fake(of_each_message)
    assert distillation._read(job.pk, first, reader, now) == []
    assert reader.reads == 0


def test_a_person_can_have_a_failed_session_read_again(session: Session, now: datetime) -> None:
    job = sole_job(session, now)
    for _ in range(3):
        distillation.run(job.pk, now, Fake(broken))
    again = distillation.retry(job, now, ring=False)
    assert (again.status, again.attempts, again.error, state(session)) == ("queued", 0, "", SessionStatus.IDLE)
    distillation.run(job.pk, now, Fake(of_each_message))
    assert state(session) == SessionStatus.DISTILLED
    assert Fact.objects.count() == 1


def test_a_waiting_job_is_not_reset_by_another_try(session: Session, now: datetime) -> None:
    job = sole_job(session, now)
    distillation._start(job.pk, now)
    assert distillation.retry(job, now).attempts == 1


def test_the_local_reader_finds_the_fix_that_lasted(shop: Cast, now: datetime) -> None:
    session = factories.session(shop.coder, "run-1", last_seen_at=now - timedelta(minutes=10))
    session.subjects.add(
        factories.subject(shop.project, "repo:shop/api"), through_defaults={"project_id": shop.project.pk}
    )
    for kind, role, text, fields in (
        ("message", "user", "Run the tests, please.", {}),
        ("tool_call", "assistant", "pytest tests/api", {"tool": "Bash", "call_id": "1"}),
        (
            "tool_result",
            "tool",
            "ModuleNotFoundError: No module named 'httpx'",
            {"tool": "Bash", "call_id": "1", "exit_code": 1, "is_error": True},
        ),
        ("tool_call", "assistant", "pip install httpx", {"tool": "Bash", "call_id": "2"}),
        ("tool_result", "tool", "Successfully installed httpx", {"tool": "Bash", "call_id": "2", "exit_code": 0}),
        ("tool_call", "assistant", "pytest tests/api", {"tool": "Bash", "call_id": "3"}),
        ("tool_result", "tool", "12 passed", {"tool": "Bash", "call_id": "3", "exit_code": 0}),
    ):
        factories.observation(session, text, kind=kind, role=role, **fields)
    job = distillation.run(sole_job(session, now).pk, now)
    assert job is not None
    assert job.status == JobStatus.DONE
    fact = Fact.objects.get()
    assert "httpx" in fact.text
    assert str(fact.subject) == "repo:shop/api"
    assert all(evidence.verdict() == "holds" for evidence in fact.evidence.all())
