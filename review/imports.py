"""What one import proposed, as one list, and its approval in one act by a named person."""

from __future__ import annotations

import uuid
from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from memory.models import Decision, Fact, FactChanged, NotAllowed, Session, Status, Subject
from memory.types import type_of
from projects import audit
from projects.models import Person
from projects.words import later
from review.cards.flags import SENTENCE_LIMIT
from review.cards.risk import Risk, risks_of
from review.cards.served_value import unsaid
from review.cards.suspect import is_suspect
from review.deciding.consequences import follow
from review.deciding.decisions import BadDecision, refuse_untrue
from review.deciding.undoing import act_on_many

# Why a line is left for its own card; the words stand on the page.
ONE_BY_ONE = {
    "related": later("stands against something known"),
    "two": "takes two people",
    "flagged": "holds personal data",
    "crosses": later("goes to more agents than its type is for"),
    "rival": later("would replace another"),
    "suspect": later("is to be looked at twice"),
    "one_by_one": later("is of a type that is reviewed one by one"),
    "unsaid": later("holds more than its sentence says"),
    "long": later("is longer than a sentence"),
    "unfit": later("cannot be approved as it stands"),
    "moved": later("was decided or changed meanwhile"),
}


@dataclass(frozen=True)
class Line:
    """One proposal of an import; `why` is a key of ONE_BY_ONE for what is decided on its own card, or ""."""

    fact: Fact
    why: str

    @property
    def words(self) -> str:
        return ONE_BY_ONE.get(self.why, "")


@dataclass(frozen=True)
class Approved:
    """What one approval of many did: their number, and why others were left."""

    count: int
    left: Counter[str]
    batch: uuid.UUID

    @property
    def words(self) -> str:
        """`38 approved. 3 left: holds personal data 2, is longer than a sentence 1.`"""
        left = ", ".join(f"{ONE_BY_ONE[why]} {count}" for why, count in self.left.most_common())
        return f"{self.count} approved." + (f" {self.left.total()} left: {left}." if left else "")


def lines_of(session: Session) -> list[Line]:
    """The proposals that this import made and nobody decided, in the order of the file."""
    waiting = (
        Fact.objects.filter(evidence__observation__session=session, status=Status.PROPOSED, source="import")
        .select_related("subject", "related", "project")
        .order_by("evidence__observation__seq", "pk")
        .distinct()
    )
    found = {fact.pk: fact for fact in waiting}
    risks = risks_of(found.values())
    return [Line(fact, _why_not_together(fact, risks.get(fact.pk))) for fact in found.values()]


@transaction.atomic
def approve_together(session: Session, person: Person, chosen: dict[int, int], now: datetime) -> Approved:
    """Approves the chosen proposals of an import, each at the revision that was seen, in one batch with one undo.

    What has to be looked at by itself is left, and counted; so is what somebody else decided or changed meanwhile.
    """
    batch, left, count = act_on_many(), Counter[str](), 0
    last: Decision | None = None
    lines = [line for line in lines_of(session) if line.fact.pk in chosen]
    # In one order before the first: two acts on many never wait for each other in a circle.
    Subject.objects.hold({line.fact.subject_id for line in lines})
    for line in lines:
        why = "moved" if line.fact.revision != chosen[line.fact.pk] else line.why
        if not why and Fact.objects.rivals_of(line.fact).exists():
            why = "rival"
        if not why:
            try:
                with transaction.atomic():
                    refuse_untrue(line.fact.evidence.select_related("observation"), line.fact.text)
                    last = line.fact.approve(person, revision=line.fact.revision, now=now, batch=batch)
                    count += 1
            except FactChanged:
                why = "moved"
            except (NotAllowed, BadDecision):
                why = "unfit"
        if why:
            left[why] += 1
    if last is not None:
        follow(last, now)
        audit.record(
            "fact.approve_import",
            person,
            project_id=session.project_id,
            object_kind="session",
            object_ids=[session.pk],
            count=count,
            now=now,
        )
    return Approved(count, left, batch)


def _why_not_together(fact: Fact, risk: Risk | None) -> str:
    if fact.relation:
        return "related"
    if risk is not None and risk.needs_two:
        return "two"
    if fact.findings:
        return "flagged"
    if risk is not None:
        return "crosses"
    if is_suspect(fact):
        return "suspect"
    if type_of(fact.type, fact.project.types).one_by_one and fact.type != "note":
        return "one_by_one"
    if unsaid(fact):
        return "unsaid"
    return "long" if len(fact.text) > SENTENCE_LIMIT else ""
