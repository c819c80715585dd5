from __future__ import annotations

from datetime import datetime, timedelta
from typing import Self

from django.db import models
from django.db.models import ExpressionWrapper, F, Func, Q, Value
from django.db.models.lookups import LessThan

from memory.models.subject import Subject
from projects.models import Agent, Project
from projects.prepared import run

_ABOUT_A_CUSTOMER = """
SELECT 1 FROM memory_sessionsubject l JOIN memory_subject s ON s.id = l.subject_id
WHERE l.session_id = %(session)s::bigint AND s.entity_type = 'customer' LIMIT 1
"""


class SessionStatus(models.TextChoices):
    OPEN = "open", "open"
    IDLE = "idle", "waiting"
    DISTILLED = "distilled", "read"
    FAILED = "failed", "failed"


class SessionKind(models.TextChoices):
    RUN = "run", "a run of an agent"
    IMPORT = "import", "existing memories brought in"


class SessionQuerySet(models.QuerySet["Session"]):
    def idle(self, now: datetime) -> Self:
        """Sessions with something unread whose last word is older than their project's idle time."""
        return self.filter(
            status=SessionStatus.OPEN,
            last_seen_at__lte=ExpressionWrapper(
                Value(now) - F("project__idle_minutes") * Value(timedelta(minutes=1)),
                output_field=models.DateTimeField(),
            ),
            observation_count__gt=0,
        )

    def before(self, anchor: Session) -> Self:
        """What stands below `anchor` in a list by last word, newest first."""
        # The row form: as two comparisons joined by OR, a deep page would be as slow as OFFSET.
        place = Func(F("last_seen_at"), F("pk"), function="ROW", output_field=models.TextField())
        other = Func(Value(anchor.last_seen_at), Value(anchor.pk), function="ROW", output_field=models.TextField())
        return self.filter(LessThan(place, other))


class Session(models.Model):
    """One run of an agent: a thread, a transcript, a call. Personal data; lives as long as its observations."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="sessions")
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="sessions")
    external_id = models.CharField(max_length=512)
    kind = models.CharField(max_length=10, choices=SessionKind.choices, default=SessionKind.RUN)
    subjects = models.ManyToManyField(Subject, through="SessionSubject", related_name="sessions")
    timezone = models.CharField(max_length=64, default="UTC")
    source_format = models.CharField(max_length=30, default="api")
    cwd = models.CharField(max_length=1000, blank=True)
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    status = models.CharField(max_length=10, choices=SessionStatus.choices, default=SessionStatus.OPEN)
    # The last observation a distiller has read: what comes later makes the session unread again.
    distilled_through = models.BigIntegerField(default=0)
    distilled_at = models.DateTimeField(null=True, blank=True)
    observation_count = models.PositiveIntegerField(default=0)
    turn_count = models.PositiveIntegerField(default=0)
    # The rolling summary that its own agent may be handed back, what wrote it, and how far it has read.
    summary = models.TextField(blank=True)
    summary_by = models.CharField(max_length=120, blank=True)
    summary_through = models.BigIntegerField(default=0)
    summary_at = models.DateTimeField(null=True, blank=True)

    objects = SessionQuerySet.as_manager()

    class Meta:
        ordering = ["-last_seen_at", "-pk"]
        constraints = [
            models.UniqueConstraint(fields=["agent", "external_id"], name="session_once_per_agent"),
            models.CheckConstraint(condition=Q(status__in=SessionStatus.values), name="session_status_known"),
            models.CheckConstraint(condition=Q(kind__in=SessionKind.values), name="session_kind_known"),
        ]
        indexes = [
            models.Index(fields=["project", "-last_seen_at", "-id"], name="session_by_project"),
            models.Index(fields=["last_seen_at"], condition=Q(status="open"), name="session_open"),
            # What the home page counts and the list of sessions filters by: few.
            models.Index(
                fields=["project", "-last_seen_at", "-id"], condition=Q(status="failed"), name="session_failed"
            ),
            # For the sweeper of summaries: whose last word is young, and whose summary has to go.
            models.Index(fields=["last_seen_at"], name="session_by_last_word"),
            models.Index(fields=["last_seen_at"], condition=~Q(summary=""), name="session_summarised"),
        ]

    def __str__(self) -> str:
        return self.external_id

    def asker(self) -> str:
        """What its user is called on screen: a customer where the session is about one. One query."""
        return "customer" if run(Session.objects.db, _ABOUT_A_CUSTOMER, {"session": self.pk}) else "user"

    def mark(self, status: SessionStatus, **fields: object) -> None:
        """Moves to `status`, with any other fields that move with it."""
        self.status = status
        for name, value in fields.items():
            setattr(self, name, value)
        self.save(update_fields=["status", *fields])


class SessionSubject(models.Model):
    """A subject that a session is about."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="session_subjects")
    subject = models.ForeignKey(Subject, on_delete=models.CASCADE, related_name="session_subjects")

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["session", "subject"], name="session_subject_once")]
        # The latest sessions of a subject, however many it had.
        indexes = [models.Index(fields=["subject", "-id"], name="session_subject_latest")]
