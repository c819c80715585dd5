"""Characters that nobody sees: one definition for everything that people decide about, and for what hides in it.

Zero width, direction marks, tags, fillers, variation selectors, controls but line end and tab. They reach a model and
not the person who signs, they make two ids look alike, and one in its middle makes a secret look like none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

# Unicode's controls, formats, surrogates, private use, line and paragraph separators and noncharacters; and what is
# drawn as nothing though no category says so: fillers, blanks, variation selectors, and the places that are set aside
# to be ignored but not assigned yet.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5"
    "\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\uf8ff\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\ufffe\uffff\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U0001fffe\U0001ffff\U0002fffe\U0002ffff\U0003fffe\U0003ffff\U0004fffe-\U000dffff\U000e0000-\U000e0fff"
    "\U000efffe-\U0010ffff]+"
)


def is_invisible(letter: str) -> bool:
    """Whether a reader sees nothing of this one character; a line end and a tab count as seen."""
    return _INVISIBLE.match(letter) is not None


def holds_invisible(text: str) -> bool:
    return not _is_plain(text) and _INVISIBLE.search(text) is not None


def without_invisible(text: str) -> str:
    """The text without them. A joiner inside an emoji or an Indic word goes too: its look changes, not its meaning."""
    return text if _is_plain(text) else _INVISIBLE.sub("", text)


def seen_through(text: str) -> tuple[str, Sequence[int]]:
    """The text as a reader sees it, and for each of its characters the place it has in `text`."""
    if not holds_invisible(text):
        return text, range(len(text))
    places: list[int] = []
    end = 0
    for run in _INVISIBLE.finditer(text):
        places += range(end, run.start())
        end = run.end()
    places += range(end, len(text))
    return _INVISIBLE.sub("", text), places


def _is_plain(text: str) -> bool:
    return text.isascii() and text.replace("\n", "").replace("\t", "").isprintable()
