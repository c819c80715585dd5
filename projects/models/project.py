from __future__ import annotations

import zoneinfo
from datetime import datetime

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, RegexValidator
from django.db import models
from django.utils.translation import gettext as _

from projects.words import later

slug_validator = RegexValidator(
    r"^[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?$", later("Use lower-case letters, digits and hyphens, 50 at most.")
)


def validate_timezone(name: str) -> None:
    if name not in zoneinfo.available_timezones():
        raise ValidationError(_("This is no time zone. Use a name such as Europe/Berlin or UTC."))


class DistillerName(models.TextChoices):
    LOCAL = "local", later("The local reader (no key, no network)")
    ANTHROPIC = "anthropic", "Anthropic"
    OPENAI = "openai", later("OpenAI, or what speaks its language")


class Project(models.Model):
    """The tenant: everything belongs to exactly one project. Holds no personal data; lives until it is deleted."""

    slug = models.CharField(max_length=50, unique=True, validators=[slug_validator])
    name = models.CharField(max_length=120)
    timezone = models.CharField(max_length=64, default="UTC", validators=[validate_timezone])
    idle_minutes = models.PositiveIntegerField(default=5, validators=[MinValueValidator(1), MaxValueValidator(24 * 60)])
    brief_budget_tokens = models.PositiveIntegerField(default=1200)
    distiller = models.CharField(max_length=20, choices=DistillerName.choices, default=DistillerName.LOCAL)
    # As the provider writes it; empty: the default of memory/distillers/hosted/prices.py.
    distiller_model = models.CharField(max_length=100, blank=True)
    # Whatever else is set, nothing of this project is sent to a provider.
    local_only = models.BooleanField(default=False)
    # Tokens to and from providers in one day (UTC); past it the local reader takes over.
    daily_token_cap = models.PositiveIntegerField(default=500_000)
    # Cells of the type table that this project changed, and types it added: {"fix": {"lifetime_days": 30}}.
    types = models.JSONField(default=dict, blank=True)
    # How cards are reviewed, where it differs from what is shipped (review/deciding/policy.py): cards a sitting, the
    # level of each type, whether gold items are mixed in.
    review_policy = models.JSONField(default=dict, blank=True)
    paused_at = models.DateTimeField(null=True, blank=True)
    paused_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(distiller__in=DistillerName.values), name="project_distiller_known"
            )
        ]

    def __str__(self) -> str:
        return self.slug

    def pause(self, now: datetime, person: models.Model | None = None) -> None:
        """From now on no agent of the project is told anything; all are still heard."""
        self.paused_at, self.paused_by_id = now, person.pk if person is not None else None
        self.save(update_fields=["paused_at", "paused_by"])

    def resume(self) -> None:
        self.paused_at = self.paused_by_id = None
        self.save(update_fields=["paused_at", "paused_by"])
