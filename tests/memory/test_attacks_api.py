"""What a hostile or broken agent sends: a sentence for it, nothing half-written, and nothing that breaks a page."""

from __future__ import annotations

import gzip
import json
import re
import secrets
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connections
from django.utils import timezone

from memory import agent_auth, api_limits, distillation
from memory.models import BriefServed, Fact, Observation, Session, Subject
from memory.models.lifetimes import default_expiry
from projects import tenancy
from tests.factories import Cast
from tests.memory.agent_client import AgentClient, Answer

pytestmark = pytest.mark.django_db
SAID = {"kind": "message", "role": "user", "text": "The port is 5433."}
FACT = {"type": "customer_fact", "key": "plan", "value": "gold", "subject": "customer:c1"}


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    agent_auth.forget()
    api_limits.forget()


@pytest.fixture
def agent(cast: Cast) -> AgentClient:
    return AgentClient(cast.keys["support"])


def refused(answer: Answer, status: int, code: str) -> dict[str, Any]:
    said = answer.json()
    assert (answer.status, said["code"], set(said)) == (status, code, {"code", "message", "field"})
    return said


def a_secret() -> str:
    # Made here, so that no scanner finds one in the source.
    return "gh" + "p_" + secrets.token_hex(18)


@pytest.mark.parametrize("offset", ["+15:59", "+16:00", "+23:59", "-23:59"])
def test_an_offset_that_postgres_does_not_know_costs_no_batch(agent: AgentClient, cast: Cast, offset: str) -> None:
    answer = agent.observe("s1", SAID, {**SAID, "occurred_at": f"2026-03-01T12:00:00{offset}"})
    assert (answer.status, answer.json()["accepted"]) == (202, 2)
    with tenancy.project(cast.project.pk):
        at = Observation.objects.order_by("seq").values_list("occurred_at", flat=True)[1]
    assert at == datetime.fromisoformat(f"2026-03-01T12:00:00{offset}")


@pytest.mark.parametrize("ends", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59", "0001-01-01T00:00:00+23:59"])
def test_an_end_near_the_ends_of_the_calendar_is_refused(agent: AgentClient, ends: str) -> None:
    assert refused(agent.post("facts", {**FACT, "expires_at": ends}), 422, "bad_value")["field"] == "expires_at"


def test_an_end_with_a_strange_offset_is_the_same_moment(agent: AgentClient, cast: Cast) -> None:
    assert agent.post("facts", {**FACT, "expires_at": "2099-01-01T00:00:00+23:59"}).status == 201
    with tenancy.project(cast.project.pk):
        assert Fact.objects.get().expires_at == datetime.fromisoformat("2099-01-01T00:00:00+23:59")


@pytest.mark.parametrize("due", ["0001-01-01", "9999-12-31", "9999-12-31T23:59:59-23:59"])
def test_a_promise_due_at_the_end_of_time_lives_as_long_as_any(due: str) -> None:
    now = datetime(2026, 3, 1, tzinfo=UTC)
    assert default_expiry("commitment", {"due_on": due}, now) == default_expiry("commitment", {}, now)


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("briefs", {"max_tokens": True}, "max_tokens"),
        ("briefs", {"max_tokens": False}, "max_tokens"),
        ("facts/lookup", {"key": "plan", "limit": True}, "limit"),
        ("facts/search", {"query": "plan", "limit": True}, "limit"),
        ("facts/search", {"query": "plan", "min_score": True}, "min_score"),
    ],
)
def test_true_is_no_number(agent: AgentClient, path: str, body: dict[str, Any], field: str) -> None:
    said = refused(agent.post(path, body), 422, "bad_value")
    assert (said["field"], said["message"]) == (field, "This must be a number.")


def test_a_nul_among_the_types_of_a_search_finds_nothing(agent: AgentClient) -> None:
    assert agent.post("facts/search", {"query": "port", "types": ["\x00"]}).json()["items"] == []


@pytest.mark.parametrize("place", ["subject", "type", "key", "value", "text", "entity_type"])
def test_no_secret_of_a_proposal_is_stored(agent: AgentClient, place: str) -> None:
    secret = a_secret()
    sent: dict[str, Any] = {"subject": f"customer:{secret}", "type": secret[:40], "entity_type": f"{secret}:c1"}
    body = {**FACT, ("subject" if place == "entity_type" else place): sent.get(place, f"it is {secret}")}
    answer = agent.post("facts", body)
    assert answer.status == 422
    assert secret not in answer.content.decode()
    assert secret.lower() not in everything_stored().lower()


@pytest.mark.parametrize("unseen", ["\u3164", "\u200b", "\U000e0080"])
@pytest.mark.parametrize("place", ["type", "key", "subject"])
def test_no_name_holds_what_nobody_sees(agent: AgentClient, unseen: str, place: str) -> None:
    refused(agent.post("facts", {**FACT, place: f"pl{unseen}an"}), 422, f"bad_{place}")


