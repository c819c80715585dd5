"""Agent text in pieces (values): each piece is plain text with the name of its mark, so that a template only prints.

Nothing is left out: joined, the pieces that are text give the text back, but for characters that nobody sees, which
stand as boxes with their code and name. A box says of a part what it is, or what a model would read there.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from typing import Any

from django.utils.translation import gettext as _

from memory import privacy, suspicions

# (mark, text). Text: "same", "mark", "unsupported", "gone", "new", "date" (kept on one line) and "masked" (dots).
# Beside the text: "gap" (what is folded), and the boxes.
Piece = tuple[str, str]
# "hidden": a character nobody sees; "alike": a letter of another script; "coded": what a part is written in; "reads":
# what it says.
BOXES = ("hidden", "alike", "coded", "reads")
# Shown as dots until a person asks for them.
MASKED = ("contact", "payment")
# Says only how the character before it is drawn; an emoji has one.
_STYLES = "\ufe0e\ufe0f"
_JOINER = "\u200d"
_TAGS = re.compile("[\U000e0000-\U000e007f]+")
_DATE = re.compile(r"(?<![\w-])\d{4}-\d\d-\d\d(?![\w-])")
# Of what an encoded part says, so much is shown at once.
READS_CHARACTERS = 200
# Every tag character is named up to here; of more, the first and the last.
NAMED_TAGS = 3
_NAMES = {0x7F: "delete", 0x85: "next line"}
_LETTER = re.compile(r"[^\W\d_]")


def visible(text: str, mark: str = "same") -> list[Piece]:
    """The text in pieces of `mark`, with boxes where it holds what nobody sees, or what is not what it looks like.

    A box stands outside the mark, after what it is about; a hidden character stands in its box alone.
    """
    if text.isascii() and not _might_hold(text):
        return _plain(text, mark)
    notes = sorted([*_hidden(text), *_coded(text), *_alike(text)], key=lambda note: (note[1], note[0]))
    pieces: list[Piece] = []
    here = 0
    for start, end, boxes in notes:
        if start < here:
            continue
        pieces += _plain(text[here:start], mark)
        # What is hidden has no text of its own to show.
        pieces += [] if boxes[0][0] == "hidden" else _plain(text[start:end], mark)
        pieces += boxes
        here = end
    return pieces + _plain(text[here:], mark)


def has_hidden(text: str) -> bool:
    """Whether the text holds a character that a reader cannot see."""
    return next(_hidden(text), None) is not None


def hidden_count(text: str) -> int:
    """How many characters of the text nobody sees."""
    return sum(1 for char, _ in _unseen(text))


def said(pieces: Iterable[Piece]) -> str:
    """The text of the pieces without their boxes: what a person copies, and what agents get."""
    return "".join(text for mark, text in pieces if mark not in BOXES and mark != "gap")


def masked(text: str, findings: Iterable[dict[str, Any]], categories: Iterable[str]) -> list[Piece]:
    """The text in pieces with the findings of these categories as dots: `("masked", "••• ••••")`."""
    wanted = set(categories)
    spans = sorted(
        (int(row["start"]), int(row["end"]))
        for row in findings
        if row.get("category") in wanted and row.get("in", "text") == "text" and row.get("end", 0) > row.get("start", 0)
    )
    pieces: list[Piece] = []
    here = 0
    for start, end in spans:
        if start < here or end > len(text):
            continue
        pieces += visible(text[here:start])
        pieces.append(("masked", "".join("•" if letter.isalnum() else letter for letter in text[start:end])))
        here = end
    return pieces + visible(text[here:])


def _might_hold(text: str) -> bool:
    """Whether an ASCII text could be encoded, hold a control character or a date: a quick look, wrong at times."""
    return not text.replace("\n", "").replace("\t", "").isprintable() or len(text) > 15


def _plain(text: str, mark: str) -> list[Piece]:
    if not text:
        return []
    if mark != "same" or "-" not in text:
        return [(mark, text)]
    pieces: list[Piece] = []
    here = 0
    for found in _DATE.finditer(text):
        if found.start() > here:
            pieces.append((mark, text[here : found.start()]))
        pieces.append(("date", found[0]))
        here = found.end()
    return [*pieces, (mark, text[here:])] if here < len(text) else pieces


def _unseen(text: str) -> Iterable[tuple[str, int]]:
    if not privacy.holds_invisible(text):
        return
    for place, char in enumerate(text):
        if privacy.is_invisible(char) and char not in _STYLES and not _joins(text, place):
            yield char, place


def _joins(text: str, place: int) -> bool:
    """Whether a zero width joiner makes one emoji of two, or one letter of two: how it is drawn, and nothing more."""
    if text[place] != _JOINER or not 0 < place < len(text) - 1:
        return False
    return all(
        unicodedata.category(text[at]) in ("So", "Sk", "Mn") or text[at] in _STYLES for at in (place - 1, place + 1)
    )


def _hidden(text: str):  # type: ignore[no-untyped-def]
    """(start, end, boxes) of each hidden character, the same one in a row once, and of each run of tag characters."""
    run: list[tuple[str, int]] = []
    tags_end = 0
    for char, place in _unseen(text):
        if place < tags_end:
            continue
        if tags := _TAGS.match(text, place):
            yield from _one_box(run)
            run = []
            tags_end = tags.end()
            yield place, tags_end, _tag_boxes(tags[0])
            continue
        if run and (run[-1][0] != char or run[-1][1] != place - 1):
            yield from _one_box(run)
            run = []
        run.append((char, place))
    yield from _one_box(run)


def _one_box(run: list[tuple[str, int]]):  # type: ignore[no-untyped-def]
    if run:
        times = f" × {len(run)}" if len(run) > 1 else ""
        yield run[0][1], run[-1][1] + 1, [("hidden", named(run[0][0]) + times)]


def _tag_boxes(run: str) -> list[Piece]:
    if len(run) <= NAMED_TAGS:
        boxes: list[Piece] = [("hidden", named(char)) for char in run]
    else:
        boxes = [
            (
                "hidden",
                (
                    _("%(count)s tag characters, U+%(what)s to U+%(what2)s")
                    % {"count": len(run), "what": f"{ord(run[0]):04X}", "what2": f"{ord(run[-1]):04X}"}
                ),
            )
        ]
    reads = "".join(chr(ord(char) - 0xE0000) for char in run if 0xE0020 <= ord(char) < 0xE007F)
    return [*boxes, *([("reads", _short(reads))] if len(run) > 1 and reads.strip() else [])]


def _coded(text: str):  # type: ignore[no-untyped-def]
    for blob in suspicions.blobs_in(text):
        if blob.code != "tag characters":
            yield blob.start, blob.end, [("coded", blob.code), ("reads", _short(blob.reads))]


def _alike(text: str):  # type: ignore[no-untyped-def]
    for found in suspicions.lookalikes_in(text):
        letters = [letter for letter in found.letters if _LETTER.match(letter)][:NAMED_TAGS]
        yield found.start, found.end, [("alike", named(letter)) for letter in letters] or [("alike", found.script)]


def _short(reads: str) -> str:
    """What it says, itself without what nobody sees."""
    seen = " ".join(privacy.without_invisible(reads).split())
    return seen if len(seen) <= READS_CHARACTERS else f"{seen[:READS_CHARACTERS]}… ({len(seen):,})"


def named(char: str) -> str:
    """`U+200B zero width space`, `U+E0041 tag A`."""
    place = ord(char)
    if 0xE0020 < place < 0xE007F:
        return _("U+%(place)s tag %(what)s") % {"place": f"{place:04X}", "what": chr(place - 0xE0000)}
    name = unicodedata.name(char, "").lower() or _NAMES.get(place, "")
    if not name:
        name = {"Co": "private use", "Cc": "control character", "Cs": "half of a pair"}.get(
            unicodedata.category(char), "no character"
        )
    return f"U+{place:04X} {name}"
