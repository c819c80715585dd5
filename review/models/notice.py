from __future__ import annotations

from django.conf import settings
from django.db import models

from projects.models import Project
from projects.words import later


class NoticeKind(models.TextChoices):
    DIGEST = "digest", later("What waits, once a day")
    COMPLAINT = "complaint", later("A complaint about a memory in use")
    ASSIGNMENT = "assignment", later("A card put before you")
    DUE = "due", later("A due date")


class Notice(models.Model):
    """One thing to tell one person (or, without one, the project's webhook): kind and counts, never text.

    `about` makes it once: the day of a digest, the id of what it is about. Sent, or tried until `attempts` are used up.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, related_name="+")
    kind = models.CharField(max_length=10, choices=NoticeKind.choices)
    about = models.CharField(max_length=40)
    counts = models.JSONField(default=dict)
    created_at = models.DateTimeField()
    attempts = models.PositiveSmallIntegerField(default=0)
    sent_at = models.DateTimeField(null=True)
    fault = models.CharField(max_length=60, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "person", "kind", "about"], nulls_distinct=False, name="notice_once"
            )
        ]
        indexes = [models.Index(fields=["created_at"], condition=models.Q(sent_at__isnull=True), name="notice_unsent")]
