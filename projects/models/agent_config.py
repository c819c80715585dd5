from __future__ import annotations

from django.conf import settings
from django.db import models

from projects.models.agent import Agent
from projects.models.project import Project


class AgentConfig(models.Model):
    """System memory: what an owner wrote for one agent, one version a row. The latest deployed one is served.

    A version is never changed; a new one is a clean slate and touches no fact. Written by owners, so no personal data
    belongs in it; lives as long as its agent.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    agent = models.ForeignKey(Agent, on_delete=models.CASCADE, related_name="configs")
    version = models.PositiveIntegerField()
    content = models.JSONField(default=dict)
    note = models.CharField(max_length=200, blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField()
    deployed_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-version"]
        constraints = [models.UniqueConstraint(fields=["agent", "version"], name="agent_config_version_once")]
