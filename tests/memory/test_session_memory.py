"""Session memory: an agent's own session, handed back to it for 48 hours, and to nobody else."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pytest_django import DjangoAssertNumQueries

from memory import agent_auth, session_memory, summarisers, summary
from memory.models import Observation, Session, SessionKind, SessionStatus
from projects import tenancy
from projects.models import ApiKey, AuditEvent
from tests import factories
from tests.factories import Cast
from tests.memory.agent_client import AgentClient, Answer

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 14, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.fixture(autouse=True)
def nothing_remembered() -> None:
    agent_auth.forget()


@pytest.fixture
def client(cast: Cast) -> AgentClient:
    return AgentClient(cast.keys["support"])


def message(text: str, role: str = "user", **fields: Any) -> dict[str, Any]:
    return {"kind": "message", "role": role, "text": text, **fields}


def heard(cast: Cast, *texts: str, name: str = "call-7", at: datetime = NOON, **fields: Any) -> Session:
    """A session in which these were said, a minute apart, the last one `at`."""
    first = at - len(texts) * MINUTE
    session = factories.session(fields.pop("agent", cast.support), name, first_seen_at=first, last_seen_at=at, **fields)
    for number, text in enumerate(texts, 1):
        factories.observation(session, text, now=first + number * MINUTE)
    return session


def more(session: Session, text: str, at: datetime, **fields: Any) -> Observation:
    row = factories.observation(session, text, now=at, **fields)
    Session.objects.filter(pk=session.pk).update(last_seen_at=at)
    return row


def handed(cast: Cast, name: str = "call-7", now: datetime = NOON, budget: int = 2000) -> session_memory.HandedBack:
    found = session_memory.hand_back(cast.support, name, budget, now)
    assert found is not None
    return found


# Over the wire -------------------------------------------------------------------------------------------------------


def test_a_session_has_the_documented_shape(cast: Cast, client: AgentClient) -> None:
    said = [message("My order is RF-2091."), message("I will look for it until Friday.", "assistant")]
    assert client.observe("call-7", *said, timezone="Europe/Berlin").status == 202
    answer = client.get("sessions/call-7/context?max_tokens=500")
    found = answer.json()
    assert answer.status == 200
    assert list(found) == [
        *("session", "text", "unreviewed", "why", "turns", "turns_left_out", "summary_by", "last_word_at", "ends_at"),
        *("tokens", "tokenizer", "budget"),
    ]
    assert (found["session"], found["unreviewed"], found["why"]) == ("call-7", True, "")
    assert (found["turns"], found["turns_left_out"], found["summary_by"]) == (2, 0, "local")
    assert (found["tokenizer"], found["budget"]) == ("o200k_base", 500)
    assert 0 < found["tokens"] <= 500
    assert "RF-2091" in found["text"]
    assert "support: I will look for it until Friday." in found["text"]
    ends = datetime.fromisoformat(found["ends_at"]) - datetime.fromisoformat(found["last_word_at"])
    assert ends == timedelta(hours=48)
    with tenancy.project(cast.project.pk):
        (event,) = AuditEvent.objects.filter(action="session.read")
        assert (event.actor_id, event.object_kind, event.count) == (cast.support.pk, "session", 1)


def test_a_session_of_somebody_else_answers_as_what_never_was(cast: Cast, client: AgentClient) -> None:
    for key in ("sales", "foreign"):
        assert AgentClient(cast.keys[key]).observe("theirs", message("Secret plans.")).status == 202
    with tenancy.project(cast.project.pk):
        heard(cast, "Brought in.", name="import-1", kind=SessionKind.IMPORT)
    never = client.get("sessions/never/context")
    assert never.status == 404
    for name in ("theirs", "import-1", "a%0Ab", "%20", "x" * 3000):
        answer = client.get(f"sessions/{name}/context")
        assert (answer.status, answer.content) == (404, never.content), name
    with tenancy.system("command"):
        assert not AuditEvent.objects.filter(action="session.read").exists()


def test_two_agents_may_call_a_session_by_the_same_name(cast: Cast, client: AgentClient) -> None:
    client.observe("call-7", message("Ours."))
    AgentClient(cast.keys["sales"]).observe("call-7", message("Theirs."))
    text = client.get("sessions/call-7/context").json()["text"]
    assert "Ours." in text
    assert "Theirs." not in text


def test_an_id_with_slashes_is_one_id(client: AgentClient) -> None:
    client.observe("thread/7/a", message("Hello there."))
    assert "Hello there." in client.get("sessions/thread/7/a/context").json()["text"]


@pytest.mark.parametrize(
    "query", ["max_tokens=-1", "max_tokens=x", "max_tokens=1000001", "tokens=5", "max_tokens=5&a=b"]
)
def test_what_does_not_fit_is_refused(client: AgentClient, query: str) -> None:
    client.observe("call-7", message("Hello."))
    assert client.get(f"sessions/call-7/context?{query}").status == 422


def test_it_needs_the_permission_to_read_briefs(cast: Cast) -> None:
    with tenancy.system("command"):
        _, key = ApiKey.objects.issue(cast.support, cast.olga, permissions=("capture", "propose"))
    assert AgentClient(key).observe("call-7", message("Hello.")).status == 202
    answer = AgentClient(key).get("sessions/call-7/context")
    assert (answer.status, answer.json()["code"]) == (403, "not_permitted")


@pytest.mark.parametrize("who", ["agent", "project"])
def test_a_paused_agent_is_told_so_and_nothing_else(cast: Cast, client: AgentClient, who: str) -> None:
    client.observe("call-7", message("Hello."))
    with tenancy.system("command"):
        (cast.support if who == "agent" else cast.project).pause(NOON)
    agent_auth.forget()
    found = client.get("sessions/call-7/context").json()
    assert (found["text"], found["why"], found["tokens"], found["last_word_at"]) == ("", "paused", 0, None)


def test_what_was_handed_back_is_no_news_when_it_is_captured(cast: Cast, client: AgentClient) -> None:
    client.observe("call-7", message("My order is RF-2091."))
    before: Answer = client.get("sessions/call-7/context")
    for carried in (before.json()["text"], before.content.decode()):
        client.observe("call-7", {"kind": "tool_result", "role": "tool", "tool": "curl", "text": carried})
    assert client.get("sessions/call-7/context").json()["text"] == before.json()["text"]
    with tenancy.project(cast.project.pk):
        assert Observation.objects.filter(kind="brief").count() == 2


# What it holds -------------------------------------------------------------------------------------------------------


def test_after_48_hours_nothing_is_handed_back_and_the_summary_is_gone(shop: Cast) -> None:
    session = heard(shop, "My order is RF-2091.")
    assert session_memory.sweep(NOON + MINUTE) == 1
    last = NOON + timedelta(hours=48)
    assert "RF-2091" in handed(shop, now=last - MINUTE).text
    found = handed(shop, now=last)
    assert (found.text, found.why, found.tokens) == ("", "expired", 0)
    session.refresh_from_db()
    assert session.summary
    session_memory.sweep(last)
    session.refresh_from_db()
    assert (session.summary, session.summary_by, session.summary_through) == ("", "", 0)


def test_a_session_that_goes_on_after_all_is_summed_up_anew(shop: Cast) -> None:
    session = heard(shop, "My order is RF-2091.")
    later = NOON + timedelta(hours=60)
    session_memory.sweep(NOON + MINUTE)
    session_memory.sweep(later)
    more(session, "It is still not here.", later)
    assert session_memory.sweep(later + MINUTE) == 1
    session.refresh_from_db()
    assert "RF-2091" in session.summary
    assert "still not here" in session.summary


def test_a_session_without_words_says_so(shop: Cast) -> None:
    session = heard(shop)
    factories.observation(session, "# What is known", kind="brief", role="system", now=NOON)
    assert (handed(shop).text, handed(shop).why) == ("", "nothing said")
    more(session, "Hello.", NOON)
    assert (handed(shop, budget=5).text, handed(shop, budget=5).why) == ("", "did not fit")


def test_a_session_about_somebody_who_is_frozen_is_withheld(shop: Cast) -> None:
    session = heard(shop, "Please delete all about me.")
    subject = factories.subject(shop.project)
    session.subjects.add(subject, through_defaults={"project_id": shop.project.pk})
    assert handed(shop).why == ""
    subject.frozen_at = NOON
    subject.save()
    assert (handed(shop).text, handed(shop).why) == ("", "withheld")


def test_only_what_was_said_and_done_is_in_it(shop: Cast) -> None:
    session = heard(shop, "Where is parcel 8811?")
    for kind, role in (("brief", "system"), ("summary", "assistant"), ("meta", "user"), ("usage", "assistant")):
        more(session, f"{kind} 7777", NOON, kind=kind, role=role)
    more(session, "system 7777", NOON, role="system")
    more(session, "aside 7777", NOON, role="assistant", sidechain=True)
    ours = (
        "# What is known · project shop · for agent support\nCountersigned by people.\n\n## Standing\n- [f-2k81hd] 7777"
    )
    more(session, f"Before.\n{ours}\n\nAfter.", NOON)
    session_memory.sweep(NOON + MINUTE)
    for text in (handed(shop).text, Session.objects.get().summary):
        assert "7777" not in text
    assert "user: Before. After." in handed(shop).text
    assert "8811" in handed(shop).text


def test_times_are_those_of_the_session(shop: Cast) -> None:
    session = heard(shop, "Hello there.", timezone="Asia/Tokyo")
    session.observations.update(occurred_at=datetime(2026, 11, 14, 20, 30, tzinfo=UTC))
    assert "- 2026-11-15 05:30 user: Hello there." in handed(shop).text


def test_early_words_survive_a_long_session_with_a_small_budget(shop: Cast) -> None:
    session = heard(shop, "My name is Nora Lindqvist, order RF-2091.")
    rows = [
        Observation(
            project_id=shop.project.pk,
            session=session,
            seq=number,
            kind="message",
            role="assistant",
            text=f"Step {number} is done, next one.",
            original_length=30,
            occurred_at=NOON,
            occurred_source="server",
            received_at=NOON,
        )
        for number in range(2, 1400)
    ]
    Observation.objects.bulk_create(rows)
    Session.objects.update(last_seen_at=NOON)
    swept = [session_memory.sweep(NOON + number * MINUTE) for number in range(1, 6)]
    assert swept == [1, 1, 1, 0, 0]
    found = handed(shop, budget=300, now=NOON + MINUTE)
    assert "Nora Lindqvist" in found.text
    assert "RF-2091" in found.text
    assert "Step 1399" in found.text
    assert found.turns + found.turns_left_out == 1399


# The sweep -----------------------------------------------------------------------------------------------------------


def test_the_sweep_takes_what_settled_and_the_rest_next_time(shop: Cast) -> None:
    session = heard(shop, "Order 1111.")
    more(session, "Order 2222.", NOON + MINUTE)
    assert session_memory.sweep(NOON + MINUTE) == 1
    session.refresh_from_db()
    assert "1111" in session.summary
    assert "2222" not in session.summary
    # It is handed back all the same.
    assert "2222" in handed(shop, now=NOON + MINUTE).text.split("## Last turns")[0]
    assert session_memory.sweep(NOON + 2 * MINUTE) == 1
    session.refresh_from_db()
    assert session.summary == "Asked first: user, 2026-11-14: Order 1111.\nNumbers: Order 1111 · Order 2222"
    assert session.summary_by == "local"
    assert session_memory.sweep(NOON + 3 * MINUTE) == 0


def test_the_sweep_looks_at_nothing_twice(shop: Cast, django_assert_max_num_queries: DjangoAssertNumQueries) -> None:
    for number in range(5):
        heard(shop, "Hello.", name=f"call-{number}", status=SessionStatus.DISTILLED)
    heard(shop, name="silent")
    session_memory.sweep(NOON + MINUTE)
    with django_assert_max_num_queries(7):
        assert session_memory.sweep(NOON + 2 * MINUTE) == 0


def test_of_two_sweeps_at_once_the_first_one_counts(shop: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    session = heard(shop, "Order 1111.")

    class Slow(summary.LocalSummariser):
        def summarise(self, previous: str, turns: Any) -> str:
            monkeypatch.undo()
            assert session_memory.summarise(session.pk, NOON + MINUTE)
            return "the later one"

    monkeypatch.setattr(summarisers, "LocalSummariser", Slow)
    assert not session_memory.summarise(session.pk, NOON + MINUTE)
    session.refresh_from_db()
    assert "1111" in session.summary


def test_an_import_is_not_summed_up(shop: Cast) -> None:
    heard(shop, "Brought in 1111.", kind=SessionKind.IMPORT)
    assert session_memory.sweep(NOON + MINUTE) == 0


def test_handing_back_takes_a_bounded_number_of_queries(
    shop: Cast, client: AgentClient, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    heard(shop, *(f"Order {number}." for number in range(1000, 1120)), at=datetime.now(UTC))
    client.get("me")
    with django_assert_max_num_queries(14):
        assert client.get("sessions/call-7/context?max_tokens=1500").status == 200
