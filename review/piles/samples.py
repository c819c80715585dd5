"""What was drawn from "on arrival", in the pile: it lies among the new proposals and looks like one of them.

A reviewer who knew that a rule had let it in would look at the rule and not at the memory.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import TypeVar

from django.db.models import F

from memory.models import Fact, Feedback, Status, Verdict
from projects.prepared import Statement
from review.deciding import sampling

# One of them behind so many proposals, as long as there are any.
EVERY = 3
MOST = 200

One = TypeVar("One")

_DRAWN = """
SELECT f.id FROM review_sample s JOIN memory_fact f ON f.id = s.fact_id
WHERE s.project_id = %(project)s::bigint AND s.drawn AND s.verdict = ''
    AND f.status = 'approved' AND f.review_due_at <= %(now)s::timestamptz
    AND (f.expires_at IS NULL OR f.expires_at > %(now)s::timestamptz)
    AND (f.put_off_until IS NULL OR f.put_off_until <= %(now)s::timestamptz)
    AND NOT EXISTS (SELECT 1 FROM memory_subject WHERE id = f.subject_id AND frozen_at IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM memory_feedback
        WHERE fact_id = f.id AND verdict IN ('misled', 'stale') AND at >= f.approved_at)
ORDER BY s.id LIMIT {most}
""".replace("{most}", str(MOST))


def asked(project_id: int, now: datetime) -> Statement:
    """The ids of the memories that were drawn and not looked at yet, the first drawn on top: a row each, off an index.

    One that an agent complained of is no new card any more: it comes as a complaint.
    """
    return _DRAWN, {"project": project_id, "now": now}


def woven(proposals: Iterable[One], drawn: Iterable[One]) -> Iterator[One]:
    """The drawn ones among the proposals, one behind each EVERY of them; what is left of them at the end."""
    waiting = iter(drawn)
    for place, proposal in enumerate(proposals, 1):
        yield proposal
        if place % EVERY == 0:
            yield from _next(waiting)
    yield from waiting


def shown(fact: Fact, now: datetime) -> Fact:
    """As the desk shows it: one that was drawn, as the proposal it was. Two queries at most, most often none."""
    return masked(fact) if sampling.is_open(fact, now) and not _complained_of([fact.pk]) else fact


def shown_all(facts: Iterable[Fact]) -> list[Fact]:
    """The same for many, in their order: two queries, most often none."""
    listed = list(facts)
    drawn = sampling.open_ids(listed)
    drawn -= _complained_of(drawn)
    return [masked(fact) if fact.pk in drawn else fact for fact in listed]


def masked(fact: Fact) -> Fact:
    """A copy that says of itself that it is proposed. It must never be saved."""
    looks = copy.copy(fact)
    looks.status = Status.PROPOSED
    looks.approved_at = looks.review_due_at = looks.confirmed_at = None
    looks.__dict__["is_masked"] = True
    return looks


def is_masked(fact: Fact) -> bool:
    return bool(fact.__dict__.get("is_masked"))


def _complained_of(ids: Collection[int]) -> set[int]:
    if not ids:
        return set()
    against = Feedback.objects.filter(fact__in=ids, verdict__in=[Verdict.MISLED, Verdict.STALE])
    return set(against.filter(at__gte=F("fact__approved_at")).values_list("fact_id", flat=True))


def _next(waiting: Iterator[One]) -> Iterator[One]:
    for one in waiting:
        yield one
        return
