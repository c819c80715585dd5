from __future__ import annotations

from django.db import models
from django.db.models import Q

from memory.models.session import Session
from projects.models import Project


class JobStatus(models.TextChoices):
    QUEUED = "queued"
    RUNNING = "running"
    RETRY = "retry"
    DONE = "done"
    PARTIAL = "partial"
    FAILED = "failed"


MAX_ATTEMPTS = 3


class DistillJob(models.Model):
    """One reading of one session up to one observation. Its attempts are counted before the work, so that a session
    that kills its worker ends as `failed` after three starts. Holds counts, and of an unfinished run what a provider
    replied (personal data); kept as long as its session."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="distill_jobs")
    through = models.BigIntegerField()
    input_hash = models.CharField(max_length=64)
    status = models.CharField(max_length=10, choices=JobStatus.choices, default=JobStatus.QUEUED)
    attempts = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    distiller = models.CharField(max_length=40)
    # {"proposed": n, "same": n, "suppressed": n, "dropped": {reason: n}}
    counts = models.JSONField(default=dict)
    prompt_version = models.CharField(max_length=20, blank=True)
    # The last reply that could not be used, cleaned as captured text is: for the people who look into a failed run.
    raw_reply = models.TextField(blank=True)
    # What a provider made of the pieces of a long session so far: {hash of the piece: facts}. Emptied when it ends, so
    # that a start that was cut short pays for nothing twice.
    parts = models.JSONField(default=dict)
    # How often in a row the provider made it wait (busy, away, key refused). Waiting uses up no attempt.
    waits = models.PositiveIntegerField(default=0)
    # Why the local reader did what a provider was chosen for (`daily_cap`, `no_key`, `local_only`), or "".
    fell_back = models.CharField(max_length=20, blank=True)
    # A class of error, never its text: the text may quote what was captured.
    error = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["session", "input_hash"], name="distill_job_once"),
            models.CheckConstraint(condition=Q(status__in=JobStatus.values), name="distill_job_status_known"),
        ]
        # What the sweep looks through each minute: few, among all that were ever done.
        indexes = [
            models.Index(
                fields=["lease_until"],
                condition=Q(status__in=["queued", "running", "retry"]),
                name="distill_job_leases",
            ),
            # What the page of troubled runs lists.
            models.Index(
                fields=["project", "-id"],
                condition=Q(status__in=["retry", "partial", "failed"]),
                name="distill_job_troubled",
            ),
            # Whether a limit took over today: asked on every page of a project that chose a provider.
            models.Index(fields=["project", "-finished_at"], condition=~Q(fell_back=""), name="distill_job_fell_back"),
        ]
