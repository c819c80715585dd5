from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import BrinIndex
from django.db import models

from memory.models.fact import Fact
from memory.models.session import Session
from projects.models import Agent, Project


class BriefServed(models.Model):
    """Who received what: one row per brief. Its task is personal data with a short life; the row is kept 90 days."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    agent = models.ForeignKey(Agent, on_delete=models.PROTECT, related_name="briefs", db_index=False)
    session = models.ForeignKey(Session, on_delete=models.SET_NULL, null=True, related_name="briefs")
    subject_ids = ArrayField(models.BigIntegerField(), default=list)
    etag = models.CharField(max_length=64)
    fact_ids = ArrayField(models.BigIntegerField(), default=list)
    # [{"id": fact id, "why": reason, "tokens": n, "score": x}] of what came; [{"id", "why"}] of what did not.
    items = models.JSONField(default=list)
    left_out = models.JSONField(default=list)
    text = models.TextField(blank=True)
    tokens = models.IntegerField()
    budget = models.IntegerField()
    task = models.CharField(max_length=500, blank=True)
    unchanged = models.BooleanField(default=False)
    paused = models.BooleanField(default=False)
    at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["project", "-id"], name="brief_by_project"),
            # What an agent was told last, in this session or in none: each brief asks, of a new session too.
            models.Index(fields=["agent", "session", "-id"], name="brief_told_last"),
            # Rows come in the order of time: a few pages of summary find the last day's.
            BrinIndex(fields=["at"], name="brief_by_time"),
        ]


class Retraction(models.Model):
    """A served fact that no longer holds, named in that agent's briefs for 30 days. Ids only."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="retractions")
    fact = models.ForeignKey(Fact, on_delete=models.CASCADE, related_name="retractions")
    at = models.DateTimeField()

    class Meta:
        ordering = ["-at", "-pk"]
        constraints = [models.UniqueConstraint(fields=["agent", "fact"], name="retraction_once")]
