"""Runs all parts in the foreground: starts them in order, restarts what dies, and leaves nothing behind.

Three things make sure of the last. Each child leads a process group, which is killed whole. Each child, and each
process a child forks, asked the kernel to be killed with its parent, so a kill -9 of the supervisor takes them along.
And the bundled Postgres belongs to the supervisor only if the supervisor started it.
"""

from __future__ import annotations

import http.client
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from django.core.management import call_command
from django.db import OperationalError, connections

from config import embedded, launch, ports
from config.embedded import SUPERVISED, EmbeddedPostgresError

MANAGE = Path(__file__).resolve().parent.parent / "manage.py"
TICK_SECONDS = 0.2
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 30.0
STEADY_AFTER_SECONDS = 30.0  # a child that lived this long starts over with the shortest pause
READY_WITHIN_SECONDS = 90.0
STARTS_BEFORE_READY = 3
STOP_WITHIN_SECONDS = 10.0
LOOK_AT_SHARED_POSTGRES_SECONDS = 2.0


class _Stopped(Exception):
    """A signal asked to stop while a step ran that may be interrupted."""


class NotReady(Exception):
    """The parts were started and do not answer. The message says what to do."""


@dataclass
class Child:
    """One part as a process of its own, and when it may be started again."""

    name: str
    arguments: list[str]
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    starts: int = 0
    pause: float = FIRST_PAUSE_SECONDS
    start_at: float = 0.0

    def start(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(MANAGE), *self.arguments],
            env={**os.environ, SUPERVISED: str(os.getpid())},
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.started_at = time.monotonic()
        self.starts += 1

    def tend(self) -> None:
        """Start it when it is due; notice its death and set the time of its next start."""
        if self.process is None:
            if time.monotonic() >= self.start_at:
                self.start()
            return
        code = self.process.poll()
        if code is None:
            return
        self.signal_group(signal.SIGKILL)
        if time.monotonic() - self.started_at > STEADY_AFTER_SECONDS:
            self.pause = FIRST_PAUSE_SECONDS
        _tell(f"{self.name} ended ({_why(code)}); starting it again in {self.pause:g} s.")
        self.process = None
        self.start_at = time.monotonic() + self.pause
        self.pause = min(self.pause * 2, LONGEST_PAUSE_SECONDS)

    def signal_group(self, how: signal.Signals) -> None:
        if self.process is not None:
            try:
                os.killpg(self.process.pid, how)
            except ProcessLookupError:
                pass

    def ask_to_stop(self) -> None:
        """Only the leader is asked: it ends its own workers in order."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()


@dataclass
class Supervisor:
    """`up`. With `bundled`, Postgres is one of the parts."""

    data_dir: Path
    host: str
    port: int
    demo: bool = False
    bundled: bool = True
    children: list[Child] = field(default_factory=list)
    stopping: bool = False
    interruptible: bool = False
    looked_at: float = 0.0

    def run(self) -> int:
        """Serve until a signal. Returns the exit code; every refusal is one sentence on stderr."""
        for name in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(name, self._on_signal)
        try:
            ports.refuse_taken(self.host, self.port)
            self._prepare()
            self._serve()
        except _Stopped:
            pass
        except (ports.PortTaken, EmbeddedPostgresError, NotReady) as refusal:
            _tell(str(refusal))
            return 1
        except OperationalError as problem:
            _tell(launch.database_is_down(problem))
            return 1
        finally:
            self.interruptible = False
            self._stop()
        return 0

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        if self.stopping:
            for child in self.children:
                child.signal_group(signal.SIGKILL)
        self.stopping = True
        if self.interruptible:
            self.interruptible = False
            raise _Stopped

    def _prepare(self) -> None:
        """Postgres, migrations, the sample, the first visitor's code."""
        if self.bundled:
            embedded.ensure_running(self.data_dir, owned=True)
        self.interruptible = not self.stopping
        if self.stopping:
            raise _Stopped
        call_command("migrate", database="owner", interactive=False, verbosity=0)
        code = self._first_code() if not self.demo else None
        connections.close_all()
        self.interruptible = False
        if self.demo:
            self._load_demo()
        if code:
            _say(f"first visit: the one-time code is {code}")

    def _first_code(self) -> str | None:
        from projects import first_visitor

        try:
            return first_visitor.code()
        except first_visitor.ForeignDataFolder as foreign:
            raise NotReady(str(foreign)) from None

    def _load_demo(self) -> None:
        """In a process of its own: the embedding model's threads must not be in the process that forks Postgres."""
        step = Child("load_demo", ["load_demo"])
        self.children.append(step)
        step.start()
        while step.process is not None and step.process.poll() is None and not self.stopping:
            time.sleep(TICK_SECONDS / 4)
        if self.stopping:
            raise _Stopped
        self.children.remove(step)
        if step.process is None or step.process.returncode != 0:
            raise NotReady("The sample project could not be loaded; the reason is above. Run `up` without --demo.")

    def _serve(self) -> None:
        web = Child("web", ["web", "--host", self.host, "--port", str(self.port)])
        self.children += [web, Child("worker", ["worker"])]
        self._tend()
        deadline = time.monotonic() + READY_WITHIN_SECONDS
        while not self.stopping and not self._answers():
            if time.monotonic() > deadline or web.starts > STARTS_BEFORE_READY:
                raise NotReady("Web does not get ready; what it said is above. `manage.py doctor` looks further.")
            time.sleep(TICK_SECONDS / 2)
            self._tend()
        if not self.stopping:
            _say(f"ready http://{self._local_host()}:{self.port}")
            _say(f"open http://localhost:{self.port}")
        while not self.stopping:
            time.sleep(TICK_SECONDS)
            self._tend()

    def _tend(self) -> None:
        if self.bundled:
            self._tend_postgres()
        for child in self.children:
            child.tend()

    def _tend_postgres(self) -> None:
        """Start Postgres again when it died. One that others started is looked at now and then, by a connection."""
        process = embedded.locate(self.data_dir).process
        if process is not None and process.poll() is None:
            return
        if process is None and time.monotonic() - self.looked_at < LOOK_AT_SHARED_POSTGRES_SECONDS:
            return
        self.looked_at = time.monotonic()
        if process is not None:
            _tell(f"Postgres ended ({_why(process.returncode)}); starting it again.")
        try:
            embedded.ensure_running(self.data_dir, owned=True)
        except EmbeddedPostgresError as problem:
            _tell(str(problem))

    def _local_host(self) -> str:
        return "127.0.0.1" if self.host in ("0.0.0.0", "::", "localhost") else self.host  # noqa: S104

    def _answers(self) -> bool:
        connection = http.client.HTTPConnection(self._local_host(), self.port, timeout=5)
        try:
            connection.request("GET", "/readyz", headers={"Host": "localhost"})
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def _stop(self) -> None:
        """Web and worker first, so that what they hold is written; then Postgres, if it is ours."""
        for child in self.children:
            child.ask_to_stop()
        deadline = time.monotonic() + STOP_WITHIN_SECONDS
        for child in self.children:
            while child.process is not None and child.process.poll() is None and time.monotonic() < deadline:
                time.sleep(TICK_SECONDS / 4)
            child.signal_group(signal.SIGKILL)
            if child.process is not None:
                child.process.wait()
        if self.bundled and embedded.locate(self.data_dir).process is not None:
            try:
                embedded.stop(self.data_dir)
            except EmbeddedPostgresError as problem:
                _tell(str(problem))


def _why(code: int) -> str:
    return f"killed by signal {-code}" if code < 0 else f"exit code {code}"


def _say(sentence: str) -> None:
    sys.stdout.write(f"{sentence}\n")
    sys.stdout.flush()


def _tell(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")
    sys.stderr.flush()
