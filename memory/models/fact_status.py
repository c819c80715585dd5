"""The states of a fact and the one table of moves between them (values)."""

from __future__ import annotations

from django.db import models


class Status(models.TextChoices):
    PROPOSED = "proposed", "Proposed"
    APPROVED = "approved", "Approved"
    REJECTED = "rejected", "Rejected"
    MERGED = "merged", "Merged"
    LAPSED = "lapsed", "Not now"
    REMOVED = "removed", "Removed"
    SUPERSEDED = "superseded", "Replaced"
    EXPIRED = "expired", "Expired"


class Relation(models.TextChoices):
    """How a proposal stands to a fact that is known."""

    CHANGES = "changes", "changes"
    CONFLICTS = "conflicts", "conflicts with"
    SAME_THING = "same_thing", "says nearly the same as"


# The one table of status moves; docs/architecture.md draws it. Each arrow has its undo.
TRANSITIONS: dict[str, tuple[str, ...]] = {
    # Straight to superseded: countersigned as what was true before the value that is known.
    "proposed": ("approved", "rejected", "merged", "lapsed", "removed", "superseded"),
    "approved": ("superseded", "expired", "removed"),
}
# What a person who clicked expects to be told: the field as it stands in `before` and `after`.
MOVABLE = (
    "status",
    "type",
    "key",
    "value",
    "text",
    "findings",
    "nature",
    "use",
    "everyone",
    "agent_ids",
    "expires_at",
    "ends_by_type",
    "approved_at",
    "approved_by_id",
    "confirmed_at",
    "review_due_at",
    "put_off_until",
    "first_yes_by_id",
    "first_yes_at",
    "superseded_by_id",
    "valid_to",
)


def as_mermaid() -> str:
    """The table as the diagram of docs/architecture.md draws it; a test holds the two together."""
    lines = ["stateDiagram-v2", "    [*] --> proposed"]
    lines += [f"    {start} --> {end}" for start, ends in TRANSITIONS.items() for end in ends]
    ends = sorted({end for ends in TRANSITIONS.values() for end in ends} - set(TRANSITIONS))
    return "\n".join(lines + [f"    {end} --> [*]" for end in ends])
