from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction
from django.db.models import Case, F, Value, When
from django.db.models.functions import Greatest, Least

from memory import privacy, rendering
from memory.models.fact_of_two import SAID_YES_TO
from memory.models.fact_on_arrival import FactOnArrival
from memory.models.fact_row import MAX_TEXT, FactChanged, NotAllowed
from memory.models.fact_status import Status
from memory.models.lifetimes import ask_again_at, default_expiry, due_at, reachable, renewed
from memory.models.subject import Subject
from projects.models import Agent, Person

if TYPE_CHECKING:
    from memory.models.decision import Decision

__all__ = ["MAX_TEXT", "PURGE_AFTER", "Fact", "FactChanged", "NotAllowed"]

PURGE_AFTER = timedelta(days=30)
MAX_KEY = 300
NATURES = ("factual", "sentiment")
USES = ("actionable", "historical")


class Fact(FactOnArrival):
    """One typed, keyed statement about one subject (on screen: a memory). Personal data; its lifetime is its type's.

    Only the verbs below write it. `revision` moves when what is served or its status moves, and every verb names the
    revision its caller saw: the second of two people gets FactChanged.
    """

    @classmethod
    def propose(
        cls,
        *,
        subject: Subject,
        type: str,
        key: str,
        value: Any,
        text: str,
        source: str,
        now: datetime,
        agent: Agent | None = None,
        person: Person | None = None,
        everyone: bool = True,
        agent_ids: list[int] | None = None,
        expires_at: datetime | None = None,
        **fields: Any,
    ) -> tuple[Fact, bool]:
        """A new proposal and True, or the one that says the same already (counted once more) and False.

        The texts are cleaned already. Without `expires_at`, or with one out of reach, the type's lifetime counts from
        `now`.
        """
        from memory.models.decision import Verb

        text, value = rendering.one_line(text), rendering.seen_value(value)
        ends_at = reachable(expires_at, now) if expires_at is not None else None
        fact = cls(
            project=subject.project,
            subject=subject,
            type=type,
            key=key,
            value=value,
            text=text,
            source=source,
            proposed_by_agent=agent,
            proposed_by=person,
            everyone=everyone,
            agent_ids=[] if everyone else sorted(set(agent_ids or [])),
            expires_at=ends_at or default_expiry(type, value, now, subject.project.types),
            ends_by_type=ends_at is None,
            first_seen_at=now,
            last_seen_at=now,
            served_sha256=rendering.served_sha256(type, key, value, text),
            fingerprint=rendering.fingerprint(type, key, value, text),
            **fields,
        )
        try:
            with transaction.atomic(using=cls.objects.db):
                fact.save(force_insert=True)
        except IntegrityError:
            same = cls.objects.filter(subject=subject, fingerprint=fact.fingerprint, status=Status.PROPOSED).first()
            if same is None:
                raise
            same.count_again(now)
            return same, False
        fact._log(Verb.PROPOSE if person is None else Verb.CREATE, person, now, before={}, revision_before=0)
        return fact, True

    def count_again(self, now: datetime, times: int = 1) -> None:
        """The same was learned once more: it lives on where its type counts from that. Nothing that is served changes,
        so the revision stays. `times` is 0 where no session can be shown for it: said, and not counted."""
        seen: dict[str, Any] = {"times_seen": F("times_seen") + times, "last_seen_at": now}
        later = renewed(self.type, self.value, self.expires_at, now, self.project.types)
        if later != self.expires_at:
            # Where somebody named an end meanwhile, that end stays.
            kept = When(ends_by_type=True, then=Greatest("expires_at", Value(later)))
            seen["expires_at"] = Case(kept, default=F("expires_at"))
        type(self).objects.filter(pk=self.pk).update(**seen)
        self.refresh_from_db(fields=list(seen))

    def live_until(self, later: datetime) -> int:
        """It was used: 1 where its end moved to `later`, 0 where it ends later still, or by somebody's word."""
        own_end = type(self).objects.filter(pk=self.pk, ends_by_type=True, expires_at__lt=later)
        return own_end.update(expires_at=later)

    def count_help(self) -> None:
        """An agent said that it helped."""
        type(self).objects.filter(pk=self.pk).update(helped_count=F("helped_count") + 1)

    def look_again(self, now: datetime) -> None:
        """Somebody doubts it: back before a person, while it stays approved and in use. The revision stays."""
        type(self).objects.filter(pk=self.pk).update(review_due_at=Least("review_due_at", Value(now)))
        self.refresh_from_db(fields=["review_due_at"])

    def approve(
        self,
        person: Person,
        *,
        revision: int,
        now: datetime,
        batch: uuid.UUID | None = None,
        replaces: Fact | None = None,
        **edits: Any,
    ) -> Decision:
        """Countersigned by `person`, with any last edits (as `edit` takes them, and everyone, agent_ids).

        Locks the subject, so that two values of one single-valued key cannot both pass; a rival that everyone of the
        same readers had is superseded, in the same batch, and so is `replaces`, a live memory that the person holds
        to be untrue now, whatever its key, and what a standing fact says for all. What was said before its rival was
        becomes history, and the rival stays, unless the person edits or names it. Raises FactChanged, NotAllowed.
        """
        from memory.models.decision import Verb

        batch = batch or uuid.uuid4()
        with transaction.atomic(using=type(self).objects.db):
            self._lock_subjects()
            self._lock(revision)
            if self.subject.frozen_at:
                raise NotAllowed("This subject is frozen while a privacy request runs. It can be decided afterwards.")
            self._refuse_one_for_two(person, edits)
            is_as_said = not edits.keys() & {"text", "value", "key", "type"}
            edits = self._completed(edits, now)
            expires_at = edits.get("expires_at", self.expires_at)
            if expires_at is not None and expires_at <= now:
                raise NotAllowed(
                    f"Its lifetime ended on {expires_at:%d %b %Y}. Set a later date under “Lives until”, then approve."
                )
            self._apply(edits)
            signed: dict[str, Any] = {"approved_at": now, "approved_by_id": person.pk, "confirmed_at": now}
            signed |= {"put_off_until": None, **edits}
            if self.standing:
                self._speak_for_its_parts(person, now, batch)
            rivals = list(type(self).objects.select_for_update().rivals_of(self))
            later = None if self.standing or replaces is not None or not is_as_said else self._said_later(rivals)
            if later is not None:
                signed |= {"valid_to": later.since, "superseded_by_id": later.pk}
                return self._move(Verb.APPROVE, person, now, to=Status.SUPERSEDED, batch=batch, **signed)
            for rival in rivals:
                rival._give_way(self, person, now, batch)
            if replaces is not None:
                self._take_the_place_of(replaces, person, now, batch)
            asked_at = ask_again_at(self.type, now, self.project.types, self.expires_at)
            signed |= {"valid_to": None, "review_due_at": asked_at}
            return self._move(Verb.APPROVE, person, now, to=Status.APPROVED, batch=batch, **signed)

    def edit(
        self, person: Person, *, revision: int, now: datetime, batch: uuid.UUID | None = None, **edits: Any
    ) -> Decision:
        """Changes text, value, key, type, nature, use or expires_at of a proposed or approved fact.

        With another type go its key and, where its type gave it its end, its lifetime. What was due to be looked at
        again has been. Who receives it is changed by `rescope`, which sees to the rivals there. Raises FactChanged,
        NotAllowed.
        """
        from memory.models.decision import Verb

        if edits.keys() & {"everyone", "agent_ids"}:
            raise NotAllowed("Who sees it is changed by itself. Save the words first, then choose who sees it.")
        with transaction.atomic(using=type(self).objects.db):
            Subject.objects.hold([self.subject_id])
            self._lock(revision)
            if self.status not in (Status.PROPOSED, Status.APPROVED):
                raise NotAllowed(f"This memory is {self.get_status_display().lower()} by now.")
            edits = self._completed(edits, now)
            self._apply(edits)
            if self.status == Status.APPROVED:
                if edits.keys() & {"type", "key"} and type(self).objects.rivals_of(self).exists():
                    raise NotAllowed("Another value is approved for this key. Withdraw that one first, then edit this.")
                is_due = self.review_due_at is not None and self.review_due_at <= now
                # Whoever rewrites what a rule let in has read it.
                if is_due or (self.confirmed_at is None and edits.keys() & SAID_YES_TO):
                    edits.update(confirmed_at=now, put_off_until=None)
                if is_due or edits.keys() & {"type", "expires_at"}:
                    edits["review_due_at"] = ask_again_at(self.type, now, self.project.types, self.expires_at)
            return self._move(Verb.EDIT, person, now, batch=batch, **self._without_first_yes(edits))

    def reconfirm(self, person: Person, *, revision: int, now: datetime, batch: uuid.UUID | None = None) -> Decision:
        """Still true: confirmed by `person` now, its lifetime and the next asking count from now.

        An end that somebody named stays. Raises FactChanged, NotAllowed.
        """
        from memory.models.decision import Verb

        with transaction.atomic(using=type(self).objects.db):
            Subject.objects.hold([self.subject_id])
            self._lock(revision)
            if self.status != Status.APPROVED or (self.expires_at is not None and self.expires_at <= now):
                raise NotAllowed("Nobody receives this memory any more, so it cannot be confirmed.")
            ends_at = self.expires_at
            if self.ends_by_type:
                fresh = default_expiry(self.type, self.value, now, self.project.types)
                ends_at = fresh if fresh is None or ends_at is None else max(ends_at, fresh)
            return self._move(
                Verb.RECONFIRM,
                person,
                now,
                batch=batch,
                confirmed_at=now,
                review_due_at=ask_again_at(self.type, now, self.project.types, ends_at),
                put_off_until=None,
                expires_at=ends_at,
            )

    def _completed(self, edits: dict[str, Any], now: datetime) -> dict[str, Any]:
        """`edits` with what follows from them. Raises NotAllowed for a value that no fact can have."""
        edits, before = dict(edits), self.type
        if edits.get("nature", self.nature) not in NATURES or edits.get("use", self.use) not in USES:
            raise NotAllowed("A memory is factual or sentiment, and actionable or historical.")
        name = edits["type"] = edits.get("type", before)
        if name == before:
            del edits["type"]
        elif not name or len(name) > 40 or not name.isprintable() or ":" in name:
            raise NotAllowed("A type is a name of at most 40 characters, without a colon.")
        else:
            # A key begins with its type: `user_preference:timezone`.
            edits.setdefault("key", f"{name}:{self.key.removeprefix(f'{before}:')}")
            if len(edits["key"]) > MAX_KEY:
                raise NotAllowed(f"Its key would have more than {MAX_KEY} characters with that type.")
        if edits.keys() & {"text", "value"}:
            says = (edits.get("text", self.text), edits.get("key", self.key), edits.get("value", self.value))
            edits["findings"] = privacy.of_statement(*says, self.evidence.values_list("quote", flat=True))
        if "expires_at" in edits:
            edits["ends_by_type"] = False
        elif self.ends_by_type:
            value = edits.get("value", self.value)
            if name != before or due_at(value, now) != due_at(self.value, now):
                edits["expires_at"] = default_expiry(name, value, now, self.project.types)
        return edits

    def is_back_at(self, decision: Decision) -> bool:
        """Whether all that came after `decision` was taken back since. Two queries."""
        return self._revision_left_by(decision) != decision.revision_after

    def _revision_left_by(self, decision: Decision) -> int:
        """The revision at which `decision` can be undone: the one it left, or today's where all that came after it was
        taken back since, pair by pair."""
        from memory.models.decision import Verb

        today = type(self).objects.values_list("revision", flat=True).get(pk=self.pk)
        steps = {step.revision_after: step for step in self.decisions.select_related("undoes").order_by("pk")}
        revision = today
        while (step := steps.get(revision)) is not None and step.verb == Verb.UNDO and step.undoes is not None:
            revision = step.undoes.revision_before
        return today if revision == decision.revision_after else decision.revision_after

    def rescope(
        self,
        person: Person | None,
        *,
        revision: int,
        now: datetime,
        everyone: bool,
        agent_ids: list[int],
        batch: uuid.UUID | None = None,
    ) -> Decision:
        """Changes who receives it (the machine, only for a proposal that a second agent made as well).

        For an approved fact, the same check for rivals as an approval."""
        from memory.models.decision import Verb

        with transaction.atomic(using=type(self).objects.db):
            Subject.objects.hold([self.subject_id])
            self._lock(revision)
            if self.status not in (Status.PROPOSED, Status.APPROVED):
                raise NotAllowed(f"This memory is {self.get_status_display().lower()}; nobody receives it.")
            if person is None and self.status != Status.PROPOSED:
                raise NotAllowed("Only a person decides who receives an approved memory.")
            batch = batch or uuid.uuid4()
            scope: dict[str, Any] = {"everyone": everyone, "agent_ids": [] if everyone else sorted(set(agent_ids))}
            self._apply(scope)
            if self.status == Status.APPROVED:
                for rival in type(self).objects.select_for_update().rivals_of(self):
                    rival._give_way(self, person, now, batch)
            return self._move(Verb.RESCOPE, person, now, batch=batch, **self._without_first_yes(scope))

    def reject(
        self,
        person: Person,
        *,
        revision: int,
        now: datetime,
        reason: str,
        note: str = "",
        batch: uuid.UUID | None = None,
    ) -> Decision:
        """This proposal is wrong: remembered, so that the same is not proposed again."""
        from memory.models.decision import Verb

        terms: dict[str, Any] = {"to": Status.REJECTED, "reason": reason, "note": note, "batch": batch}
        return self._decide(Verb.REJECT, person, revision, now, **terms)

    def remove(
        self,
        person: Person,
        *,
        revision: int,
        now: datetime,
        reason: str = "",
        note: str = "",
        batch: uuid.UUID | None = None,
    ) -> Decision:
        """Out of memory; undoable for 30 days, then purged."""
        from memory.models.decision import Verb

        terms: dict[str, Any] = {"to": Status.REMOVED, "reason": reason, "note": note, "batch": batch}
        return self._decide(Verb.REMOVE, person, revision, now, **terms)

    def put_off(
        self, person: Person, *, revision: int, now: datetime, until: datetime, batch: uuid.UUID | None = None
    ) -> Decision:
        """Out of today's pile until a day. What it is, a proposal or a live memory, it stays."""
        from memory.models.decision import Verb

        allowed = (Status.PROPOSED, Status.APPROVED)
        terms: dict[str, Any] = {"allowed": allowed, "batch": batch, "put_off_until": until}
        return self._decide(Verb.PUT_OFF, person, revision, now, **terms)

    def expire(self, now: datetime) -> Decision:
        """The clock passed its lifetime. It was not served since; this only says so."""
        from memory.models.decision import Verb

        return self._decide(Verb.EXPIRE, None, self.revision, now, to=Status.EXPIRED)

    def lapse(self, now: datetime) -> Decision:
        """Nobody decided for too long. Reversible; age never approves."""
        from memory.models.decision import Verb

        return self._decide(Verb.LAPSE, None, self.revision, now, to=Status.LAPSED)

    def come_back(self, now: datetime) -> Decision | None:
        """What had lapsed was seen again: it waits as before, and its days count anew. None where somebody moved it."""
        from memory.models.decision import Verb

        lapse = self.decisions.filter(verb=Verb.LAPSE, undone_by__isnull=True).order_by("-pk").first()
        return self.undo(lapse, None, now=now) if lapse is not None and self.status == Status.LAPSED else None

    def undo(
        self, decision: Decision, person: Person | None, *, now: datetime, batch: uuid.UUID | None = None
    ) -> Decision:
        """Puts back what `decision` changed, while the revision it left still stands (else FactChanged).

        Without a person only what the machine let lapse."""
        from memory.models.decision import Verb

        if decision.verb in (Verb.PROPOSE, Verb.CREATE, Verb.UNDO) or hasattr(decision, "undone_by"):
            raise NotAllowed("This step cannot be undone, or was undone already.")
        if person is None and decision.verb != Verb.LAPSE:
            raise NotAllowed("Only a person takes back what a person decided.")
        with transaction.atomic(using=type(self).objects.db):
            Subject.objects.hold([self.subject_id])
            self._lock(self._revision_left_by(decision))
            fields = {name: _loaded(name, value) for name, value in decision.before.items()}
            to = fields.pop("status", self.status)
            if decision.verb == Verb.LAPSE:
                # Whoever asks for it back has 30 days more; what was seen again waits as one that never lay in a pile.
                fields["piled_at"] = None if person is None else now
            self._leave(decision)
            self._apply({**fields, "status": to})
            if to == Status.APPROVED and "status" in decision.before and self.subject.frozen_at:
                raise NotAllowed("This subject is frozen while a privacy request runs. It can be undone afterwards.")
            if to == Status.APPROVED and type(self).objects.rivals_of(self).exists():
                raise NotAllowed("Another value was approved since. Withdraw that one first, then undo this.")
            return self._move(Verb.UNDO, person, now, to=to, undoes=decision, batch=batch, backwards=True, **fields)


def _loaded(name: str, value: Any) -> Any:
    is_time = name.endswith(("_at", "_until")) or name in ("valid_from", "valid_to")
    return datetime.fromisoformat(value) if is_time and isinstance(value, str) else value
