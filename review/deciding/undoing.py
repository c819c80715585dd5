"""Taking back: what a person decided, with everything that went with it, by steps that say so.

An answer (a conflict, a change with what it replaced, a standing memory with its parts) is taken back whole or not at
all. Of an act on many memories, each of which was decided for itself, what still stands is taken back and the rest is
named.
"""

from __future__ import annotations

import os
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memory.models import Decision, Fact, FactChanged, NotAllowed, StandingPart, Subject, Verb
from projects import audit
from projects.models import Membership, Person, Project, Role
from review.deciding import ended_rules
from review.deciding.consequences import follow_batch
from review.deciding.receivers import told_words

UNDO_WITHIN = timedelta(hours=1)
LISTED = 50
REASON_LIMIT = 120
# What is nobody's own act: it follows from another, or takes one back.
_FOLLOWS = (Verb.PROPOSE, Verb.CREATE, Verb.UNDO, Verb.SUPERSEDE)
# RFC 9562 leaves version 8 to its user. Ours says: an act on many memories, each decided for itself.
_MANY = 8


def act_on_many() -> uuid.UUID:
    """A fresh id for one act on many memories."""
    number = int.from_bytes(os.urandom(16)) & ~(0xF << 76) & ~(0x3 << 62)
    return uuid.UUID(int=number | _MANY << 76 | 0x2 << 62)


def is_on_many(batch: uuid.UUID) -> bool:
    return batch.version == _MANY


@dataclass(frozen=True)
class Undone:
    """What was taken back: the step that says so, its memory, the sentence; and what could not be, each with why."""

    decision: Decision
    fact: Fact
    words: str
    count: int = 1
    left: tuple[tuple[Fact, str], ...] = ()


def last_of(person: Person, project: Project, now: datetime) -> Decision | None:
    """This person's newest decision of the last hour that can still be undone: what U takes back."""
    return _own(person, project).filter(at__gte=now - UNDO_WITHIN).first()


def last_act(person: Person, project: Project, written: str, now: datetime) -> Decision | None:
    """This person's act with the id `written` in an address, while it can be undone by one press; else None."""
    try:
        batch = uuid.UUID(written)
    except ValueError:
        return None
    return _own(person, project).filter(batch=batch, at__gte=now - UNDO_WITHIN).first()


def last_acts(person: Person, project: Project) -> list[list[Decision]]:
    """This person's last 50 acts, newest first, each with its decisions; what follows from them is left out."""
    newest: dict[uuid.UUID, list[Decision]] = {}
    batches: list[uuid.UUID] = []
    for batch in _own(person, project, undone=None).values_list("batch", flat=True)[:2000].iterator():
        if batch not in newest:
            newest[batch] = []
            batches.append(batch)
        if len(batches) > LISTED:
            break
    shown = batches[:LISTED]
    steps = (
        Decision.objects.filter(batch__in=shown, person=person)
        .exclude(verb__in=_FOLLOWS)
        .select_related("fact", "undone_by")
        .defer("fact__search")
        .order_by("pk")
    )
    for step in steps:
        newest[step.batch].append(step)
    return [newest[batch] for batch in shown]


def _own(person: Person, project: Project, undone: bool | None = False) -> QuerySet[Decision]:
    own = Decision.objects.filter(project=project, person=person).exclude(verb__in=_FOLLOWS)
    if undone is False:
        own = own.filter(undone_by__isnull=True)
    return own.select_related("fact__subject").defer("fact__search").order_by("-pk")


@transaction.atomic
def undo(membership: Membership, decision: Decision, now: datetime) -> Undone:
    """Takes back a decision and everything that went with it.

    Raises NotAllowed, or FactChanged when a memory moved since; of an act on many, only when none of them can be.
    """
    if not membership.has(Role.REVIEWER):
        raise NotAllowed(_("Only a reviewer can undo."))
    together = list(
        Decision.objects.filter(batch=decision.batch)
        .exclude(verb=Verb.UNDO)
        .select_related("fact__project", "undone_by")
        .order_by("-pk")
    )
    Subject.objects.hold(subjects_of([step.fact for step in together]))
    done = (
        _of_many(together, membership.person, now) if is_on_many(decision.batch) else _whole(together, membership, now)
    )
    undone = next((step for step in done.steps if step.undoes_id == decision.pk), done.steps[0] if done.steps else None)
    if undone is None:
        raise done.problem or NotAllowed(_("There is nothing to undo here."))
    follow_batch(undone.batch, now)
    audit.record(
        "fact.undo",
        membership.person,
        project_id=membership.project_id,
        object_kind="fact",
        object_ids=[step.fact_id for step in done.steps],
        now=now,
    )
    fact = undone.fact
    fact.refresh_from_db()
    said = [_words(decision, done), ended_rules.begin_again(done.steps, membership.person, now), told_words(done.steps)]
    words = ". ".join(part.rstrip(".") for part in said if part)
    return Undone(undone, fact, words, len(done.steps), tuple(done.left))


def subjects_of(facts: Sequence[Fact]) -> set[int]:
    """The subjects of these memories, and of what a standing one of them speaks for: what an act on them locks."""
    ids = {fact.subject_id for fact in facts}
    standing = [fact.pk for fact in facts if fact.standing]
    if standing:
        ids |= set(StandingPart.objects.filter(standing__in=standing).values_list("part__subject", flat=True))
    return ids


@dataclass
class _Done:
    steps: list[Decision]
    left: list[tuple[Fact, str]]
    problem: Exception | None = None


def _whole(together: Sequence[Decision], membership: Membership, now: datetime) -> _Done:
    batch = uuid.uuid4()
    return _Done([step.fact.undo(step, membership.person, now=now, batch=batch) for step in together], [])


def _of_many(together: Sequence[Decision], person: Person, now: datetime) -> _Done:
    done, batch = _Done([], []), act_on_many()
    for step in together:
        if hasattr(step, "undone_by"):
            continue  # by an undo that could take back only some of them
        try:
            with transaction.atomic():
                done.steps.append(step.fact.undo(step, person, now=now, batch=batch))
        except FactChanged as changed:
            done.problem = changed
            done.left.append((changed.fact, changed_words(changed.fact)))
        except NotAllowed as problem:
            done.problem = done.problem or problem
            done.left.append((step.fact, str(problem).split(". ")[0].rstrip(".")[:REASON_LIMIT]))
    return done


def changed_words(fact: Fact) -> str:
    """Who moved it since, in two or three words."""
    last = fact.decisions.select_related("person").order_by("-pk").first()
    if last is None or last.person is None:
        return _("changed since")
    return _("changed by %(name)s") % {"name": last.person.short_name}


def counted(reasons: Sequence[str]) -> str:
    """`1 flagged, 2 changed by Ana`, the commonest first."""
    return ", ".join(f"{count} {reason}" for reason, count in Counter(reasons).most_common())


def _words(decision: Decision, done: _Done) -> str:
    if not is_on_many(decision.batch):
        return _("Undone: %(verb)s") % {"verb": decision.get_verb_display().lower()}
    count = len(done.steps)
    said = ngettext("Undone: %(count)d memory", "Undone: %(count)d memories", count) % {"count": count}
    if not done.left:
        return said
    left = ngettext("%(count)d stays as it is", "%(count)d stay as they are", len(done.left)) % {
        "count": len(done.left)
    }
    return f"{said}; {left}: {counted([reason for _fact, reason in done.left])}"
