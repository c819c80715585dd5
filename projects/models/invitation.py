from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from django.conf import settings
from django.db import models

from projects.models.membership import Role
from projects.models.project import Project

LIFETIME = timedelta(days=7)


class InvitationInvalid(Exception):
    """The link was used, has expired, or was never issued."""


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def invite(
        self, project: Project | None, email: str, role: str, invited_by: models.Model, now: datetime, **flags: bool
    ) -> tuple[Invitation, str]:
        """A new invitation and the token for its link, which is not stored."""
        token = secrets.token_urlsafe(24)
        invitation = self.create(
            project=project,
            email=email.strip().lower(),
            role=role,
            invited_by=invited_by,
            token_hash=hashlib.sha256(token.encode()).hexdigest(),
            expires_at=now + LIFETIME,
            **flags,
        )
        return invitation, token

    def open_by_token(self, token: str, now: datetime) -> Invitation:
        """The open invitation of this link, locked. Raises InvitationInvalid."""
        found = (
            self.select_for_update(of=("self",))
            .filter(
                token_hash=hashlib.sha256(token.encode("utf-8", "replace")).hexdigest(),
                accepted_at__isnull=True,
                expires_at__gt=now,
            )
            .first()
        )
        if found is None:
            raise InvitationInvalid
        return found


class Invitation(models.Model):
    """A link by which a person joins a project (or, without one, gets an installation-wide duty).

    Holds an e-mail address; the link works once, for seven days.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, null=True, related_name="invitations")
    email = models.EmailField(max_length=254)
    role = models.CharField(max_length=10, choices=Role.choices, blank=True)
    is_compliance = models.BooleanField(default=False)
    is_operator = models.BooleanField(default=False)
    token_hash = models.CharField(max_length=64, unique=True)
    invited_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ["-created_at", "-pk"]
