"""Agent text in pieces (values): each piece is plain text with the name of its mark, so that a template only prints."""

from __future__ import annotations

import unicodedata

from memory import privacy

Piece = tuple[str, str]  # (mark, text): "same", "mark", "unsupported", "gone", "new" or "hidden"
# Says only how the character before it is drawn; an emoji has one.
_STYLES = "\ufe0e\ufe0f"


def visible(text: str, mark: str = "same") -> list[Piece]:
    """The text in pieces, invisible characters apart as `("hidden", "U+202E RIGHT-TO-LEFT OVERRIDE")`."""
    pieces: list[Piece] = []
    start = 0
    for place, char in enumerate(text):
        if privacy.is_invisible(char) and char not in _STYLES:
            if place > start:
                pieces.append((mark, text[start:place]))
            pieces.append(("hidden", f"U+{ord(char):04X} {unicodedata.name(char, 'control character')}"))
            start = place + 1
    if start < len(text):
        pieces.append((mark, text[start:]))
    return pieces


def has_hidden(text: str) -> bool:
    """Whether the text holds a character that a reader cannot see."""
    return any(mark == "hidden" for mark, _ in visible(text))
