"""The one thread of a process that writes captures: what waits is committed together, at once when it is idle.

The thread that answers a call never waits on Postgres itself: it hands its cleaned batch over and waits a moment for
the commit. When that does not come in time the answer is 503, *not promised*: the same ids may be sent again.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TookTooLong
from itertools import groupby

from django.db import InterfaceError, OperationalError, connections
from django.db.utils import Error as DatabaseFault

from memory.capture_batch import Batch, Receipt
from memory.capture_store import OutcomeUnknown, store

logger = logging.getLogger(__name__)

PATIENCE_SECONDS = 0.2
COLD_PATIENCE_SECONDS = 2.0  # until the first commit: the thread starts and connects
PATIENCE_PER_ROW_SECONDS = 0.002  # a large batch takes longer to write than a small one: 5,000 rows about 0.5 s
MOST_WAITING_ROWS = 50_000
MOST_WAITING_CHARACTERS = 64 * 1024 * 1024
ROWS_PER_COMMIT = 2_000
# Somebody who holds a session's row longer than this must not hold up everybody else's captures.
LOCK_PATIENCE = "1s"


class NotInTime(Exception):
    """The batch was not committed in time, or cannot be now. It is not promised: it may be sent again."""


class _Waiting:
    """One batch in the queue. Once its caller has gone it is skipped, unless it is being written already."""

    __slots__ = ("batch", "future", "size")

    def __init__(self, batch: Batch) -> None:
        self.batch = batch
        self.future: Future[Receipt] = Future()
        self.size = sum(len(row.json) for row in batch.rows)


class Writer:
    """A queue and its thread, which is started on the first batch and started again should it ever end."""

    def __init__(self) -> None:
        self._queue: deque[_Waiting] = deque()
        self._condition = threading.Condition()
        self._rows = 0
        self._characters = 0
        self._thread: threading.Thread | None = None
        self._stopping = False
        self._is_warm = False

    def write(self, batch: Batch) -> Receipt:
        """The receipt, once the batch is committed. Raises NotInTime."""
        base = PATIENCE_SECONDS if self._is_warm else COLD_PATIENCE_SECONDS
        patience = base + PATIENCE_PER_ROW_SECONDS * len(batch.rows)
        waiting = _Waiting(batch)
        self._put(waiting)
        try:
            return waiting.future.result(patience)
        except TookTooLong:
            waiting.future.cancel()
            raise NotInTime from None
        except (OperationalError, InterfaceError):
            raise NotInTime from None

    def stop(self) -> None:
        """Writes what waits, ends the thread and closes its connection."""
        with self._condition:
            thread, self._stopping = self._thread, True
            self._condition.notify()
        if thread is not None:
            thread.join()

    def _put(self, waiting: _Waiting) -> None:
        with self._condition:
            full = self._rows > MOST_WAITING_ROWS or self._characters > MOST_WAITING_CHARACTERS
            if full:
                raise NotInTime
            self._queue.append(waiting)
            self._rows += len(waiting.batch.rows)
            self._characters += waiting.size
            if self._thread is None or not self._thread.is_alive():
                self._stopping = False
                self._thread = threading.Thread(target=self._run, name="capture-writer", daemon=True)
                self._thread.start()
            self._condition.notify()

    def _run(self) -> None:
        try:
            while group := self._take():
                for _, batches in groupby(sorted(group, key=_project), key=_project):
                    self._commit(list(batches))
        finally:
            connections["default"].close()

    def _take(self) -> list[_Waiting]:
        """What waits, up to the size of one commit; waits for something; nothing when the thread should end."""
        with self._condition:
            taken: list[_Waiting] = []
            while not taken:
                while not self._queue:
                    if self._stopping:
                        return []
                    self._condition.wait()
                rows = 0
                while self._queue and (not taken or rows + len(self._queue[0].batch.rows) <= ROWS_PER_COMMIT):
                    waiting = self._queue.popleft()
                    self._rows -= len(waiting.batch.rows)
                    self._characters -= waiting.size
                    if waiting.future.set_running_or_notify_cancel():
                        taken.append(waiting)
                        rows += len(waiting.batch.rows)
            return taken

    def _commit(self, group: list[_Waiting], tries: int = 2) -> None:
        try:
            _connect()
            receipts = store([waiting.batch for waiting in group])
        except Exception as problem:
            # Its message may quote what was captured.
            logger.warning("a commit of captures failed (%s)", type(problem).__name__)
            self._after(problem, group, tries)
            return
        self._is_warm = True
        for waiting, receipt in zip(group, receipts, strict=True):
            waiting.future.set_result(receipt)

    def _after(self, problem: Exception, group: list[_Waiting], tries: int) -> None:
        """Nothing was stored, unless the outcome is unknown: then trying again could store what has no id twice."""
        lost = isinstance(problem, DatabaseFault) and not _is_usable()
        if lost and tries > 1 and not isinstance(problem, OutcomeUnknown):
            self._commit(group, tries - 1)
        elif not lost and len(group) > 1:
            # One of them may be at fault: the others must not share its fate.
            for waiting in group:
                self._commit([waiting])
        else:
            for waiting in group:
                waiting.future.set_exception(problem)


def _connect() -> None:
    connection = connections["default"]
    if connection.connection is None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT set_config('lock_timeout', %s, false)", [LOCK_PATIENCE])


def _is_usable() -> bool:
    """Whether the connection still answers; closed if not, so that the next use opens another."""
    connection = connections["default"]
    if connection.connection is not None and connection.is_usable():
        return True
    connection.close()
    return False


def _project(waiting: _Waiting) -> int:
    return waiting.batch.project_id


writer = Writer()
