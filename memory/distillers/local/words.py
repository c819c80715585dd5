"""Lists of words, written the way one reads them."""

from __future__ import annotations


def words(*lines: str) -> frozenset[str]:
    """The words of some lines, as a set."""
    return frozenset(word for line in lines for word in line.split())
