"""Many lines placed at once end as they would one after the other, in few queries."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext

from memory import memories_in
from memory.existing import Found, MemoryLine
from memory.looked_up import AtOnce, OneByOne
from memory.models import Evidence, Fact
from projects import tenancy
from tests import factories
from tests.factories import Cast

pytestmark = pytest.mark.django_db

FIRST = [
    ("The gate at the north dock is shut on Sundays", "fix", "customer:a"),
    ("The gate at the north dock is shut on Sundays", "fix", "customer:a"),
    ("The gate at the north dock is not shut on Sundays", "fix", "customer:a"),
    ("The north dock gate is shut every Sunday", "note", "customer:a"),
    ("Invoices go to Berlin", "fix", ""),
    ("Invoices go to Hamburg", "fix", ""),
    ("Refused before.", "fix", "customer:b"),
    ("Known before.", "fix", "customer:b"),
]
SECOND = [*FIRST[::2], ("The gate at the south dock is open", "fix", "customer:a")]


def found(texts: list[tuple[str, str, str]]) -> Found:
    lines = (MemoryLine(number=n, text=text, type=type_, subject=about) for n, (text, type_, about) in enumerate(texts))
    return Found("json", tuple(lines))


class SlowlyRead(OneByOne):
    """What `AtOnce` is held against."""

    def __init__(self, *_: Any) -> None:
        pass

    def finish(self) -> None:
        pass


def outcome(cast: Cast, now: datetime) -> Iterator[tuple[Any, ...]]:
    with tenancy.project(cast.project.pk):
        factories.approved(cast.project, cast.rita, "Known before.", key="fix:known_before", about="customer:b")
        bad = factories.proposal(cast.project, "Refused before.", key="fix:refused_before", about="customer:b")
        bad.reject(cast.rita, revision=1, now=now, reason="vague")
    for texts in (FIRST, SECOND, FIRST):
        brought = memories_in.bring_in(cast.project, found(texts), person=cast.rita, now=now)
        yield tuple(sorted(brought.outcomes.items())), tuple(fact.text for fact in brought.facts)
    with tenancy.project(cast.project.pk):
        for fact in Fact.objects.select_related("related", "subject").order_by("pk"):
            beside = fact.related.text if fact.related else ""
            yield fact.text, str(fact.subject), fact.status, fact.relation, beside, fact.times_seen, fact.worth
        rows = Evidence.objects.order_by("fact__text", "observation__external_id", "start")
        yield tuple(rows.values_list("fact__text", "quote", "start", "end"))


def test_lines_placed_at_once_end_as_one_after_the_other(
    cast: Cast, now: datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    from django.db import transaction

    runs = []
    for reader in (AtOnce, SlowlyRead):
        monkeypatch.setattr(memories_in, "AtOnce", reader)
        with transaction.atomic(using=Fact.objects.db):
            runs.append(list(outcome(cast, now)))
            transaction.set_rollback(True, using=Fact.objects.db)
    assert runs[0] == runs[1]
    assert dict(runs[0][0][0])["new"] >= 2


def test_a_line_more_takes_few_queries(cast: Cast, now: datetime) -> None:
    counts = []
    for size in (20, 60):
        texts = [(f"Door {number} of hall {size} sticks", "fix", f"customer:{size}-{number}") for number in range(size)]
        with CaptureQueriesContext(connections[Fact.objects.db]) as asked:
            assert len(memories_in.bring_in(cast.project, found(texts), person=cast.rita, now=now).facts) == size
        counts.append(len(asked))
    # Its subject (found, made, with a savepoint), the memory (with a savepoint), its trail.
    assert (counts[1] - counts[0]) / 40 <= 10
