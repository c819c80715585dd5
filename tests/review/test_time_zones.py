"""The time zones a form offers: places people know, and never one that another machine would read differently."""

from __future__ import annotations

from projects.models import Project
from review.pages.settings_forms import NewProject, ProjectSettings


def offered(form: NewProject | ProjectSettings) -> list[str]:
    return [value for value, _ in form.fields["timezone"].choices]


def test_a_new_project_chooses_among_places_and_utc() -> None:
    zones = offered(NewProject())
    assert zones[0] == "UTC"
    assert {"Europe/Berlin", "America/Argentina/Buenos_Aires", "Asia/Kolkata"} <= set(zones)
    assert not {"localtime", "Factory", "Etc/GMT+5", "CET", "US/Eastern", "GMT0"} & set(zones)


def test_a_zone_that_a_command_set_can_be_kept() -> None:
    assert offered(ProjectSettings(instance=Project(timezone="CET")))[:2] == ["CET", "UTC"]
    assert offered(ProjectSettings(instance=Project(timezone="Europe/Berlin"))).count("Europe/Berlin") == 1
