"""Where two behaviours can be defended: ours is the documented one, the same in every zone."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from tests.cases.documented import chosen
from tests.cases.expect.registry import Look, check


@check("rule")
def rule(look: Look, wanted: str) -> None:
    chosen(look.stage.case.kind)


@check("local")
def local_times(look: Look, wanted: list[str]) -> None:
    """Runs at these local times; or, where the case allows it documented, each job exactly so many minutes after the
    other, whatever the clocks of the zone do."""
    notes = look.last("next_runs").notes
    at = [datetime.fromisoformat(one) for one in wanted]
    if any(runs == at for runs in notes["runs"].values()):
        return
    assert "or_documented" in look.expected, f"runs at {notes['runs']}, wanted {wanted}"
    chosen(look.stage.case.kind)
    for job, runs in notes["runs"].items():
        apart = timedelta(minutes=notes["minutes"][job])
        expected = [notes["from"] + apart * number for number in range(1, len(runs) + 1)]
        assert runs == expected, f"{job} runs at {runs}"


@check(r"same_result_for_(TIME_ZONE)")
def same_for(look: Look, wanted: list[Any], setting: str) -> None:
    """The whole case again, with another setting: everything else that it expects must hold there too."""
    from tests.cases.expect.judge import faults
    from tests.cases.playing import perform
    from tests.cases.stage import Stage

    case = look.stage.case
    rest = {name: one for name, one in case.expected.items() if not name.startswith("same_result_for_")}
    for number, value in enumerate(wanted):
        other = replace(case, settings={**case.settings, setting: value}, expected=rest)
        stage = Stage(other, look.stage.patch, f"{look.stage.slug}-{number}")
        perform(other, stage)
        found = faults(Look(stage, rest), rest)
        assert not found, f"with {setting} {value}: {found}"
