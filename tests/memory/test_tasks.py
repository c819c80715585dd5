"""What the queue calls, and when; and the commands that do the same by hand."""

from __future__ import annotations

import io
import json
import pydoc
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django_q.models import Schedule

from config import schedules
from memory import embedding_store, embeddings, expiry, tasks
from memory.models import Fact, FactEmbedding, Observation, Retraction, Session, SessionStatus, Status
from projects.models import Project
from tests import factories
from tests.factories import Cast

GOLD = Path(__file__).parents[1] / "cases" / "distill_gold.jsonl"


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def quiet(shop: Cast, now: datetime, name: str = "call-1") -> Session:
    """A session in which a customer said what should be remembered, quiet for an hour."""
    session = factories.session(shop.support, name, last_seen_at=now - timedelta(hours=1))
    session.subjects.add(factories.subject(shop.project), through_defaults={"project_id": shop.project.pk})
    factories.observation(session, "From now on, please always write me an e-mail instead of calling.")
    return session


# Schedules ------------------------------------------------------------------------------------------------------------


def test_the_schedules_are_the_table_however_often_they_are_set(db: None) -> None:
    Schedule.objects.create(name=schedules.PREFIX + "gone", func="memory.tasks.gone")
    Schedule.objects.create(name="somebody else's", func="elsewhere.task")
    for _ in range(2):
        schedules.ensure_schedules()
    ours = Schedule.objects.filter(name__startswith=schedules.PREFIX)
    assert sorted(ours.values_list("func", "minutes")) == sorted(
        (job.task, job.every_minutes) for job in schedules.JOBS
    )
    assert Schedule.objects.filter(name="somebody else's").exists()


@pytest.mark.parametrize("job", schedules.JOBS, ids=lambda job: job.task)
def test_every_scheduled_task_exists_and_tolerates_more_arguments(db: None, job: schedules.Job) -> None:
    task = pydoc.locate(job.task)
    assert callable(task)
    assert task(another="argument") is None


def test_a_task_for_a_job_that_is_gone_is_no_error(db: None) -> None:
    assert tasks.distill_job(4711, another="argument") is None


# Expiry ---------------------------------------------------------------------------------------------------------------


def test_what_the_clock_ended_is_said_to_be_expired(shop: Cast, now: datetime) -> None:
    ended = factories.approved(shop.project, shop.rita, "Ends.", value="a", expires_at=now + timedelta(days=1))
    factories.approved(shop.project, shop.rita, "Stays.", key="choice:b", expires_at=now + timedelta(days=3))
    factories.approved(shop.project, shop.rita, "Has no end.", key="user_preference:c")
    later = now + timedelta(days=2)
    assert expiry.expire(later) == 1
    assert expiry.expire(later) == 0
    ended.refresh_from_db()
    assert ended.status == Status.EXPIRED
    assert Fact.objects.filter(status=Status.APPROVED).count() == 2


def test_an_agent_that_was_told_what_expired_is_told_so(shop: Cast, now: datetime) -> None:
    from memory import brief

    fact = factories.approved(shop.project, shop.rita, expires_at=now + timedelta(days=1))
    brief.serve(shop.support, subjects=[("customer", "cust_123")], max_tokens=500, now=now)
    expiry.expire(now + timedelta(days=2))
    assert Retraction.objects.get().fact == fact


# Vectors --------------------------------------------------------------------------------------------------------------


def test_each_fact_gets_one_vector_and_a_new_one_when_its_text_changes(shop: Cast, now: datetime) -> None:
    fact = factories.approved(shop.project, shop.rita, "The tests need Postgres on port 5433.")
    assert embedding_store.embed_facts([fact, fact]) == 1
    assert embedding_store.embed_facts([fact]) == 0
    before = FactEmbedding.objects.get()
    fact.edit(shop.rita, revision=fact.revision, now=now, text="Refunds need a manager's release.")
    assert embedding_store.refresh(fact)
    after = FactEmbedding.objects.get()
    assert after.pk == before.pk
    assert after.text_sha256 != before.text_sha256
    assert after.vector != before.vector


def test_a_status_change_leaves_the_vector_alone(shop: Cast, now: datetime) -> None:
    fact = factories.proposal(shop.project)
    embedding_store.refresh(fact)
    before = FactEmbedding.objects.values_list("pk", "text_sha256").get()
    fact.approve(shop.rita, revision=fact.revision, now=now)
    embedding_store.refresh(fact)
    assert FactEmbedding.objects.values_list("pk", "text_sha256").get() == before


def test_the_sweep_embeds_what_may_be_searched_in_every_project(shop: Cast, now: datetime) -> None:
    approved = factories.approved(shop.project, shop.rita)
    rejected = factories.proposal(shop.project, "Wrong.", key="choice:x")
    rejected.reject(shop.rita, revision=rejected.revision, now=now, reason="not_true")
    tasks.embed_missing()
    assert FactEmbedding.objects.get().fact == approved


