from __future__ import annotations

from django.db import models
from pgvector.django import HalfVectorField

from memory.models.fact import Fact
from projects.models import Project

DIMENSIONS = 384


class FactEmbedding(models.Model):
    """The vector of one fact's text by one model at one precision. Derived from personal data: dies with its fact."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    fact = models.ForeignKey(Fact, on_delete=models.CASCADE, related_name="embeddings")
    model = models.CharField(max_length=60)
    precision = models.CharField(max_length=10)
    # Hash of the text it was made from, so that a changed text is noticed.
    text_sha256 = models.CharField(max_length=64)
    vector = HalfVectorField(dimensions=DIMENSIONS)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["fact", "model", "precision"], name="fact_embedding_once")]
