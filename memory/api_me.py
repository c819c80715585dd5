"""Who a key stands for."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from ninja import Router, Schema

from memory.agent_auth import caller

router = Router(tags=["me"])


class Me(Schema):
    agent: str
    project: str
    permissions: list[str]
    key: str
    paused: bool


@router.get("/me", response=Me, summary="Who am I")
def me(request: HttpRequest) -> dict[str, Any]:
    """The agent and project of this key, what it may do, and whether briefs are paused."""
    who = caller(request)
    return {
        "agent": who.agent.slug,
        "project": who.project.slug,
        "permissions": sorted(who.permissions),
        "key": who.prefix,
        "paused": who.is_paused,
    }
