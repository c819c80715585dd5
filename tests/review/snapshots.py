"""Everything that a decision may touch, as plain values: what an undo must bring back."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from memory import brief
from memory.models import Evidence, Fact, FactEmbedding, Feedback, Retraction, StandingPart, Suppression
from projects.models import Project
from review.models import Sample
from tests.factories import Cast

# The revision counts every move, so that an old form never fits again; the history keeps both moves.
NEUTRAL = ("revision", "search")


def snapshot(cast: Cast, now: datetime, session: str | None = None) -> dict[str, Any]:
    """All facts with their columns, quotes, vectors, notes to agents, and the brief of each agent, word for word."""
    fields = [field.attname for field in Fact._meta.concrete_fields if field.name not in NEUTRAL]
    about = sorted({str(fact.subject) for fact in Fact.objects.select_related("subject")})
    return {
        "facts": list(Fact.objects.order_by("pk").values(*fields)),
        "evidence": list(Evidence.objects.order_by("pk").values()),
        "vectors": sorted(
            (fact_id, model, precision, sha256, str(vector))
            for fact_id, model, precision, sha256, vector in FactEmbedding.objects.values_list(
                "fact_id", "model", "precision", "text_sha256", "vector"
            )
        ),
        "retractions": sorted(Retraction.objects.values_list("agent_id", "fact_id")),
        "suppressions": list(Suppression.objects.order_by("pk").values()),
        "parts": list(StandingPart.objects.order_by("pk").values()),
        # Which version of the policy it is, and its log, say what was done; what holds is in the levels.
        "policy": Project.objects.get(pk=cast.project.pk).review_policy.get("levels", {}),
        "samples": list(Sample.objects.order_by("pk").values()),
        "feedback": list(Feedback.objects.order_by("pk").values()),
        "briefs": {agent.slug: _brief(agent, about, now, session) for agent in (cast.support, cast.sales, cast.coder)},
    }


def _brief(agent: Any, about: list[str], now: datetime, session: str | None) -> tuple[Any, ...]:
    subjects = [tuple(written.split(":", 1)) for written in about]
    built = brief.build(agent, session=session, subjects=subjects, task=None, max_tokens=2000, now=now)
    return built.text, built.items, built.retracted, built.etag


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """What is not as it was, a line each; so that a failure can be read."""
    found = []
    for name, was in before.items():
        now = after[name]
        if was == now:
            continue
        if name == "facts" and len(was) == len(now):
            for old, new in zip(was, now, strict=True):
                found += [
                    f"fact {old['id']}.{key}: {old[key]!r} -> {new[key]!r}" for key in old if old[key] != new[key]
                ]
        else:
            found.append(f"{name}: {was!r} -> {now!r}")
    return found
