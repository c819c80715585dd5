"""System memory: what an owner wrote for one agent, version by version. Told beside the facts, it touches none."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from projects import audit
from projects.models import Agent, AgentConfig, Person, Project

# It comes with every brief of its agent: some four thousand tokens.
MOST_BYTES = 16_384
MOST_DEPTH = 20


class BadConfig(ValueError):
    """A text that is no system memory; the message says why, with the line where it is known."""


class ConfigChanged(Exception):
    """Somebody wrote a version since the one the caller started from."""


def parse(text: str) -> dict[str, Any]:
    """The JSON object a person typed. Raises BadConfig: no JSON, no object, a name twice, too large, too deep."""
    if len(text.encode("utf-8", "replace")) > 4 * MOST_BYTES:
        raise BadConfig(
            _("This is too long: %(most_bytes)s bytes are the limit, for it comes with every brief.")
            % {"most_bytes": f"{MOST_BYTES:,}"}
        )
    try:
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except json.JSONDecodeError as wrong:
        raise BadConfig(
            _("Line %(lineno)s, column %(colno)s: %(msg)s. This is no JSON.")
            % {"lineno": wrong.lineno, "colno": wrong.colno, "msg": wrong.msg}
        ) from None
    except RecursionError:
        raise BadConfig(
            _("It is nested too deep; %(most_depth)s levels are the limit.") % {"most_depth": MOST_DEPTH}
        ) from None
    if not isinstance(found, dict):
        raise BadConfig(_('It must be an object: {"name": value, …}.'))
    if _depth(found) > MOST_DEPTH:
        raise BadConfig(_("It is nested too deep; %(most_depth)s levels are the limit.") % {"most_depth": MOST_DEPTH})
    try:
        size = len(json.dumps(found, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode())
    except ValueError:
        # A number past every bound, or half a character.
        raise BadConfig(_("A number in it is too large, or a letter in it is only half of one.")) from None
    if "\\u0000" in json.dumps(found):
        raise BadConfig(_("It holds a NUL character, which cannot be kept."))
    if size > MOST_BYTES:
        raise BadConfig(
            _("It has %(size)s bytes; %(most_bytes)s are the limit, for it comes with every brief.")
            % {"size": f"{size:,}", "most_bytes": f"{MOST_BYTES:,}"}
        )
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise BadConfig(
                _("“%(name)s” stands there twice. Only one of them would be told; keep that one.") % {"name": name[:80]}
            )
        found[name] = value
    return found


def _no_number(name: str) -> Any:
    raise BadConfig(_("%(name)s is no JSON number.") % {"name": name})


def _depth(value: Any) -> int:
    if isinstance(value, dict):
        return 1 + max(map(_depth, value.values()), default=0)
    if isinstance(value, list):
        return 1 + max(map(_depth, value), default=0)
    return 0


def written(content: dict[str, Any]) -> str:
    """A version as people read and compare it: indented, names in order."""
    return json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True)


def versions(agent: Agent) -> QuerySet[AgentConfig]:
    """All versions of this agent, the newest first."""
    return AgentConfig.objects.filter(agent=agent).select_related("created_by").order_by("-version")


def deployed(agent: Agent) -> AgentConfig | None:
    """What this agent is told now: the version that was deployed last."""
    return (
        AgentConfig.objects.filter(agent=agent, deployed_at__isnull=False).order_by("-deployed_at", "-version").first()
    )


def deployed_in(project: Project) -> QuerySet[AgentConfig]:
    """What each agent of a project is told now, one row an agent that is told anything."""
    told = AgentConfig.objects.filter(project=project, deployed_at__isnull=False)
    return told.order_by("agent_id", "-deployed_at", "-version").distinct("agent_id")


@transaction.atomic
def write(
    agent: Agent, content: dict[str, Any], *, note: str = "", after: int | None = None, by: Person | None, now: datetime
) -> tuple[AgentConfig, bool]:
    """A new version and True, or the newest one and False where it says the same already. Nothing is told anew by it.

    `after` is the version its author started from (0: none). Raises ConfigChanged when it is not the newest any more.
    """
    Agent.objects.select_for_update().get(pk=agent.pk)
    newest = versions(agent).first()
    if after is not None and after != (newest.version if newest else 0):
        raise ConfigChanged
    if newest is not None and newest.content == content:
        return newest, False
    made = AgentConfig.objects.create(
        project_id=agent.project_id,
        agent=agent,
        version=newest.version + 1 if newest else 1,
        content=content,
        note=note,
        created_by=by,
        created_at=now,
    )
    _record("config.write", by, made, now)
    return made, True


@transaction.atomic
def deploy(config: AgentConfig, *, by: Person | None, now: datetime) -> bool:
    """Its agent is told this version from the next call on; an older one again is how one goes back.

    False where it is the deployed one already.
    """
    Agent.objects.select_for_update().get(pk=config.agent_id)
    current = deployed(config.agent)
    if current is not None and current.pk == config.pk:
        return False
    config.deployed_at = now
    config.save(update_fields=["deployed_at"])
    _record("config.deploy", by, config, now)
    return True


def _record(action: str, by: Person | None, config: AgentConfig, now: datetime) -> None:
    audit.record(action, by, project_id=config.project_id, object_kind="config", object_ids=[config.pk], now=now)
