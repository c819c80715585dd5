"""Lists of words, written the way one reads them."""

from __future__ import annotations

import re


def words(*lines: str) -> frozenset[str]:
    """The words of some lines, as a set."""
    return frozenset(word for line in lines for word in line.split())


def any_of(*patterns: str, flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    """One expression for several, each written on a line of its own."""
    return re.compile("|".join(patterns), flags)


def patterns(*parts: str) -> tuple[str, ...]:
    """Parts of an expression, each written on as many lines as it needs."""
    return parts
