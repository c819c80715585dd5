from __future__ import annotations

from django.conf import settings
from django.db import models

from projects.models.project import Project
from projects.prepared import Kept


class Role(models.TextChoices):
    VIEWER = "viewer", "Viewer"
    REVIEWER = "reviewer", "Reviewer"
    OWNER = "owner", "Owner"


RANK = {Role.VIEWER.value: 0, Role.REVIEWER.value: 1, Role.OWNER.value: 2}


class Membership(models.Model):
    """What one person may do in one project. Ends when it is deleted; the audit keeps who had it."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices)
    # When this person went through, or past, the practice cards of their first sitting.
    practised_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["project", "person"]
        constraints = [
            models.UniqueConstraint(fields=["project", "person"], name="membership_once"),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="membership_role_known"),
        ]

    def has(self, role: str) -> bool:
        """Whether this membership covers `role` (an owner reviews, a reviewer views)."""
        return RANK[self.role] >= RANK[role]

    @property
    def can_review(self) -> bool:
        return self.has(Role.REVIEWER)

    @property
    def is_owner(self) -> bool:
        return self.role == Role.OWNER


# What each page of a person begins with: their memberships with the projects, by name.
OF_PERSON = Kept(
    lambda at: Membership.objects.filter(person=at("person")).select_related("project").order_by("project__name", "pk")
)
