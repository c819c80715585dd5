"""Answers to a question about two memories, or about a live one: which claim holds, is it the same, is it still true.

Each is one batch of Fact's verbs in one transaction, so that one undo takes all of it back. `revision` is that of the
memory in question, `beside` that of the other one, both as the person saw them.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from memory.models import Decision, Fact, FactChanged, NotAllowed, Status
from projects.models import Person
from projects.words import later

# Kept with the decision where a person answered a question instead of choosing a reason.
OUTDONE = "not_true"


def keep_first(fact: Fact, person: Person, revision: int, beside: int, now: datetime) -> Decision:
    """The claim that was there before holds; this one is rejected. One that still waited is countersigned by it."""
    known, batch = _other(fact, beside), uuid.uuid4()
    with transaction.atomic():
        decision = fact.reject(person, revision=revision, now=now, reason=OUTDONE, batch=batch)
        if known.status == Status.PROPOSED:
            known.approve(person, revision=known.revision, now=now, batch=batch)
    return decision


def keep_second(fact: Fact, person: Person, revision: int, beside: int, now: datetime) -> Decision:
    """This claim holds and takes the place of the other."""
    known, batch = _other(fact, beside), uuid.uuid4()
    with transaction.atomic():
        if known.status == Status.PROPOSED:
            known.reject(person, revision=known.revision, now=now, reason=OUTDONE, batch=batch)
            return fact.approve(person, revision=revision, now=now, batch=batch)
        return fact.approve(person, revision=revision, now=now, batch=batch, replaces=known)


def keep_both(fact: Fact, person: Person, revision: int, beside: int, now: datetime) -> Decision:
    """The two do not exclude each other. Raises NotAllowed where one of them would take the other's place."""
    known, batch = _other(fact, beside), uuid.uuid4()
    with transaction.atomic():
        decision = fact.approve(person, revision=revision, now=now, batch=batch)
        if known.status == Status.PROPOSED:
            known.approve(person, revision=known.revision, now=now, batch=batch)
        if Fact.objects.filter(pk__in=[fact.pk, known.pk], status=Status.APPROVED).count() < 2:
            raise NotAllowed(
                _("%(key)s holds one value. Keep one of the two, or edit what this one is about.") % {"key": fact.key}
            )
    return decision


def keep_neither(fact: Fact, person: Person, revision: int, beside: int, now: datetime) -> Decision:
    """Neither holds: this one is rejected, and the other with it, or withdrawn where agents have it."""
    known, batch = _other(fact, beside), uuid.uuid4()
    with transaction.atomic():
        decision = fact.reject(person, revision=revision, now=now, reason=OUTDONE, batch=batch)
        if known.status == Status.PROPOSED:
            known.reject(person, revision=known.revision, now=now, reason=OUTDONE, batch=batch)
        else:
            known.remove(person, revision=known.revision, now=now, reason=OUTDONE, batch=batch)
    return decision


def same_thing(fact: Fact, person: Person, revision: int, beside: int, now: datetime) -> Decision:
    """It says what the other says: counted there, with its quotes."""
    return fact.merge_into(_other(fact, beside), person, revision=revision, now=now)


def same_as(fact: Fact, person: Person, other: int, revision: int, beside: int, now: datetime) -> Decision:
    """It says what another memory of its subject says, one that the person chose (`other`: its id).

    Raises FactChanged with the other one, NotAllowed.
    """
    chosen = Fact.objects.filter(project_id=fact.project_id, subject_id=fact.subject_id, pk=other).first()
    if chosen is None or chosen.pk == fact.pk:
        raise NotAllowed(_("That memory is not one of this subject. Choose another, or decide this one by itself."))
    if chosen.status not in (Status.APPROVED, Status.PROPOSED):
        raise NotAllowed(_("That memory is gone by now. Choose another, or decide this one by itself."))
    if chosen.revision != beside:
        raise FactChanged(chosen)
    return fact.merge_into(chosen, person, revision=revision, now=now)


def confirm(fact: Fact, person: Person, revision: int, beside: int, now: datetime) -> Decision:
    """Still true: it stays, and is asked about again when its type says so."""
    return fact.reconfirm(person, revision=revision, now=now)


def _other(fact: Fact, revision: int) -> Fact:
    """The memory beside this one, as the person saw it. Raises FactChanged, NotAllowed."""
    known = fact.related
    if known is None or known.status not in (Status.APPROVED, Status.PROPOSED):
        raise NotAllowed(_("The memory beside this one is gone by now. Reload the page; this one stands alone."))
    if known.pk == fact.pk or known.subject_id != fact.subject_id:
        raise NotAllowed(_("The two are about different subjects, so one says nothing against the other."))
    if known.revision != revision:
        raise FactChanged(known)
    return known


Answer = Callable[[Fact, Person, int, int, datetime], Decision]
# What the form sends, and what the desk says when it is done.
ANSWERS: dict[str, tuple[Answer, str]] = {
    "keep_first": (keep_first, later("Kept the first")),
    "keep_second": (keep_second, later("Kept the second")),
    "keep_both": (keep_both, later("Kept both")),
    "keep_neither": (keep_neither, later("Kept neither")),
    "same": (same_thing, later("Merged")),
    "confirm": (confirm, later("Confirmed")),
}
