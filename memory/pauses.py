"""An agent as it stands at this moment. Its row may be two seconds old (memory/agent_auth.py), and whoever pauses it
must be heard by the next call, in every process: each door asks once more, in the transaction that answers."""

from __future__ import annotations

import copy
from datetime import datetime

from memory.prepared import fetch
from projects.models import Agent

_STANDS = """
SELECT a.paused_at, a.archived_at, p.paused_at FROM projects_agent a JOIN projects_project p ON p.id = a.project_id
WHERE a.id = %(agent)s::bigint
"""


def as_it_stands(agent: Agent) -> Agent:
    """The same agent with the pauses of now; a copy where they differ, for its row is shared. One short statement."""
    rows = fetch(Agent.objects.db, _STANDS, {"agent": agent.pk})
    return stood(agent, *rows[0]) if rows else agent


def stood(
    agent: Agent, paused_at: datetime | None, archived_at: datetime | None, all_paused_at: datetime | None
) -> Agent:
    """`agent` with these times in place of those it was read with."""
    project = agent.project
    if (agent.paused_at, agent.archived_at, project.paused_at) == (paused_at, archived_at, all_paused_at):
        return agent
    agent, project = copy.copy(agent), copy.copy(project)
    agent.paused_at, agent.archived_at, project.paused_at = paused_at, archived_at, all_paused_at
    agent.project = project
    return agent


def is_paused(agent: Agent) -> bool:
    """Whether it is told nothing: by itself, or with its whole project."""
    return bool(agent.paused_at or agent.project.paused_at)
