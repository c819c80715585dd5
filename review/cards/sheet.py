"""A brief as people read it: the exact text line by line, with the reason and the cost of each, and its budget."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from memory import brief, short_ids, tokens

# Not splitlines(): it cuts at characters that are no line breaks to anybody else.
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_NAMED = re.compile(r"- \[(f-[0-9a-z]+)\] ")
# A text of this many characters is counted as a whole up to each line; of a longer one each line with that before it.
COUNTED_WHOLE = 20_000
STANDING, SUBJECT, TASK, WITHDRAWN = "standing", "subject", "task", "withdrawn"
_PART_OF = {brief.STANDING: STANDING, brief.ABOUT: SUBJECT, brief.HOLDS_HERE: SUBJECT, brief.TASK: TASK}
_SHADES = ((STANDING, "c1"), (SUBJECT, "c2"), (TASK, "c3"), (WITHDRAWN, "c5"))


@dataclass(frozen=True)
class Told:
    """Why one memory is in a brief, and its score."""

    why: str
    score: float = 0.0


@dataclass(frozen=True)
class Line:
    """One line of the text as it is sent, what it costs, and why it is there; `short_id` names its memory, `part` the
    part of the budget that it belongs to. `is_new`: it is not real yet."""

    text: str
    tokens: int
    is_heading: bool
    part: str
    why: str = ""
    short_id: str = ""
    is_new: bool = False


@dataclass(frozen=True)
class Share:
    """What one part of the brief takes of the budget; `place` and `tokens` draw its piece of the bar."""

    words: str
    shade: str
    place: int
    tokens: int
    is_free: bool = False


def lines_of(text: str, told: Mapping[str, Told], supposed: Collection[str] = ()) -> list[Line]:
    """The text line by line; `told` and `supposed` name memories by their short ids. What a line costs is what it adds
    to the count of the text, so the lines add up to the brief; a blank line is counted with the heading after it."""
    lines: list[Line] = []
    parts = _cut(text)
    first = next((number for number, (line, _cost) in enumerate(parts) if line.startswith("## ")), 0)
    for number, (line, cost) in enumerate(parts):
        named = _NAMED.match(line)
        short_id = named.group(1) if named else ""
        item = told.get(short_id)
        is_heading = line.startswith("#")
        if item is not None:
            part = _PART_OF.get(item.why, SUBJECT)
        elif short_id:
            part = WITHDRAWN
        else:
            part = _part_of_heading(parts[number + 1 :], told) if is_heading and number else STANDING
        is_new = short_id in supposed and item is not None
        is_head = number < first
        why = pgettext("part of a brief", "standing") if is_head else _why(item, short_id, is_new)
        lines.append(Line(line.rstrip("\n"), cost, is_heading, part, why, short_id, is_new))
    return lines


def shares_of(lines: Collection[Line], budget: int) -> list[Share]:
    """The parts of the budget, in the order of the bar; what is left is free."""
    names = {
        STANDING: pgettext("part of a brief", "standing"),
        SUBJECT: pgettext("part of a brief", "subject"),
        TASK: pgettext("part of a brief", "task"),
        WITHDRAWN: pgettext("part of a brief", "withdrawn"),
    }
    place, shares = 0, []
    for part, shade in _SHADES:
        cost = sum(line.tokens for line in lines if line.part == part)
        if cost:
            shares.append(Share(names[part], shade, place, cost))
        place += cost
    shares.append(Share(pgettext("part of a brief", "free"), "c0", place, max(0, budget - place), is_free=True))
    return shares


def _cut(text: str) -> list[tuple[str, int]]:
    """(a line, what it adds to the count); blank lines are counted with what follows."""
    found, start, end, counted, before = [], 0, 0, 0, ""
    for line in _LINE.findall(text):
        end += len(line)
        if not line.strip("\n") and end < len(text):
            continue
        chunk = text[start:end]
        if len(text) <= COUNTED_WHOLE:
            total = tokens.count(text[:end])
            cost, counted = total - counted, total
        else:
            cost = tokens.count(before + chunk) - tokens.count(before)
        found.append((line, cost))
        start, before = end, chunk
    return found


def _part_of_heading(after: list[tuple[str, int]], told: Mapping[str, Told]) -> str:
    """A heading belongs to the part of the first memory under it."""
    for line, _cost in after:
        named = _NAMED.match(line)
        if named:
            item = told.get(named.group(1))
            return _PART_OF.get(item.why, SUBJECT) if item is not None else WITHDRAWN
    return STANDING


def _why(item: Told | None, short_id: str, is_new: bool) -> str:
    if is_new:
        return _("as if approved")
    if item is None:
        return pgettext("part of a brief", "withdrawn") if short_id else ""
    words = {
        brief.STANDING: pgettext("part of a brief", "standing"),
        brief.ABOUT: pgettext("part of a brief", "subject"),
        brief.HOLDS_HERE: _("holds here"),
        brief.TASK: pgettext("part of a brief", "task"),
    }.get(item.why, item.why)
    return f"{words}, {f'{item.score:.2f}'.removeprefix('0')}" if item.score else words


def told_by(items: Iterator[tuple[str, str, float]] | list[tuple[str, str, float]]) -> dict[str, Told]:
    """`told` of (short id, why, score)."""
    return {short_id: Told(why, score) for short_id, why, score in items}


def of_record(items: list[dict[str, object]]) -> dict[str, Told]:
    """`told` of the items that a served brief keeps."""
    return {
        short_ids.encode(int(str(row["id"]))): Told(str(row.get("why", "")), float(str(row.get("score") or 0)))
        for row in items
    }
