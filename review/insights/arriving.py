"""How "on arrival" does, type by type: what came in under the rule of today, what was looked at, what was wrong."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q

from projects.models import Project
from review.deciding.policy import Policy
from review.insights import bounds
from review.models import Sample


@dataclass(frozen=True)
class Watch:
    """The sample of one rule: counts, each a part of the one before it save the last two, parts of `looked_at`."""

    came: int = 0
    drawn: int = 0
    looked_at: int = 0
    minor: int = 0
    severe: int = 0

    @property
    def waiting(self) -> int:
        return self.drawn - self.looked_at

    @property
    def at_most(self) -> float:
        """The share of all that came in, in per cent, which is severe at most, with 95 % confidence."""
        return 100 * bounds.upper(self.severe, self.looked_at)


def watches(project: Project) -> dict[str, Watch]:
    """The watch over each rule of today, by type: one query."""
    since: dict[str, datetime | None] = {name: rule.since for name, rule in Policy.of(project).arriving.items()}
    looked_at = Q(drawn=True) & ~Q(verdict="")
    rows = (
        Sample.objects.filter(project=project, type__in=since)
        .order_by()
        .values_list("type", "rule_since")
        .annotate(
            came=Count("pk"),
            drawn_count=Count("pk", filter=Q(drawn=True)),
            looked_at=Count("pk", filter=looked_at),
            minor=Count("pk", filter=looked_at & Q(verdict="minor")),
            severe=Count("pk", filter=looked_at & Q(verdict="severe")),
        )
    )
    found = {name: Watch(*counts) for name, began, *counts in rows if began == since[name]}
    return {name: found.get(name, Watch()) for name in since}
