from __future__ import annotations

import uuid

import pgtrigger
from django.conf import settings
from django.db import models

from memory.models.fact import Fact
from projects.models import Project


class Verb(models.TextChoices):
    PROPOSE = "propose"
    CREATE = "create"
    APPROVE = "approve"
    FIRST_YES = "first yes"
    EDIT = "edit"
    REJECT = "reject"
    RESCOPE = "rescope"
    MERGE = "merge"
    SUPERSEDE = "supersede"
    PUT_OFF = "put off"
    REMOVE = "remove"
    EXPIRE = "expire"
    LAPSE = "lapse"
    RESTORE = "restore"
    RECONFIRM = "reconfirm"
    UNDO = "undo"


class Decision(models.Model):
    """What a person (or, without one, the machine) did to a fact: the only history of content. Append-only.

    `before` and `after` hold the fields of Fact that a decision may move. One act may touch several facts: `batch`
    holds them together, and undo takes back the batch. Personal data, dies with its fact.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    fact = models.ForeignKey(Fact, on_delete=models.CASCADE, related_name="decisions")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    verb = models.CharField(max_length=10, choices=Verb.choices)
    reason = models.CharField(max_length=40, blank=True)
    note = models.CharField(max_length=500, blank=True)
    before = models.JSONField()
    after = models.JSONField()
    revision_before = models.IntegerField()
    revision_after = models.IntegerField()
    batch = models.UUIDField(default=uuid.uuid4)
    undoes = models.OneToOneField("self", on_delete=models.CASCADE, null=True, related_name="undone_by")
    at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        indexes = [
            models.Index(fields=["fact", "id"], name="decision_history"),
            models.Index(fields=["batch"], name="decision_batch"),
            models.Index(fields=["project", "person", "-id"], name="decision_by_person"),
            models.Index(fields=["project", "person", "at"], name="decision_of_the_day"),
        ]
        triggers = [pgtrigger.Protect(name="append_only", operation=pgtrigger.Update | pgtrigger.Delete)]
