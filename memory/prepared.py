"""What is prepared about memories (projects/prepared.py): visibility as SQL, and statements as they would be.

Django built the SQL of a brief anew for each call and Postgres planned it anew; that was nine tenths of a brief's time.
Visibility itself is still said in one place: `visible` is what `Fact.objects.visible_to` compiles to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from memory.models import Fact
from memory.supposed import Suppose
from memory.types import SINGLE_VALUED, single_valued
from projects.models import Agent, Project
from projects.prepared import literal, run

# Stand-ins that no row and no clock can have; each becomes a named parameter of the statement.
_AGENT, _PROJECT, _NOW = -4_019_001, -4_019_002, datetime(1, 1, 2, tzinfo=UTC)
_NAMED = {_AGENT: "%(agent)s::bigint", _PROJECT: "%(project)s::bigint", _NOW: "%(now)s::timestamptz"}


def visible(agent: Agent, *columns: str) -> str:
    """SELECT of these columns of the facts an agent may see, with the parameters `agent`, `project` and `now`.

    One text for all projects whose types hold one value per key alike. For an agent that is not paused: whoever is
    paused is answered before anything is read.
    """
    return _visible(single_valued(agent.project.types), columns)


@lru_cache(maxsize=64)
def _visible(single: tuple[str, ...], columns: tuple[str, ...]) -> str:
    types = {name: {"single_valued": True} for name in single if name not in SINGLE_VALUED}
    agent = Agent(pk=_AGENT, project=Project(pk=_PROJECT, types=types))
    query = Fact.objects.visible_to(agent, _NOW).order_by().values(*columns).query
    sql, parameters = query.sql_with_params()
    parts = sql.replace("%%", "%").split("%s")
    written = [_NAMED.get(value) or literal(value) for value in parameters]
    return "".join(part + value for part, value in zip(parts, [*written, ""], strict=True))


def about(agent: Agent, now: datetime) -> dict[str, Any]:
    """The parameters of `visible`."""
    return {"agent": agent.pk, "project": agent.project_id, "now": now}


def fetch(
    alias: str, sql: str, parameters: Mapping[str, Any], suppose: Suppose | None = None
) -> Sequence[tuple[Any, ...]]:
    """The rows of a prepared statement, in the transaction that Django has open on `alias`; as it would be, where
    something is supposed."""
    if suppose is not None:
        sql, parameters = suppose.over(sql), {**parameters, **suppose.parameters(sql)}
    return run(alias, sql, parameters)
