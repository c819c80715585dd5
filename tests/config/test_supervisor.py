"""`up`: reaches ready, mends what dies, and leaves nothing behind, however it ends."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from config import embedded
from tests.config.processes import REPOSITORY, Up, free_port, living, status, wait_until

pytestmark = [pytest.mark.process, pytest.mark.xdist_group("supervisor")]


@pytest.fixture(scope="module")
def data_dir() -> Iterator[Path]:
    """One data folder for the module: migrating it once is enough."""
    folder = Path(tempfile.mkdtemp(prefix="countersign-up-"))
    folder.chmod(0o755)
    yield folder
    embedded.stop(folder)
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def up(data_dir: Path) -> Iterator[Up]:
    running = Up(data_dir)
    yield running.wait_ready()
    running.end()


def test_first_visitor_gets_a_code_and_people_an_address_that_passkeys_take(up: Up) -> None:
    assert any(re.fullmatch(r"first visit: the one-time code is [a-z0-9-]+", line) for line in up.lines)
    assert up.lines[-2:] == [f"ready http://127.0.0.1:{up.port}", f"open http://localhost:{up.port}"]


def test_it_answers_alive_and_ready(up: Up) -> None:
    assert (status(up.port, "/healthz"), status(up.port, "/readyz")) == (200, 200)


@pytest.mark.parametrize("part", ["web", "worker"])
def test_killed_part_is_started_again(up: Up, part: str) -> None:
    before = up.child(part)
    assert before is not None
    os.kill(before, signal.SIGKILL)
    assert wait_until(lambda: up.child(part) not in (None, before))
    assert wait_until(lambda: status(up.port) == 200)
    assert any(f"{part} ended (killed by signal 9); starting it again" in line for line in up.lines)


def test_killed_postgres_is_started_again_and_web_finds_it(up: Up) -> None:
    pid = embedded._postmaster(embedded.locate(up.data_dir))
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert wait_until(lambda: any("Postgres ended" in line for line in up.lines))
    assert wait_until(lambda: status(up.port) == 200)


def test_second_up_on_the_same_port_says_so_and_harms_nothing(up: Up) -> None:
    other = Up(Path(tempfile.mkdtemp(prefix="countersign-second-")), port=up.port)
    assert other.process.wait(timeout=60) == 1
    assert wait_until(lambda: other.lines)
    assert other.lines == [f"Port {up.port} is in use. Choose another with --port, for example --port {up.port + 1}."]
    assert living(other.data_dir) == {}
    assert status(up.port) == 200


def test_doctor_sees_every_part_running(up: Up) -> None:
    command = [sys.executable, "manage.py", "doctor", "--data", str(up.data_dir)]
    answer = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert answer.returncode == 0, answer.stdout
    assert "BROKEN" not in answer.stdout
    assert "The web part runs" in answer.stdout
    assert "The worker part runs" in answer.stdout


def test_sigterm_ends_every_process_it_started(up: Up) -> None:
    assert up.end() == 0
    assert living(up.data_dir) == {}


def test_kill_of_up_takes_every_process_along(data_dir: Path, up: Up) -> None:
    up.end()
    running = Up(data_dir).wait_ready()
    assert len(living(data_dir)) > 8  # up, web and its workers, the queue and its workers, Postgres and its own
    running.process.kill()
    running.process.wait()
    assert wait_until(lambda: living(data_dir) == {}, seconds=5), living(data_dir)


def test_postgres_that_was_there_before_stays(data_dir: Path, up: Up) -> None:
    up.end()
    server = embedded.ensure_running(data_dir)
    running = Up(data_dir)
    assert wait_until(lambda: running.child("web"))
    assert running.end() == 0
    with psycopg.connect(server.dsn()) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)
    embedded.stop(data_dir)
    assert living(data_dir) == {}


def test_interrupt_while_it_starts_leaves_nothing(data_dir: Path, up: Up) -> None:
    up.end()
    running = Up(data_dir)
    assert wait_until(lambda: len(living(data_dir)) > 2)
    running.process.send_signal(signal.SIGINT)
    assert running.process.wait(timeout=60) == 0
    assert living(data_dir) == {}


def test_database_url_that_does_not_answer_is_one_sentence(data_dir: Path) -> None:
    address = f"postgres://countersign@127.0.0.1:{free_port()}/countersign"
    running = Up(data_dir / "other", DATABASE_URL=address)
    assert running.process.wait(timeout=60) == 1
    assert wait_until(lambda: running.lines)
    assert len(running.lines) == 1
    assert re.match(r"The database of DATABASE_URL does not answer \(.*refused.*\)\. Start it, or", running.lines[0])


def test_part_that_cannot_listen_is_refused_in_one_sentence(data_dir: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = [sys.executable, "manage.py", "web", "--port", str(port), "--data", str(data_dir)]
        answer = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert answer.returncode == 1
    assert answer.stderr.splitlines() == [
        f"CommandError: Port {port} is in use. Choose another with --port, for example --port {port + 1}."
    ]
