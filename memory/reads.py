"""What is read with each card and each decision, compiled once (projects/prepared.py)."""

from __future__ import annotations

from memory.models import Evidence, Fact, Observation
from projects.models import Agent
from projects.prepared import Kept

# A memory with its subject; whatever else it names is read where it is named.
FACT = Kept(lambda at: Fact.objects.filter(pk=at("fact")).select_related("subject").defer("search").order_by())
# Its quotes, with what they quote, and the sessions of these.
QUOTES = Kept(lambda at: Evidence.objects.filter(fact=at("fact")).select_related("observation__session").order_by("pk"))
# The turns of one session from one place to another.
TURNS = Kept(
    lambda at: Observation.objects.filter(session=at("session"), seq__gte=at("first"), seq__lte=at("last")).order_by(
        "seq", "pk"
    )
)
AGENTS = Kept(lambda at: Agent.objects.filter(project=at("project"), archived_at__isnull=True).order_by("slug", "pk"))
