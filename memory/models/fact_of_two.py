from __future__ import annotations

import uuid
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import transaction

from memory.models.fact_row import SAID_BY_YOU, FactRow, NotAllowed
from memory.models.fact_status import Status
from memory.models.subject import Subject
from projects.models import Person

if TYPE_CHECKING:
    from memory.models.decision import Decision

# What a yes is said to. When one of these changes, the yes was to something else.
SAID_YES_TO = frozenset({"type", "key", "value", "text", "nature", "use", "everyone", "agent_ids"})


class FactOfTwo(FactRow):
    """A proposal that two people decide: the first one's yes waits on it until another one approves."""

    class Meta(FactRow.Meta):
        abstract = True

    def say_first_yes(
        self, person: Person, *, revision: int, now: datetime, batch: uuid.UUID | None = None, **edits: Any
    ) -> Decision:
        """`person` would approve it, with any last edits; it stays a proposal until another person does.

        Raises FactChanged, and NotAllowed for whoever said so already, or where another one did to the same words.
        """
        from memory.models.decision import Verb

        with transaction.atomic(using=type(self)._default_manager.db):
            Subject.objects.select_for_update().get(pk=self.subject_id)
            self._lock(revision)
            if self.status != Status.PROPOSED:
                raise NotAllowed(f"This memory is {self.get_status_display().lower()} by now.")
            if self.subject.frozen_at:
                raise NotAllowed("This subject is frozen while a privacy request runs. It can be decided afterwards.")
            edits = self._completed(edits, now)
            if self.first_yes_at is not None and not edits.keys() & SAID_YES_TO:
                self._refuse_the_same_person(person)
                raise NotAllowed("Somebody said the first yes already. Approve it: yours is the second.")
            self._apply(edits)
            yes: dict[str, Any] = {"first_yes_by_id": person.pk, "first_yes_at": now, "put_off_until": None}
            return self._move(Verb.FIRST_YES, person, now, batch=batch, **{**edits, **yes})

    def _refuse_one_for_two(self, person: Person, edits: dict[str, Any]) -> None:
        """Before an approval. Raises NotAllowed where it would be the same person's, or of other words than the first
        yes was said to."""
        if self.first_yes_at is None:
            return
        self._refuse_the_same_person(person)
        if edits.keys() & SAID_YES_TO:
            raise NotAllowed("The first yes was said to other words. Save yours first; then a second person decides.")

    def _refuse_the_same_person(self, person: Person) -> None:
        if self.first_yes_by_id == person.pk:
            raise NotAllowed(SAID_BY_YOU)

    def _without_first_yes(self, edits: dict[str, Any]) -> dict[str, Any]:
        """`edits`, and no first yes any more where they change what it was said to."""
        if self.first_yes_at is None or self.status != Status.PROPOSED or not edits.keys() & SAID_YES_TO:
            return edits
        return {**edits, "first_yes_by_id": None, "first_yes_at": None}

    def _completed(self, edits: dict[str, Any], now: datetime) -> dict[str, Any]:
        raise NotImplementedError
