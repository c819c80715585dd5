"""What an operator sets up: projects by command, settings of a project on its page."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from django.core.management import get_commands
from django.db import DatabaseError

from memory.types import table, type_of
from projects.models import Project
from review.pages.type_forms import TypeForm
from tests.cases.ops.registry import op
from tests.cases.result import NotBuilt, Result
from tests.cases.script import Step
from tests.cases.stage import OWNER, Stage


@op("create_project", "slug name")
def create_project(stage: Stage, step: Step) -> Result:
    """The command; exit 0 is 200. What the database refused and nobody caught is 500."""
    try:
        code, said = stage.command("create_project", step["slug"])
    except DatabaseError as uncaught:
        return Result("create_project", step, 500, type(uncaught).__name__)
    return Result("create_project", step, 200 if code == 0 else 409, said)


@op("create_agent", "slug name agent")
def create_agent(stage: Stage, step: Step) -> Result:
    name = step.get("slug", step.get("name", step.get("agent")))
    try:
        code, said = stage.command("create_agent", stage.slug, name)
    except DatabaseError as uncaught:
        return Result("create_agent", step, 500, type(uncaught).__name__)
    return Result("create_agent", step, 200 if code == 0 else 422, said)


@op("reembed")
def reembed(stage: Stage, step: Step) -> Result:
    """All vectors anew, by the model as it is now."""
    if "reembed" not in get_commands():
        raise NotBuilt("command reembed")
    code, said = stage.command("reembed")
    return Result("reembed", step, 200 if code == 0 else 422, said)


def settings(stage: Stage, asked: Mapping[str, Any]) -> None:
    """The settings a case starts with. Raises NotBuilt."""
    for name, value in asked.items():
        if name not in SETTINGS:
            raise NotBuilt(f"setting {name}")
        SETTINGS[name](stage, value)


def _idle_minutes(stage: Stage, minutes: int) -> None:
    with stage.looking():
        project = Project.objects.get(pk=stage.project.pk)
    form = {
        "name": project.name,
        "timezone": project.timezone,
        "idle_minutes": minutes,
        "brief_budget_tokens": project.brief_budget_tokens,
    }
    said = stage.page(OWNER, f"/p/{stage.slug}/settings", form)
    assert said.status == 302, f"the settings were refused: {said.status}"


def _retention(stage: Stage, days: Mapping[str, int | None]) -> None:
    """How long each type lives, as the owner sets it on the page of types; None: no end."""
    for name, lifetime in days.items():
        with stage.looking():
            types = Project.objects.get(pk=stage.project.pk).types
        if name not in table(types):
            said = stage.page(OWNER, f"/p/{stage.slug}/types", {"name": name})
            assert said.status == 302, f"the type {name} was refused: {said.status}"
            types = {**types, name: {}}
        row = type_of(name, types)
        shown = {cell: value for cell, value in TypeForm(row=row).initial.items() if value not in (None, False)}
        if lifetime is not None and (row.ask_again_days or 0) > lifetime:
            del shown["ask_again_days"]
        said = stage.page(OWNER, f"/p/{stage.slug}/types/{name}", {**shown, "lifetime_days": lifetime or ""})
        assert said.status == 302, f"the lifetime of {name} was refused: {said.status}"


def _time_zone(stage: Stage, zone: str) -> None:
    assert stage.project.timezone == zone, "the project was made in another zone"


SETTINGS: dict[str, Callable[[Stage, Any], None]] = {
    "IDLE_MINUTES": _idle_minutes,
    "RETENTION": _retention,
    "TIME_ZONE": _time_zone,
}
