from __future__ import annotations

from django.conf import settings
from django.db import models

from projects.models import Project


class GoldItem(models.Model):
    """A card with a known fault (or none), mixed in to keep reviewers awake. Never a fact: no brief, count or export
    can hold it. Made from what is not personal.

    `card` holds what the page shows (type, subject in words, sentence, quote, lines of context); `flaw` is what is
    wrong with it, "" for one that is right.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="gold_items")
    card = models.JSONField()
    flaw = models.CharField(max_length=20, blank=True)
    explanation = models.CharField(max_length=300, blank=True)
    retired_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)


class GoldAnswer(models.Model):
    """What one person said to one gold item, and whether that was right. Shown to nobody but them."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    item = models.ForeignKey(GoldItem, on_delete=models.CASCADE, related_name="answers")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="gold_answers")
    verb = models.CharField(max_length=10)
    reason = models.CharField(max_length=40, blank=True)
    is_right = models.BooleanField()
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "person"], name="gold_answered_once")]
