"""Which parts run on this data folder: each holds a shared file lock for as long as one of its processes lives.

A lock needs no cleaning up after a kill -9, which a pid file would.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

_held: list[int] = []


def announce(part: str, data_dir: Path) -> None:
    """From now until this process and all it forks are gone, `part` runs."""
    file = os.open(_path(part, data_dir), os.O_RDWR | os.O_CREAT, 0o644)
    fcntl.flock(file, fcntl.LOCK_SH)
    _held.append(file)


def is_running(part: str, data_dir: Path) -> bool:
    try:
        file = os.open(_path(part, data_dir), os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(file)


def _path(part: str, data_dir: Path) -> Path:
    return data_dir / f"{part}.lock"
