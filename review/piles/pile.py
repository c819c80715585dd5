"""Today's pile: what waits for a person, in the order it should be decided, one sitting at most.

First what already reaches agents and may be wrong (complaints, then what is due to be confirmed), because it does harm
while it waits; then proposals, those seen most often first.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Self
from zoneinfo import ZoneInfo

from django.db.models import Count, F, Q

from memory.models import Decision, Fact, Status, Verb, Verdict
from projects.models import Person, Project

SITTING = 40
# What a card reads of each memory.
SHOWN = ("subject", "proposed_by_agent", "proposed_by", "approved_by", "related__approved_by")
# 60 words of sentence and quote at an ordinary reading speed, and a moment to think.
SECONDS_A_CARD = 15
ENDS_A_CARD = (Verb.APPROVE, Verb.REJECT, Verb.PUT_OFF, Verb.MERGE, Verb.RECONFIRM, Verb.REMOVE)


@dataclass(frozen=True)
class Pile:
    """One person's sitting in one project: how much is done, how much is left, what comes now."""

    done: int
    waiting: int
    card: Fact | None
    left: tuple[Fact, ...]

    @classmethod
    def of(cls, project: Project, person: Person, now: datetime, wanted: int | None = None) -> Self:
        """The pile with the card `wanted` (a fact's id) on top when it can be decided, else the first."""
        whole = Fact.objects.filter(project=project).select_related(*SHOWN)
        due = whole.due_for_review(now).annotate(complaints=_complaints())
        waiting = whole.waiting(now)
        front: list[Fact] = list(due.order_by("-complaints", "review_due_at", "pk")[:SITTING])
        front += waiting.order_by("-times_seen", "pk")[: SITTING - len(front)]
        card: Fact | None = next((fact for fact in front if fact.pk == wanted), None)
        if card is None and wanted is not None:
            # Whoever asks for a proposal that was put off takes it up again.
            card = whole.filter(pk=wanted, status=Status.PROPOSED).first() or due.filter(pk=wanted).first()
        return cls(
            # A question about two memories is one card.
            done=decided_today(project, person, now).values("batch").distinct().count(),
            waiting=waiting.count() + due.count(),
            card=card or (front[0] if front else None),
            left=tuple(front),
        )

    @property
    def total(self) -> int:
        return self.done + len(self.left)

    @property
    def held_back(self) -> int:
        return max(0, self.waiting - len(self.left))

    @property
    def minutes_left(self) -> int:
        return max(1, round(len(self.left) * SECONDS_A_CARD / 60))

    @property
    def next_id(self) -> str:
        """The card after this one, for J; "" at the end."""
        return self._beside(1)

    @property
    def previous_id(self) -> str:
        return self._beside(-1)

    def _beside(self, step: int) -> str:
        ids = [fact.pk for fact in self.left]
        if self.card is None or self.card.pk not in ids:
            return ""
        place = ids.index(self.card.pk) + step
        return self.left[place].short_id if 0 <= place < len(ids) else ""


def _complaints() -> Count:
    """How many complaints a live memory has since a person last stood behind it."""
    against = Q(feedback__verdict__in=[Verdict.MISLED, Verdict.STALE])
    return Count("feedback", filter=against & Q(feedback__at__gte=F("confirmed_at")))


def decided_today(project: Project, person: Person, now: datetime):  # type: ignore[no-untyped-def]
    """This person's decisions since midnight in the project's zone that end a card and still stand."""
    midnight = now.astimezone(ZoneInfo(project.timezone)).replace(hour=0, minute=0, second=0, microsecond=0)
    return Decision.objects.filter(
        project=project,
        person=person,
        verb__in=ENDS_A_CARD,
        at__gte=midnight,
        at__lt=midnight + timedelta(days=1, hours=1),
        undone_by__isnull=True,
    )
