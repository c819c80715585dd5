"""Today's pile: the front of the order for one person, one sitting, and then it ends. The rest is held back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Self

from django.utils.functional import cached_property

from memory import short_ids
from memory.models import Fact, Status
from projects.models import Membership, Person, Project
from review.deciding.leases import held_by_others
from review.deciding.policy import Policy
from review.deciding.second_person import waiting_for_another
from review.piles import day, samples
from review.piles.counts import Waiting, waiting
from review.piles.front import Place, front

# What a card reads of each memory.
SHOWN = ("subject", "proposed_by_agent", "proposed_by", "approved_by", "related__approved_by")


@dataclass(frozen=True)
class Pile:
    """One person's sitting in one project: how much is done, how much is left, what comes now.

    `left` are ids, the first on top. `looked_at` counts cards that others are on, which are passed over.
    """

    project: Project
    person: Person
    sitting: int
    done: int
    room: int
    open: Waiting
    looked_at: int
    card: Fact | None
    left: tuple[int, ...]

    @classmethod
    def of(cls, project: Project, person: Person, now: datetime, wanted: int | None = None) -> Self:
        """The pile with the card `wanted` (a fact's id) on top when it can be decided, else the first.

        About twelve queries, none of which grows with what waits. Cards that lie in a pile for the first time are
        marked: from then on their days count.
        """
        sitting = Policy.of(project).sitting
        done = day.done_today(project, person, now)
        room = max(0, sitting + day.more_today(project, person, now) - done)
        taken = held_by_others(project, person, now)
        places = front(project.pk, person.pk, room, taken | waiting_for_another(project, person), now)
        _mark(places, now)
        left = tuple(place.pk for place in places)
        return cls(
            project=project,
            person=person,
            sitting=sitting,
            done=done,
            room=room,
            open=waiting([project.pk], now)[project.pk],
            looked_at=len(taken),
            card=_card(project, wanted, left, now),
            left=left,
        )

    @property
    def total(self) -> int:
        return self.done + len(self.left)

    @property
    def waiting(self) -> int:
        """How many lie before this person still."""
        return len(self.left)

    @property
    def is_over(self) -> bool:
        """Whether the sitting is used up, whatever waits beyond it."""
        return self.room == 0

    @property
    def open_words(self) -> str:
        return self.open.but(0)

    @property
    def held_back(self) -> str:
        """How many wait beyond today's pile, in words; "" for none."""
        return self.open.but(len(self.left))

    @property
    def another(self) -> int:
        """How many more there are to take: a sitting at most, 0 when nothing is held back."""
        if self.left:
            return 0
        return self.sitting if self.open.is_capped else min(self.sitting, self.open.total - self.looked_at)

    @cached_property
    def minutes_left(self) -> int:
        """At this person's own pace, as far as it is known. A query."""
        seconds = day.seconds_a_card(self.project, self.person)
        return max(1, round(len(self.left) * seconds / 60))

    @property
    def next_id(self) -> str:
        """The card after this one, for J; "" at the end."""
        return self._beside(1)

    @property
    def previous_id(self) -> str:
        return self._beside(-1)

    def _beside(self, step: int) -> str:
        if self.card is None or self.card.pk not in self.left:
            return ""
        place = self.left.index(self.card.pk) + step
        return short_ids.encode(self.left[place]) if 0 <= place < len(self.left) else ""


def left_today(membership: Membership, now: datetime) -> int:
    """How many cards lie before this person today: the number in the bar of every page. Three queries."""
    project, person = membership.project, membership.person
    room = Policy.of(project).sitting + day.more_today(project, person, now) - day.done_today(project, person, now)
    return max(0, min(room, waiting([project.pk], now)[project.pk].total))


def _card(project: Project, wanted: int | None, left: tuple[int, ...], now: datetime) -> Fact | None:
    """The memory on top. Whoever asks for one that is held back, put off or in another's hands gets it."""
    whole = Fact.objects.filter(project=project).select_related(*SHOWN).defer("search")
    if wanted is not None:
        asked = whole.filter(pk=wanted)
        found = asked.filter(status=Status.PROPOSED).first() or asked.due_for_review(now).first()
        if found is not None:
            return samples.shown(found, now)
    first = whole.filter(pk=left[0]).first() if left else None
    return samples.shown(first, now) if first is not None else None


def _mark(places: list[Place], now: datetime) -> None:
    new = [place.pk for place in places if place.is_new_here]
    if new:
        Fact.objects.lay_in_pile(new, now)
