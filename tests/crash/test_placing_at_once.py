"""Eight workers place at once: the same, nearly the same, and what a person refused. One fact, and nothing lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

import pytest
from django.db import connections

from memory import compaction, distillation, looked_up
from memory.learned import Cited, Learned
from memory.models import DistillJob, Evidence, Fact, JobStatus, Observation, Session, StandingPart, Status, Suppression
from memory.reconciliation import Placed, place
from memory.transcript import Candidate, Quote, Seen
from projects import tenancy
from tests import factories
from tests.factories import Cast

pytestmark = [pytest.mark.crash, pytest.mark.django_db(transaction=True)]

WORKERS = 8
# The same under one key, in eight ways.
WORDINGS = (
    "Run the tests with pytest -q",
    "Tests are run using `pytest -q`.",
    "The tests are run with pytest -q",
    "run the tests with pytest -q.",
    "Run tests using pytest -q",
    "Tests run with `pytest -q`",
    "The tests run using pytest -q",
    "Run the tests using `pytest -q`",
)


@pytest.fixture
def cast(transactional_db: None) -> Cast:
    return factories.cast()


def at_once(work: Sequence[Callable[[], object]]) -> list[object]:
    """Starts all together, each on a connection of its own; what each gave. Raises what one raised."""
    start = threading.Barrier(len(work))
    given: list[object] = [None] * len(work)
    raised: list[Exception] = []

    def one(place_: int, call: Callable[[], object]) -> None:
        try:
            start.wait(30)
            given[place_] = call()
        except Exception as problem:
            raised.append(problem)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=one, args=(at, call)) for at, call in enumerate(work)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not raised, raised
    return given


def quotes(cast: Cast, texts: Sequence[str]) -> list[Observation]:
    with tenancy.project(cast.project.pk):
        # Made at once by eight, its own unique index would keep them apart.
        factories.subject(cast.project, "repo:shop/api")
        return [
            factories.observation(factories.session(cast.coder, f"run-{number}"), text)
            for number, text in enumerate(texts)
        ]


def placing(cast: Cast, quote: Observation, key: str, now: datetime) -> Callable[[], Placed]:
    def call() -> Placed:
        with tenancy.project(cast.project.pk):
            subject = factories.subject(cast.project, "repo:shop/api")
            cited = (Cited(quote, 0, len(quote.text)),)
            learned = Learned("fix", key, None, quote.text, cited)
            return place(learned, subject=subject, agent=cast.coder, session=quote.session, now=now)

    return call


@pytest.fixture(autouse=True)
def all_have_looked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has looked at what is known waits for another who has: only a lock keeps the other out."""
    for module, name in ((looked_up, "neighbours"), (compaction, "_is_taken")):
        monkeypatch.setattr(module, name, _and_wait(getattr(module, name), threading.Barrier(2)))


def _and_wait(look: Callable[..., Any], looked: threading.Barrier) -> Callable[..., Any]:
    def waiting(*given: Any, **named: Any) -> Any:
        found = look(*given, **named)
        try:
            looked.wait(1)
        except threading.BrokenBarrierError:
            pass  # nobody came: a lock holds the others back
        return found

    return waiting


@pytest.mark.parametrize("texts", [WORDINGS[:1] * WORKERS, WORDINGS], ids=["the same", "in other words"])
def test_eight_who_learned_the_same_make_one_fact(cast: Cast, now: datetime, texts: Sequence[str]) -> None:
    seen = quotes(cast, texts)
    placed = at_once([placing(cast, quote, "fix:tests", now) for quote in seen])
    with tenancy.project(cast.project.pk):
        fact = Fact.objects.get()
        assert (fact.times_seen, fact.evidence.count()) == (WORKERS, WORKERS)
    assert sorted(one.outcome for one in placed if isinstance(one, Placed)) == ["new", *["same"] * 7]


def test_of_eight_who_contradict_each_other_seven_are_shown_beside_another(cast: Cast, now: datetime) -> None:
    seen = quotes(cast, [f"The upload limit is {number} MB" for number in range(10, 90, 10)])
    placed = at_once([placing(cast, quote, f"fix:limit.{quote.pk}", now) for quote in seen])
    with tenancy.project(cast.project.pk):
        assert Fact.objects.count() == WORKERS
        assert Fact.objects.filter(relation="conflicts", related__isnull=False).count() == WORKERS - 1
    assert sorted(one.outcome for one in placed if isinstance(one, Placed)) == [*["conflicts"] * 7, "new"]


def test_eight_who_learned_what_a_person_refused_make_none(cast: Cast, now: datetime) -> None:
    with tenancy.project(cast.project.pk):
        refused = factories.proposal(cast.project, WORDINGS[0], about="repo:shop/api", key="fix:tests", now=now)
        refused.reject(cast.rita, revision=refused.revision, now=now, reason="not_true")
    seen = quotes(cast, WORDINGS)
    placed = at_once([placing(cast, quote, "fix:tests", now) for quote in seen])
    with tenancy.project(cast.project.pk):
        assert Fact.objects.count() == 1
        assert Suppression.objects.filter(fact=refused).count() == WORKERS
    assert {one.outcome for one in placed if isinstance(one, Placed)} == {"suppressed"}


class Worded:
    """Words the same lesson anew at every reading, as a model does."""

    NAME, VERSION = "worded", "1"

    def __init__(self, text: str) -> None:
        self.text = text

    def read(self, observations: Sequence[Seen], *, timezone: str, now: datetime) -> list[Candidate]:
        seen = observations[0]
        quote = Quote(seen.ref, 0, len(seen.text), seen.text)
        return [Candidate("fix", f"fix:{self.text[:9]}", self.text, self.text, (quote,), "repo")]


def test_a_session_read_again_and_again_in_other_words_makes_one_fact(cast: Cast, now: datetime) -> None:
    """A retry after a crash finds the job done or not begun; a person's "run again" reads it anew."""
    with tenancy.project(cast.project.pk):
        session = factories.session(cast.coder, "run-1", last_seen_at=now)
        subject = factories.subject(cast.project, "repo:shop/api")
        session.subjects.add(subject, through_defaults={"project_id": cast.project.pk})
        factories.observation(session, "use pytest -q for the tests, please")
    with tenancy.project(cast.project.pk):
        job = distillation.request(Session.objects.get(), now, ring=False)
    assert job is not None
    at_once([lambda: distillation.run(job.pk, now, Worded(WORDINGS[0]))] * WORKERS)
    for text in WORDINGS:
        with tenancy.project(cast.project.pk):
            distillation.retry(DistillJob.objects.get(pk=job.pk), now, ring=False)
        distillation.run(job.pk, now, Worded(text))
    with tenancy.project(cast.project.pk):
        assert DistillJob.objects.get().status == JobStatus.DONE
        fact = Fact.objects.get()
        assert (fact.times_seen, fact.evidence.count()) == (1, 1)


def test_two_runs_at_once_propose_a_standing_lesson_once(cast: Cast, now: datetime) -> None:
    for quote in quotes(cast, WORDINGS[:1] * 3):
        placing(cast, quote, "fix:tests", now)()
    with tenancy.project(cast.project.pk):
        part = Fact.objects.get()
        part.approve(cast.rita, revision=part.revision, now=now)
    made = at_once([lambda: compaction.sweep(now)] * WORKERS)
    assert sum(count for count in made if isinstance(count, int)) == 1
    with tenancy.project(cast.project.pk):
        standing = Fact.objects.get(standing=True)
        assert (standing.status, StandingPart.objects.count()) == (Status.PROPOSED, 1)
        assert Evidence.objects.filter(fact=standing).count() == 3
