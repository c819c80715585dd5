"""Names that stand in the books: a file's own word only where it is plain, for anything else may be captured text."""

from __future__ import annotations

import re

_PLAIN_WORD = re.compile(r"[A-Za-z0-9_/.-]{1,60}")


def as_reason(name: str) -> str:
    """A type or role as a reason in the books; "other" for what is no plain word."""
    return name if _PLAIN_WORD.fullmatch(name) else "other"
