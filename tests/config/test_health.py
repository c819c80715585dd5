"""Alive, ready, and the doctor's findings."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connections
from django.test import Client
from django.utils import timezone

from config import checks, health, launch, running
from config.health import Finding
from memory import embedding_store
from projects import tenancy
from tests import factories
from tests.factories import Cast

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture
def unsure(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process does not yet know that all migrations are applied."""
    monkeypatch.setattr(health, "_migrations", health._Migrations())


@pytest.mark.django_db
def test_ready_when_the_database_answers_and_the_schema_is_current(client: Client, unsure: None) -> None:
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"status": "ready"})


@pytest.mark.django_db
def test_not_ready_while_migrations_wait(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health._Migrations, "waiting", lambda self: 2)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["because"] == f"2 migrations are not applied; run `{launch.MANAGE} migrate`."


@pytest.mark.django_db
def test_not_ready_but_alive_while_the_database_is_down(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise OperationalError("connection to server failed: rita@example.org")

    monkeypatch.setattr(connections["default"], "cursor", refuse)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["because"]) == (503, "The database does not answer.")
    assert client.get("/healthz").status_code == 200


@pytest.mark.django_db
def test_nothing_is_broken_on_a_healthy_installation(unsure: None) -> None:
    findings = {finding.name: finding for finding in health.report()}
    assert [finding for finding in findings.values() if not finding.ok] == []
    assert {"python", "data folder", "postgres", "pgvector", "schema", "role", "embedding model"} <= findings.keys()
    assert findings["embedding model"].sentence.endswith("as pinned.")


def test_every_broken_finding_of_the_database_says_what_mends_it() -> None:
    assert health._pgvector(None, None).mend.startswith("apt-get install")
    assert not health._pgvector("0.7.4", "0.7.4").ok
    assert health._pgvector(None, "0.8.6").ok
    assert not health._postgres("14.2", 14, bundled=False).ok


def test_one_part_without_the_other_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "is_running", lambda part, folder: part == "web")
    web, worker = health._parts()
    assert web.ok
    assert (worker.ok, worker.mend) == (False, f"{launch.MANAGE} worker")
    monkeypatch.setattr(running, "is_running", lambda part, folder: False)
    assert all(finding.ok for finding in health._parts())


def test_part_runs_as_long_as_a_process_holds_its_lock(tmp_path: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from config import running\n"
        "running.announce('web', Path(sys.argv[1])); print('announced', flush=True); time.sleep(600)"
    )
    assert running.is_running("web", tmp_path) is False
    holder = subprocess.Popen([sys.executable, "-c", code, tmp_path], cwd=REPOSITORY, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"announced\n"
    assert running.is_running("web", tmp_path) is True
    holder.kill()
    holder.communicate()
    assert running.is_running("web", tmp_path) is False


def test_doctor_ends_with_1_and_names_the_command(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    from django.core.management import call_command

    broken = [Finding("schema", False, "3 migrations are not applied.", "python manage.py migrate")]
    monkeypatch.setattr(health, "report", lambda: broken)
    with pytest.raises(SystemExit) as ended:
        call_command("doctor")
    assert ended.value.code == 1
    assert capsys.readouterr().out.splitlines() == [
        "BROKEN  schema: 3 migrations are not applied.",
        "          mend: python manage.py migrate",
    ]
    with pytest.raises(SystemExit):
        call_command("doctor", "--json")
    assert json.loads(capsys.readouterr().out) == {"ok": False, "findings": [broken[0].__dict__]}


@pytest.mark.django_db
def test_apps_role_may_serve() -> None:
    checks.refuse_unsafe_role()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("ALTER ROLE countersign_app SUPERUSER", "is a superuser"),
        ("ALTER ROLE countersign_app BYPASSRLS", "has BYPASSRLS"),
        ("CREATE TABLE mine (); ALTER TABLE mine OWNER TO countersign_app", "owns 1 table"),
    ],
)
def test_role_that_sees_through_row_level_security_may_not_serve(change: str, reason: str) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute(change)
    with connections["owner"].cursor() as cursor:
        cursor.execute("SET LOCAL ROLE countersign_app")
    with pytest.raises(checks.RefusedToStart, match=rf"role countersign_app {reason}"):
        checks.refuse_unsafe_role("owner")


@pytest.mark.django_db
def test_memories_that_wait_for_a_vector_are_told_with_their_number(cast: Cast) -> None:
    assert health._vectors().ok
    with tenancy.project(cast.project.pk):
        factories.approved(cast.project, cast.rita, now=timezone.now() - timedelta(hours=1))
    found = health._vectors()
    assert not found.ok
    assert found.sentence.startswith("1 approved memory waits for a vector")
    assert found.mend.endswith("worker")
    embedding_store.embed_missing()
    assert health._vectors().ok
