"""One line a record, fit for a log that many people read: no address that lets somebody in, no error's own words.

Django writes the address of every page it refuses, and the link of an invitation or of a new password is such an
address. Its tracebacks end in the error's message, and the database's quotes the row that it refused.
"""

from __future__ import annotations

import logging
from types import TracebackType
from typing import Any

from django.conf import settings

from projects.faults import described

NO_PAGE = "an address that is none"


class LogLine(logging.Formatter):
    """Names the page instead of the address, and an error by its class and place. COUNTERSIGN_DEBUG shows all of it."""

    def format(self, record: logging.LogRecord) -> str:
        if settings.DEBUG:
            return super().format(record)
        # Another handler may want the record as it came, and may have written the traceback into it.
        copy = logging.makeLogRecord({**record.__dict__, "exc_text": None})
        request = getattr(record, "request", None)
        if request is not None and isinstance(record.args, tuple):
            copy.args = tuple(_named(argument, request) for argument in record.args)
        return super().format(copy)

    def formatException(  # noqa: N802  (logging's name)
        self, ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
    ) -> str:
        return super().formatException(ei) if settings.DEBUG or ei[1] is None else described(ei[1], ei[2])


def _named(argument: Any, request: Any) -> Any:
    address = getattr(request, "path", "")
    # Django escapes what a terminal would obey.
    if not address or argument not in (address, address.encode("unicode_escape").decode("ascii")):
        return argument
    match = getattr(request, "resolver_match", None)
    return f"/{match.route}" if match else NO_PAGE
