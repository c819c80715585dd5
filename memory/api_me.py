"""Who a key stands for, and what its agent is told beside the facts: system memory."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import UTC
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from ninja import Router, Schema

from memory import pauses
from memory.agent_auth import Bearer, caller
from projects import audit, configs, tenancy

router = Router(tags=["me"])
_ETAGS = re.compile(r'(?:W/)?"([0-9a-f]{64})"')


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
    with tenancy.project(who.project.pk):
        is_paused = pauses.is_paused(pauses.as_it_stands(who.agent))
    return {
        "agent": who.agent.slug,
        "project": who.project.slug,
        "permissions": sorted(who.permissions),
        "key": who.prefix,
        "paused": is_paused,
    }


class ConfigOut(Schema):
    """The deployed version. All three are null where none is, and while briefs are paused."""

    version: int | None
    deployed_at: str | None
    config: dict[str, Any] | None


@router.get("/me/config", response={200: ConfigOut, 304: None}, auth=Bearer("brief"), summary="System memory")
def config(request: HttpRequest) -> HttpResponse:
    """What an owner of the project wrote for this agent. `If-None-Match` with the last ETag answers 304."""
    who, now = caller(request), timezone.now()
    with tenancy.project(who.project.pk):
        agent = pauses.as_it_stands(who.agent)
        found = None if agent.archived_at or pauses.is_paused(agent) else configs.deployed(agent)
        ids = [found.pk] if found else []
        audit.record("config.read", agent, project_id=who.project.pk, object_kind="config", object_ids=ids, now=now)
    deployed_at = found.deployed_at.astimezone(UTC).isoformat() if found and found.deployed_at else None
    told = {"version": found.version if found else None, "deployed_at": deployed_at}
    body = json.dumps({**told, "config": found.content if found else None}, ensure_ascii=False).encode()
    etag = hashlib.sha256(body).hexdigest()
    known = etag in _ETAGS.findall(request.META.get("HTTP_IF_NONE_MATCH", "")[:2000])
    answer = HttpResponse(status=304) if known else HttpResponse(body, content_type="application/json")
    answer["ETag"] = f'"{etag}"'
    return answer
