"""Today's pile: the front of the order for one person, one sitting, and then it ends. The rest is held back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Self

from memory import reads, short_ids
from memory.models import Fact, Status
from projects.models import Membership, Person, Project
from review.deciding.policy import Policy
from review.piles import counts, day, front, samples
from review.piles.counts import Waiting
from review.piles.front import Place
from review.piles.reading import rows_of


@dataclass(frozen=True)
class Pile:
    """One person's sitting in one project: how much is done, how much is left, what comes now.

    `left` are ids, the first on top. `looked_at` counts cards that others are on, which are passed over.
    """

    sitting: int
    done: int
    room: int
    open: Waiting
    looked_at: int
    card: Fact | None
    left: tuple[int, ...]
    seconds_a_card: float
    # The number of a planted card that lies before the first, and whether it is the one on the desk.
    planted: int | None = None
    is_planted: bool = False

    @classmethod
    def of(cls, project: Project, person: Person, now: datetime, wanted: int | None = None) -> Self:
        """The pile with the card `wanted` (a fact's id) on top when it can be decided, else the first.

        Eight statements, waited for twice, and the card; none of them grows with what waits. Cards that lie in a pile
        for the first time are marked: from then on their days count.
        """
        sitting = Policy.of(project).sitting
        own = [day.asked(project, person, now), counts.asked([project.pk], now)]
        done, open_rows, others_rows, drawn, urgent = rows_of([*own, *front.asked(project.pk, person.pk, now)])
        sat, others = day.told(done), front.told(others_rows)
        room = max(0, sitting + sat.more - sat.done)
        places = front.front(project.pk, room, others, drawn, urgent, now)
        _mark(places, now)
        left = tuple(place.pk for place in places)
        return cls(
            sitting=sitting,
            done=sat.done,
            room=room,
            open=counts.told(open_rows)[project.pk],
            looked_at=len(others.looked_at),
            card=_card(project, wanted, left, now),
            left=left,
            seconds_a_card=sat.seconds_a_card,
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

    @property
    def minutes_left(self) -> int:
        """At this person's own pace, as far as it is known."""
        return max(1, round(len(self.left) * self.seconds_a_card / 60))

    @property
    def next_id(self) -> str:
        """The card after this one, for J; "" at the end."""
        return self._beside(1)

    @property
    def previous_id(self) -> str:
        return self._beside(-1)

    def _beside(self, step: int) -> str:
        row = self.left if self.planted is None else (self.planted, *self.left)
        top = self.planted if self.is_planted else self.card.pk if self.card is not None else None
        if top is None or top not in row:
            return ""
        place = row.index(top) + step
        return short_ids.encode(row[place]) if 0 <= place < len(row) else ""


def left_today(membership: Membership, now: datetime) -> int:
    """How many cards lie before this person today: the number in the bar of every page. Two queries."""
    project = membership.project
    found = rows_of([day.asked(project, membership.person, now), counts.asked([project.pk], now)])
    sat, waits = day.told(found[0]), counts.told(found[1])[project.pk]
    room = Policy.of(project).sitting + sat.more - sat.done
    return max(0, min(room, waits.total))


def _card(project: Project, wanted: int | None, left: tuple[int, ...], now: datetime) -> Fact | None:
    """The memory on top. Whoever asks for one that is held back, put off or in another's hands gets it."""
    found = None
    if wanted is not None:
        whole = Fact.objects.filter(project=project).select_related("subject").defer("search").order_by()
        asked = whole.filter(pk=wanted)
        found = asked.filter(status=Status.PROPOSED).first() or asked.due_for_review(now).first()
    if found is None and left:
        found = reads.FACT.first(fact=left[0])
    if found is None:
        return None
    found.project = project
    if found.related_id is not None:
        # Few have one: joined, each card would read its columns. None where it is gone.
        beside = Fact.objects.filter(pk=found.related_id).select_related("subject", "approved_by").defer("search")
        found.related = beside.order_by().first()
        if found.related is not None:
            found.related.project = project
    return samples.shown(found, now)


def _mark(places: list[Place], now: datetime) -> None:
    new = [place.pk for place in places if place.is_new_here]
    if new:
        Fact.objects.lay_in_pile(new, now)
