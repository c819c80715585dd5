"""Whether Countersign is well: asked by load balancers (healthz, readyz) and by people (doctor, the health page)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import DatabaseError, connections
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.utils import timezone

from config import checks, embedded, embedded_files, launch, running

OLDEST_PYTHON = (3, 11)
OLDEST_POSTGRES = 15
OLDEST_PGVECTOR = (0, 8)
ROOM_NEEDED_BYTES = 500_000_000
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

MIGRATE = f"{launch.MANAGE} migrate"
UP = f"{launch.MANAGE} up"
SETUP = "make setup"


@dataclass(frozen=True)
class Finding:
    """One thing looked at. `mend` is the command that helps; on a finding that is ok it is only a hint."""

    name: str
    ok: bool
    sentence: str
    mend: str = ""


def healthz(request: HttpRequest) -> JsonResponse:
    """Alive: this process answers."""
    return JsonResponse({"status": "alive"})


def readyz(request: HttpRequest) -> JsonResponse:
    """May serve: the database answers, and its schema is the one of this code."""
    try:
        with connections["default"].cursor() as cursor:
            cursor.execute("SELECT 1")
        waiting = _migrations.waiting()
    except DatabaseError:
        return JsonResponse({"status": "not ready", "because": "The database does not answer."}, status=503)
    if waiting:
        because = f"{waiting} migrations are not applied; run `{MIGRATE}`."
        return JsonResponse({"status": "not ready", "because": because}, status=503)
    return JsonResponse({"status": "ready"})


healthz.without_tenancy = readyz.without_tenancy = True  # type: ignore[attr-defined]


class _Migrations:
    """How many migrations wait. Reading the plan takes 50 ms and more, so the answer "none" is kept."""

    applied = False

    def waiting(self) -> int:
        if self.applied:
            return 0
        executor = MigrationExecutor(connections["owner"])
        count = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
        self.applied = count == 0
        return count


_migrations = _Migrations()


def report() -> list[Finding]:
    """Everything `doctor` looks at, in the order a person mends it. Starts nothing; takes about a second."""
    return [_python(), _data_folder(), *_database(), _model(), *_parts(), _browser()]


def _python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    wanted = ".".join(map(str, OLDEST_PYTHON))
    if sys.version_info[:2] >= OLDEST_PYTHON:
        return Finding("python", True, f"Python {version}.")
    return Finding("python", False, f"Python {version} is too old; {wanted} is the oldest that works.", SETUP)


def _data_folder() -> Finding:
    folder: Path = settings.DATA_DIR
    if not os.access(folder, os.W_OK):
        return Finding("data folder", False, f"{folder} cannot be written.", f"chown -R $(id -un) '{folder}'")
    free = shutil.disk_usage(folder).free
    sentence = f"{folder}, {free / 1e9:.1f} GB free."
    return Finding("data folder", free >= ROOM_NEEDED_BYTES, sentence, "" if free >= ROOM_NEEDED_BYTES else "df -h")


def _database() -> Iterator[Finding]:
    bundled = not settings.DATABASES["default"].get("FOREIGN")
    if bundled and (problem := embedded.problem(settings.DATA_DIR)):
        yield _bundled_at_rest(problem)
        return
    try:
        with connections["owner"].cursor() as cursor:
            cursor.execute(
                "SELECT current_setting('server_version'), current_setting('server_version_num')::int / 10000,"
                " (SELECT extversion FROM pg_extension WHERE extname = 'vector'),"
                " (SELECT default_version FROM pg_available_extensions WHERE name = 'vector')"
            )
            version, major, installed, available = cursor.fetchone()
        yield _postgres(version, major, bundled)
        yield _pgvector(installed, available)
        waiting = _migrations.waiting()
        if waiting:
            yield Finding("schema", False, f"{waiting} migrations are not applied.", MIGRATE)
            return
        yield Finding("schema", True, "All migrations are applied.")
        yield _role()
        yield _vectors()
    except DatabaseError as problem:
        yield Finding("postgres", False, launch.database_is_down(problem), UP if bundled else "")


def _bundled_at_rest(problem: str) -> Finding:
    try:
        binary = embedded_files.find_wheel() / embedded_files.BIN / "postgres"
        said = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError, embedded.EmbeddedPostgresError):
        return Finding("postgres", False, "The bundled Postgres is not installed, or does not run here.", SETUP)
    needed = running.is_running("web", settings.DATA_DIR)
    return Finding("postgres", not needed, f"{said.strip().split()[-1]} (bundled): {problem}.", UP)


def _postgres(version: str, major: int, bundled: bool) -> Finding:
    where = "bundled" if bundled else "from DATABASE_URL"
    sentence = f"Postgres {version.split()[0]} ({where}) answers."
    if major >= OLDEST_POSTGRES:
        return Finding("postgres", True, sentence)
    return Finding("postgres", False, f"{sentence} {OLDEST_POSTGRES} is the oldest that works.", "upgrade Postgres")


def _pgvector(installed: str | None, available: str | None) -> Finding:
    version = installed or available
    if version is None:
        mend = "apt-get install postgresql-18-pgvector (on the database's machine)"
        return Finding("pgvector", False, "This Postgres has no pgvector.", mend)
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST_PGVECTOR:
        return Finding("pgvector", False, f"pgvector {version} is too old; 0.8 works.", "ALTER EXTENSION vector UPDATE")
    return Finding("pgvector", True, f"pgvector {version}{'' if installed else ', not yet switched on'}.")


def _role() -> Finding:
    try:
        checks.refuse_unsafe_role()
    except checks.RefusedToStart as refusal:
        return Finding("role", False, str(refusal), "")
    return Finding("role", True, "Requests run under row-level security.")


def _vectors() -> Finding:
    from memory import embedding_store
    from projects import tenancy

    with tenancy.system("operator"):
        waiting = embedding_store.waiting_count(timezone.now())
    if not waiting:
        return Finding("vectors", True, "Every approved memory has a vector of the current model.")
    who = "1 approved memory waits" if waiting == 1 else f"{waiting} approved memories wait"
    sentence = f"{who} for a vector; until a worker has made it, words alone find what was said."
    return Finding("vectors", False, sentence, f"{launch.MANAGE} worker")


def _model() -> Finding:
    from memory import embeddings

    try:
        embeddings.warm()
    except embeddings.EmbedderUnavailable as missing:
        return Finding("embedding model", False, str(missing), SETUP)
    sentence = f"{embeddings.MODEL_ID} ({embeddings.PRECISION}), sha256 {embeddings.MODEL_SHA256[:12]}… as pinned."
    return Finding("embedding model", True, sentence)


def _parts() -> Iterator[Finding]:
    up = {part: running.is_running(part, settings.DATA_DIR) for part in ("web", "worker")}
    for part, runs in up.items():
        # One without the other is broken; neither is an installation at rest.
        alone = "" if runs else f"{launch.MANAGE} {part}" if any(up.values()) else UP
        at_rest = "" if any(up.values()) else "; nothing runs, the installation is at rest"
        sentence = f"The {part} part {'runs' if runs else f'does not run on this data folder{at_rest}'}."
        yield Finding(part, runs or not any(up.values()), sentence, alone)


def _browser() -> Finding:
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if not found:
        return Finding("chromium", True, "No Chromium: only `make test` needs one.", "apt-get install chromium")
    said = subprocess.run([found, "--version"], capture_output=True, text=True, check=False).stdout
    return Finding("chromium", True, f"{said.strip() or found} (for `make test`).")


def as_json(findings: list[Finding]) -> dict[str, Any]:
    """What `doctor --json` prints."""
    return {"ok": all(finding.ok for finding in findings), "findings": [finding.__dict__ for finding in findings]}
