"""The lines of one text round its quotes (made of rows): what is shown at once, what is folded, and the whole."""

from __future__ import annotations

import re
from collections.abc import Iterable

from django.utils.translation import ngettext

from memory.models import Observation
from review.cards.pieces import Piece, visible

TERMINAL_KINDS = {"tool_call", "tool_result", "action", "error", "edit"}
COMMANDS = {"tool_call", "action"}
# Lines that are shown whole; of longer texts the lines round the quote, or the first of them.
WHOLE_LINES = 8
LINES_BEFORE = 0
LINES_AFTER = 1
COMMAND_LINES = 4
RESULT_LINES = 1
# Of a quote longer than this its beginning and its end; the rest is one click away.
QUOTE_CHARACTERS = 600
QUOTE_HEAD, QUOTE_TAIL = 5, 2
LINE_CHARACTERS = 400
NEIGHBOUR_CHARACTERS = 280
# Claude Code prints it before the output; the number stands at the right already.
_EXIT_LINE = re.compile(r"Exit code -?\d+\n")


def whole(text: str, marks: Iterable[tuple[int, int]]) -> list[Piece]:
    """The whole text with its quotes marked, nothing folded."""
    pieces: list[Piece] = []
    here = 0
    for start, end in marks:
        if end <= here:
            continue
        pieces += visible(text[here : max(here, start)])
        pieces += visible(text[max(here, start) : end], "mark")
        here = end
    return pieces + visible(text[here:].rstrip("\n"))


def folded(row: Observation, marks: list[tuple[int, int]]) -> list[Piece]:
    """The row's text with its quotes marked, the rest folded to what helps to read them."""
    text = row.text
    if not marks:
        if row.kind not in TERMINAL_KINDS:
            return visible(text if len(text) <= NEIGHBOUR_CHARACTERS else text[:NEIGHBOUR_CHARACTERS].rstrip() + " …")
        return [piece for piece in _kept(text, _unmarked_lines(row, text), []) if _is_told(row, piece)]
    lines = _line_starts(text)
    keep: set[int] = set()
    for start, end in marks:
        first, last = _line_at(lines, start), _line_at(lines, max(start, end - 1))
        if last - first < WHOLE_LINES:
            keep.update(range(first - LINES_BEFORE, last + LINES_AFTER + 1))
        else:
            # Of a quote that is longer than a glance, where it begins and where it ends.
            keep.update([*range(first, first + QUOTE_HEAD), *range(last - QUOTE_TAIL + 1, last + 1)])
    if len(lines) <= WHOLE_LINES:
        keep = set(range(len(lines)))
    if exit_line := _EXIT_LINE.match(text):
        keep.discard(0 if marks[0][0] >= exit_line.end() else -1)
    return _kept(text, keep, marks)


def _is_told(row: Observation, piece: Piece) -> bool:
    """Of a command all is shown or what is missing is said; of what a fix printed the last words are enough."""
    return piece[0] != "gap" or row.kind in COMMANDS


def _unmarked_lines(row: Observation, text: str) -> set[int]:
    count = len(_line_starts(text.rstrip("\n")))
    if row.kind in COMMANDS:
        return set(range(min(count, COMMAND_LINES)))
    return set(range(count if count <= 2 else 0)) | set(range(max(0, count - RESULT_LINES), count))


def _line_starts(text: str) -> list[int]:
    return [0, *(found.end() for found in re.finditer("\n", text))]


def _line_at(starts: list[int], place: int) -> int:
    return next(number for number in range(len(starts) - 1, -1, -1) if starts[number] <= place)


def _kept(text: str, keep: set[int], marks: list[tuple[int, int]]) -> list[Piece]:
    """The kept lines, and `… 38 lines` where others lie between or after them; nothing is said of an exit line."""
    starts = [*_line_starts(text), len(text) + 1]
    pieces: list[Piece] = []
    skipped = 0
    for number in range(len(starts) - 1):
        start, end = starts[number], starts[number + 1] - 1
        if number not in keep:
            is_silent = not text[start:end].strip() or (number == 0 and _EXIT_LINE.match(text))
            skipped += 0 if is_silent else 1
            continue
        if skipped:
            pieces.append(("gap", _gap(skipped) + "\n"))
        skipped = 0
        pieces += _line(text, start, min(end + 1, len(text)), marks)
    if skipped:
        pieces.append(("gap", ("" if not pieces or pieces[-1][1].endswith("\n") else "\n") + _gap(skipped)))
    elif pieces and pieces[-1][1].endswith("\n"):
        mark, last = pieces.pop()
        pieces += [(mark, last.rstrip("\n"))] if last.strip("\n") else []
    return pieces


def _gap(lines: int) -> str:
    return "… " + ngettext("%(lines)s line", "%(lines)s lines", lines) % {"lines": f"{lines:,}"}


def _line(text: str, start: int, end: int, marks: list[tuple[int, int]]) -> list[Piece]:
    """One line with its marks whole; what lies far from them on a very long line is left out."""
    pieces: list[Piece] = []
    here = start
    inside = [(max(a, start), min(b, end)) for a, b in marks if a < end and b > start]
    for a, b in inside:
        if a >= here:
            pieces += _near(text[here:a], ends=bool(pieces), starts=True) + _quote(text[a:b])
            here = b
        elif b > here:
            pieces += _quote(text[here:b])
            here = b
    return pieces + _near(text[here:end], ends=bool(pieces), starts=False)


def _quote(text: str) -> list[Piece]:
    if len(text) <= QUOTE_CHARACTERS:
        return visible(text, "mark")
    head, tail = text[: QUOTE_CHARACTERS * 2 // 3], text[-QUOTE_CHARACTERS // 6 :]
    count = len(text) - len(head) - len(tail)
    gap = " … " + ngettext("%(count)s character", "%(count)s characters", count) % {"count": f"{count:,}"} + " … "
    return [*visible(head, "mark"), ("gap", gap), *visible(tail, "mark")]


def _near(text: str, *, ends: bool, starts: bool) -> list[Piece]:
    """What stands between two marks, before one (`starts`) or after one (`ends`), shortened on the far side."""
    if len(text) <= LINE_CHARACTERS:
        return visible(text)
    newline = "\n" if text.endswith("\n") else ""
    half = LINE_CHARACTERS // 2
    if starts and not ends:
        return [("gap", "… "), *visible(text[-half:])]
    if starts:
        return [*visible(text[:half]), ("gap", " … "), *visible(text[-half:])]
    return [*visible(text[:half].rstrip()), ("gap", " …" + newline)]
