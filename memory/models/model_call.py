from __future__ import annotations

from django.db import models

from memory.models.distill_job import DistillJob
from projects.models import Project


class ModelCall(models.Model):
    """One call to a provider's model: what it cost and how it ended. No text, no personal data; kept 400 days.

    Written in a transaction of its own, so that a worker that dies afterwards has still spent what it spent.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    job = models.ForeignKey(DistillJob, on_delete=models.SET_NULL, null=True, related_name="calls")
    # "distill" or "summary".
    purpose = models.CharField(max_length=10)
    provider = models.CharField(max_length=20)
    model = models.CharField(max_length=100)
    # "ok", or a word for the trouble: the provider's (rate_limited, timeout, unavailable, bad_key, no_model, no_credit,
    # too_long, bad_request) or the reply's (unusable, wrong_types, truncated, refused).
    outcome = models.CharField(max_length=20)
    input_tokens = models.PositiveIntegerField(default=0)
    output_tokens = models.PositiveIntegerField(default=0)
    # US dollars by the price list in the code; NULL for a model without a known price.
    cost_usd = models.DecimalField(max_digits=10, decimal_places=6, null=True)
    milliseconds = models.PositiveIntegerField(default=0)
    at = models.DateTimeField()

    class Meta:
        ordering = ["-pk"]
        indexes = [models.Index(fields=["project", "-at"], name="model_call_by_day")]
