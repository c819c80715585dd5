from __future__ import annotations

from django.conf import settings
from django.db import models

from memory.models import Fact
from projects.models import Project


class Lease(models.Model):
    """Who looks at a card now. It is shown, ends by itself and never stops anybody from deciding."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    fact = models.OneToOneField(Fact, on_delete=models.CASCADE, related_name="lease")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    until = models.DateTimeField()
