from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils import timezone

from projects.models.agent import Agent
from projects.models.project import Project

PERMISSIONS = ("capture", "brief", "propose")
PREFIX_LENGTH = 8


def hash_key(key: str) -> str:
    """Hex sha256 of a key. A key holds 160 random bits, so a slow hash would buy nothing."""
    return hashlib.sha256(key.encode()).hexdigest()


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    def issue(
        self,
        agent: Agent,
        person: models.Model | None,
        permissions: tuple[str, ...] = PERMISSIONS,
        lifetime: timedelta | None = None,
        now: datetime | None = None,
    ) -> tuple[ApiKey, str]:
        """A new key and its secret, which is shown once and not stored."""
        secret = f"cs_{secrets.token_hex(PREFIX_LENGTH // 2)}_{secrets.token_hex(20)}"
        key = self.create(
            project_id=agent.project_id,
            agent=agent,
            person=person,
            prefix=secret[: 3 + PREFIX_LENGTH],
            key_hash=hash_key(secret),
            permissions=sorted(set(permissions)),
            expires_at=(now or timezone.now()) + lifetime if lifetime else None,
        )
        return key, secret

    def usable(self, now: datetime) -> ApiKeyQuerySet:
        return self.filter(
            Q(expires_at__isnull=True) | Q(expires_at__gt=now),
            revoked_at__isnull=True,
            agent__archived_at__isnull=True,
        )


class ApiKey(models.Model):
    """A secret by which an agent is known, issued to a person. Only its hash is stored; lives until its agent goes."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="api_keys")
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="api_keys")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="api_keys")
    prefix = models.CharField(max_length=16)
    key_hash = models.CharField(max_length=64, unique=True)
    permissions = ArrayField(models.CharField(max_length=10))
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(permissions__contained_by=list(PERMISSIONS)) & ~Q(permissions=[]),
                name="api_key_permissions_known",
            )
        ]

    def revoke(self, now: datetime) -> None:
        """Ends the key; a second call changes nothing."""
        if self.revoked_at is None:
            self.revoked_at = now
            self.save(update_fields=["revoked_at"])
