from __future__ import annotations

from django.conf import settings
from django.db import models

from projects.models import Project


class Webhook(models.Model):
    """Where a project's notices are posted: counts and a link, signed. The secret is ours and shown to its owners."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="webhook")
    url = models.URLField(max_length=500)
    secret = models.CharField(max_length=64)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    last_sent_at = models.DateTimeField(null=True)
    # The class of what went wrong last, such as "timed out" or "answered 500"; "" when the last one arrived.
    last_fault = models.CharField(max_length=60, blank=True)
