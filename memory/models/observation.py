from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import HashIndex
from django.db import models
from django.db.models import Q

from memory.models.session import Session
from memory.transcript import KINDS, NEVER_EVIDENCE, Seen
from projects.models import Project


class Observation(models.Model):
    """One light record of a session, cleaned: what was said, run or printed. Personal data, kept 100 days."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="observations")
    seq = models.BigIntegerField()
    external_id = models.CharField(max_length=512, null=True)
    kind = models.CharField(max_length=20)
    role = models.CharField(max_length=20)
    text = models.TextField(blank=True)
    # Characters before head and tail were kept.
    original_length = models.IntegerField()
    tool = models.CharField(max_length=200, blank=True)
    call_id = models.CharField(max_length=512, blank=True)
    exit_code = models.IntegerField(null=True)
    is_error = models.BooleanField(default=False)
    paths = ArrayField(models.CharField(max_length=1000), default=list)
    sidechain = models.BooleanField(default=False)
    occurred_at = models.DateTimeField()
    # "sent" (the caller said so) or "server" (the caller did not, or said something impossible).
    occurred_source = models.CharField(max_length=10)
    received_at = models.DateTimeField()
    findings = models.JSONField(default=list)

    class Meta:
        ordering = ["session", "seq", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["session", "external_id"], condition=Q(external_id__isnull=False), name="observation_once"
            ),
            models.CheckConstraint(condition=Q(kind__in=KINDS), name="observation_kind_known"),
        ]
        indexes = [
            models.Index(fields=["session", "seq", "id"], name="observation_in_order"),
            # Finds a transcript's line in whatever session holds it. Only the ids that importers give to lines of
            # formats that copy hold "#", so an agent's own captures pay nothing: 28 MB for 600,000 lines, and 2 µs more
            # for each of them, against 34 MB and 4 µs for a btree (measured 2026-11-30).
            HashIndex(fields=["external_id"], condition=Q(external_id__contains="#"), name="observation_line"),
        ]

    def __str__(self) -> str:
        return f"observation {self.pk}"

    @property
    def may_be_evidence(self) -> bool:
        return self.kind not in NEVER_EVIDENCE and self.role != "system"

    def seen(self) -> Seen:
        """As a distiller reads it; its ref is this row's id."""
        return Seen(
            ref=self.pk,
            kind=self.kind,
            role=self.role,
            text=self.text,
            tool=self.tool,
            call_id=self.call_id,
            exit_code=self.exit_code,
            is_error=self.is_error,
            paths=tuple(self.paths),
            sidechain=self.sidechain,
            occurred_at=self.occurred_at,
        )


class Payload(models.Model):
    """The raw record behind an observation, cleaned, for audit and debugging. Personal data, kept 7 days."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    observation = models.OneToOneField(Observation, on_delete=models.CASCADE, related_name="payload")
    body = models.JSONField()
    received_at = models.DateTimeField()


class CaptureBatch(models.Model):
    """A batch an agent named by `batch_id`, with the answer it got: sent again, it gets the same. Kept 7 days."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="batches")
    batch_id = models.CharField(max_length=512)
    answer = models.JSONField()
    received_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "batch_id"], name="capture_batch_once")]
