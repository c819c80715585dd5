"""Real processes for tests: `up` in a data folder of its own, and what of it is still alive."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 180.0


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until(happened: Callable[[], object], seconds: float = PATIENCE_SECONDS) -> bool:
    """Whether it happened in time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if happened():
            return True
        time.sleep(0.05)
    return bool(happened())


def living(data_dir: Path) -> dict[int, str]:
    """Every process of this data folder by command line, zombies left out: they are dead and only not yet buried."""
    needle, found = os.fsencode(data_dir), {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            command = (entry / "cmdline").read_bytes()
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            works_in = os.fsencode(os.readlink(entry / "cwd"))
            if state != "Z" and (needle in command + (entry / "environ").read_bytes() or needle in works_in):
                found[int(entry.name)] = command.replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            continue
    return found


def status(port: int, path: str = "/readyz") -> int | None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


class Up:
    """One running `manage.py up`."""

    def __init__(self, data_dir: Path, *arguments: str, port: int | None = None, **environment: str) -> None:
        self.data_dir = data_dir
        self.port = port or free_port()
        self.lines: list[str] = []
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("COUNTERSIGN_")}
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "up", "--port", str(self.port), "--data", str(data_dir), *arguments],
            cwd=REPOSITORY,
            env={**inherited, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    def wait_ready(self) -> Up:
        ready = f"ready http://127.0.0.1:{self.port}"
        wait_until(lambda: ready in self.lines or self.process.poll() is not None)
        assert ready in self.lines, self.lines
        return self

    def child(self, part: str) -> int | None:
        """The leading process of `web` or `worker`."""
        for pid, command in living(self.data_dir).items():
            if f"manage.py {part}" in command and _parent(pid) == self.process.pid:
                return pid
        return None

    def end(self) -> int:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=60)


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0
