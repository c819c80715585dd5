from __future__ import annotations

from django.db import models

from memory.models.fact import Fact
from memory.models.subject import Subject
from projects.models import Agent, Project


class FactServed(models.Model):
    """How often one agent was served one fact, as the tally has counted so far (memory/served.py). Ids and counts only.

    `briefs` leaves out what was answered "unchanged". `lately` counts every brief, each half after 14 days, as of
    `last_at`.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    fact = models.ForeignKey(Fact, on_delete=models.CASCADE, related_name="+", db_index=False)
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="+", db_index=False)
    briefs = models.PositiveIntegerField(default=0)
    lately = models.FloatField(default=0.0)
    last_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["fact", "agent"], name="fact_served_once")]


class SubjectServed(models.Model):
    """How often one agent was served a brief about one subject: halved each 14 days, as of `last_at`. Ids only."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    subject = models.ForeignKey(Subject, on_delete=models.CASCADE, related_name="+", db_index=False)
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="+", db_index=False)
    lately = models.FloatField(default=0.0)
    last_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["subject", "agent"], name="subject_served_once")]


class ServedThrough(models.Model):
    """Up to which brief of a project the tally has counted: what came later is counted where it is asked."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="+")
    brief = models.BigIntegerField(default=0)
