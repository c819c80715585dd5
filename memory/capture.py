"""Capture: what an agent did comes in, is cleaned, and is committed before anybody is told that it was accepted.

Three ways in, one way to the store: `accept` for a list of observations, `import_session` for a transcript that an
importer read, and `commit` for a batch that a door filled itself. docs/decisions/0010-capture.md says why.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.conf import settings
from django.utils import timezone as clock

from memory.capture_batch import BadCapture, Batch, BrokenObservation, Receipt, open_batch, short, subject_of
from memory.capture_store import rehearse, store
from memory.capture_writer import NotInTime, writer
from memory.transcript import COPYING, Incoming, IncomingSession
from memory.whereabouts import repository_of
from projects.models import Agent, Person

__all__ = [
    "BadCapture",
    "Batch",
    "BrokenObservation",
    "NotInTime",
    "Receipt",
    "accept",
    "coding_subjects",
    "commit",
    "import_session",
    "open_batch",
    "open_transcript",
    "rehearse_import",
]


def accept(
    agent: Agent,
    session_external_id: str,
    incoming: Iterable[Incoming],
    *,
    subjects: Iterable[str] = (),
    timezone: str = "",
    cwd: str = "",
    batch_id: str | None = None,
    person: Person | None = None,
    now: datetime | None = None,
    source_format: str = "api",
) -> Receipt:
    """Stores observations in this very thread and transaction; committed when the caller's transaction is.

    With `cwd` it is a coding session, which is also about its repository and about `person`. Raises BadCapture.
    """
    batch = open_batch(
        agent,
        session_external_id,
        now or clock.now(),
        subjects=[*subjects, *coding_subjects(cwd, person)],
        timezone=timezone,
        cwd=cwd,
        batch_id=batch_id,
        source_format=source_format,
    )
    for index, one in enumerate(incoming):
        batch.add(index, one)
    return store([batch])[0]


def commit(batch: Batch) -> Receipt:
    """The receipt of a batch that is committed, by this process's writer. Raises NotInTime.

    CAPTURE_WRITER = "inline" writes in the calling thread instead: a test inside a transaction sees its rows.
    """
    if getattr(settings, "CAPTURE_WRITER", "thread") == "inline":
        return store([batch])[0]
    return writer.write(batch)


def import_session(
    agent: Agent, session: IncomingSession, person: Person | None = None, now: datetime | None = None
) -> Receipt:
    """Stores what an importer read, with the times of the transcript. A second run adds nothing.

    A resumed transcript begins with lines of an earlier one: what this agent's other sessions hold is left out as
    "copied". Raises BadCapture.
    """
    return store([_imported(agent, session, person, now)])[0]


def rehearse_import(
    agent: Agent, session: IncomingSession, person: Person | None = None, now: datetime | None = None
) -> Receipt:
    """What `import_session` would answer. Stores nothing."""
    return rehearse(_imported(agent, session, person, now))


def _imported(agent: Agent, session: IncomingSession, person: Person | None, now: datetime | None) -> Batch:
    batch = open_transcript(agent, session, person, now or clock.now())
    for index, one in enumerate(session.observations):
        batch.add(index, one)
    return batch


def open_transcript(agent: Agent, session: IncomingSession, person: Person | None, now: datetime) -> Batch:
    """An empty batch for the observations of a transcript. Raises BadCapture."""
    return open_batch(
        agent,
        session.external_id,
        now,
        subjects=session.subjects or coding_subjects(session.cwd, person, session.git_remote),
        timezone=session.timezone,
        cwd=session.cwd,
        source_format=session.source_format,
        leaves_out_copies=session.source_format in COPYING,
    )


def coding_subjects(cwd: str, person: Person | None, git_remote: str = "") -> list[str]:
    """Whom and what work in a folder is about: the repository, and the person who holds the key. Else nothing."""
    if not cwd.strip() and not git_remote.strip():
        return []
    where = IncomingSession(external_id="", source_format="", cwd=short(cwd, 1000), git_remote=git_remote)
    repository = repository_of(where)
    written = [
        *([f"repo:{repository}"] if repository else []),
        *([f"person:{person.email}"] if person is not None else []),
    ]
    return [one for one in written if _is_subject(one)]


def _is_subject(written: str) -> bool:
    # A folder may have any name; one that makes no subject is no reason to refuse the work done in it.
    try:
        subject_of(written)
    except BadCapture:
        return False
    return True
