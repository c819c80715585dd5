"""Writes the audit trail: one narrow row per access or decision, in the transaction of what it records."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from projects.models import ActorKind, Agent, AuditEvent, Person

Actor = Person | Agent | None


def record(
    action: str,
    actor: Actor,
    *,
    project_id: int,
    object_kind: str,
    object_ids: Iterable[int] = (),
    count: int | None = None,
    now: datetime,
) -> None:
    """Adds one row. `actor` None means the machine itself. `count` defaults to the number of ids."""
    ids = [int(pk) for pk in object_ids]
    kind = (
        ActorKind.PERSON
        if isinstance(actor, Person)
        else ActorKind.AGENT
        if isinstance(actor, Agent)
        else ActorKind.MACHINE
    )
    AuditEvent.objects.create(
        at=now,
        project_id=project_id,
        actor_kind=kind,
        actor_id=actor.pk if actor is not None else None,
        action=action,
        object_kind=object_kind,
        object_ids=ids,
        count=len(ids) if count is None else count,
    )
