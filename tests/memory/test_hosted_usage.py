"""What a provider, or a gateway before it, says beside its words: counts, reasons and dates that no API would send."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from werkzeug.wrappers import Response

from memory import distillation, session_memory, spending
from memory.models import DistillJob, Fact, JobStatus, Session
from tests import factories
from tests.factories import Cast
from tests.providers import Call, FakeProvider, fake_provider, handed_over

pytestmark = pytest.mark.django_db
SAID = "Please always write me an e-mail in the morning."
FACT = {
    "type": "user_preference",
    "key": "contact.channel",
    "value": "e-mail in the morning",
    "text": "The customer wants e-mails in the morning.",
    "about": "customer",
    "quotes": [{"observation": 1, "quote": "always write me an e-mail in the morning"}],
    "use": "actionable",
    "due": None,
    "expires_on": None,
    "state": None,
}


@pytest.fixture(scope="module")
def server() -> Iterator[FakeProvider]:
    with fake_provider() as provider:
        yield provider


@pytest.fixture(params=["anthropic", "openai"])
def hosted(request: pytest.FixtureRequest, server: FakeProvider, shop: Cast, settings: Any) -> FakeProvider:
    server.forget()
    server.connect(settings, shop.project, request.param)
    return server


@pytest.fixture
def session(shop: Cast, now: datetime) -> Session:
    made = factories.session(
        shop.support, "call-1", first_seen_at=now - timedelta(hours=1), last_seen_at=now - timedelta(minutes=10)
    )
    made.subjects.add(factories.subject(shop.project), through_defaults={"project_id": shop.project.pk})
    factories.observation(made, SAID, now=now - timedelta(minutes=10))
    return made


def read(session: Session, now: datetime) -> DistillJob:
    asked = distillation.request(session, now, ring=False)
    assert asked is not None
    job = distillation.run(asked.pk, now)
    assert job is not None
    return job


def bent(into: Any = 1_000, out: Any = 100, **fields: Any) -> Any:
    """An answer whose facts are good, and whose other fields are these."""

    def answer(call: Call) -> Response:
        body = json.loads(handed_over(call, {"facts": [FACT]}, "end", {}).get_data())
        names = (
            ("input_tokens", "output_tokens")
            if call.provider == "anthropic"
            else (
                "prompt_tokens",
                "completion_tokens",
            )
        )
        body["usage"].update(dict(zip(names, (into, out), strict=True)))
        where = body if call.provider == "anthropic" else body["choices"][0]
        reason = "stop_reason" if call.provider == "anthropic" else "finish_reason"
        if "reason" in fields:
            where[reason] = fields["reason"]
        body["usage"].update(fields.get("usage", {}))
        return Response(json.dumps(body), 200, mimetype="application/json")

    return answer


@pytest.mark.parametrize("told", [-50_000, -1, True, 10**12, 10**30, "many", 1.5, [], {}, None])
def test_a_count_that_cannot_be_is_counted_anew(
    hosted: FakeProvider, session: Session, shop: Cast, now: datetime, told: Any
) -> None:
    hosted.does(bent(told, told))
    assert read(session, now).status == JobStatus.DONE
    assert 0 < spending.spent_today(shop.project.pk, now) < 100_000


@pytest.mark.parametrize("reason", [[], {}, 7, ["stop"], "x" * 1_000])
def test_a_reason_of_any_form_is_none(hosted: FakeProvider, session: Session, now: datetime, reason: Any) -> None:
    hosted.does(bent(reason=reason))
    assert read(session, now).status == JobStatus.DONE


@pytest.mark.parametrize("cached", ["many", [], {"a": 1}, -50_000, 10**12, True])
def test_cached_counts_of_any_form_hide_nothing(
    hosted: FakeProvider, session: Session, shop: Cast, now: datetime, cached: Any
) -> None:
    hosted.does(bent(usage={"cache_read_input_tokens": cached, "cache_creation_input_tokens": cached}))
    assert read(session, now).status == JobStatus.DONE
    assert 1_000 <= spending.spent_today(shop.project.pk, now) < 100_000


@pytest.mark.parametrize("bad", [{"reason": []}, {"into": -5}, {"into": 10**12}])
def test_a_summary_is_made_whatever_stands_beside_the_notes(
    hosted: FakeProvider, session: Session, now: datetime, bad: dict[str, Any]
) -> None:
    hosted.does(bent(**bad))
    assert session_memory.sweep(now) == 1


@pytest.mark.parametrize("content", [7, "words", {"a": 1}, [7], [None], [{"type": "text", "text": 7}], [[]]])
def test_content_of_any_form_ends_as_a_reply(
    hosted: FakeProvider, session: Session, shop: Cast, now: datetime, content: Any
) -> None:
    def answer(call: Call) -> Response:
        body = json.loads(handed_over(call, {"facts": []}, "end", {}).get_data())
        where = body if call.provider == "anthropic" else body["choices"][0]["message"]
        where["content"] = content
        return Response(json.dumps(body), 200, mimetype="application/json")

    hosted.does(answer)
    job = read(session, now)
    assert job.error in ("unusable", "wrong_types", "")
    assert spending.spent_today(shop.project.pk, now) > 0


@pytest.mark.parametrize("type_", ["commitment", "user_preference", "note"])
@pytest.mark.parametrize(
    "day", ["9999-12-31", "0001-01-01", "9999-12-31T23:59:59-14:00", "0001-01-01T00:00:00+14:00", "2026-02-30", "-1"]
)
def test_days_at_the_ends_of_the_calendar_cost_no_fact(
    hosted: FakeProvider, session: Session, now: datetime, type_: str, day: str
) -> None:
    odd = {**FACT, "type": type_, "key": "odd", "due": day, "expires_on": day}
    hosted.gives([odd, FACT])
    assert read(session, now).status == JobStatus.DONE
    assert Fact.objects.filter(key="user_preference:contact.channel").exists()


def deep(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize("value", [deep(60), deep(400), 10**400, float("1e308"), {"a" * 5_000: 1}, "\x00", "\ud800"])
def test_values_of_any_form_cost_no_other_fact(
    hosted: FakeProvider, session: Session, now: datetime, value: Any
) -> None:
    hosted.gives([{**FACT, "key": "odd", "value": value, "text": "The customer likes odd things."}, FACT])
    assert read(session, now).status == JobStatus.DONE
    assert Fact.objects.filter(key="user_preference:contact.channel").exists()
