from __future__ import annotations

from django.conf import settings
from django.db import models

from memory.models import Fact
from projects.models import Project


class Assignment(models.Model):
    """A card put before one person by another, with a note. Others may still decide; it ends with the decision.

    The note is a person's words, so it may be personal data; it dies with its fact.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    fact = models.OneToOneField(Fact, on_delete=models.CASCADE, related_name="assignment")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    assigned_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    note = models.CharField(max_length=500, blank=True)
    at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["project", "person"], name="assignment_by_person")]
