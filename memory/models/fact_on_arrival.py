from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from django.db import transaction

from memory import privacy
from memory.models.fact_beside import FactBesideOthers
from memory.models.fact_row import FactRow, NotAllowed
from memory.models.fact_status import Status
from memory.models.lifetimes import ask_again_at
from memory.models.subject import PROJECT, Subject

if TYPE_CHECKING:
    from memory.models.decision import Decision
    from memory.models.fact import Fact

# What a subject may be whose memories are about things, not about somebody.
IMPERSONAL = (PROJECT, "repo")


class FactOnArrival(FactBesideOthers):
    """What a project's rule may approve without a person, and the one door by which it does."""

    class Meta(FactRow.Meta):
        abstract = True

    @property
    def is_impersonal(self) -> bool:
        """Whether it is about a project or a repository, nothing was found in it, and it tells no feeling."""
        return self.subject.entity_type in IMPERSONAL and not self.findings and self.nature == "factual"

    def why_not_on_arrival(self, now: datetime) -> str:
        """What stands in the way of approving it without a person, in words, or "". Four queries at most.

        The rest (quotes that hold, nothing to look at twice) is for the room that knows rules and cards.
        """
        from memory.models.decision import Decision

        if self.status != Status.PROPOSED:
            return f"This memory is {self.get_status_display().lower()} by now."
        if self.source != "extraction" or self.proposed_by_agent_id is None:
            return "Only what a reader found in a session is approved on arrival."
        if not self.is_impersonal:
            return "It is about somebody, or personal data was found in it."
        if self.standing or self.relation or self.related_id is not None:
            return "It stands beside other memories: a person decides which one holds."
        if self.first_yes_by_id is not None or self.put_off_until is not None or self.valid_to is not None:
            return "A person has had it before them already, or it was said before what is known."
        if self.subject.frozen_at:
            return "This subject is frozen while a privacy request runs."
        if self.expires_at is not None and self.expires_at <= now:
            return "Its lifetime has ended."
        row = self.type_row
        if row.one_by_one:
            return "Its type is reviewed one by one."
        own = [self.proposed_by_agent_id]
        if (row.own_agent_only and self.everyone) or (not self.everyone and self.agent_ids != own):
            return "It would go to other agents than the one it came from."
        if any(privacy.is_invisible(char) for char in self.text + self.key):
            return "It holds hidden characters."
        if Decision.objects.filter(fact=self.pk, person__isnull=False).exists():
            return "A person has decided something about it already, so a person goes on."
        facts = self._facts()
        if facts.filter(related=self.pk, status__in=[Status.PROPOSED, Status.APPROVED]).exists():
            return "It stands beside other memories: a person decides which one holds."
        if facts.rivals_of(cast("Fact", self)).exists():
            return "Another value is approved for its key."
        return ""

    def was_asked_at(self, at: datetime, revision: int, due_at: datetime | None) -> bool:
        """Whether it stands as `look_again` left it then, having been due at `due_at`: nobody moved it since."""
        return self.revision == revision and self.review_due_at == (at if due_at is None else min(due_at, at))

    def ask_no_more(self, due_at: datetime | None) -> None:
        """What it was to be looked at for was taken back: due when it was before. The revision stays."""
        type(self)._default_manager.filter(pk=self.pk).update(review_due_at=due_at)
        self.review_due_at = due_at

    def approve_on_arrival(self, *, revision: int, now: datetime, note: str, rule: dict[str, Any]) -> Decision:
        """Approved by a rule of the project, by no person: `note` names the rule, `rule` holds its ids.

        Nobody signs and nobody has confirmed it. Raises FactChanged, NotAllowed.
        """
        from memory.models.decision import Verb

        with transaction.atomic(using=type(self)._default_manager.db):
            Subject.objects.hold([self.subject_id])
            self._lock(revision)
            if why := self.why_not_on_arrival(now):
                raise NotAllowed(why)
            return self._move(
                Verb.APPROVE,
                None,
                now,
                to=Status.APPROVED,
                note=note,
                noted={"rule": rule},
                approved_at=now,
                review_due_at=ask_again_at(self.type, now, self.project.types, self.expires_at),
            )
