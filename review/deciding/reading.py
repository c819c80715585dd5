"""What has to be seen before an approval: the quote of what is risky, and the memory that would lose its place."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from memory import reads
from memory.models import Evidence, Fact, NotAllowed, Status, Subject
from review.cards.card import replaced
from review.cards.risk import Risk, risk_of


@dataclass(frozen=True)
class Read:
    """What is looked at before somebody countersigns: the quotes with their sources, and why a proposal is risky."""

    quotes: tuple[Evidence, ...]
    risk: Risk | None

    @property
    def needs_two(self) -> bool:
        """Whether one person's yes is not enough."""
        return self.risk is not None and self.risk.needs_two


def read(fact: Fact) -> Read:
    """One query, a second one where its type stays with one agent."""
    quotes = tuple(reads.QUOTES.all(fact=fact.pk))
    return Read(quotes, risk_of(fact, quotes) if fact.status == Status.PROPOSED else None)


def refuse_unread(fact: Fact, is_opened: bool, found: Read) -> None:
    """Before a waiting proposal becomes live by one person's hand on one card. Raises NotAllowed where it is risky and
    its quote was not opened."""
    if is_opened or fact.status != Status.PROPOSED:
        return
    if found.risk is not None and found.risk.needs_opening:
        raise NotAllowed(_("Open the quote and read it first; then it can be approved."))


def refuse_unseen(fact: Fact, seen: str, edits: dict[str, Any], now: datetime) -> None:
    """Before an approval that would take the place of a live value of the same key. Raises NotAllowed where that one,
    as it is now, was not on the screen: somebody approved or edited it since, or another type leads to another key.
    `seen` as `Card.replaces`.

    Holds the subject, so that nothing comes in between. Two queries, none where its key holds many values.
    """
    if fact.standing:
        return  # speaks for its parts; its approval locks all their subjects in one order
    moved: dict[str, Any] = {name: edits[name] for name in ("type", "everyone", "agent_ids") if name in edits}
    rivals = fact.rivals_with(moved, now)
    if rivals.query.is_empty():
        return  # its key holds many values
    Subject.objects.hold([fact.subject_id])
    there = replaced(rivals)
    if there and not set(there.split(",")) <= set(seen.split(",")):
        raise NotAllowed(
            _("It would replace another memory that was not on your screen. Look at that one first, then decide again.")
        )


def refuse_a_third(known: Fact) -> None:
    """Before a waiting proposal is approved along with another card. Raises NotAllowed where it would take the place of
    a live value, which no part of that card shows. One query."""
    if known.status == Status.PROPOSED and Fact.objects.rivals_of(known).exists():
        raise NotAllowed(_("The other memory would replace a third one. Decide it on its own card first."))
