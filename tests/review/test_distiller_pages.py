"""Who reads, what it costs and what went wrong: who may see and change it, and that no key and no markup gets out."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from memory import distillation
from memory.models import DistillJob, JobStatus, ModelCall, Session, SessionStatus
from memory.spending import Spent
from projects.models import AuditEvent, Project
from review.pages.distiller_pages import WHY
from review.templatetags.humane import cost
from tests import factories
from tests.factories import Cast

pytestmark = [pytest.mark.django_db(databases="__all__"), pytest.mark.usefixtures("sight")]
CHOICE = {"distiller": "anthropic", "distiller_model": "claude-sonnet-5-5", "daily_token_cap": "250000"}


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    ids: list[int] = []
    monkeypatch.setattr(distillation, "async_task", lambda name, job_id: ids.append(job_id))
    return ids


def words(response: Any) -> str:
    return response.content.decode()


def run(cast: Cast, name: str = "call-1", status: str = JobStatus.FAILED, **fields: Any) -> DistillJob:
    state = SessionStatus.FAILED if status == JobStatus.FAILED else SessionStatus.IDLE
    session = factories.session(cast.support, name, status=state)
    factories.observation(session, "Write me an e-mail.")
    base = {"error": "unusable", "attempts": 3, "distiller": "anthropic:claude-haiku-5-5", "prompt_version": "1"}
    through = {"through": 1, "input_hash": f"{session.pk:064d}"}
    return DistillJob.objects.create(project=cast.project, session=session, status=status, **(base | through | fields))


def call(cast: Cast, job: DistillJob | None = None, **fields: Any) -> ModelCall:
    base: dict[str, Any] = {
        "purpose": "distill",
        "provider": "anthropic",
        "model": "claude-haiku-5-5",
        "outcome": "ok",
        "input_tokens": 12_000,
        "output_tokens": 345,
        "cost_usd": Decimal("0.0014"),
        "at": timezone.now(),
    }
    return ModelCall.objects.create(project=cast.project, job=job, **(base | fields))


# Who reads -----------------------------------------------------------------------------------------------------------


def test_everybody_in_the_project_sees_who_reads(
    client: Client, cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    client.force_login(cast.vera)
    with django_assert_max_num_queries(22):
        page = words(client.get("/p/shop/distiller"))
    assert "Sessions are read by the local reader" in page
    assert "An owner of Shop changes this." in page
    assert 'action="/p/shop/distiller"' not in page


def test_an_owner_chooses_and_it_is_in_the_audit(client: Client, cast: Cast, settings: Any) -> None:
    settings.ANTHROPIC_API_KEY = "sk-ant-very-secret"
    client.force_login(cast.olga)
    answer = client.post("/p/shop/distiller", CHOICE, follow=True)
    page = words(answer)
    assert "Sessions are read by claude-sonnet-5-5 of Anthropic." in page
    project = Project.objects.get(slug="shop")
    assert (project.distiller, project.distiller_model, project.local_only, project.daily_token_cap) == (
        "anthropic",
        "claude-sonnet-5-5",
        False,
        250_000,
    )
    assert AuditEvent.objects.filter(action="project.change").count() == 1


@pytest.mark.parametrize("who", ["vera", "rita"])
def test_nobody_but_an_owner_chooses(client: Client, cast: Cast, who: str) -> None:
    client.force_login(getattr(cast, who))
    assert client.post("/p/shop/distiller", CHOICE).status_code == 403
    assert Project.objects.get(slug="shop").distiller == "local"


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"distiller": "somebody"}, "Select a valid choice"),
        ({"distiller_model": "a model"}, "A model’s name has no blanks in it."),
        ({"distiller_model": "x" * 101}, "at most 100 characters"),
        ({"daily_token_cap": "-1"}, "greater than or equal to 0"),
        ({"daily_token_cap": "9999999999"}, "less than or equal to 2000000000"),
        ({"daily_token_cap": ""}, "required"),
    ],
)
def test_nonsense_is_refused_beside_its_field(
    client: Client, cast: Cast, fields: dict[str, str], sentence: str
) -> None:
    client.force_login(cast.olga)
    answer = client.post("/p/shop/distiller", CHOICE | fields)
    assert answer.status_code == 422
    assert sentence in words(answer).replace("&#x27;", "’")
    assert Project.objects.get(slug="shop").distiller == "local"


def test_the_page_says_which_keys_are_set_and_never_the_key(client: Client, cast: Cast, settings: Any) -> None:
    settings.ANTHROPIC_API_KEY, settings.OPENAI_API_KEY = "sk-ant-very-secret", ""
    settings.OPENAI_BASE_URL = "http://user:pass-of-nobody@llm.internal/v1"
    client.force_login(cast.olga)
    page = words(client.get("/p/shop/distiller"))
    assert "<code>ANTHROPIC_API_KEY</code> is set." in page
    assert "<code>OPENAI_API_KEY</code> is not set; it is reached at an address of your own." in page
    for secret in ("very-secret", "pass-of-nobody", "llm.internal"):
        assert secret not in page


@pytest.mark.parametrize(
    ("fields", "keys", "sentence"),
    [
        ({}, False, "No key is set for it, so the local reader reads."),
        ({"local_only": True}, True, "The project is local only, so the local reader reads."),
        ({"daily_token_cap": 0}, True, "limit is used up, so the local reader reads until midnight UTC."),
    ],
)
def test_the_page_says_why_the_local_reader_stands_in(
    client: Client, cast: Cast, settings: Any, fields: dict[str, Any], keys: bool, sentence: str
) -> None:
    settings.ANTHROPIC_API_KEY = "k" if keys else ""
    Project.objects.filter(slug="shop").update(distiller="anthropic", **fields)
    client.force_login(cast.vera)
    assert sentence in words(client.get("/p/shop/distiller"))


def test_a_new_choice_wakes_what_waited_for_the_old_one(client: Client, cast: Cast) -> None:
    later = timezone.now() + timedelta(hours=5)
    job = run(cast, status=JobStatus.RETRY, error="bad_key", waits=9, lease_until=later)
    client.force_login(cast.olga)
    client.post("/p/shop/distiller", CHOICE | {"distiller": "local"})
    job.refresh_from_db()
    assert job.lease_until is not None
    assert job.lease_until <= timezone.now()


# A strip on every page -----------------------------------------------------------------------------------------------


def test_every_page_says_that_the_limit_took_over_today(client: Client, cast: Cast) -> None:
    Project.objects.filter(slug="shop").update(distiller="anthropic")
    now = timezone.now()
    job = run(cast, status=JobStatus.DONE, fell_back="daily_cap", finished_at=now)
    client.force_login(cast.vera)
    strip = f"Today’s tokens were used up at {now:%H:%M}: the local reader took over."
    assert strip in words(client.get("/p/shop/review"))
    assert strip in words(client.get("/p/shop/memory"))
    # Once the provider was called again, the strip is gone; and it ends with the day.
    call(cast, at=now + timedelta(seconds=1))
    assert strip not in words(client.get("/p/shop/review"))
    ModelCall.objects.all().delete()
    DistillJob.objects.filter(pk=job.pk).update(finished_at=now - timedelta(days=1))
    assert strip not in words(client.get("/p/shop/review"))


def test_a_project_that_reads_locally_pays_no_query_for_the_strip(
    client: Client, cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    from memory import spending

    with django_assert_num_queries(0):
        assert spending.capped_since(cast.project, timezone.now()) is None


# Spending ------------------------------------------------------------------------------------------------------------


def test_spending_says_in_its_own_words_that_there_is_none(client: Client, cast: Cast) -> None:
    client.force_login(cast.vera)
    assert "Nothing was sent to a provider." in words(client.get("/p/shop/spending"))
    Project.objects.filter(slug="shop").update(distiller="openai")
    assert "Nothing was sent to a provider yet." in words(client.get("/p/shop/spending"))


def test_tokens_and_cost_stand_per_day_run_and_project(
    client: Client, cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    first, second = run(cast, "call-1", JobStatus.DONE), run(cast, "call-2", JobStatus.DONE)
    for _ in range(2):
        call(cast, first)
    call(cast, second, outcome="unusable")
    call(cast, second, model="llama-4", cost_usd=None)
    call(cast, None, at=timezone.now() - timedelta(days=3))
    factories_other = ModelCall.objects.create(
        project=cast.other, purpose="distill", provider="openai", model="of-another-project", at=timezone.now()
    )
    assert factories_other.pk
    client.force_login(cast.vera)
    with django_assert_max_num_queries(24):
        page = words(client.get("/p/shop/spending"))
    assert "61,725 tokens in 5 calls in the last 30 days, $0.0056 and an unknown part." in page
    assert "call-1" in page
    assert "24,690" in page  # both calls of the first run
    assert "1 in trouble" in page
    assert "unknown cost" in page
    assert "of-another-project" not in page


def test_the_page_asks_no_more_for_many_runs(
    client: Client, cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number in range(30):
        call(cast, run(cast, f"call-{number}", JobStatus.DONE))
    client.force_login(cast.vera)
    with django_assert_max_num_queries(24):
        client.get("/p/shop/spending")


@pytest.mark.parametrize(
    ("spent", "shown"),
    [
        (Spent(1, 1, 1, Decimal("1234.5"), 0, 0), "$1,234.50"),
        (Spent(1, 1, 1, Decimal("0.0014"), 0, 0), "$0.0014"),
        (Spent(1, 1, 1, Decimal("0.00001"), 0, 0), "under $0.0001"),
        (Spent(1, 0, 0, Decimal(0), 0, 1), "$0.00"),
        (Spent(2, 1, 1, Decimal(0), 2, 0), "unknown cost"),
        (Spent(3, 1, 1, Decimal(0), 2, 1), "$0 and an unknown part"),
        (Spent(3, 1, 1, Decimal("0.5"), 2, 1), "$0.50 and an unknown part"),
    ],
)
def test_money_is_never_shown_as_less_than_it_is(spent: Spent, shown: str) -> None:
    assert cost(spent) == shown


# Runs in trouble -----------------------------------------------------------------------------------------------------


def test_a_project_without_trouble_says_so(client: Client, cast: Cast) -> None:
    run(cast, status=JobStatus.DONE, error="")
    client.force_login(cast.vera)
    assert "Every session that was over could be read." in words(client.get("/p/shop/runs"))


def test_a_run_in_trouble_is_shown_with_its_class_its_starts_and_the_redacted_reply(
    client: Client, cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    job = run(cast, raw_reply="<script>alert(1)</script> [secret: openai-key] \u202ebidi")
    call(cast, job, outcome="unusable")
    client.force_login(cast.vera)
    with django_assert_max_num_queries(24):
        page = words(client.get("/p/shop/runs"))
    assert "failed after 3 starts" in page
    assert str(WHY["unusable"][0]) in page
    assert ">unusable<" in page
    assert "anthropic:claude-haiku-5-5" in page
    assert "12,345" in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; [secret: openai-key]" in page
    assert "<script>alert" not in page
    assert "U+202E right-to-left override" in page
    assert "Run again" not in page, "a viewer only looks"
    event = AuditEvent.objects.get(action="reply.open")
    assert event.object_ids == [job.session_id]


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({"status": JobStatus.PARTIAL, "error": "truncated"}, "read in part"),
        ({"status": JobStatus.RETRY, "error": "bad_key", "waits": 3}, "waits for the provider"),
        ({"status": JobStatus.RETRY, "error": "unusable", "attempts": 2}, "waits after start 2 of 3"),
        ({"error": "unavailable", "waits": 150}, "failed after 150 pauses"),
        ({"error": "WorkerDied"}, "failed after 3 starts"),
        ({"error": "ValueError"}, "It ended with ValueError."),
    ],
)
def test_each_state_is_said_in_words(client: Client, cast: Cast, fields: dict[str, Any], state: str) -> None:
    run(cast, **fields)
    client.force_login(cast.rita)
    assert state in words(client.get("/p/shop/runs"))


def test_every_word_for_a_trouble_has_its_sentence() -> None:
    from memory.distillers.hosted import prompt
    from memory.distillers.hosted.calls import WAITS

    assert {*WAITS, *prompt.COMPLAINTS, "too_long", "bad_request", distillation.DIED} == set(WHY)


def test_a_session_that_was_read_since_is_in_no_trouble(client: Client, cast: Cast) -> None:
    job = run(cast)
    DistillJob.objects.create(
        project=cast.project, session=job.session, status=JobStatus.DONE, through=2, input_hash="2", distiller="local"
    )
    client.force_login(cast.rita)
    assert "call-1" not in words(client.get("/p/shop/runs"))


def test_a_reviewer_runs_one_again(
    client: Client, cast: Cast, rung: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    job = run(cast)
    client.force_login(cast.rita)
    assert "Run again" in words(client.get("/p/shop/runs"))
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post(f"/p/shop/runs/{job.pk}/again", follow=True)
    assert "It is read again in a moment." in words(answer)
    job.refresh_from_db()
    assert (job.status, job.attempts, job.error, rung) == (JobStatus.QUEUED, 0, "", [job.pk])
    assert Session.objects.get(pk=job.session_id).status == SessionStatus.IDLE


def test_one_that_waits_is_tried_now(
    client: Client, cast: Cast, rung: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    later = timezone.now() + timedelta(hours=1)
    job = run(cast, status=JobStatus.RETRY, error="rate_limited", waits=2, attempts=0, lease_until=later)
    beside = run(cast, "call-2", status=JobStatus.RETRY, error="rate_limited", attempts=0, lease_until=later)
    broken = run(cast, "call-3", status=JobStatus.RETRY, error="unusable", attempts=1, lease_until=later)
    client.force_login(cast.rita)
    assert "Try now" in words(client.get("/p/shop/runs"))
    with django_capture_on_commit_callbacks(execute=True):
        client.post(f"/p/shop/runs/{job.pk}/again")
        client.post(f"/p/shop/runs/{broken.pk}/again")
    assert rung == [job.pk, broken.pk]
    beside.refresh_from_db()
    assert beside.lease_until is not None
    assert beside.lease_until <= timezone.now()


def test_all_are_run_again_with_one_press(
    client: Client, cast: Cast, rung: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    jobs = [run(cast, f"call-{number}") for number in range(3)]
    client.force_login(cast.rita)
    with django_capture_on_commit_callbacks(execute=True):
        answer = client.post("/p/shop/runs/again", follow=True)
    assert "3 runs are read again." in words(answer)
    assert sorted(rung) == [job.pk for job in jobs]


@pytest.mark.parametrize("path", ["runs/{pk}/again", "runs/again"])
def test_a_viewer_and_a_stranger_run_nothing_again(client: Client, cast: Cast, path: str) -> None:
    address = f"/p/shop/{path}".format(pk=run(cast).pk)
    client.force_login(cast.vera)
    assert client.post(address).status_code == 403
    client.force_login(cast.sam)
    assert client.post(address).status_code == 404
    assert DistillJob.objects.get().status == JobStatus.FAILED


def test_a_run_of_another_project_is_none(client: Client, cast: Cast) -> None:
    session = factories.session(cast.foreign, "theirs")
    theirs = DistillJob.objects.create(
        project=cast.other, session=session, status=JobStatus.FAILED, through=1, input_hash="1", distiller="local"
    )
    client.force_login(cast.rita)
    assert client.post(f"/p/shop/runs/{theirs.pk}/again").status_code == 404
    assert "theirs" not in words(client.get("/p/shop/runs"))


def test_long_lists_are_paged(client: Client, cast: Cast) -> None:
    for number in range(53):
        run(cast, f"call-{number}")
    client.force_login(cast.rita)
    page = words(client.get("/p/shop/runs"))
    assert page.count('id="run-') == 50
    following = page.partition('class="push" href="')[2].partition('"')[0]
    second = words(client.get(f"/p/shop/runs{following}"))
    assert second.count('id="run-') == 3
    assert "First page" in second


# Elsewhere -----------------------------------------------------------------------------------------------------------


def test_health_says_what_readings_wait_for(client: Client, cast: Cast) -> None:
    for number in range(2):
        run(cast, f"call-{number}", status=JobStatus.RETRY, error="bad_key", waits=1)
    run(cast, "call-9")
    client.force_login(cast.vera)
    page = words(client.get("/p/shop/health"))
    assert "2 sessions wait. The provider refuses the key. Set a valid key and start Countersign again." in page
    assert "1 session could not be read." in page
    assert '/p/shop/runs">' in page


def test_a_failed_session_is_read_again_from_its_own_page(
    client: Client, cast: Cast, rung: list[int], django_capture_on_commit_callbacks: Any
) -> None:
    from memory import short_ids

    job = run(cast)
    session = job.session
    job.delete()
    job = distillation.request(session, timezone.now(), ring=False)
    assert job is not None
    DistillJob.objects.filter(pk=job.pk).update(status=JobStatus.FAILED, attempts=3)
    client.force_login(cast.rita)
    with django_capture_on_commit_callbacks(execute=True):
        client.post(f"/sessions/{short_ids.encode(session.pk, 's')}/distill")
    job.refresh_from_db()
    assert (job.status, job.attempts, rung) == (JobStatus.QUEUED, 0, [job.pk])


def test_days_are_told_apart_in_utc(cast: Cast) -> None:
    from memory import spending

    late = datetime(2026, 11, 29, 23, 59, tzinfo=UTC)
    call(cast, at=late)
    assert spending.spent_today(cast.project.pk, late) == 12_345
    assert spending.spent_today(cast.project.pk, late + timedelta(minutes=2)) == 0
