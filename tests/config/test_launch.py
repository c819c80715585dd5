"""What is settled before the settings are read."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from django.db import OperationalError, ProgrammingError
from psycopg import errors

from config import launch, ports
from config.embedded import SUPERVISED, EmbeddedPostgresError

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("given", [["--data", "my data"], ["--data=my data"]])
def test_data_folder_is_taken_out_of_the_arguments(given: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERSIGN_DATA", "before")
    assert launch.take_data_folder(["manage.py", "up", *given, "--demo"]) == ["manage.py", "up", "--demo"]
    assert os.environ["COUNTERSIGN_DATA"] == str(Path("my data").absolute())


def test_data_without_a_folder_is_refused() -> None:
    with pytest.raises(SystemExit, match="--data needs a folder"):
        launch.take_data_folder(["manage.py", "up", "--data"])


def test_child_whose_supervisor_is_gone_ends_at_once() -> None:
    code = "from config import launch; launch.follow_supervisor(); print('served')"
    environment = {**os.environ, SUPERVISED: str(os.getpid() + 100_000)}
    child = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, env=environment, capture_output=True)
    assert (child.returncode, child.stdout) == (1, b"")


def test_refusal_of_the_bundled_server_reaches_people_as_it_is() -> None:
    problem = OperationalError("wrapped")
    problem.__cause__ = EmbeddedPostgresError("The disk is full. Free some space.")
    assert launch.database_is_down(problem) == "The disk is full. Free some space."


def test_foreign_database_that_is_down_names_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://me:secret@db/x")
    said = launch.database_is_down(OperationalError("connection refused\n\tIs it running?"))
    assert said == (
        "The database of DATABASE_URL does not answer (connection refused). Start it, or correct DATABASE_URL."
    )


@pytest.mark.parametrize(
    ("cause", "sentence"),
    [
        (errors.UndefinedTable, "not up to date. Run `"),
        (errors.UndefinedColumn, "not up to date. Run `"),
        (errors.UniqueViolation, "Run this one again"),
    ],
)
def test_what_the_database_refuses_is_a_sentence_without_its_words(cause: type[Exception], sentence: str) -> None:
    problem = ProgrammingError("Key (email)=(nina@example.com)")
    problem.__cause__ = cause("Key (email)=(nina@example.com)")
    said = launch.database_refused(problem) or ""
    assert sentence in said
    assert "nina" not in said


def test_a_full_disk_is_said_as_such() -> None:
    problem = OperationalError("could not extend file")
    problem.__cause__ = errors.DiskFull("could not extend file")
    assert launch.database_is_down(problem).startswith("The disk of the database is full. Free some space")


def test_python_without_packages_is_told_to_run_setup(tmp_path: Path) -> None:
    shutil.copy(REPOSITORY / "manage.py", tmp_path)
    bare = subprocess.run([sys.executable, "-S", "manage.py", "up"], cwd=tmp_path, capture_output=True, text=True)
    assert bare.returncode == 1
    assert bare.stderr == "django is not installed here. Run `make setup`, then `.venv/bin/python manage.py …`.\n"


def test_taken_port_is_named_with_the_option_that_changes_it() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ports.PortTaken, match=rf"Port {port} is in use\. Choose another with --port"):
            ports.refuse_taken("127.0.0.1", port)
    ports.refuse_taken("127.0.0.1", port)


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 70_000), ("no such host.invalid", 8000)])
def test_address_nobody_can_listen_on_is_a_sentence(host: str, port: int) -> None:
    with pytest.raises(ports.PortTaken, match="--port"):
        ports.refuse_taken(host, port)


@pytest.mark.parametrize("url", ["nonsense", "postgres://", "postgres://u:p4ss@h:abc/x", "mongo://u:p4ss@h/x"])
def test_database_url_that_is_none_is_a_sentence(url: str, tmp_path: Path) -> None:
    environment = {**os.environ, "DATABASE_URL": url, "COUNTERSIGN_DATA": str(tmp_path)}
    command = [sys.executable, "manage.py", "up"]
    said = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True)
    assert said.returncode == 1
    assert said.stderr == "DATABASE_URL must name a Postgres database: postgres://user:password@host/name\n"
