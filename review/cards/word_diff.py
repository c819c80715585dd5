"""What changed between two sentences, word by word (values). Scripts without spaces are compared by character."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from review.cards.pieces import Piece

# Kana, Han, Thai, Lao, Myanmar, Khmer, and what is written above or below a letter of theirs.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\U00020000-\U0003ffff"
_ABOVE = (
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u17b4-\u17d3"
    "\u3099\u309a\ufe00-\ufe0f"
)
# What a word ends with stands by itself, so that `16.` and `17.` differ in the number alone.
_END = r"[.,;:!?…]+(?=\s|$)"
_TOKEN = re.compile(rf"[{_UNSPACED}][{_ABOVE}]*|\s+|{_END}|(?:(?!{_END})[^\s{_UNSPACED}])+")


def diff(before: str, after: str) -> tuple[list[Piece], list[Piece]]:
    """The pieces of the old sentence (same, gone) and those of the new one (same, new), in reading order.

    Joining the texts of a side gives that sentence back. About 0.1 ms a sentence.
    """
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    left: list[Piece] = []
    right: list[Piece] = []
    steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    for place, (op, a, b, c, d) in enumerate(steps):
        # A word between two changes is marked with them: one change reads easier than two.
        is_between = 0 < place < len(steps) - 1 and sum(1 for token in old[a:b] if token.strip()) <= 1
        if op == "equal" and not is_between:
            _add(left, "same", old[a:b])
            _add(right, "same", new[c:d])
        else:
            _add(left, "gone", old[a:b])
            _add(right, "new", new[c:d])
    return left, right


def _add(side: list[Piece], mark: str, tokens: list[str]) -> None:
    if not tokens:
        return
    text = "".join(tokens)
    if side and side[-1][0] == mark:
        text = side.pop()[1] + text
    side.append((mark, text))
