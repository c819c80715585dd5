from __future__ import annotations

from django.db import models
from django.db.models import Q

from memory.models.fact import Fact
from projects.models import Agent, Project


class Verdict(models.TextChoices):
    HELPED = "helped", "helped"
    MISLED = "misled", "misled"
    STALE = "stale", "out of date"


class Feedback(models.Model):
    """What an agent said of a fact it was served. Ids only; dies with its fact."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    fact = models.ForeignKey(Fact, on_delete=models.CASCADE, related_name="feedback")
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="+")
    verdict = models.CharField(max_length=10, choices=Verdict.choices)
    # The day in the project's zone: the same said twice in a day is said once.
    said_on = models.DateField()
    at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(condition=Q(verdict__in=Verdict.values), name="feedback_verdict_known"),
            models.UniqueConstraint(fields=["fact", "agent", "verdict", "said_on"], name="feedback_once_a_day"),
        ]
        # What the pile starts with: the newest complaints of a project.
        indexes = [
            models.Index(
                fields=["project", "-at"], condition=Q(verdict__in=["misled", "stale"]), name="feedback_complaints"
            )
        ]
