"""The writer: one commit for what waits, a fast refusal when it cannot, and nothing promised that is not stored."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import DataError, OperationalError

from memory import agent_auth, api_limits, capture, capture_writer
from memory.api_errors import Unavailable
from memory.capture_batch import Batch, Receipt
from memory.capture_store import OutcomeUnknown
from memory.capture_writer import NotInTime, Writer
from memory.models import Observation
from memory.transcript import Incoming
from projects import tenancy
from tests import factories
from tests.memory.agent_client import AgentClient

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
ENOUGH = 10  # seconds that a passing test never waits


def batch(name: str, project_id: int = 1, rows: int = 1) -> Batch:
    made = Batch(project_id=project_id, agent_id=1, session=name, now=NOW)
    for number in range(rows):
        made.add(number, Incoming(kind="message", role="user", text="x", id=str(number)))
    return made


class Store:
    """Stands in for the database: remembers each commit, waits when told, fails when told."""

    def __init__(self) -> None:
        self.commits: list[list[str]] = []
        self.started = threading.Event()
        self.goes_on = threading.Event()
        self.goes_on.set()
        self.fails: Callable[[list[str]], Exception | None] = lambda names: None

    def __call__(self, batches: Sequence[Batch]) -> list[Receipt]:
        names = [one.session for one in batches]
        self.started.set()
        assert self.goes_on.wait(ENOUGH)
        self.commits.append(names)
        problem = self.fails(names)
        if problem is not None:
            raise problem
        return [one.receipt(len(one.rows)) for one in batches]

    def hold(self) -> None:
        self.started.clear()
        self.goes_on.clear()


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Store:
    made = Store()
    monkeypatch.setattr(capture_writer, "store", made)
    monkeypatch.setattr(capture_writer, "_connect", lambda: None)
    return made


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture_writer, "PATIENCE_SECONDS", ENOUGH)


@pytest.fixture
def writer() -> Iterator[Writer]:
    made = Writer()
    made._is_warm = True
    yield made
    made.stop()


def queued(writer: Writer, pool: ThreadPoolExecutor, *batches: Batch) -> list[Any]:
    """Hands them over from threads of their own, each once the one before it is in the queue."""
    futures = []
    for one in batches:
        before = len(writer._queue)
        futures.append(pool.submit(writer.write, one))
        while len(writer._queue) == before:
            assert not futures[-1].done()
    return futures


def test_what_waits_is_committed_together_by_project(writer: Writer, store: Store, patient: None) -> None:
    with ThreadPoolExecutor(5) as pool:
        store.hold()
        first = pool.submit(writer.write, batch("first"))
        assert store.started.wait(ENOUGH)
        rest = queued(writer, pool, batch("a"), batch("foreign", project_id=2), batch("b"))
        store.goes_on.set()
        assert [one.result()["accepted"] for one in (first, *rest)] == [1, 1, 1, 1]
    assert store.commits == [["first"], ["a", "b"], ["foreign"]]


def test_one_bad_batch_does_not_cost_the_others(writer: Writer, store: Store, patient: None) -> None:
    store.fails = lambda names: ValueError() if "bad" in names else None
    with ThreadPoolExecutor(5) as pool:
        store.hold()
        pool.submit(writer.write, batch("first"))
        assert store.started.wait(ENOUGH)
        good, bad = queued(writer, pool, batch("good"), batch("bad"))
        store.goes_on.set()
        assert good.result()["accepted"] == 1
        with pytest.raises(ValueError):  # noqa: PT011 - the store's own
            bad.result()
    assert store.commits == [["first"], ["good", "bad"], ["good"], ["bad"]]


def test_a_commit_that_takes_too_long_is_not_promised(writer: Writer, store: Store) -> None:
    store.hold()
    with pytest.raises(NotInTime):
        writer.write(batch("slow"))
    store.goes_on.set()


def test_a_batch_whose_caller_has_gone_is_not_written_any_more(
    writer: Writer, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ThreadPoolExecutor(1) as pool:
        store.hold()
        monkeypatch.setattr(capture_writer, "PATIENCE_SECONDS", ENOUGH)
        first = pool.submit(writer.write, batch("first"))
        assert store.started.wait(ENOUGH)
        monkeypatch.setattr(capture_writer, "PATIENCE_SECONDS", 0.0)
        with pytest.raises(NotInTime):
            writer.write(batch("gone"))
        store.goes_on.set()
        assert first.result()["accepted"] == 1
    writer.stop()
    assert store.commits == [["first"]]


def test_a_full_queue_refuses_at_once(writer: Writer, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capture_writer, "MOST_WAITING_ROWS", 0)
    monkeypatch.setattr(capture_writer, "PATIENCE_SECONDS", ENOUGH)
    with ThreadPoolExecutor(5) as pool:
        store.hold()
        first = pool.submit(writer.write, batch("first"))
        assert store.started.wait(ENOUGH)
        waits = queued(writer, pool, batch("waits"))
        with pytest.raises(NotInTime):
            writer.write(batch("too many"))
        store.goes_on.set()
        assert [one.result()["accepted"] for one in (first, *waits)] == [1, 1]
    assert (writer._rows, writer._characters) == (0, 0)


def test_a_lost_connection_is_tried_once_more_and_then_not_promised(
    writer: Writer, store: Store, patient: None
) -> None:
    store.fails = lambda names: OperationalError() if len(store.commits) < 2 else None
    assert writer.write(batch("a"))["accepted"] == 1
    store.fails = lambda names: OperationalError()
    with pytest.raises(NotInTime):
        writer.write(batch("b"))
    assert store.commits == [["a"], ["a"], ["b"], ["b"]]


def test_an_unknown_outcome_is_never_tried_again(writer: Writer, store: Store, patient: None) -> None:
    store.fails = lambda names: OutcomeUnknown()
    with pytest.raises(NotInTime):
        writer.write(batch("a"))
    assert store.commits == [["a"]]


def test_a_fault_of_ours_is_no_time_out(writer: Writer, store: Store, patient: None) -> None:
    store.fails = lambda names: DataError()
    with pytest.raises(DataError):
        writer.write(batch("a"))


def test_the_writer_is_there_again_after_it_was_stopped(writer: Writer, store: Store, patient: None) -> None:
    writer.write(batch("a"))
    writer.stop()
    assert writer.write(batch("b"))["accepted"] == 1


@pytest.fixture
def threaded(settings: Any, patient: None, transactional_db: None) -> Iterator[None]:
    """As in production: the writer and the look-up of keys on threads, with connections of their own."""
    settings.CAPTURE_WRITER = "thread"
    agent_auth.forget()
    api_limits.forget()
    yield
    capture_writer.writer.stop()
    agent_auth.stop()


@pytest.mark.django_db(transaction=True)
def test_accepted_means_committed_also_by_many_at_once(threaded: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_auth, "LOOKUP_PATIENCE_SECONDS", ENOUGH)
    cast = factories.cast()
    agents = [AgentClient(cast.keys[name]) for name in ("support", "sales", "foreign")]

    def call(number: int) -> tuple[int, int]:
        # Each observation is sent three times over, by three calls that run at once.
        observation = {"kind": "message", "role": "user", "text": f"line {number}", "id": str(number // 3)}
        answer = agents[0].observe("s", observation)
        assert answer.status == 202
        return answer.json()["accepted"], answer.json()["duplicates"]

    with ThreadPoolExecutor(6) as pool:
        said = list(pool.map(call, range(90)))
    assert sum(accepted for accepted, _ in said) == 30
    assert sum(duplicates for _, duplicates in said) == 60
    for agent in agents[1:]:
        assert agent.observe("s", {"kind": "message", "role": "user", "text": "x", "id": "0"}).json()["accepted"] == 1
    with tenancy.project(cast.project.pk):
        assert Observation.objects.count() == 31
        assert Observation.objects.filter(session__agent=cast.support).values("external_id").distinct().count() == 30


def test_while_one_look_up_of_a_key_hangs_the_next_are_refused_at_once(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.CAPTURE_WRITER = "thread"
    started, goes_on = threading.Event(), threading.Event()
    asked: list[str] = []

    def hangs(key_hash: str, now: datetime) -> None:
        asked.append(key_hash)
        started.set()
        assert goes_on.wait(ENOUGH)

    monkeypatch.setattr(agent_auth, "_look_up_on_thread", hangs)
    monkeypatch.setattr(agent_auth, "LOOKUP_PATIENCE_SECONDS", 0.05)
    while not started.is_set():
        with pytest.raises(Unavailable):
            agent_auth._look_up_beside("a", NOW)
    monkeypatch.setattr(agent_auth, "LOOKUP_PATIENCE_SECONDS", ENOUGH)
    with pytest.raises(Unavailable):
        agent_auth._look_up_beside("b", NOW)
    goes_on.set()
    agent_auth.stop()
    assert agent_auth._look_up_beside("c", NOW) is None
    agent_auth.stop()
    assert asked == ["a", "c"]


@pytest.mark.django_db(transaction=True)
def test_a_batch_is_stored_whole_or_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    cast = factories.cast()

    def fails(self: object, fresh: object, stored: object) -> None:
        raise OperationalError

    monkeypatch.setattr("memory.capture_store._Writing._reopen", fails)
    with pytest.raises(OperationalError):
        capture.accept(cast.support, "s", [Incoming(kind="message", role="user", text="x")], subjects=["customer:c"])
    with tenancy.system("command"):
        assert not Observation.objects.exists()
        assert not cast.support.sessions.exists()
        assert not cast.project.subjects.exists()
