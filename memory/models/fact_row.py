from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVectorField
from django.db import IntegrityError, models, transaction
from django.db.models import F, Q, QuerySet

from memory import rendering, short_ids, tokens
from memory.models.fact_queries import FactQuerySet
from memory.models.fact_status import MOVABLE, TRANSITIONS, Relation, Status
from memory.models.subject import Subject
from memory.types import SINGLE_VALUED, FactType, type_of
from projects.models import Agent, Person, Project
from projects.prepared import Kept

if TYPE_CHECKING:
    from memory.models.decision import Decision
    from memory.models.fact import Fact


MAX_TEXT = 2000
TWO_ARE_TWO = "fact_two_are_two"
SAID_BY_YOU = "You said the first yes yourself. A second person decides; undo takes your yes back."


class FactChanged(Exception):
    """Somebody decided first: the fact's revision is not the one the caller saw. Carries the fact as it is now."""

    def __init__(self, fact: Fact) -> None:
        self.fact = fact
        super().__init__("The memory changed since you saw it; reload to see what happened.")


class NotAllowed(Exception):
    """The move is not in TRANSITIONS, or its terms do not hold; the message says which."""


class FactRow(models.Model):
    """What one fact holds, and the one way it is written: locked at the revision the caller saw, moved by TRANSITIONS,
    with a Decision beside it. The verbs that use this are Fact's.
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
    # On how many days an agent said that it helped, each agent by itself.
    helped_count = models.PositiveIntegerField(default=0)
    expires_at = models.DateTimeField(null=True)
    # Whether its end is the one its type gives, and moves with it; False where the talk or a person named one.
    ends_by_type = models.BooleanField(default=True)
    valid_from = models.DateTimeField(null=True)
    valid_to = models.DateTimeField(null=True)
    approved_at = models.DateTimeField(null=True)
    approved_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    confirmed_at = models.DateTimeField(null=True)
    review_due_at = models.DateTimeField(null=True)
    put_off_until = models.DateTimeField(null=True)
    # Who said yes first where two people are needed; the second one approves.
    first_yes_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    first_yes_at = models.DateTimeField(null=True)
    # When it first lay in somebody's pile: a proposal lapses 30 days after that.
    piled_at = models.DateTimeField(null=True)
    # The order among proposals, the greatest first: how likely it is approved, how often it would be served, how new
    # it is. Kept by the steps that change one of these.
    worth = models.FloatField(default=0.0)
    # What reconciliation saw beside a proposal: which known fact, and how they stand to each other.
    relation = models.CharField(max_length=12, choices=Relation.choices, blank=True)
    related = models.ForeignKey("memory.Fact", on_delete=models.SET_NULL, null=True, related_name="+", db_index=False)
    superseded_by = models.ForeignKey("memory.Fact", on_delete=models.SET_NULL, null=True, related_name="supersedes")
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
        abstract = True
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=Q(status__in=Status.values), name="fact_status_known"),
            # An empty list can never mean everyone.
            models.CheckConstraint(
                condition=Q(everyone=True, agent_ids=[]) | (Q(everyone=False) & ~Q(agent_ids=[])),
                name="fact_has_one_scope",
            ),
            models.CheckConstraint(condition=~Q(text=""), name="fact_says_something"),
            models.CheckConstraint(condition=Q(relation__in=["", *Relation.values]), name="fact_relation_known"),
            models.CheckConstraint(
                condition=Q(nature__in=["factual", "sentiment"]) & Q(use__in=["actionable", "historical"]),
                name="fact_nature_known",
            ),
            # Whoever said the first yes is not the second person, whatever door and whatever moment.
            models.CheckConstraint(
                condition=Q(first_yes_by__isnull=True)
                | Q(approved_by__isnull=True)
                | ~Q(first_yes_by=F("approved_by")),
                name=TWO_ARE_TWO,
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
            models.Index(fields=["project", "-worth", "id"], condition=Q(status="proposed"), name="fact_by_worth"),
            # A subject with an open session goes first: the best of each subject, however many it has.
            models.Index(fields=["subject", "-worth", "id"], condition=Q(status="proposed"), name="fact_of_subject"),
            # Few, and first in the pile.
            models.Index(
                fields=["project", "-worth", "id"],
                condition=Q(status="proposed", relation="conflicts"),
                name="fact_in_conflict",
            ),
            models.Index(
                fields=["project", "put_off_until"],
                condition=Q(put_off_until__isnull=False, status__in=["proposed", "approved"]),
                name="fact_put_off",
            ),
            models.Index(
                fields=["project", "review_due_at"],
                condition=Q(status="approved", review_due_at__isnull=False),
                name="fact_due_for_review",
            ),
            # Few facts have one: the index holds those alone.
            models.Index(fields=["related"], condition=Q(related__isnull=False), name="fact_by_related"),
            GinIndex(fields=["search"], name="fact_search"),
        ]

    def __str__(self) -> str:
        return self.short_id

    @property
    def short_id(self) -> str:
        """The id every door shows: short, not countable."""
        return short_ids.encode(self.pk)

    @property
    def type_row(self) -> FactType:
        """The row of its type in its project's table. A query where the project is not loaded."""
        return type_of(self.type, self.project.types)

    @property
    def is_current(self) -> bool:
        return self.status == Status.APPROVED

    @property
    def since(self) -> datetime:
        """From when on it holds, as far as is known: when it was said, else when it was first learned."""
        return self.valid_from or self.first_seen_at

    def came_after(self, said_at: datetime | None) -> bool:
        """Whether it is newer than what was said then."""
        return said_at is not None and self.since > said_at

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
            Subject.objects.hold([self.subject_id])
            self._lock(revision)
            if allowed is not None and self.status not in allowed:
                raise NotAllowed(f"This memory is {self.get_status_display().lower()} by now.")
            return self._move(verb, person, now, **kwargs)

    def _lock(self, revision: int) -> None:
        """Takes the row as it is now. Raises FactChanged when it is not the one the caller saw."""
        current = _HELD.first(fact=self.pk)
        if current is None:
            raise type(self).DoesNotExist
        if current.revision != revision:
            raise FactChanged(current)
        # What `_move` starts from: the row is ours, nobody else can change it before.
        self.__dict__["_locked"] = current
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
        noted: dict[str, Any] | None = None,
        **changes: Any,
    ) -> Decision:
        """Writes `changes` and the move to `to`, and the Decision that says so, with what else is `noted` (ids)."""
        stored = self.__dict__.pop("_locked", None) or type(self).objects.defer("search").get(pk=self.pk)
        before = stored._snapshot()
        if to is not None and not backwards and to not in TRANSITIONS.get(stored.status, ()):
            raise NotAllowed(f"A memory that is {stored.get_status_display().lower()} cannot become {to}.")
        if "text" in changes:
            changes["text"] = rendering.one_line(changes["text"])
        if "value" in changes:
            changes["value"] = rendering.seen_value(changes["value"])
        self._apply(changes)
        if to is not None:
            self.status = to
        if self.status in (Status.APPROVED, Status.PROPOSED):
            # Of its rendered line; none for what no brief holds yet.
            self.tokens = tokens.count(rendering.fact_line(self.short_id, self.text)) if self.is_current else 0
        self.served_sha256 = rendering.served_sha256(self.type, self.key, self.value, self.text)
        self.fingerprint = rendering.fingerprint(self.type, self.key, self.value, self.text)
        revision_before = stored.revision
        self.revision = revision_before + 1
        try:
            # No savepoint of its own: each verb has one around it, and this error leaves the verb.
            with transaction.atomic(using=type(self).objects.db, savepoint=False):
                self.save(update_fields=[*changes, "status", "tokens", "served_sha256", "fingerprint", "revision"])
        except IntegrityError as problem:
            if TWO_ARE_TWO in str(problem):
                raise NotAllowed(SAID_BY_YOU) from None
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
            noted=noted,
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
        noted: dict[str, Any] | None = None,
    ) -> Decision:
        from memory.models.decision import Decision

        after = self._snapshot()
        changed = {name for name in after if before.get(name) != after[name]} if before else set(after)
        return Decision.objects.create(
            project_id=self.project_id,
            fact=cast("Fact", self),
            person=person,
            verb=verb,
            reason=reason,
            note=note,
            before={name: before[name] for name in changed if name in before},
            after={name: after[name] for name in changed} | (noted or {}),
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


def _held(at: Callable[[str], int]) -> QuerySet[Fact]:
    from memory.models.fact import Fact

    alone = Fact.objects.filter(pk=at("fact")).select_for_update(of=("self",)).select_related("subject")
    return alone.defer("search").order_by()


_HELD = Kept(_held)
