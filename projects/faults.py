"""An error as a log may hold it: its class and where it came from. Its message may quote what was captured or typed."""

from __future__ import annotations

import traceback
from types import TracebackType


def described(error: BaseException, came_by: TracebackType | None = None) -> str:
    """`IntegrityError in save:902 < propose:75`: the innermost frame first."""
    frames = traceback.extract_tb(came_by or error.__traceback__)
    where = " < ".join(f"{frame.name}:{frame.lineno}" for frame in reversed(frames))
    return f"{type(error).__name__} in {where}" if where else type(error).__name__
