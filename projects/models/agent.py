from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import models

from projects.models.project import Project, slug_validator


class Agent(models.Model):
    """An identity inside a project that holds keys. It can propose, never decide. Archived, never deleted."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="agents")
    slug = models.CharField(max_length=50, validators=[slug_validator])
    paused_at = models.DateTimeField(null=True, blank=True)
    paused_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    archived_at = models.DateTimeField(null=True, blank=True)
    last_heard_at = models.DateTimeField(null=True, blank=True)
    last_brief_at = models.DateTimeField(null=True, blank=True)
    # Observations refused or left out since the agent exists, so that "capture_dropped" is never a silent loss.
    dropped_count = models.PositiveBigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug", "pk"]
        constraints = [models.UniqueConstraint(fields=["project", "slug"], name="agent_once_per_project")]

    def __str__(self) -> str:
        return self.slug

    def pause(self, now: datetime, person: models.Model | None = None) -> None:
        """Its briefs answer `paused` from the next call on, in every process."""
        self.paused_at, self.paused_by_id = now, person.pk if person is not None else None
        self.save(update_fields=["paused_at", "paused_by"])

    def resume(self) -> None:
        self.paused_at = self.paused_by_id = None
        self.save(update_fields=["paused_at", "paused_by"])

    def archive(self, now: datetime) -> None:
        """Its keys stop working; nothing of it is deleted."""
        self.archived_at = now
        self.save(update_fields=["archived_at"])

    def bring_back(self) -> None:
        self.archived_at = None
        self.save(update_fields=["archived_at"])
