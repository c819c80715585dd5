"""What facts rest on: who said it, what it was read from, and what never counts."""

from __future__ import annotations

from memory.models import Evidence, Fact
from tests.cases.expect.facts import facts_unique
from tests.cases.expect.registry import Look, figure


def cited(look: Look) -> list[Evidence]:
    with look.stage.looking():
        found = Evidence.objects.filter(project=look.stage.project).select_related("observation", "fact")
        return list(found.order_by("pk"))


@figure("facts_from_tool_instruction")
def from_tool_instruction(look: Look) -> int:
    """Facts that rest on what a tool gave back. Where the case allows them flagged, those without a flag."""
    told: dict[int, Fact] = {
        one.fact_id: one.fact for one in cited(look) if one.observation is not None and one.observation.role == "tool"
    }
    if "or_flagged" in look.expected:
        return sum(not fact.findings for fact in told.values())
    return len(told)


@figure("evidence_count_of_existing_unchanged")
def evidence_unchanged(look: Look) -> bool:
    notes = look.last("distill").notes
    return bool(notes["before"] == notes["after"])


@figure("fix_found")
def fix_found(look: Look) -> bool:
    """What was said of a fix was before the reader."""
    readings = look.stage.counted.readings
    said = [row.text for row in look.observations() if "fix" in row.text.casefold()]
    return bool(said) and all(any(text in reading for reading in readings) for text in said)


@figure("second_run_covers_only_new_or_all_without_duplicates")
def second_run_covers(look: Look) -> bool:
    """The last reading had all that came since the one before it, or everything, and made nothing twice."""
    readings = look.stage.counted.readings
    everything = {row.text for row in look.observations()}
    return len(readings) > 1 and set(readings[-2]) | set(readings[-1]) == everything and facts_unique(look)
