"""What a card shows of other people: who is on it now, before whom it was put, and how far two who decide it are."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from memory.models import Fact
from projects.models import Membership
from review.deciding import assigning, leases, second_person


def together(
    fact: Fact | None, membership: Membership, panel: str, now: datetime, takes_two: bool | None = None
) -> dict[str, Any]:
    """Notes that this reader is on the card, where they can decide it; `on_it` is the other one who is already.

    `people` are those it can be put before, in that panel; `takes_two` as second_person.of takes it. Two statements
    where nobody else has to do with the card, one of them a write where it changes hands.
    """
    if fact is None:
        if membership.can_review:
            leases.leave(membership.project, membership.person)
        return {"on_it": None, "put_before": None, "two": None}
    # Whoever said the first yes can only look: the card is free for the second person.
    if membership.can_review and fact.first_yes_by_id != membership.person_id:
        on_it = leases.take(fact, membership.person, now)
    else:
        on_it = leases.holder(fact, now)
        on_it = None if on_it == membership.person else on_it
    found: dict[str, Any] = {
        "on_it": on_it,
        "put_before": assigning.of(fact, now),
        "two": second_person.of(fact, membership, takes_two),
    }
    if panel == "before":
        found["people"] = second_person.others_who_review(membership.project, membership.person)
    return found
