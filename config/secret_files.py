"""The installation's own secrets, made once and kept in its data folder (mode 600, one value a file)."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def read_or_create(folder: Path, name: str) -> str:
    """The secret called `name`: 64 hex characters, created on first use.

    Two processes starting together get the same value: it is written aside and linked into place, and the loser
    reads the winner's.
    """
    path = folder / name
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        draft = folder / f".{name}.{os.getpid()}.{secrets.token_hex(4)}"
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_hex(32))
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_text().strip()