def test_the_name_of_an_unknown_field_is_told_in_short(agent: AgentClient) -> None:
    assert refused(agent.post("briefs", {"x" * 5_000: 1}), 422, "unknown_field")["field"] == "x" * 100


@pytest.mark.parametrize("secret", [a_secret(), "AK" + "IA" + "Q2W3E4R5T6Y7U2I3"], ids=["github", "aws"])
def test_no_secret_of_a_capture_is_stored_as_a_subject(agent: AgentClient, secret: str) -> None:
    for subject in (f"customer:{secret}", f"{secret}:c1"):
        assert refused(agent.observe("s1", SAID, subjects=[subject]), 422, "bad_subject")["field"] == "subjects.0"
    assert secret.lower() not in everything_stored().lower()


@pytest.mark.parametrize("unseen", ["\u200b", "\u3164", "\U000e0080"], ids=["zero width", "filler", "ignored"])
def test_a_secret_that_unseen_characters_cut_is_put_together_nowhere(
    agent: AgentClient, cast: Cast, unseen: str
) -> None:
    secret = a_secret()
    hidden = f"{secret[:7]}{unseen}{secret[7:20]}{unseen}{secret[20:]}"
    said = {**SAID, "text": f"Please always use the key {hidden} for deploys.", "tool": hidden, "paths": [hidden]}
    assert agent.observe("s1", {**said, "payload": {hidden: [hidden]}}, cwd=f"/src/{hidden}").status == 202
    assert agent.post("briefs", {"task": f"deploy with {hidden}"}).status == 200
    agent.post("facts", {**FACT, "key": "other", "text": "It is so.", "value": {hidden: hidden}})
    with tenancy.project(cast.project.pk):
        now = timezone.now()
        job = distillation.request(Session.objects.get(), now, ring=False)
    assert job is not None
    assert (read := distillation.run(job.pk, now)) is not None
    assert read.status == "done"
    stored = re.sub(r"\\U000e0080|\\u[0-9a-f]{4}", "", everything_stored()).replace(unseen, "")
    assert secret not in stored


def everything_stored() -> str:
    """Every row of every table of ours, as text."""
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE tablename ~ '^(memory|projects)_'")
        tables = [name for (name,) in cursor.fetchall()]
        rows = []
        for table in tables:
            cursor.execute(f'SELECT t::text FROM "{table}" t')
            rows += [row for (row,) in cursor.fetchall()]
    return "\n".join(rows)


def test_thousands_of_subjects_are_refused_before_any_is_read(
    agent: AgentClient, cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    from memory import capture_batch

    looked_at: list[str] = []
    read = capture_batch.subject_of
    monkeypatch.setattr(capture_batch, "subject_of", lambda *given: (looked_at.append(given[0]), read(*given))[1])
    refused(agent.observe("s1", SAID, subjects=[f"customer:{n}" for n in range(5_000)]), 422, "too_many")
    assert agent.observe("s1", SAID, subjects=["customer:1"] * 5_000).status == 202
    assert looked_at == ["customer:1"]
    with tenancy.project(cast.project.pk):
        assert Subject.objects.filter(entity_type="customer").count() == 1


@pytest.mark.parametrize("path", ["sessions/alice%40example.com/observations", "briefs", "me", "facts/f-000000"])
def test_a_wrong_method_is_told_as_json_and_not_logged(
    agent: AgentClient, caplog: pytest.LogCaptureFixture, path: str
) -> None:
    answer = agent.call("DELETE", path, b"")
    assert "only." in refused(answer, 405, "wrong_method")["message"]
    assert answer.headers["Allow"] in ("GET", "POST")
    assert not caplog.records


@pytest.mark.parametrize("path", ["sessions/s1/observations", "briefs", "facts", "sessions/s1/end"])
def test_a_compressed_body_is_refused_with_a_sentence(agent: AgentClient, path: str) -> None:
    body = gzip.compress(json.dumps({"observations": [SAID]}).encode())
    refused(agent.post(path, body, HTTP_CONTENT_ENCODING="gzip"), 415, "encoded_body")


@pytest.mark.parametrize("host", ["evil.example", "localhost@evil.example", "[::1"])
def test_a_brief_asked_for_by_a_foreign_host_name_is_not_served(agent: AgentClient, cast: Cast, host: str) -> None:
    for answer in (agent.get("brief", HTTP_HOST=host), agent.post("briefs", {}, HTTP_HOST=host)):
        assert "ALLOWED_HOSTS" in refused(answer, 400, "bad_host")["message"]
    with tenancy.project(cast.project.pk):
        assert not BriefServed.objects.exists()
