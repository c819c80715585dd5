from __future__ import annotations

from django.conf import settings
from django.db import models

from projects.models import Project


class SavedView(models.Model):
    """A name for filters that stand in a page's address. Without a person the whole project sees it."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="saved_views")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, null=True, related_name="+")
    page = models.CharField(max_length=20)
    name = models.CharField(max_length=60)
    query = models.CharField(max_length=1000)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["project", "person", "page", "name"], nulls_distinct=False, name="saved_view_name_once"
            )
        ]
