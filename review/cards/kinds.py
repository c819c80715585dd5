"""What kind of question a card asks: one word at its top left, and which answers stand under it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from django.utils.translation import gettext, gettext_noop

from memory.models import Fact, Relation, Status, Verdict

ANSWERABLE = (Status.APPROVED, Status.PROPOSED)


class Kind(StrEnum):
    """As it stands on the card."""

    NEW = gettext_noop("New")
    CHANGES = gettext_noop("Changes")
    CONFLICT = gettext_noop("Conflict")
    SAME_THING = gettext_noop("Same thing")
    STANDING = gettext_noop("Standing brief")
    STILL_TRUE = gettext_noop("Still true?")
    COMPLAINT = gettext_noop("Complaint")

    @property
    def words(self) -> str:
        """In the reader's language."""
        return gettext(self.value)


def kind_of(fact: Fact, rival: Fact | None, now: datetime) -> Kind:
    """The kind of one memory's card; `rival` is the approved value that an approval would replace by its key alone."""
    if fact.status == Status.APPROVED and fact.review_due_at is not None and fact.review_due_at <= now:
        return Kind.COMPLAINT if complaints_of(fact).exists() else Kind.STILL_TRUE
    if fact.standing:
        return Kind.STANDING
    if rival is not None:
        return Kind.CHANGES
    if fact.related is not None and fact.related.status in ANSWERABLE:
        if fact.relation == Relation.CONFLICTS:
            return Kind.CONFLICT
        if fact.relation == Relation.SAME_THING:
            return Kind.SAME_THING
        if fact.relation == Relation.CHANGES and fact.related.status == Status.APPROVED:
            return Kind.CHANGES
    return Kind.NEW


def complaints_of(fact: Fact):  # type: ignore[no-untyped-def]
    """What agents said against a live memory since a person last stood behind it, newest first."""
    said = fact.feedback.filter(verdict__in=[Verdict.MISLED, Verdict.STALE])
    return said.filter(at__gte=fact.confirmed_at) if fact.confirmed_at is not None else said
