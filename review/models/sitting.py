from __future__ import annotations

from django.conf import settings
from django.db import models

from projects.models import Project


class Sitting(models.Model):
    """One person's day at one pile, where they asked for more than one sitting: how many cards beyond it. A count."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    # The day in the project's zone.
    day = models.DateField()
    more = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["project", "person", "day"], name="sitting_once_a_day")]
