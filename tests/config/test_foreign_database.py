"""A Postgres that somebody else runs, by DATABASE_URL alone: what its login role may not do is said, not traced."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

from config import embedded

ROOT = Path(__file__).resolve().parent.parent.parent
pytestmark = pytest.mark.process


@pytest.fixture
def server() -> Iterator[embedded.Server]:
    """A server of this test's own; roles belong to a whole server."""
    folder = Path(tempfile.mkdtemp(prefix="countersign-foreign-"))
    folder.chmod(0o755)
    try:
        yield embedded.ensure_running(folder, {"fsync": "off"})
    finally:
        embedded.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)


def superuser(server: embedded.Server, database: str, *statements: str) -> None:
    with psycopg.connect(server.dsn(database), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


def manage(server: embedded.Server, login: str, data: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    host = quote(str(server.socket_dir), safe="")
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={
            **os.environ,
            "DATABASE_URL": f"postgres://{login}@{host}:{server.port}/theirs",
            "COUNTERSIGN_DATA": str(data),
        },
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_a_login_role_without_rights_is_told_what_a_superuser_must_run(server: embedded.Server, tmp_path: Path) -> None:
    superuser(server, "postgres", "CREATE ROLE poor LOGIN", "CREATE DATABASE theirs OWNER poor")
    refused = manage(server, "poor", tmp_path, "migrate")
    assert refused.returncode != 0
    assert "GRANT countersign_app TO poor;" in refused.stderr
    assert "Traceback" not in refused.stderr
    # What it says is enough.
    superuser(server, "postgres", "CREATE ROLE countersign_app NOLOGIN", "GRANT countersign_app TO poor")
    superuser(server, "theirs", "CREATE EXTENSION IF NOT EXISTS vector")
    assert manage(server, "poor", tmp_path, "migrate").returncode == 0
    made = manage(server, "poor", tmp_path, "create_project", "shop")
    assert made.returncode == 0, made.stderr
    # Another data folder has another pepper: it would find nobody and invent other ids.
    foreign = manage(server, "poor", tmp_path / "other", "worker")
    assert foreign.returncode != 0
    assert "another data folder" in foreign.stderr
    assert "Traceback" not in foreign.stderr


def test_a_database_that_nobody_set_up_says_so(server: embedded.Server, tmp_path: Path) -> None:
    superuser(server, "postgres", "CREATE ROLE fresh LOGIN CREATEROLE", "CREATE DATABASE theirs OWNER fresh")
    refused = manage(server, "fresh", tmp_path, "create_project", "shop")
    assert refused.returncode != 0
    assert "manage.py migrate" in refused.stderr
    assert "Traceback" not in refused.stderr
