"""Decisions thought through and not made: what a verb of Fact would leave, without writing any of it.

    suppose = Supposing(now).approve(fact, replaces=known).done()
    memory.brief.build(agent, …, suppose=suppose, now=now)

The rules are those of `memory.models.fact`; a property test holds what is supposed here against what is decided there.
"""

from __future__ import annotations

import copy
from datetime import datetime
from typing import Any, Self

from memory import retractions, supposed
from memory.models import Fact, NotAllowed, Status
from memory.models.lifetimes import ask_again_at, default_expiry
from memory.rendering import one_line, seen_value
from memory.supposed import Suppose


class Supposing:
    """A chain of decisions, each seeing what those before it left. Raises NotAllowed where the real one would."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        # In the order in which they would be decided.
        self._facts: dict[int, Fact] = {}
        self._were_live: dict[int, None] = {}
        self._decided: set[int] = set()
        self._merged: list[tuple[int, int]] = []

    def done(self) -> Suppose:
        """Everything as it would be, with what agents would be told to rely on no more."""
        moved = [self._facts[pk] for pk in self._were_live]
        counted = tuple(pk for pk in self._facts if pk not in self._decided)
        told = retractions.would_note(moved, self.now)
        return Suppose(tuple(self._facts.values()), tuple(self._merged), told, counted)

    def is_live(self, fact: Fact) -> bool:
        """Whether it is approved after what is supposed so far."""
        return self._facts.get(fact.pk, fact).status == Status.APPROVED

    def approve(self, fact: Fact, *, replaces: Fact | None = None, **edits: Any) -> Self:
        """As `Fact.approve`."""
        one = self._taken(fact)
        if one.subject.frozen_at:
            raise NotAllowed("Its subject is frozen while a privacy request runs.")
        is_as_said = not edits.keys() & {"text", "value", "key", "type"}
        edits = one._completed(edits, self.now)
        ends_at = edits.get("expires_at", one.expires_at)
        if ends_at is not None and ends_at <= self.now:
            raise NotAllowed("Its lifetime has ended.")
        self._set(one, **edits)
        later = None if one.standing or replaces is not None or not is_as_said else self._said_later(one)
        if later is not None:
            self._set(one, status=Status.SUPERSEDED, confirmed_at=self.now)
            return self
        if one.standing:
            for part in Fact.objects.filter(part_of__standing=one.pk).select_related("subject").order_by("pk"):
                self._speak_for(part)
        for rival in self._rivals(one):
            self._give_way(rival, one)
        if replaces is not None:
            old = self._taken(replaces)
            if old.status == Status.APPROVED:
                self._leave(old, Status.SUPERSEDED)
        self._move(one)
        asked_at = ask_again_at(one.type, self.now, one.project.types, one.expires_at)
        self._set(one, status=Status.APPROVED, confirmed_at=self.now, approved_at=self.now, review_due_at=asked_at)
        return self

    def reject(self, fact: Fact) -> Self:
        """As `Fact.reject`: a proposal that no agent had changes nothing."""
        self._leave(self._taken(fact), Status.REJECTED)
        return self

    def remove(self, fact: Fact) -> Self:
        """As `Fact.remove`: out of memory."""
        self._leave(self._taken(fact), Status.REMOVED)
        return self

    def rescope(self, fact: Fact, *, everyone: bool, agent_ids: list[int]) -> Self:
        """As `Fact.rescope`."""
        one = self._taken(fact)
        self._set(one, everyone=everyone, agent_ids=[] if everyone else sorted(set(agent_ids)))
        if one.status == Status.APPROVED:
            for rival in self._rivals(one):
                self._give_way(rival, one)
        self._move(one)
        return self

    def confirm(self, fact: Fact) -> Self:
        """As `Fact.reconfirm`: its day of confirmation and its end move."""
        one = self._taken(fact)
        ends_at = one.expires_at
        if one.ends_by_type:
            fresh = default_expiry(one.type, one.value, self.now, one.project.types)
            ends_at = fresh if fresh is None or ends_at is None else max(ends_at, fresh)
        self._move(one)
        self._set(one, confirmed_at=self.now, expires_at=ends_at)
        return self

    def merge(self, fact: Fact, other: Fact) -> Self:
        """As `Fact.merge_into`: counted with the other, its quotes behind it."""
        one, into = self._taken(fact), self._taken(other)
        self._leave(one, Status.MERGED)
        into.times_seen += one.times_seen
        self._merged.append((one.pk, into.pk))
        return self

    def _speak_for(self, part: Fact) -> None:
        if part.subject.frozen_at:
            raise NotAllowed("A lesson in it is about a subject that is frozen while a privacy request runs.")
        if part.status in (Status.APPROVED, Status.PROPOSED):
            is_live = part.status == Status.APPROVED
            self._leave(self._taken(part), Status.SUPERSEDED if is_live else Status.MERGED)

    def _rivals(self, one: Fact) -> list[Fact]:
        """As `Fact.objects.rivals_of`, over what is supposed so far."""
        found = supposed.ids(Fact.objects.rivals_of(one), Suppose(tuple(self._facts.values())))
        known = Fact.objects.in_bulk([pk for pk in found if pk not in self._facts])
        return [self._facts.get(pk) or known[pk] for pk in found]

    def _said_later(self, one: Fact) -> Fact | None:
        for rival in self._rivals(one):
            reaches_all = rival.everyone or set(one.agent_ids) <= set(rival.agent_ids)
            if reaches_all and rival.came_after(one.valid_from):
                return rival
        return None

    def _give_way(self, old: Fact, newer: Fact) -> None:
        left = [] if old.everyone else sorted(set(old.agent_ids) - set(newer.agent_ids))
        old = self._taken(old)
        if left:
            self._move(old)
            self._set(old, agent_ids=left)
        else:
            self._leave(old, Status.SUPERSEDED)

    def _leave(self, one: Fact, status: Status) -> None:
        self._move(one)
        self._set(one, status=status)

    def _move(self, one: Fact) -> None:
        """A decision about it would be written now; of what was live before, agents would be told."""
        self._decided.add(one.pk)
        if one.status == Status.APPROVED:
            self._were_live[one.pk] = None

    def _taken(self, fact: Fact) -> Fact:
        """The fact as it is supposed so far, ours to change."""
        if fact.pk not in self._facts:
            self._facts[fact.pk] = copy.copy(fact)
        return self._facts[fact.pk]

    def _set(self, one: Fact, **changes: Any) -> None:
        if "text" in changes:
            changes["text"] = one_line(changes["text"])
        if "value" in changes:
            changes["value"] = seen_value(changes["value"])
        one._apply(changes)
