from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import IntegrityError, models, transaction
from django.db.models import F, Q

from memory import rendering, short_ids
from memory.models.fact_queries import FactQuerySet
from memory.models.fact_status import MOVABLE, TRANSITIONS, Status
from memory.models.lifetimes import ask_again_at, default_expiry, reachable
from memory.models.subject import Subject
from memory.types import SINGLE_VALUED
from projects.models import Agent, Person, Project

if TYPE_CHECKING:
    from memory.models.decision import Decision


MAX_TEXT = 2000
SENTENCE = 240
PURGE_AFTER = timedelta(days=30)


class FactChanged(Exception):
    """Somebody decided first: the fact's revision is not the one the caller saw. Carries the fact as it is now."""

    def __init__(self, fact: Fact) -> None:
        self.fact = fact
        super().__init__("The memory changed since you saw it; reload to see what happened.")


class NotAllowed(Exception):
    """The move is not in TRANSITIONS, or its terms do not hold; the message says which."""


class Fact(models.Model):
    """One typed, keyed statement about one subject (on screen: a memory). Personal data; its lifetime is its type's.

    Only the verbs below write it. `revision` moves when what is served or its status moves, and every verb names the
    revision its caller saw: the second of two people gets FactChanged.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="facts")
    subject = models.ForeignKey(Subject, on_delete=models.CASCADE, related_name="facts")
    type = models.CharField(max_length=40)
    key = models.CharField(max_length=300)
    value = models.JSONField(null=True)
    text = models.CharField(max_length=MAX_TEXT)
    nature = models.CharField(max_length=10, default="factual")
    use = models.CharField(max_length=12, default="actionable")
    standing = models.BooleanField(default=False)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PROPOSED)
    everyone = models.BooleanField(default=True)
    agent_ids = ArrayField(models.BigIntegerField(), default=list)
    source = models.CharField(max_length=12)
    # Who proposed it: an agent, or a person who wrote it by hand.
    proposed_by_agent = models.ForeignKey(Agent, on_delete=models.SET_NULL, null=True, related_name="+")
    proposed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    distiller = models.CharField(max_length=40, blank=True)
    prompt_version = models.CharField(max_length=20, blank=True)
    findings = models.JSONField(default=list)
    times_seen = models.PositiveIntegerField(default=1)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)
    valid_from = models.DateTimeField(null=True)
    valid_to = models.DateTimeField(null=True)
    approved_at = models.DateTimeField(null=True)
    approved_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    confirmed_at = models.DateTimeField(null=True)
    review_due_at = models.DateTimeField(null=True)
    put_off_until = models.DateTimeField(null=True)
    superseded_by = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="supersedes")
    tokens = models.PositiveIntegerField(default=0)
    revision = models.PositiveIntegerField(default=1)
    served_sha256 = models.CharField(max_length=64)
    fingerprint = models.CharField(max_length=64)
    search = models.GeneratedField(
        expression=models.Func(
            F("text"), F("key"), function="countersign_search_vector", output_field=SearchVectorField()
        ),
        output_field=SearchVectorField(),
        db_persist=True,
    )

    objects = FactQuerySet.as_manager()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=Q(status__in=Status.values), name="fact_status_known"),
            # An empty list can never mean everyone.
            models.CheckConstraint(
                condition=Q(everyone=True, agent_ids=[]) | (Q(everyone=False) & ~Q(agent_ids=[])),
                name="fact_has_one_scope",
            ),
            models.CheckConstraint(condition=~Q(text=""), name="fact_says_something"),
            models.CheckConstraint(
                condition=Q(nature__in=["factual", "sentiment"]) & Q(use__in=["actionable", "historical"]),
                name="fact_nature_known",
            ),
            models.UniqueConstraint(
                fields=["subject", "type", "key"],
                condition=Q(status="approved", everyone=True, type__in=SINGLE_VALUED),
                name="fact_one_value_for_everyone",
            ),
            # Two workers, or a retry, never make two of the same.
            models.UniqueConstraint(
                fields=["subject", "fingerprint"], condition=Q(status="proposed"), name="fact_proposed_once"
            ),
        ]
        indexes = [
            models.Index(fields=["project", "status", "-id"], name="fact_by_status"),
            models.Index(fields=["project", "subject", "type", "key"], name="fact_by_key"),
            models.Index(fields=["subject", "fingerprint"], name="fact_by_fingerprint"),
            models.Index(fields=["expires_at"], condition=Q(status="approved"), name="fact_by_expiry"),
            GinIndex(fields=["search"], name="fact_search"),
        ]

    def __str__(self) -> str:
        return self.short_id

    @property
    def short_id(self) -> str:
        """The id every door shows: short, not countable."""
        return short_ids.encode(self.pk)

    @property
    def is_current(self) -> bool:
        return self.status == Status.APPROVED

    # Verbs ------------------------------------------------------------------------------------------------------

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

        text = rendering.one_line(text)
        ends_at = reachable(expires_at, now) if expires_at is not None else None
        fact = cls(
            project_id=subject.project_id,
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
            expires_at=ends_at if ends_at is not None else default_expiry(type, value, now),
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

    def count_again(self, now: datetime) -> None:
        """The same was learned once more. Nothing that is served changes, so the revision stays."""
        type(self).objects.filter(pk=self.pk).update(times_seen=F("times_seen") + 1, last_seen_at=now)
        self.refresh_from_db(fields=["times_seen", "last_seen_at"])

    def approve(
        self, person: Person, *, revision: int, now: datetime, batch: uuid.UUID | None = None, **edits: Any
    ) -> Decision:
        """Countersigned by `person`, with any last edits (text, value, key, expires_at, everyone, agent_ids).

        Locks the subject, so that two values of one single-valued key cannot both pass; a rival that everyone of the
        same readers had is superseded, in the same batch. Raises FactChanged, NotAllowed.
        """
        from memory.models.decision import Verb

        batch = batch or uuid.uuid4()
        with transaction.atomic(using=type(self).objects.db):
            Subject.objects.select_for_update().get(pk=self.subject_id)
            self._lock(revision)
            if self.subject.frozen_at:
                raise NotAllowed("This subject is frozen while a privacy request runs. It can be decided afterwards.")
            expires_at = edits.get("expires_at", self.expires_at)
            if expires_at is not None and expires_at <= now:
                raise NotAllowed(
                    f"Its lifetime ended on {expires_at:%d %b %Y}. Set a later date under “Lives until”, then approve."
                )
            self._apply(edits)
            for rival in type(self).objects.select_for_update().rivals_of(self):
                rival._give_way(self, person, now, batch)
            return self._move(
                Verb.APPROVE,
                person,
                now,
                to=Status.APPROVED,
                batch=batch,
                approved_at=now,
                approved_by_id=person.pk,
                confirmed_at=now,
                put_off_until=None,
                review_due_at=ask_again_at(self.type, now),
                **edits,
            )

    def _give_way(self, newer: Fact, person: Person | None, now: datetime, batch: uuid.UUID) -> None:
        """This value is replaced by `newer` for the readers they share; whoever else had it keeps it."""
        from memory.models.decision import Verb

        left = [] if self.everyone else sorted(set(self.agent_ids) - set(newer.agent_ids))
        if left:
            self._move(Verb.RESCOPE, person, now, batch=batch, agent_ids=left)
        else:
            self._move(Verb.SUPERSEDE, person, now, to=Status.SUPERSEDED, batch=batch, superseded_by_id=newer.pk)

    def edit(self, person: Person, *, revision: int, now: datetime, **edits: Any) -> Decision:
        """Changes the wording, value, key or lifetime of a proposed or approved fact."""
        from memory.models.decision import Verb

        return self._decide(Verb.EDIT, person, revision, now, allowed=(Status.PROPOSED, Status.APPROVED), **edits)

    def rescope(
        self, person: Person | None, *, revision: int, now: datetime, everyone: bool, agent_ids: list[int]
    ) -> Decision:
        """Changes who receives it (the machine, only for a proposal that a second agent made as well).

        For an approved fact, the same check for rivals as an approval."""
        from memory.models.decision import Verb

        with transaction.atomic(using=type(self).objects.db):
            Subject.objects.select_for_update().get(pk=self.subject_id)
            self._lock(revision)
            if self.status not in (Status.PROPOSED, Status.APPROVED):
                raise NotAllowed(f"This memory is {self.get_status_display().lower()}; nobody receives it.")
            if person is None and self.status != Status.PROPOSED:
                raise NotAllowed("Only a person decides who receives an approved memory.")
            batch = uuid.uuid4()
            scope: dict[str, Any] = {"everyone": everyone, "agent_ids": [] if everyone else sorted(set(agent_ids))}
            self._apply(scope)
            if self.status == Status.APPROVED:
                for rival in type(self).objects.select_for_update().rivals_of(self):
                    rival._give_way(self, person, now, batch)
            return self._move(Verb.RESCOPE, person, now, batch=batch, **scope)

    def reject(self, person: Person, *, revision: int, now: datetime, reason: str, note: str = "") -> Decision:
        """This proposal is wrong: remembered, so that the same is not proposed again."""
        from memory.models.decision import Verb

        return self._decide(Verb.REJECT, person, revision, now, to=Status.REJECTED, reason=reason, note=note)

    def remove(self, person: Person, *, revision: int, now: datetime, reason: str = "", note: str = "") -> Decision:
        """Out of memory; undoable for 30 days, then purged."""
        from memory.models.decision import Verb

        return self._decide(Verb.REMOVE, person, revision, now, to=Status.REMOVED, reason=reason, note=note)

    def put_off(self, person: Person, *, revision: int, now: datetime, until: datetime) -> Decision:
        """Out of today's pile until a day. It stays proposed."""
        from memory.models.decision import Verb

        return self._decide(Verb.PUT_OFF, person, revision, now, allowed=(Status.PROPOSED,), put_off_until=until)

    def merge_into(self, other: Fact, person: Person, *, revision: int, now: datetime) -> Decision:
        """This proposal says the same as `other`: its count and evidence go there."""
        from memory.models.decision import Verb

        with transaction.atomic(using=type(self).objects.db):
            decision = self._decide(Verb.MERGE, person, revision, now, to=Status.MERGED, superseded_by_id=other.pk)
            type(self).objects.filter(pk=other.pk).update(times_seen=F("times_seen") + self.times_seen)
        return decision

    def expire(self, now: datetime) -> Decision:
        """The clock passed its lifetime. It was not served since; this only says so."""
        from memory.models.decision import Verb

        return self._decide(Verb.EXPIRE, None, self.revision, now, to=Status.EXPIRED)

    def lapse(self, now: datetime) -> Decision:
        """Nobody decided for too long. Reversible; age never approves."""
        from memory.models.decision import Verb

        return self._decide(Verb.LAPSE, None, self.revision, now, to=Status.LAPSED)

    def undo(self, decision: Decision, person: Person, *, now: datetime, batch: uuid.UUID | None = None) -> Decision:
        """Puts back what `decision` changed, while the revision it left still stands (else FactChanged)."""
        from memory.models.decision import Verb

        if decision.verb in (Verb.PROPOSE, Verb.CREATE, Verb.UNDO) or hasattr(decision, "undone_by"):
            raise NotAllowed("This step cannot be undone, or was undone already.")
        with transaction.atomic(using=type(self).objects.db):
            Subject.objects.select_for_update().get(pk=self.subject_id)
            self._lock(decision.revision_after)
            fields = {name: _loaded(name, value) for name, value in decision.before.items()}
            to = fields.pop("status", self.status)
            if decision.verb == Verb.MERGE and decision.after.get("superseded_by_id"):
                type(self).objects.filter(pk=decision.after["superseded_by_id"]).update(
                    times_seen=F("times_seen") - self.times_seen
                )
            self._apply({**fields, "status": to})
            if to == Status.APPROVED and type(self).objects.rivals_of(self).exists():
                raise NotAllowed("Another value was approved since. Withdraw that one first, then undo this.")
            return self._move(Verb.UNDO, person, now, to=to, undoes=decision, batch=batch, backwards=True, **fields)

    # How verbs write --------------------------------------------------------------------------------------------

    def _decide(
        self,
        verb: str,
        person: Person | None,
        revision: int,
        now: datetime,
        *,
        allowed: tuple[str, ...] | None = None,
        **kwargs: Any,
    ) -> Decision:
        with transaction.atomic(using=type(self).objects.db):
            self._lock(revision)
            if allowed is not None and self.status not in allowed:
                raise NotAllowed(f"This memory is {self.get_status_display().lower()} by now.")
            return self._move(verb, person, now, **kwargs)

    def _lock(self, revision: int) -> None:
        """Takes the row as it is now. Raises FactChanged when it is not the one the caller saw."""
        current = type(self).objects.select_for_update(of=("self",)).select_related("subject").get(pk=self.pk)
        if current.revision != revision:
            raise FactChanged(current)
        for field in self._meta.concrete_fields:
            if not field.generated:
                setattr(self, field.attname, getattr(current, field.attname))
        self.subject = current.subject

    def _apply(self, changes: dict[str, Any]) -> None:
        """Sets `changes` on this instance only; _move writes them."""
        for name, value in changes.items():
            setattr(self, name, value)

    def _move(
        self,
        verb: str,
        person: Person | None,
        now: datetime,
        *,
        to: str | None = None,
        reason: str = "",
        note: str = "",
        batch: uuid.UUID | None = None,
        undoes: Decision | None = None,
        backwards: bool = False,
        **changes: Any,
    ) -> Decision:
        stored = type(self).objects.get(pk=self.pk)
        before = stored._snapshot()
        moves = to is not None and to != stored.status and not backwards
        if moves and to not in TRANSITIONS.get(stored.status, ()):
            raise NotAllowed(f"A memory that is {stored.get_status_display().lower()} cannot become {to}.")
        if "text" in changes:
            changes["text"] = rendering.one_line(changes["text"])
        self._apply(changes)
        if to is not None:
            self.status = to
        self.served_sha256 = rendering.served_sha256(self.type, self.key, self.value, self.text)
        self.fingerprint = rendering.fingerprint(self.type, self.key, self.value, self.text)
        revision_before = stored.revision
        self.revision = revision_before + 1
        try:
            with transaction.atomic(using=type(self).objects.db):
                self.save(update_fields=[*changes, "status", "served_sha256", "fingerprint", "revision"])
        except IntegrityError:
            # The two unique constraints above: the same proposal waits already, or another value is approved.
            raise NotAllowed("Another memory says the same already, or holds this key. Look for it first.") from None
        return self._log(
            verb,
            person,
            now,
            before=before,
            revision_before=revision_before,
            reason=reason,
            note=note,
            batch=batch,
            undoes=undoes,
        )

    def _log(
        self,
        verb: str,
        person: Person | None,
        now: datetime,
        *,
        before: dict[str, Any],
        revision_before: int,
        reason: str = "",
        note: str = "",
        batch: uuid.UUID | None = None,
        undoes: Decision | None = None,
    ) -> Decision:
        from memory.models.decision import Decision

        after = self._snapshot()
        changed = {name for name in after if before.get(name) != after[name]} if before else set(after)
        return Decision.objects.create(
            project_id=self.project_id,
            fact=self,
            person=person,
            verb=verb,
            reason=reason,
            note=note,
            before={name: before[name] for name in changed if name in before},
            after={name: after[name] for name in changed},
            revision_before=revision_before,
            revision_after=self.revision,
            batch=batch or uuid.uuid4(),
            undoes=undoes,
            at=now,
        )

    def _snapshot(self) -> dict[str, Any]:
        return {
            name: value.isoformat() if isinstance(value := getattr(self, name), datetime) else value for name in MOVABLE
        }


def _loaded(name: str, value: Any) -> Any:
    return datetime.fromisoformat(value) if name.endswith(("_at", "_until")) and isinstance(value, str) else value
