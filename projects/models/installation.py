from __future__ import annotations

from django.db import models


class Installation(models.Model):
    """The one row about this installation: whose data folder it belongs to, and the first visitor's code (hashed)."""

    data_fingerprint = models.CharField(max_length=16)
    first_code_hash = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(pk=1), name="installation_only_one")]
