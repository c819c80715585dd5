from __future__ import annotations

import copy
import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Greatest

from memory.models.fact_of_two import FactOfTwo
from memory.models.fact_queries import FactQuerySet
from memory.models.fact_row import FactRow, NotAllowed
from memory.models.fact_status import Status
from memory.models.subject import Subject
from projects.models import Person

if TYPE_CHECKING:
    from memory.models.decision import Decision
    from memory.models.fact import Fact


class FactBesideOthers(FactOfTwo):
    """What becomes of other facts when one is countersigned or merged: replaced, spoken for, joined with its quotes."""

    class Meta(FactRow.Meta):
        abstract = True

    def merge_into(
        self, other: Fact, person: Person, *, revision: int, now: datetime, batch: uuid.UUID | None = None
    ) -> Decision:
        """This proposal says the same as `other`, of the same subject: its count and evidence go there.

        Raises FactChanged, and NotAllowed where the other is gone by now.
        """
        from memory.models.decision import Verb

        with transaction.atomic(using=self._facts().db):
            self._lock_subjects()
            other = self._facts().select_for_update(of=("self",)).get(pk=other.pk)
            if other.pk == self.pk or other.subject_id != self.subject_id:
                raise NotAllowed("Only two memories about one subject can say the same thing.")
            if other.status not in (Status.APPROVED, Status.PROPOSED):
                raise NotAllowed(f"The other memory is {other.get_status_display().lower()} by now.")
            self._lock(revision)
            decision = self._move(
                Verb.MERGE,
                person,
                now,
                to=Status.MERGED,
                batch=batch,
                superseded_by_id=other.pk,
                noted={"evidence_ids": other._take_evidence_of(self)},
            )
            self._facts().filter(pk=other.pk).update(times_seen=F("times_seen") + self.times_seen)
        return decision

    def rivals_with(self, edits: dict[str, Any], now: datetime) -> FactQuerySet:
        """What its approval with these edits would replace by its key alone. Raises NotAllowed for edits that no fact
        can have."""
        looks = copy.copy(self)
        looks._apply(looks._completed(edits, now))
        return self._facts().rivals_of(cast("Fact", looks))

    def _lock_subjects(self) -> None:
        """Takes its subject, and those of the lessons that it stands for, in one order."""
        from memory.models.standing_part import StandingPart

        parts = StandingPart.objects.filter(standing=self.pk) if self.standing else StandingPart.objects.none()
        Subject.objects.hold({self.subject_id, *parts.values_list("part__subject", flat=True)})

    def _said_later(self, rivals: Iterable[Fact]) -> Fact | None:
        """Of its rivals the one that all of its readers have, and that was said after this one was."""
        for rival in rivals:
            reaches_all = rival.everyone or set(self.agent_ids) <= set(rival.agent_ids)
            if reaches_all and rival.came_after(self.valid_from):
                return rival
        return None

    def _speak_for_its_parts(self, person: Person, now: datetime, batch: uuid.UUID) -> None:
        """The lessons it was made of leave the briefs for it, with their evidence joined; what moved since stays."""
        from memory.models.decision import Verb

        parts = self._facts().select_for_update(of=("self",)).select_related("subject", "project")
        for part in parts.filter(part_of__standing=self.pk).order_by("pk"):
            if part.subject.frozen_at:
                raise NotAllowed("A lesson in it is about a subject that is frozen while a privacy request runs.")
            if part.status not in (Status.APPROVED, Status.PROPOSED):
                continue
            joined = self._take_evidence_of(part)
            is_live = part.status == Status.APPROVED
            verb, to = (Verb.SUPERSEDE, Status.SUPERSEDED) if is_live else (Verb.MERGE, Status.MERGED)
            noted = {"joined_evidence_ids": joined}
            part._move(verb, person, now, to=to, batch=batch, superseded_by_id=self.pk, noted=noted)

    def _take_evidence_of(self, other: FactRow) -> list[int]:
        """Copies of the quotes behind `other` that are not behind this one yet; their ids."""
        from memory.models.evidence import Evidence

        return Evidence.objects.copy(other.pk, cast("Fact", self))

    def _give_way(self, newer: FactRow, person: Person | None, now: datetime, batch: uuid.UUID) -> None:
        """This value is replaced by `newer` for the readers they share; whoever else had it keeps it."""
        from memory.models.decision import Verb

        left = [] if self.everyone else sorted(set(self.agent_ids) - set(newer.agent_ids))
        if left:
            self._move(Verb.RESCOPE, person, now, batch=batch, agent_ids=left)
        else:
            self._end_for(newer, person, now, batch)

    def _take_the_place_of(self, old: Fact, person: Person, now: datetime, batch: uuid.UUID) -> None:
        """Supersedes `old` for all of its readers: what is untrue is untrue for everybody."""
        if old.subject_id != self.subject_id:
            raise NotAllowed("The two are about different subjects, so one cannot take the other's place.")
        old = self._facts().select_for_update().get(pk=old.pk)
        if old.status == Status.APPROVED:
            old._end_for(self, person, now, batch)

    def _end_for(self, newer: FactRow, person: Person | None, now: datetime, batch: uuid.UUID) -> None:
        from memory.models.decision import Verb

        self._move(
            Verb.SUPERSEDE,
            person,
            now,
            to=Status.SUPERSEDED,
            batch=batch,
            superseded_by_id=newer.pk,
            # It held until the other did, as far as that is known.
            valid_to=newer.valid_from or now,
        )

    def _leave(self, decision: Decision) -> None:
        """Takes its count and its quotes back out of the one that `decision` counted it in, or that spoke for it."""
        from memory.models.evidence import Evidence

        other_id = decision.after.get("superseded_by_id")
        if "evidence_ids" in decision.after:
            self._facts().filter(pk=other_id).update(times_seen=Greatest(F("times_seen") - self.times_seen, 1))
        joined = decision.after.get("evidence_ids") or decision.after.get("joined_evidence_ids")
        if joined:
            Evidence.objects.filter(fact=other_id, pk__in=joined).delete()

    def _facts(self) -> FactQuerySet:
        return cast(FactQuerySet, type(self)._default_manager.all())
