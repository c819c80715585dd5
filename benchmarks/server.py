"""A server of the bench's own: fresh data folder, bundled Postgres as it ships, the web part as it ships."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 60


@contextmanager
def data_folder() -> Iterator[Path]:
    """Settings, database and tables in a folder that is gone afterwards. Call before anything reads the settings."""
    with tempfile.TemporaryDirectory(prefix="countersign-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        # As root the database runs as another user, who must get through here.
        folder.chmod(0o755)
        os.environ.update(COUNTERSIGN_DATA=name, DJANGO_SETTINGS_MODULE="benchmarks.settings")
        from config import embedded

        embedded.ensure_running(folder, owned=True)
        try:
            import django

            django.setup()
            from django.core.management import call_command

            call_command("migrate", verbosity=0)
            yield folder
        finally:
            from django.db import connections

            connections.close_all()
            embedded.stop(folder)


@contextmanager
def web(workers: int = 1, threads: int = 4) -> Iterator[int]:
    """The web part of the bench's data folder; gives its port once it answers."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "manage.py", "web", "--port", str(port)]
    process = subprocess.Popen(
        [*command, "--workers", str(workers), "--threads", str(threads)], cwd=ROOT, stdout=subprocess.DEVNULL
    )
    try:
        _wait(port, process)
        yield port
    finally:
        process.terminate()
        process.wait(20)


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            raise RuntimeError(f"The web part ended with code {process.returncode}.")
        try:
            with socket.create_connection(("127.0.0.1", port), 1):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("The web part did not answer in time.")
