"""Two people for what reads like an instruction and came from a tool or the web: the first says yes, another approves.

A person who was fooled once is not asked twice; somebody else reads the same words again.
"""

from __future__ import annotations

import copy
import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from memory.models import Decision, Fact, NotAllowed, Status
from memory.models.fact_of_two import SAID_YES_TO
from projects.models import Membership, Person, Project, Role
from review.cards.risk import risk_of


@dataclass(frozen=True)
class SecondPerson:
    """How far the two are with one card, as one reader sees it."""

    first: Person | None
    first_at: datetime | None
    is_yours: bool
    is_alone: bool


def is_needed(fact: Fact) -> bool:
    """Whether a waiting proposal takes two people. At most two queries."""
    return fact.status == Status.PROPOSED and _is_order(fact)


def is_order_with(fact: Fact, edits: dict[str, Any]) -> bool:
    """Whether a memory from a tool or the web would read like an instruction with these words. Two queries, none where
    no word is another one."""
    words = {name: edits[name] for name in ("text", "value", "key") if name in edits}
    if not words:
        return False
    looks = copy.copy(fact)
    for name, value in words.items():
        setattr(looks, name, value)
    return _is_order(looks)


def _is_order(fact: Fact) -> bool:
    risk = risk_of(fact)
    return risk is not None and risk.needs_two


def of(fact: Fact, membership: Membership, takes_two: bool | None = None) -> SecondPerson | None:
    """Whether two people decide this card and how far they are, or None where one is enough: no query where the caller
    knows already (`takes_two`), else at most two; two more where it takes two."""
    if not (is_needed(fact) if takes_two is None else takes_two):
        return None
    first = fact.first_yes_by if fact.first_yes_by_id else None
    return SecondPerson(
        first=first,
        first_at=fact.first_yes_at,
        is_yours=first is not None and first.pk == membership.person_id,
        is_alone=not others_who_review(membership.project, membership.person).exists(),
    )


def nobody_yet(membership: Membership) -> SecondPerson:
    """How far the two are with a card that takes them and that nobody has said yes to."""
    return SecondPerson(None, None, False, not others_who_review(membership.project, membership.person).exists())


def waiting_for_another(project: Project, person: Person) -> set[int]:
    """The ids of the proposals to which this person said the first yes: not theirs to decide any more."""
    mine = Fact.objects.filter(project=project, first_yes_by=person, status=Status.PROPOSED)
    return set(mine.values_list("pk", flat=True))


def others_who_review(project: Project, person: Person):  # type: ignore[no-untyped-def]
    """Everybody else who can decide in this project, by name."""
    return (
        Person.objects.filter(
            is_active=True, memberships__project=project, memberships__role__in=[Role.REVIEWER, Role.OWNER]
        )
        .exclude(pk=person.pk)
        .order_by("name", "email", "pk")
    )


def first_yes(
    fact: Fact, person: Person, revision: int, now: datetime, edits: dict[str, Any], batch: uuid.UUID | None = None
) -> Decision | None:
    """Of a proposal that takes two people: the first yes, or None where this is the second, and the approval goes on.

    Raises FactChanged, and NotAllowed for whoever said the first yes to the same words.
    """
    is_second = fact.first_yes_at is not None and fact.first_yes_by_id != person.pk
    if is_second and not changes_what_was_read(fact, edits):
        return None
    return fact.say_first_yes(person, revision=revision, now=now, batch=batch, **edits)


def refuse_beside(fact: Fact, person: Person) -> None:
    """Before `fact`, which takes two people, is approved along with another card. Raises NotAllowed where this person
    would not be the second."""
    is_second = fact.first_yes_at is not None and fact.first_yes_by_id != person.pk
    if not is_second:
        raise NotAllowed(_("Two people decide the other memory. Decide it on its own card first."))


def refuse_alone(fact: Fact, edits: dict[str, Any]) -> None:
    """Before a live memory is changed by one person: what two people decide on a card is not made out of it here, by
    other words or for more readers. Raises NotAllowed. At most two queries."""
    if fact.status != Status.APPROVED:
        return
    if is_order_with(fact, edits):
        raise NotAllowed(
            _(
                "So it reads like an order, and it came from a tool or a page: two people decide that. "
                "Withdraw it and write it as a memory of your own, or leave the order out."
            )
        )
    if _is_widened(fact, edits) and _is_order(fact):
        raise NotAllowed(
            _(
                "It reads like an order and came from a tool or a page: one person may give it to fewer agents, "
                "not to more. Withdraw it and write it as a memory of your own."
            )
        )


def _is_widened(fact: Fact, edits: dict[str, Any]) -> bool:
    if fact.everyone:
        return False
    return bool(edits.get("everyone")) or not set(edits.get("agent_ids", ())) <= set(fact.agent_ids)


def changes_what_was_read(fact: Fact, edits: dict[str, Any]) -> bool:
    """Whether these edits touch what the first yes was said to."""
    return any(name in SAID_YES_TO and getattr(fact, name) != value for name, value in edits.items())
