"""How a project reviews: cards a sitting, the level of each type, gold items, when two people are needed.

Kept in `Project.review_policy`, only where it differs from what is shipped:
{"version": 3, "sitting": 30, "gold": true, "levels": {"fix": {"level": "on arrival", "since": "2026-…", "by": 7}},
"log": [{"version": 3, "at": "2026-…", "by": 7, "what": "fix", "was": "as a list", "is": "on arrival"}]}
`by` is a person's id, or null where a rule ended by itself; then `ended` stands beside the level (Ending). An
unreadable cell counts as not there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.db import transaction

from memory.types import type_of
from projects import audit
from projects.models import Person, Project

SITTING = 40
FEWEST, MOST = 5, 200
# Changes that the page still tells; the audit keeps all of them.
LOGGED = 50


class Level(StrEnum):
    """How the proposals of one type are reviewed, from the strictest on."""

    ONE_BY_ONE = "one by one"
    LIST = "as a list"
    ARRIVAL = "on arrival"


class PolicyChanged(Exception):
    """Somebody else changed the policy since the caller saw it."""


@dataclass(frozen=True)
class SentBack:
    """A memory that went back in the pile when a rule ended, as it stood before: when it was due, whether it lay there
    as a drawn card. `revision` is the one it had."""

    fact: int
    revision: int
    due_at: datetime | None
    drawn: bool


@dataclass(frozen=True)
class Ending:
    """Why "on arrival" ended by itself: the decision that found a severe fault, and how many went back in the pile.

    `began` and `by` are the rule's own, and `facts` what went back: what it takes to put all of it as it was.
    """

    at: datetime
    began: datetime
    reason: str
    decision: int
    back: int
    by: int | None = None
    noted: bool = False
    facts: tuple[SentBack, ...] = ()

    def as_cells(self) -> dict[str, Any]:
        """As `Project.review_policy` keeps it: ids and times alone."""
        facts = [[one.fact, one.revision, one.due_at and one.due_at.isoformat(), one.drawn] for one in self.facts]
        return {
            "at": self.at.isoformat(),
            "began": self.began.isoformat(),
            "by": self.by,
            "reason": self.reason,
            "decision": self.decision,
            "back": self.back,
            "noted": self.noted,
            "facts": facts,
        }


@dataclass(frozen=True)
class Rule:
    """The level that somebody chose for one type: since when, and whose choice it is (a person's id)."""

    level: Level
    since: datetime | None = None
    by: int | None = None
    ending: Ending | None = None


@dataclass(frozen=True)
class Change:
    """One line of what was changed: `what` is a type's name, "sitting" or "gold". `decision` is the one that ended a
    rule, or with whose undo it began again (`is_undo`)."""

    at: datetime
    by: int | None
    what: str
    was: str
    now: str
    decision: int | None = None
    is_undo: bool = False


@dataclass(frozen=True)
class Policy:
    """The policy of one project. `levels` holds the types whose level somebody chose, `rules` the same with whose
    choice it is; `version` counts its changes."""

    sitting: int
    gold: bool
    levels: dict[str, Level]
    types: dict[str, Any]
    rules: dict[str, Rule] = field(default_factory=dict)
    version: int = 0
    changes: tuple[Change, ...] = ()

    @classmethod
    def of(cls, project: Project) -> Policy:
        kept: dict[str, Any] = project.review_policy if isinstance(project.review_policy, dict) else {}
        sitting, version, chosen, log = (kept.get(name) for name in ("sitting", "version", "levels", "log"))
        cells_by_type = chosen.items() if isinstance(chosen, dict) else ()
        rules = {name: rule for name, cells in cells_by_type if (rule := _rule(cells)) is not None}
        if type(sitting) is not int or not FEWEST <= sitting <= MOST:
            sitting = SITTING
        return cls(
            sitting=sitting,
            gold=kept.get("gold") is True,
            levels={name: rule.level for name, rule in rules.items()},
            types=project.types,
            rules=rules,
            version=version if type(version) is int else 0,
            changes=tuple(one for row in (log if isinstance(log, list) else ()) if (one := _change(row)) is not None),
        )

    def level(self, type_name: str) -> Level:
        """The level of a type: the one chosen, unless the type table says one by one; a list where nobody chose."""
        if type_of(type_name, self.types).one_by_one:
            return Level.ONE_BY_ONE
        return self.levels.get(type_name, Level.LIST)

    @property
    def arriving(self) -> dict[str, Rule]:
        """The rules by which proposals are approved on arrival, by type."""
        rules = self.rules.items()
        return {name: rule for name, rule in rules if rule.since and self.level(name) == Level.ARRIVAL}

    @property
    def ended(self) -> dict[str, Rule]:
        """Types whose rule ended by itself, until an owner has noted it or chosen anew."""
        return {name: rule for name, rule in self.rules.items() if rule.ending is not None and not rule.ending.noted}

    def ended_by(self, decision: int) -> str:
        """The type whose rule this decision ended, or "", whatever was chosen for it since."""
        for name, rule in self.rules.items():
            if rule.ending is not None and rule.ending.decision == decision:
                return name
        told = (one.what for one in self.changes if one.decision == decision and not one.is_undo)
        return next(told, "")


def change(
    project: Project,
    *,
    seen: int,
    by: Person,
    now: datetime,
    sitting: int | None = None,
    gold: bool | None = None,
    levels: Mapping[str, Level] | None = None,
) -> int:
    """Keeps what differs, each with who and when; returns how many things changed.

    `seen` is the version that the person had before them. Whether a level may be chosen is the caller's to know.
    Raises PolicyChanged.
    """
    with transaction.atomic():
        locked = hold(project.pk)
        policy = Policy.of(locked)
        if policy.version != seen:
            raise PolicyChanged
        moves: list[tuple[str, str, str]] = []
        kept = dict(locked.review_policy)
        if sitting is not None and sitting != policy.sitting:
            kept["sitting"] = sitting
            moves.append(("sitting", str(policy.sitting), str(sitting)))
        if gold is not None and gold != policy.gold:
            kept["gold"] = gold
            moves.append(("gold", _on(policy.gold), _on(gold)))
        chosen = dict(kept.get("levels") or {})
        for name, level in (levels or {}).items():
            if level != policy.level(name):
                chosen[name] = {"level": level.value, "since": now.isoformat(), "by": by.pk}
                moves.append((name, policy.level(name).value, level.value))
        if moves:
            write(locked, {**kept, "levels": chosen}, moves, by=by, now=now)
        project.review_policy = locked.review_policy
    return len(moves)


def hold(project_id: int) -> Project:
    """The project, its row locked to the end of the transaction; rows that point to it can still be written."""
    return Project.objects.select_for_update(no_key=True).get(pk=project_id)


def write(
    project: Project,
    kept: dict[str, Any],
    moves: list[tuple[str, str, str]],
    *,
    by: Person | None,
    now: datetime,
    action: str = "policy.change",
    **told: Any,
) -> None:
    """Stores a changed policy of a project that is held, one version further, with its trail; `told` stands in each of
    its lines."""
    version = Policy.of(project).version + 1
    log = kept.get("log")
    lines = [
        {
            "version": version,
            "at": now.isoformat(),
            "by": by.pk if by else None,
            "what": what,
            "was": was,
            "is": to,
            **told,
        }
        for what, was, to in moves
    ]
    project.review_policy = {
        **kept,
        "version": version,
        "log": [*lines, *(log if isinstance(log, list) else [])][:LOGGED],
    }
    project.save(update_fields=["review_policy"])
    audit.record(
        action,
        by,
        project_id=project.pk,
        object_kind="project",
        object_ids=[project.pk],
        count=len(moves),
        now=now,
    )


def note(project: Project, type_name: str, *, by: Person, now: datetime) -> None:
    """An owner has noted that a rule ended; a second call changes nothing."""
    with transaction.atomic():
        locked = hold(project.pk)
        chosen = dict(locked.review_policy.get("levels") or {})
        cells = chosen.get(type_name)
        if isinstance(cells, dict) and (ending := _ending(cells.get("ended"))) is not None and not ending.noted:
            # Kept all the same: whoever takes the severe reject back gets the rule back with it.
            chosen[type_name] = {**cells, "ended": replace(ending, noted=True).as_cells()}
            locked.review_policy = {**locked.review_policy, "levels": chosen}
            locked.save(update_fields=["review_policy"])
            audit.record(
                "policy.note",
                by,
                project_id=locked.pk,
                object_kind="project",
                object_ids=[locked.pk],
                now=now,
            )
        project.review_policy = locked.review_policy


def _rule(cells: Any) -> Rule | None:
    level = cells.get("level") if isinstance(cells, dict) else None
    if level not in set(Level):
        return None
    by = cells.get("by")
    return Rule(Level(level), _time(cells.get("since")), by if type(by) is int else None, _ending(cells.get("ended")))


def _ending(cells: Any) -> Ending | None:
    if not isinstance(cells, dict):
        return None
    at, began = _time(cells.get("at")), _time(cells.get("began"))
    decision, back, by, facts = (cells.get(name) for name in ("decision", "back", "by", "facts"))
    if at is None or began is None or type(decision) is not int or type(back) is not int:
        return None
    sent_back = tuple(one for row in (facts if isinstance(facts, list) else ()) if (one := _sent_back(row)) is not None)
    owner = by if type(by) is int else None
    reason = str(cells.get("reason", ""))
    return Ending(at, began, reason, decision, back, owner, cells.get("noted") is True, sent_back)


def _sent_back(row: Any) -> SentBack | None:
    if not isinstance(row, list) or len(row) != 4:
        return None
    fact, revision, due, drawn = row
    if type(fact) is not int or type(revision) is not int or (due is not None and _time(due) is None):
        return None
    return SentBack(fact, revision, _time(due), drawn is True)


def _change(row: Any) -> Change | None:
    at = _time(row.get("at")) if isinstance(row, dict) else None
    if at is None:
        return None
    by = row.get("by")
    what, was, to = (str(row.get(name, "")) for name in ("what", "was", "is"))
    decision = row.get("decision")
    return Change(
        at=at,
        by=by if type(by) is int else None,
        what=what,
        was=was,
        now=to,
        decision=decision if type(decision) is int else None,
        is_undo=row.get("undo") is True,
    )


def _time(written: Any) -> datetime | None:
    try:
        at = datetime.fromisoformat(written)
    except (TypeError, ValueError):
        return None
    return at if at.tzinfo else None


def _on(is_on: bool) -> str:
    return "on" if is_on else "off"
