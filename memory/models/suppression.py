from __future__ import annotations

from django.db import models

from memory.models.fact import Fact
from memory.models.session import Session
from projects.models import Project


class Suppression(models.Model):
    """A session in which something near a rejected fact was learned again, and held back.

    Personal data, dies with its fact. `text` is the sentence that was held back; `similarity` 1 means word for word.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    fact = models.ForeignKey(Fact, on_delete=models.CASCADE, related_name="suppressions")
    session = models.ForeignKey(Session, on_delete=models.CASCADE, null=True, related_name="+")
    text = models.CharField(max_length=2000)
    similarity = models.FloatField()
    at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]
        constraints = [models.UniqueConstraint(fields=["fact", "session"], name="suppression_once_a_session")]
