from __future__ import annotations

from django.conf import settings
from django.db import models

from memory.models import Fact
from projects.models import Project


class Sample(models.Model):
    """A memory approved on arrival, by an owner's rule for its type. One in ten is drawn for a person to look at.

    `drawn` says whether it was; `verdict`, once somebody looked, is "holds", "minor" or "severe".
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    fact = models.OneToOneField(Fact, on_delete=models.CASCADE, related_name="sample")
    type = models.CharField(max_length=40)
    # The rule under which it came: when it was switched on, so that a new start counts from nothing.
    rule_since = models.DateTimeField()
    # Whose rule it was: it stands where a signature would.
    rule_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    drawn = models.BooleanField(default=False)
    at = models.DateTimeField()
    verdict = models.CharField(max_length=8, blank=True)
    answered_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    answered_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["project", "type", "-id"], name="sample_by_type"),
            # What lies in the pile: few, whatever the number that came in.
            models.Index(fields=["project"], condition=models.Q(drawn=True, verdict=""), name="sample_open"),
        ]
