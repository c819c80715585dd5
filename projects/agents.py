"""The agents of a project and their keys: made, paused, archived, issued, revoked. Every step is audited by ids."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import IntegrityError, transaction

from projects import audit
from projects.models import Agent, ApiKey, Membership, Person, Project


class AgentExists(Exception):
    """The project has an agent of this name, perhaps an archived one."""


class IssuedAlready(Exception):
    """A key was issued since the form was opened: most likely by this very form, sent twice."""


class HolderLeft(Exception):
    """Whoever was to hold the key is no member of the project: they left, or were taken out, a moment ago."""


def create(project: Project, slug: str, *, by: Person, now: datetime) -> Agent:
    try:
        with transaction.atomic():
            agent = Agent.objects.create(project=project, slug=slug)
    except IntegrityError:
        raise AgentExists from None
    _record("agent.create", by, agent, now)
    return agent


def pause(agent: Agent, *, by: Person, now: datetime) -> None:
    """The agent is heard, and told nothing, until it is resumed."""
    if agent.paused_at is None:
        agent.pause(now, by)
        _record("agent.pause", by, agent, now)


def resume(agent: Agent, *, by: Person, now: datetime) -> None:
    if agent.paused_at is not None:
        agent.resume()
        _record("agent.resume", by, agent, now)


def archive(agent: Agent, *, by: Person, now: datetime) -> None:
    """Its keys stop working; what it said and what was decided about it stay."""
    if agent.archived_at is None:
        agent.archive(now)
        _record("agent.archive", by, agent, now)


def bring_back(agent: Agent, *, by: Person, now: datetime) -> None:
    """An archived agent with the keys that were not revoked."""
    if agent.archived_at is not None:
        agent.bring_back()
        _record("agent.bring back", by, agent, now)


def pause_project(project: Project, *, by: Person, now: datetime) -> None:
    """No agent of the project is told anything until it is resumed."""
    if project.paused_at is None:
        project.pause(now, by)
        audit.record(
            "project.pause", by, project_id=project.pk, object_kind="project", object_ids=[project.pk], now=now
        )


def resume_project(project: Project, *, by: Person, now: datetime) -> None:
    if project.paused_at is not None:
        project.resume()
        audit.record(
            "project.resume", by, project_id=project.pk, object_kind="project", object_ids=[project.pk], now=now
        )


def newest_key(project: Project) -> int:
    """What a form remembers of when it was opened: the number of the project's newest key, 0 before the first."""
    return ApiKey.objects.filter(project=project).order_by("-pk").values_list("pk", flat=True).first() or 0


def issue(
    agent: Agent,
    holder: Person,
    permissions: tuple[str, ...],
    lifetime: timedelta | None,
    *,
    after: int,
    by: Person,
    now: datetime,
) -> tuple[ApiKey, str]:
    """A new key and its secret, shown once. Raises IssuedAlready when `after` is not the project's newest key any
    more: a page that is reloaded, or a button pressed twice, must not leave a second key that nobody knows of.

    Raises HolderLeft: the keys of somebody who leaves end with that, and none may come after it."""
    project = Project.objects.select_for_update().get(pk=agent.project_id)
    both = {holder.pk, by.pk}
    if Membership.objects.filter(project=project, person__in=both).count() < len(both):
        raise HolderLeft
    if newest_key(project) != after:
        raise IssuedAlready
    key, secret = ApiKey.objects.issue(agent, holder, permissions, lifetime, now)
    audit.record("key.issue", by, project_id=agent.project_id, object_kind="key", object_ids=[key.pk], now=now)
    return key, secret


def revoke(key: ApiKey, *, by: Person, now: datetime) -> None:
    if key.revoked_at is None:
        key.revoke(now)
        audit.record("key.revoke", by, project_id=key.project_id, object_kind="key", object_ids=[key.pk], now=now)


def _record(action: str, by: Person, agent: Agent, now: datetime) -> None:
    audit.record(action, by, project_id=agent.project_id, object_kind="agent", object_ids=[agent.pk], now=now)
