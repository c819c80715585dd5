from __future__ import annotations

import pgtrigger
from django.db import models


class ActorKind(models.TextChoices):
    PERSON = "person"
    AGENT = "agent"
    MACHINE = "machine"
    STRANGER = "stranger"


class AuditEvent(models.Model):
    """Who did or read what, when. Ids and counts only, never content. Append-only, kept 400 days.

    `actor_id` and `object_ids` are row ids of the kinds named beside them; `project_id` is 0 for what belongs to the
    whole installation (a foreign key would let a deleted project take its trail with it).
    """

    at = models.DateTimeField()
    project_id = models.BigIntegerField()
    actor_kind = models.CharField(max_length=10, choices=ActorKind.choices)
    actor_id = models.BigIntegerField(null=True)
    action = models.CharField(max_length=40)
    object_kind = models.CharField(max_length=30)
    object_ids = models.JSONField(default=list)
    count = models.IntegerField(default=1)

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["project_id", "-id"], name="audit_by_project")]
        triggers = [
            pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete),
        ]