def test_a_vector_of_an_older_text_does_not_outlive_a_missing_model(
    shop: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(texts: Sequence[str]) -> list[list[float]]:
        raise embeddings.EmbedderUnavailable("The model is missing.")

    fact = factories.approved(shop.project, shop.rita)
    embedding_store.refresh(fact)
    fact.edit(shop.rita, revision=fact.revision, now=now, text="Prefers the phone.")
    with monkeypatch.context() as broken:
        broken.setattr(embeddings, "embed", missing)
        assert not embedding_store.refresh(fact)
    assert not FactEmbedding.objects.exists()
    assert embedding_store.embed_missing() == 1


class Picky:
    """An embedder that has no vector for one text."""

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [[0.0 if "nothing" in text else 0.1] * embeddings.DIMENSIONS for text in texts]


@pytest.fixture
def picky() -> Iterator[None]:
    embeddings.use(Picky())
    yield
    embeddings.use(None)


def test_a_text_without_a_vector_costs_no_other_text_its_own(shop: Cast, now: datetime, picky: None) -> None:
    later = now + timedelta(minutes=5)
    good = factories.approved(shop.project, shop.rita, "Parcels go to Mill Lane.")
    bad = factories.approved(shop.project, shop.rita, "It means nothing.", key="choice:x")
    assert embedding_store.embed_missing() == 1
    assert FactEmbedding.objects.get().fact == good
    assert embedding_store.waiting_count(now) == 0, "a sweep has not passed yet"
    assert embedding_store.waiting_count(later) == 1
    assert not embedding_store.refresh(bad)
    bad.edit(shop.rita, revision=bad.revision, now=now, text="It means a lot.")
    assert embedding_store.refresh(bad)
    assert embedding_store.waiting_count(later) == 0


def test_a_vector_goes_when_its_text_is_changed_into_one_without(shop: Cast, now: datetime, picky: None) -> None:
    fact = factories.approved(shop.project, shop.rita, "Parcels go to Mill Lane.")
    assert embedding_store.refresh(fact)
    fact.edit(shop.rita, revision=fact.revision, now=now, text="It means nothing.")
    assert not embedding_store.refresh(fact)
    assert not FactEmbedding.objects.exists()


# By hand --------------------------------------------------------------------------------------------------------------


def test_distill_reads_what_is_quiet_in_this_process(shop: Cast, now: datetime) -> None:
    quiet(shop, now)
    busy = quiet(shop, now, "call-2")
    Session.objects.filter(pk=busy.pk).update(last_seen_at=now)
    printed = run("distill")
    assert "shop · support · call-1: 1 proposed" in printed
    assert "call-2" not in printed
    assert printed.endswith("Read 1, proposed 1.\n")
    assert run("distill") == "Nothing new to read.\n"
    assert "call-2: 0 proposed, 1 known already" in run("distill", "--now")
    assert Fact.objects.get().times_seen == 2


def test_distill_takes_one_session_by_its_id_quiet_or_not(shop: Cast, now: datetime) -> None:
    session = quiet(shop, now)
    Session.objects.filter(pk=session.pk).update(last_seen_at=now)
    assert "1 proposed" in run("distill", "--session", "call-1")
    assert run("distill", "--session", "call-1") == "Nothing new to read.\n"
    with pytest.raises(CommandError, match="No agent has a session"):
        run("distill", "--session", "call-9")


def test_distill_says_which_session_failed_without_quoting_it(
    shop: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory.distillers.local import LocalDistiller

    def broken(self: LocalDistiller, observations: Sequence[object], **kwargs: object) -> None:
        raise ValueError(str(observations))

    session = quiet(shop, now)
    with monkeypatch.context() as patched:
        patched.setattr(LocalDistiller, "read", broken)
        for _ in range(3):
            with pytest.raises(CommandError, match="could not be read") as refused:
                run("distill", "--session", "call-1")
            assert "e-mail" not in str(refused.value)
    session.refresh_from_db()
    assert session.status == SessionStatus.FAILED
    assert "1 proposed" in run("distill", "--session", "call-1")


def test_score_distiller_meets_the_bar_and_leaves_nothing_behind(shop: Cast) -> None:
    answer = json.loads(run("score_distiller", str(GOLD), "--json"))
    assert answer["total"]["recall"] >= 0.75
    assert answer["total"]["must_not_errors"] == 0
    assert answer["total"]["junk_per_session"] <= 0.5
    assert answer["total"]["attributes"]["superseded_value:ok"] == 1
    assert len(answer["sessions"]) == 16
    assert (Fact.objects.count(), Observation.objects.count(), Project.objects.count()) == (0, 0, 1)


@pytest.mark.parametrize("content", ["", "{", '{"id": 1}', "[]", "\x00"])
def test_a_file_that_is_no_gold_is_refused_in_one_sentence(tmp_path: Path, content: str) -> None:
    path = tmp_path / "gold.jsonl"
    path.write_text(content)
    with pytest.raises(CommandError, match="gold"):
        run("score_distiller", str(path))
    with pytest.raises(CommandError, match="cannot be read"):
        run("score_distiller", str(tmp_path / "missing.jsonl"))
