from __future__ import annotations

from django.db import models

from memory.models.fact import Fact
from projects.models import Project


class StandingPart(models.Model):
    """One of the lessons that a standing fact says for all of them. Ids only; dies with either of the two."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    standing = models.ForeignKey(Fact, on_delete=models.CASCADE, related_name="parts")
    part = models.ForeignKey(Fact, on_delete=models.CASCADE, related_name="part_of")

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["standing", "part"], name="standing_part_once")]
