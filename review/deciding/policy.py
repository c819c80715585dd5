"""How a project reviews: cards a sitting, the level of each type, gold items, when two people are needed.

Kept in `Project.review_policy`, only where it differs from what is shipped:
{"sitting": 30, "gold": true, "levels": {"fix": {"level": "list"}}}. An unreadable cell counts as not there.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from memory.types import type_of
from projects.models import Project

SITTING = 40
FEWEST, MOST = 5, 200


class Level(StrEnum):
    """How the proposals of one type are reviewed, from the strictest on."""

    ONE_BY_ONE = "one by one"
    LIST = "as a list"
    ARRIVAL = "on arrival"


@dataclass(frozen=True)
class Policy:
    """The policy of one project. `levels` holds the types whose level somebody chose."""

    sitting: int
    gold: bool
    levels: dict[str, Level]
    types: dict[str, Any]

    @classmethod
    def of(cls, project: Project) -> Policy:
        kept: dict[str, Any] = project.review_policy if isinstance(project.review_policy, dict) else {}
        sitting = kept.get("sitting")
        chosen = kept.get("levels")
        levels = {}
        for name, cells in chosen.items() if isinstance(chosen, dict) else ():
            level = cells.get("level") if isinstance(cells, dict) else None
            if level in set(Level):
                levels[name] = Level(level)
        if type(sitting) is not int or not FEWEST <= sitting <= MOST:
            sitting = SITTING
        return cls(sitting, kept.get("gold") is True, levels, project.types)

    def level(self, type_name: str) -> Level:
        """The level of a type: the one chosen, else what the type table says."""
        shipped = Level.ONE_BY_ONE if type_of(type_name, self.types).one_by_one else Level.LIST
        return self.levels.get(type_name, shipped)
