"""The trail: who did or read what, when. Ids and counts, never content."""

from __future__ import annotations

from projects.models import AuditEvent
from tests.cases.expect.registry import Look, check, figure

# What a case calls a field, and the columns that hold it here.
COLUMNS = {
    "actor": ("actor_kind", "actor_id"),
    "agent": ("actor_id",),
    "action": ("action",),
    "fact_ids": ("object_ids",),
    "at": ("at",),
    # How many came: none is told apart from some, whoever was refused got none.
    "result": ("count",),
}


READINGS = ("facts.search", "facts.lookup", "fact.read", "brief.serve")


def events(look: Look) -> list[AuditEvent]:
    """What agents and people did and read since the case began."""
    with look.stage.looking():
        found = AuditEvent.objects.filter(project_id=look.stage.project.pk, pk__gt=look.stage.audited_before)
        return list(found.filter(actor_kind__in=("agent", "person")).order_by("pk"))


@figure("audit_rows")
def audit_rows(look: Look) -> int:
    return len(events(look))


@check("fields")
def fields(look: Look, wanted: list[str]) -> None:
    unknown = [name for name in wanted if name not in COLUMNS]
    assert not unknown, f"the trail has no {unknown}"
    empty = [
        name for name in wanted for event in events(look) for column in COLUMNS[name] if getattr(event, column) is None
    ]
    assert not empty, f"left empty: {sorted(set(empty))}"


@figure("refusals_logged")
def refusals_logged(look: Look) -> bool:
    """As many rows as there were readings by agents that are known, those included that got nothing."""
    asked = [result for result in look.of("search", "lookup", "brief", "get_by_id") if result.http != 401]
    read = [event for event in events(look) if event.actor_kind == "agent" and event.action in READINGS]
    nothing = [event for event in read if event.count == 0]
    return len(read) == len(asked) and len(nothing) == sum(not result.facts for result in asked)


@figure("no_fact_text_in_audit")
def no_text_in_audit(look: Look) -> bool:
    """Nothing but ids, names of actions and numbers: no words of a memory, of a query or of a key."""
    said = [
        str(result.step[name]) for result in look.results for name in ("query", "key", "value") if name in result.step
    ]
    words = [*said, *(fact.text for fact in look.facts())]
    trail = [f"{event.action} {event.object_kind} {event.object_ids}".split() for event in events(look)]
    return not any(word in row for row in trail for word in words if word)
