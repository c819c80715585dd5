from __future__ import annotations

import hashlib

from django.db import models
from django.db.models import F, Q

from memory.models.fact import Fact
from memory.models.observation import Observation
from projects.models import Project


def quote_hash(quote: str) -> str:
    return hashlib.sha256(quote.encode()).hexdigest()


class EvidenceQuerySet(models.QuerySet["Evidence"]):
    def copy(self, source_id: int, target: Fact) -> list[int]:
        """Puts the quotes behind the fact `source_id` behind `target` too, those that are not there yet.

        Returns the ids of the new rows. A quote whose source is gone is known by its own hash.
        """
        there = {row.place for row in self.filter(fact=target)}
        new = [
            Evidence(
                project_id=target.project_id,
                fact=target,
                observation_id=row.observation_id,
                start=row.start,
                end=row.end,
                quote=row.quote,
                before=row.before,
                after=row.after,
                sha256=row.sha256,
                checked_at=row.checked_at,
            )
            for row in self.filter(fact=source_id).order_by("pk")
            if row.place not in there
        ]
        return [row.pk for row in Evidence.objects.bulk_create(new)]


class Evidence(models.Model):
    """A verbatim, hash-checked quote behind a fact, with two lines of context. Personal data, lives as its fact.

    `observation` is NULL once retention removed the source: the quote was checked on `checked_at`.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    fact = models.ForeignKey(Fact, on_delete=models.CASCADE, related_name="evidence")
    observation = models.ForeignKey(Observation, on_delete=models.SET_NULL, null=True, related_name="evidence")
    start = models.IntegerField()
    end = models.IntegerField()
    quote = models.TextField()
    before = models.TextField(blank=True)
    after = models.TextField(blank=True)
    sha256 = models.CharField(max_length=64)
    checked_at = models.DateTimeField()

    objects = EvidenceQuerySet.as_manager()

    class Meta:
        ordering = ["fact", "pk"]
        constraints = [
            models.CheckConstraint(condition=Q(start__gte=0) & Q(end__gt=F("start")), name="evidence_span_is_real"),
            models.UniqueConstraint(fields=["fact", "observation", "start", "end"], name="evidence_once"),
        ]

    @property
    def place(self) -> tuple[int | None, int, int, str]:
        """What makes two rows the same quote."""
        return self.observation_id, self.start, self.end, self.sha256

    def verdict(self) -> str:
        """`holds`, `source gone` (retention removed it) or `mismatch`: checked anew against the source."""
        if self.observation is None:
            return "source gone" if quote_hash(self.quote) == self.sha256 else "mismatch"
        span = self.observation.text[self.start : self.end]
        return "holds" if span == self.quote and quote_hash(span) == self.sha256 else "mismatch"
