"""One act on many memories: each is decided for itself, what cannot be is left and named, and one undo takes it back.

Nothing is decided by an act on many that its reader did not see: what is flagged, what would take the place of another
memory, and what asks a question stays for its own card.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memory.models import Decision, Fact, FactChanged, NotAllowed, Relation, Status, Subject, Verb
from projects import audit
from projects.models import Membership
from review.cards.kinds import ANSWERABLE
from review.cards.risk import Risk, risks_of
from review.cards.suspect import is_suspect
from review.deciding import sampling
from review.deciding.consequences import follow_batch
from review.deciding.decisions import REASON_WORDS, BadDecision, is_misquoted, refuse_untrue
from review.deciding.policy import Level, Policy
from review.deciding.undoing import REASON_LIMIT, act_on_many, changed_words, counted, subjects_of

# Of one act. More is done 200 at a time, each with its own line and its own undo.
CAP = 200
# (fact id, revision as it was seen).
Items = Sequence[tuple[int, int]]
# What is done to one of them: the memory, the revision seen, the act's id, and why it is risky, where that was asked.
Act = Callable[[Fact, int, uuid.UUID, Risk | None], Decision]


class TooMany(BadDecision):
    """More than one act takes."""


@dataclass(frozen=True)
class BatchResult:
    """What one act on many did. `skipped` pairs a memory (or its id, where it is gone) with two or three words why."""

    batch: uuid.UUID
    verb: str
    done: tuple[Fact, ...]
    skipped: tuple[tuple[Fact | int, str], ...] = ()
    # What the same act did before, in words: one approved, then others counted there.
    first: str = ""

    @property
    def words(self) -> str:
        """`18 approved, 2 skipped: 1 flagged, 1 changed by Ana`."""
        done = _done_words(self.verb, len(self.done) - bool(self.first))
        if self.first:
            done = f"{self.first}, {done}"
        if not self.skipped:
            return done
        left = ngettext("%(count)d skipped", "%(count)d skipped", len(self.skipped)) % {"count": len(self.skipped)}
        return f"{done}, {left}: {counted([why for _fact, why in self.skipped])}"

    def __str__(self) -> str:
        return self.words


def approve_all(
    membership: Membership, items: Items, now: datetime, opened: bool = False, asked: bool = False
) -> BatchResult:
    """Countersigns the proposals among them that nothing speaks against.

    `asked`: the question that a near-duplicate raises was on the screen and is answered by keeping each. `opened`: what
    is risky was opened and read. Neither lets anything through that could not be approved on its card.
    """

    policy = Policy.of(membership.project)

    def approve(fact: Fact, revision: int, batch: uuid.UUID, risk: Risk | None) -> Decision:
        if sampling.is_open(fact, now):
            return fact.reconfirm(membership.person, revision=revision, now=now, batch=batch)
        hurdle = _in_the_way_of_approval(fact, risk, opened, asked)
        # Near-duplicates stand on a card; what is ticked in a list was read as a list.
        if not hurdle and not asked and policy.level(fact.type) == Level.ONE_BY_ONE:
            hurdle = _("reviewed one by one")
        if hurdle:
            raise _Skipped(hurdle)
        refuse_untrue(fact.evidence.select_related("observation"), fact.text)
        return fact.approve(membership.person, revision=revision, now=now, batch=batch)

    return _each(membership, items, now, Verb.APPROVE, approve, weighs=True)


def reject_all(membership: Membership, items: Items, reason: str, now: datetime, note: str = "") -> BatchResult:
    """Rejects the proposals among them, all for one reason. Raises BadDecision for a reason that is none."""
    _check_reason(reason)

    def reject(fact: Fact, revision: int, batch: uuid.UUID, risk: Risk | None) -> Decision:
        said: dict[str, Any] = {"reason": reason, "note": note[:500], "batch": batch}
        if sampling.is_open(fact, now):
            return fact.remove(membership.person, revision=revision, now=now, **said)
        if fact.status != Status.PROPOSED:
            raise _Skipped(_by_now(fact))
        return fact.reject(membership.person, revision=revision, now=now, **said)

    return _each(membership, items, now, Verb.REJECT, reject)


def remove_all(membership: Membership, items: Items, reason: str, now: datetime, note: str = "") -> BatchResult:
    """Withdraws the live ones among them, all for one reason. Raises BadDecision for a reason that is none."""
    _check_reason(reason)

    def remove(fact: Fact, revision: int, batch: uuid.UUID, risk: Risk | None) -> Decision:
        if fact.status != Status.APPROVED:
            raise _Skipped(_by_now(fact))
        return fact.remove(membership.person, revision=revision, now=now, reason=reason, note=note[:500], batch=batch)

    return _each(membership, items, now, Verb.REMOVE, remove)


def stop_all(membership: Membership, items: Items, reason: str, now: datetime, note: str = "") -> BatchResult:
    """Takes all of them out of the way for one reason: live ones are withdrawn, proposals rejected.

    Raises BadDecision for a reason that is none."""
    _check_reason(reason)

    def stop(fact: Fact, revision: int, batch: uuid.UUID, risk: Risk | None) -> Decision:
        if fact.status not in ANSWERABLE:
            raise _Skipped(_by_now(fact))
        act = fact.remove if fact.status == Status.APPROVED else fact.reject
        return act(membership.person, revision=revision, now=now, reason=reason, note=note[:500], batch=batch)

    return _each(membership, items, now, Verb.REMOVE, stop)


def rescope_all(
    membership: Membership, items: Items, everyone: bool, agent_ids: Sequence[int], now: datetime
) -> BatchResult:
    """Changes who receives them. Raises BadDecision where nobody, or an agent of another project, is named."""
    wanted = [] if everyone else sorted(set(agent_ids))
    known = set(membership.project.agents.values_list("pk", flat=True))
    if not everyone and (not wanted or not set(wanted) <= known):
        raise BadDecision(_("Choose at least one agent, or everyone."), "scope")

    def rescope(fact: Fact, revision: int, batch: uuid.UUID, risk: Risk | None) -> Decision:
        if (fact.everyone, fact.agent_ids) == (everyone, wanted):
            raise _Skipped(_("goes to them already"))
        is_wider = not fact.everyone and (everyone or not set(wanted) <= set(fact.agent_ids))
        if is_wider and is_flagged(fact, risk):
            raise _Skipped(_("flagged"))
        fact.everyone, fact.agent_ids = everyone, wanted
        if fact.status == Status.APPROVED and Fact.objects.rivals_of(fact).exists():
            raise _Skipped(_("would replace another"))
        person = membership.person
        return fact.rescope(person, revision=revision, now=now, everyone=everyone, agent_ids=wanted, batch=batch)

    return _each(membership, items, now, Verb.RESCOPE, rescope, weighs=True)


def lifetime_all(membership: Membership, items: Items, expires_at: datetime | None, now: datetime) -> BatchResult:
    """Gives them another end; None: no end. Raises BadDecision for an end in the past."""
    if expires_at is not None and expires_at <= now:
        raise BadDecision(_("Choose a day that is still to come, or withdraw them."), "expires_on")

    def edit(fact: Fact, revision: int, batch: uuid.UUID, risk: Risk | None) -> Decision:
        if fact.expires_at == expires_at:
            raise _Skipped(_("ends then already"))
        return fact.edit(membership.person, revision=revision, now=now, batch=batch, expires_at=expires_at)

    return _each(membership, items, now, Verb.EDIT, edit)


def put_off_all(membership: Membership, items: Items, until: datetime, now: datetime) -> BatchResult:
    """Out of the pile until a day."""

    def put_off(fact: Fact, revision: int, batch: uuid.UUID, risk: Risk | None) -> Decision:
        return fact.put_off(membership.person, revision=revision, now=now, until=until, batch=batch)

    return _each(membership, items, now, Verb.PUT_OFF, put_off)


def merge_all(
    membership: Membership, target: tuple[int, int], items: Items, now: datetime, batch: uuid.UUID | None = None
) -> BatchResult:
    """Counts these proposals, with their quotes, where `target` is; as part of the act `batch`, where one is under way.

    What is flagged is decided on its own card, where its quote is opened; one that is not in its source is no proof.
    Raises FactChanged, NotAllowed for the target."""
    other = Fact.objects.select_related("subject").filter(pk=target[0], project=membership.project).first()
    if other is None:
        raise NotAllowed(_("The memory to keep is gone by now."))
    if other.revision != target[1]:
        raise FactChanged(other)
    if other.status not in ANSWERABLE:
        raise NotAllowed(_("The memory to keep is %(state)s.") % {"state": _by_now(other)})

    def merge(fact: Fact, revision: int, batch: uuid.UUID, risk: Risk | None) -> Decision:
        if fact.status != Status.PROPOSED:
            raise _Skipped(_by_now(fact))
        if fact.subject_id != other.subject_id:
            raise _Skipped(_("about another subject"))
        if is_flagged(fact, risk):
            raise _Skipped(_("flagged"))
        if is_misquoted(fact.evidence.select_related("observation")):
            raise _Skipped(_("its quote is not in its source"))
        return fact.merge_into(other, membership.person, revision=revision, now=now, batch=batch)

    items = [(pk, revision) for pk, revision in items if pk != other.pk]
    return _each(membership, items, now, Verb.MERGE, merge, held={other.subject_id}, weighs=True, batch=batch)


class _Skipped(Exception):
    """This one is left; the message says why in a few words."""


def _each(
    membership: Membership,
    items: Items,
    now: datetime,
    verb: str,
    act: Act,
    *,
    held: set[int] | None = None,
    weighs: bool = False,
    batch: uuid.UUID | None = None,
) -> BatchResult:
    """Does `act` to each in a savepoint of its own, all subjects (and those `held`) locked before the first in one
    order: two acts that cross wait for each other and never in a circle. `weighs`: it asks how risky each is.
    About twelve queries an item, 1 s for 200."""
    if not membership.can_review:
        raise NotAllowed(_("Only a reviewer decides."))
    revisions = dict(items)
    if len(revisions) > CAP:
        raise TooMany(
            _("%(count)d at once are too many; %(cap)d are the limit. Decide them in parts.")
            % {"count": len(revisions), "cap": CAP}
        )
    batch = batch or act_on_many()
    done: list[Fact] = []
    skipped: list[tuple[Fact | int, str]] = []
    with transaction.atomic():
        found = (
            Fact.objects.filter(project=membership.project, pk__in=revisions)
            .select_related("subject", "project", "related")
            .defer("search")
        )
        facts = {fact.pk: fact for fact in found}
        Subject.objects.hold(subjects_of([*facts.values()]) | (held or set()))
        risks = risks_of(facts.values()) if weighs else {}
        for pk, revision in revisions.items():
            fact = facts.get(pk)
            if fact is None:
                skipped.append((pk, _("gone")))
                continue
            try:
                with transaction.atomic():
                    act(fact, revision, batch, risks.get(pk))
                done.append(fact)
            except _Skipped as why:
                # What was seen wins: who changed it says more than what it is now.
                moved = fact.revision != revision
                skipped.append((fact, changed_words(fact) if moved else str(why)))
            except FactChanged as changed:
                skipped.append((changed.fact, changed_words(changed.fact)))
            except (NotAllowed, BadDecision) as problem:
                skipped.append((fact, _short(problem)))
        if done:
            follow_batch(batch, now)
            ids = [fact.pk for fact in done]
            person, project_id = membership.person, membership.project_id
            audit.record(
                f"fact.{verb.replace(' ', '_')}_many",
                person,
                project_id=project_id,
                object_kind="fact",
                object_ids=ids,
                now=now,
            )
    return BatchResult(batch, verb, tuple(done), tuple(skipped))


def _in_the_way_of_approval(fact: Fact, risk: Risk | None, opened: bool, asked: bool) -> str:
    """Why this one is for its own card, or ""."""
    if fact.status != Status.PROPOSED:
        return _by_now(fact)
    if risk is not None and risk.needs_two:
        return _("needs two people")
    if not opened and is_flagged(fact, risk):
        return _("flagged")
    if fact.standing:
        return _("speaks for others")
    beside = fact.related if fact.related is not None and fact.related.status in ANSWERABLE else None
    if beside is not None and fact.relation == Relation.CONFLICTS:
        return _("in conflict")
    if beside is not None and fact.relation == Relation.SAME_THING and not asked:
        return _("perhaps the same as another")
    is_change = beside is not None and fact.relation == Relation.CHANGES and beside.status == Status.APPROVED
    if is_change or Fact.objects.rivals_of(fact).exists():
        return _("would replace another")
    return ""


def is_flagged(fact: Fact, risk: Risk | None) -> bool:
    """Whether a person should read it by itself before it reaches anybody (or anybody more)."""
    return risk is not None or bool(fact.findings) or is_suspect(fact)


def _by_now(fact: Fact) -> str:
    return _("%(state)s already") % {"state": fact.get_status_display().lower()}


def _check_reason(reason: str) -> None:
    if reason not in REASON_WORDS:
        raise BadDecision(_("Say why: choose one of the ten reasons."), "reason")


def _short(problem: Exception) -> str:
    """The first sentence of a refusal, as it stands behind a number."""
    said = str(problem).split(". ")[0].rstrip(".")
    return (said[:1].lower() + said[1:])[:REASON_LIMIT]


def _done_words(verb: str, count: int) -> str:
    words = {
        Verb.APPROVE: ngettext("%(count)d approved", "%(count)d approved", count),
        Verb.REJECT: ngettext("%(count)d rejected", "%(count)d rejected", count),
        Verb.REMOVE: ngettext("%(count)d withdrawn", "%(count)d withdrawn", count),
        Verb.RESCOPE: ngettext("%(count)d goes to others now", "%(count)d go to others now", count),
        Verb.EDIT: ngettext("%(count)d has another end", "%(count)d have another end", count),
        Verb.PUT_OFF: ngettext("%(count)d put off", "%(count)d put off", count),
        Verb.MERGE: ngettext("%(count)d merged", "%(count)d merged", count),
    }
    return words[Verb(verb)] % {"count": count}
