"""Foreign words on a terminal: the name of a file may hold what a terminal obeys, or a line that looks like ours."""

from __future__ import annotations


def plain(words: str) -> str:
    """One line in which whatever is not seen is written out: `\\x1b[31m`, `\\n`, `\\u202e`."""
    if words.isprintable():
        return words
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in words
    )
