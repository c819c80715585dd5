"""Plays one case on one stage, from what it takes as known to its last step."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from tests.cases import workers
from tests.cases.expect import faults
from tests.cases.expect.registry import Look
from tests.cases.ops import play
from tests.cases.ops.facts import given
from tests.cases.ops.registry import known
from tests.cases.ops.setting_up import settings
from tests.cases.result import NotBuilt
from tests.cases.script import Case, moment
from tests.cases.stage import Stage

# What makes a memory. One that has ended by the time the case plays was made before it ended.
MAKING = frozenset({"propose", "approve", "approve_all", "create_fact", "create_agent", "create_project"})


def perform(case: Case, stage: Stage) -> None:
    """Carries out all steps. Raises NotBuilt, before any of them, where the product has no door for one."""
    for step in case.every_step():
        known(step)
    workers.watch_readings(stage)
    settings(stage, case.settings)
    start = _before_what_has_ended(case)
    if start is not None:
        stage.clock.to(start)
    given(stage, case.given)
    stage.begins()
    for step in case.steps:
        if start is not None and step["op"] not in MAKING:
            stage.clock.to(case.now)
            start = None
        play(stage, step)


def verdict(case: Case, patch: pytest.MonkeyPatch) -> tuple[list[str], list[str]]:
    """(faults, names of what is not built) of a case. Without both, it holds."""
    stage = Stage(case, patch)
    try:
        try:
            perform(case, stage)
        except NotBuilt as missing:
            return [], [missing.name]
        missing_parts = [name for result in stage.results for name in result.notes.get("not_built", ())]
        try:
            return faults(Look(stage, case.expected), case.expected), missing_parts
        except NotBuilt as missing:
            return [], [*missing_parts, missing.name]
    finally:
        stage.close()


def _before_what_has_ended(case: Case) -> datetime | None:
    ends = [moment(step["expires_at"]) for step in case.every_step() if isinstance(step.get("expires_at"), str)]
    ended = [at for at in ends if at <= case.now]
    return min(ended) - timedelta(days=1) if ended else None
