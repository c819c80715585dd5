"""Which repository a coding session was about, from what its transcript says; no folder is opened to find out."""

from __future__ import annotations

from memory.transcript import IncomingSession


def repository_of(session: IncomingSession) -> str:
    """The repository's name as the transcript gives it, else the name of the folder it ran in, else ""."""
    if session.git_remote.strip():
        return _plain(session.git_remote.strip().removesuffix(".git"))
    parts = [part for part in session.cwd.replace("\\", "/").split("/") if part.strip(" .")]
    # A drive alone ("C:") is no repository.
    return "" if not parts or parts[-1].endswith(":") else _plain(parts[-1])


def _plain(name: str) -> str:
    return name.strip() if name.isprintable() and len(name) <= 200 else ""
