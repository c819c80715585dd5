"""Which briefs a memory was in, as the record of what was served says."""

from __future__ import annotations

from memory.models import BriefServed, Fact


def briefs_with(fact: Fact) -> int:
    """In how many briefs this memory was; an answer "unchanged" is none."""
    return BriefServed.objects.filter(project_id=fact.project_id, fact_ids__contains=[fact.pk], unchanged=False).count()
