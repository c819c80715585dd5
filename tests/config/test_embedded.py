"""The bundled Postgres: shared, surviving what kills it, and refusing with a sentence."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from config import embedded, embedded_files
from config.embedded import EmbeddedPostgresError, ensure_running, locate, stop

pytestmark = pytest.mark.process
QUICK = {"fsync": "off", "shared_buffers": "16MB"}
REPOSITORY = Path(__file__).resolve().parents[2]
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become somebody else")


@pytest.fixture
def data_dir() -> Iterator[Path]:
    """A folder that any user can reach (pytest's own tmp_path lies under a folder of mode 700)."""
    folder = Path(tempfile.mkdtemp(prefix="countersign-test-"))
    folder.chmod(0o755)
    yield folder / "data"
    for lock in folder.rglob("postgres.lock"):
        stop(lock.parent)
    shutil.rmtree(folder)


@pytest.fixture
def elsewhere(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = data_dir.parent / "elsewhere"
    monkeypatch.setattr(embedded_files, "ELSEWHERE", folder)
    return folder


def ask(server: embedded.Server, query: str) -> object:
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        row = connection.execute(query).fetchone()
    return row[0] if row else None


def postmaster(data_dir: Path) -> int:
    pid = embedded._postmaster(locate(data_dir))
    assert pid is not None
    return pid


def test_first_start_makes_one_utf8_database_with_pgvector_at_hand(data_dir: Path) -> None:
    server = ensure_running(data_dir, QUICK)
    assert (
        ask(server, "SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = current_database()")
        == "UTF8"
    )
    assert ask(server, "SELECT lower('ÄÖ')") == "äö"
    assert ask(server, "SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'") == 1
    assert ask(server, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 0


def test_nothing_listens_on_the_network_and_the_socket_is_private(data_dir: Path) -> None:
    server = ensure_running(data_dir, QUICK)
    assert ask(server, "SHOW listen_addresses") == ""
    assert server.socket_dir.stat().st_mode & 0o777 == 0o700
    assert "trust" not in [line.split()[-1] for line in _rules(server) if not line.startswith("local")]


def _rules(server: embedded.Server) -> list[str]:
    lines = (server.pgdata / "pg_hba.conf").read_text().splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def test_second_caller_in_another_process_shares_the_server(data_dir: Path) -> None:
    server = ensure_running(data_dir, QUICK)
    pid = postmaster(data_dir)
    command = [sys.executable, "-m", "config.embedded", "start", str(data_dir)]
    other = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True)
    assert other.stdout.strip() == server.dsn()
    assert postmaster(data_dir) == pid


def test_callers_that_start_together_get_one_server(data_dir: Path) -> None:
    command = [sys.executable, "-m", "config.embedded", "start", str(data_dir)]
    callers = [subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in "123"]
    answers = [(caller.communicate(timeout=60), caller.returncode) for caller in callers]
    assert [code for _, code in answers] == [0, 0, 0], answers
    assert len({out for (out, _), _ in answers}) == 1
    assert (data_dir / "postgres.log").read_text().count("starting PostgreSQL") == 1


def test_what_was_committed_survives_a_kill_of_the_server(data_dir: Path) -> None:
    server = ensure_running(data_dir, {"shared_buffers": "16MB"})
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS value")
    os.kill(postmaster(data_dir), signal.SIGKILL)
    assert ask(ensure_running(data_dir, QUICK), "SELECT value FROM kept") == 7


def test_stale_pid_file_that_names_a_living_stranger_is_not_believed(data_dir: Path) -> None:
    ensure_running(data_dir, QUICK)
    pid_file = locate(data_dir).pgdata / "postmaster.pid"
    lines = pid_file.read_text().splitlines(keepends=True)
    os.kill(int(lines[0]), signal.SIGKILL)
    owner = pid_file.stat()
    pid_file.write_text("".join([f"{os.getpid()}\n", *lines[1:]]))
    os.chown(pid_file, owner.st_uid, owner.st_gid)
    assert ask(ensure_running(data_dir, QUICK), "SELECT 1") == 1
    assert postmaster(data_dir) != os.getpid()


@pytest.mark.parametrize("name", ["a data folder, with 'quotes' and spaces", "d" * 120 + "/" + "e" * 120, "ünïcode"])
def test_odd_and_long_paths_work(data_dir: Path, name: str) -> None:
    folder = data_dir / name
    server = ensure_running(folder, QUICK)
    assert ask(server, "SELECT 1") == 1
    assert len(os.fsencode(server.socket_dir / ".s.PGSQL.5432")) < 107


def test_folder_of_another_postgres_is_refused_with_the_upgrade_steps(data_dir: Path) -> None:
    ensure_running(data_dir, QUICK)
    stop(data_dir)
    (locate(data_dir).pgdata / "PG_VERSION").write_text("17\n")
    with pytest.raises(
        EmbeddedPostgresError, match=r"written by Postgres 17; this is Postgres \d+\. To upgrade: .*pg_dump"
    ):
        ensure_running(data_dir, QUICK)


def test_interrupted_creation_is_done_again(data_dir: Path) -> None:
    (data_dir / "postgres.new").mkdir(parents=True)
    (data_dir / "postgres.new" / "PG_VERSION").write_text("18\n")
    assert ask(ensure_running(data_dir, QUICK), "SELECT 1") == 1


def test_stop_ends_it_and_says_whether_one_ran(data_dir: Path) -> None:
    server = ensure_running(data_dir, QUICK)
    assert stop(data_dir) is True
    assert stop(data_dir) is False
    assert not server.socket_dir.exists()
    with pytest.raises(psycopg.OperationalError):
        ask(server, "SELECT 1")


def test_log_keeps_no_value_of_a_failed_statement(data_dir: Path) -> None:
    server = ensure_running(data_dir, QUICK)
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute("CREATE TABLE people (mail text UNIQUE)")
        connection.execute("INSERT INTO people VALUES ('rita@example.org')")
        for statement in ("INSERT INTO people VALUES ('rita@example.org')", "SELECT 'rita@example.org'::int"):
            with pytest.raises(psycopg.Error):
                connection.execute(statement)
        with pytest.raises(psycopg.Error):
            connection.execute("INSERT INTO people VALUES (%s)", ["rita@example.org"])
        with pytest.raises(psycopg.Error), psycopg.ClientCursor(connection) as cursor:
            cursor.execute("SELECT %s, pg_terminate_backend(pg_backend_pid())", ["rita@example.org"])
    stop(data_dir)
    assert "database system is shut down" in server.log.read_text()
    assert "rita" not in server.log.read_text()


def test_crashed_backend_leaves_no_statement_in_the_log(data_dir: Path) -> None:
    server = ensure_running(data_dir, QUICK)
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        backend = connection.info.backend_pid
        connection.execute("SELECT 'rita@example.org'")
        os.kill(backend, signal.SIGSEGV)
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    ensure_running(data_dir, QUICK)
    log = server.log.read_text()
    assert "was terminated by signal" in log
    assert "rita" not in log


def test_owned_server_dies_with_the_process_that_started_it(data_dir: Path) -> None:
    code = (
        "import sys, time; from pathlib import Path; from config.embedded import ensure_running as run\n"
        "run(Path(sys.argv[1]), owned=True); print('up', flush=True); time.sleep(600)"
    )
    owner = subprocess.Popen([sys.executable, "-c", code, data_dir], cwd=REPOSITORY, stdout=subprocess.PIPE)
    assert owner.stdout is not None
    assert owner.stdout.readline() == b"up\n"
    owner.kill()
    owner.wait()
    owner.stdout.close()
    deadline = time.monotonic() + 5
    while embedded.problem(data_dir) is None and time.monotonic() < deadline:
        time.sleep(0.05)
    assert embedded.problem(data_dir) is not None


def test_supervised_process_waits_and_never_starts_one(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(embedded.SUPERVISED, "1")
    monkeypatch.setattr(embedded, "SUPERVISED_PATIENCE_SECONDS", 0.2)
    with pytest.raises(EmbeddedPostgresError, match="not running"):
        ensure_running(data_dir)
    assert not (data_dir / "postgres").exists()


def test_folder_that_cannot_be_written_is_one_sentence(data_dir: Path) -> None:
    data_dir.write_text("a file where the folder should be")
    with pytest.raises(EmbeddedPostgresError, match=r"cannot keep its database in .*COUNTERSIGN_DATA"):
        ensure_running(data_dir)


def test_missing_binaries_are_one_sentence(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(EmbeddedPostgresError, match="make setup"):
        ensure_running(data_dir)


def test_foreign_socket_folder_is_refused(data_dir: Path) -> None:
    socket_dir = locate(data_dir).socket_dir
    socket_dir.symlink_to(data_dir)
    try:
        with pytest.raises(EmbeddedPostgresError, match="Remove it"):
            ensure_running(data_dir)
    finally:
        socket_dir.unlink()


@needs_root
def test_full_disk_is_one_sentence(data_dir: Path) -> None:
    data_dir.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", data_dir], capture_output=True).returncode:
        pytest.skip("may not mount a small disk here")
    try:
        with pytest.raises(EmbeddedPostgresError, match=r"disk .* is full\. Free some space"):
            ensure_running(data_dir)
    finally:
        subprocess.run(["umount", data_dir], check=True)


@needs_root
def test_root_hands_the_server_to_an_unprivileged_user(data_dir: Path) -> None:
    ensure_running(data_dir, QUICK)
    assert os.stat(f"/proc/{postmaster(data_dir)}").st_uid != 0


@needs_root
def test_root_under_a_closed_home_keeps_the_database_elsewhere_and_says_so(data_dir: Path, elsewhere: Path) -> None:
    home = data_dir.parent / "home"
    home.mkdir(mode=0o700)
    data = home / "clone" / ".data"
    said: list[str] = []
    server = ensure_running(data, QUICK, say=said.append)
    assert server.pgdata.is_relative_to(elsewhere)
    # A clone that is itself below a closed home has its binaries copied too, which is said first.
    where = [line for line in said if "its binaries are copied to" not in line]
    assert where == [f"Postgres cannot reach {data} as an unprivileged user: its database is kept in {server.pgdata}."]
    said_at_first = len(said)
    with psycopg.connect(server.dsn(), autocommit=True) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 7 AS value")
    stop(data)
    assert ask(ensure_running(data, QUICK, say=said.append), "SELECT value FROM kept") == 7
    assert len(said) == said_at_first
    stop(data)
    shutil.rmtree(elsewhere)
    with pytest.raises(EmbeddedPostgresError, match=r"is gone\. Put it back, or remove"):
        ensure_running(data, QUICK)


@needs_root
def test_binaries_out_of_reach_are_copied_once(
    data_dir: Path, elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = data_dir.parent / "home"
    closed.mkdir(mode=0o700)
    for part in embedded_files.PARTS:
        shutil.copytree(embedded_files.find_wheel() / part, closed / part, symlinks=True)
    monkeypatch.setattr(embedded_files, "find_wheel", lambda: closed)
    said: list[str] = []
    assert ask(ensure_running(data_dir, QUICK, say=said.append), "SELECT 1") == 1
    stop(data_dir)
    ensure_running(data_dir, QUICK, say=said.append)
    assert len(said) == 1
    assert "its binaries are copied to" in said[0]


@needs_root
def test_ordinary_user_runs_their_own(data_dir: Path) -> None:
    nobody = pwd.getpwnam("nobody")
    data_dir.mkdir()
    os.chown(data_dir, nobody.pw_uid, nobody.pw_gid)
    code = "import sys; sys.path.insert(0, sys.argv[1]); from pathlib import Path; from config.embedded import *\n"
    code += "print(ensure_running(Path(sys.argv[2])).dsn()); print(stop(Path(sys.argv[2])))"
    python = shutil.which("python3", path="/usr/bin") or sys.executable
    answer = subprocess.run(
        [python, "-c", code, str(REPOSITORY), str(data_dir)],
        user=nobody.pw_uid,
        group=nobody.pw_gid,
        extra_groups=[],
        env={
            "PYTHONPATH": ":".join(path for path in sys.path if "site-packages" in path),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        cwd="/",
        capture_output=True,
        text=True,
    )
    if "Permission denied" in answer.stderr or "No module named 'config'" in answer.stderr:
        pytest.skip(f"an ordinary user cannot read this clone: {REPOSITORY}")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.splitlines()[-1] == "True"


@needs_root
def test_folder_of_somebody_else_is_refused_by_name(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ensure_running(data_dir, QUICK)
    stop(data_dir)
    monkeypatch.setattr(os, "geteuid", lambda: 4711)
    with pytest.raises(EmbeddedPostgresError, match=r"belongs to user \w+\. Run Countersign as that user"):
        ensure_running(data_dir, QUICK)
