"""A card put before one person by another, with a note. It comes first in their pile; whoever else may decide it still
may. It ends with the decision, comes back when that is undone, and can be taken back or given to somebody else."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import F, Q
from django.utils.translation import gettext as _

from memory import rendering
from memory.models import Fact
from projects import audit
from projects.models import Membership, Person, Project
from projects.prepared import Statement, run
from review.deciding import second_person
from review.deciding.decisions import BadDecision
from review.models import Assignment

MOST_NOTE = 500
_ANY = "SELECT id FROM review_assignment WHERE fact_id = %(fact)s::bigint"


@transaction.atomic
def put_before(membership: Membership, fact: Fact, person_id: int, note: str, now: datetime) -> Assignment:
    """Puts the card before a person of the project who can review; a second time, before somebody else.

    Raises BadDecision for whoever cannot decide it, and where nothing is asked about the memory.
    """
    if not Fact.objects.filter(pk=fact.pk).asking(now).exists():
        raise BadDecision(_("Nothing is asked about this memory now, so it cannot be put before anybody."), "person")
    person = second_person.others_who_review(membership.project, membership.person).filter(pk=person_id).first()
    if person is None:
        raise BadDecision(_("Choose somebody of the project who can review."), "person")
    if fact.first_yes_by_id == person.pk:
        raise BadDecision(
            _("%(name)s said the first yes to it. Choose somebody else for the second.") % {"name": person.short_name},
            "person",
        )
    given = {
        "project_id": fact.project_id,
        "person": person,
        "assigned_by": membership.person,
        "note": rendering.clean_line(note)[:MOST_NOTE],
        "at": now,
    }
    made, _is_new = Assignment.objects.update_or_create(fact=fact, defaults=given)
    _record("fact.assign", membership, fact, now)
    return made


@transaction.atomic
def take_back(membership: Membership, fact: Fact, now: datetime) -> bool:
    """Puts it before nobody in particular. False where it was so already."""
    gone, _each = Assignment.objects.filter(fact=fact).delete()
    if gone:
        _record("fact.unassign", membership, fact, now)
    return gone > 0


def of(fact: Fact, now: datetime) -> Assignment | None:
    """Before whom this card was put, and by whom, while a decision is still asked for."""
    # Few cards have one: whether it still stands is a long statement.
    if not run(Assignment.objects.db, *asked(fact)):
        return None
    return _open(now).filter(fact=fact).select_related("person", "assigned_by").first()


def asked(fact: Fact) -> Statement:
    """What `of` asks first, to be asked ahead with others."""
    return _ANY, {"fact": fact.pk}


def put_before_ids(project: Project, person: Person, now: datetime) -> list[int]:
    """The ids of the memories that others put before this person, the oldest request first: the front of their pile."""
    mine = _open(now).filter(project=project, person=person)
    return list(mine.order_by("at", "pk").values_list("fact_id", flat=True))


def _open(now: datetime):  # type: ignore[no-untyped-def]
    """Those whose memory still asks for a decision: neither decided since nor waiting for a second yes of another."""
    asking = Fact.objects.asking(now)
    return Assignment.objects.filter(
        Q(fact__confirmed_at__isnull=True) | Q(fact__confirmed_at__lt=F("at")),
        ~Q(fact__first_yes_by=F("person")) | Q(fact__first_yes_by__isnull=True),
        fact__in=asking.values("pk"),
    )


def _record(action: str, membership: Membership, fact: Fact, now: datetime) -> None:
    audit.record(
        action, membership.person, project_id=fact.project_id, object_kind="fact", object_ids=[fact.pk], now=now
    )
