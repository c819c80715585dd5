"""The rolling summary of one session (values): what was said so far, short enough to be handed back to its agent.

The local one takes words out and invents none. It is written as lines, `Numbers: order 4821 · RF-2091`, and read back
from them, so that each new turn costs no second reading of the old ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from memory import mentions
from memory.rendering import one_line

# Enough for a long call; what is older than the first and the latest of a list gives way.
MOST_CHARACTERS = 16_000
SENTENCE_CHARACTERS = 200
WORD_CHARACTERS = 80
SPEAKER_CHARACTERS = 40
NOTE_CHARACTERS = 300
MOST_NOTES = 12
SEPARATOR = " · "


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that was said or done. `speaker` is "user", the agent's name or a tool's; `said_on` an ISO day and
    `said_at` day and time, of the session's zone."""

    kind: str
    role: str
    speaker: str
    said_on: str
    said_at: str
    text: str
    failed: bool = False


class Summariser(Protocol):
    """Shortens a talk: what was known of it before, and what was said since, in one text of a few lines.

    It may raise; then the local one does it.
    """

    NAME: str

    def summarise(self, previous: str, turns: Sequence[Turn]) -> str: ...


@dataclass(frozen=True, slots=True)
class Shape:
    """How many things a list holds, and how many of the first are never given up."""

    most: int
    first: int


# In the order of the text. Words stand on one line, sentences on one each.
WORDS = {
    "Numbers": Shape(40, 12),
    "Amounts": Shape(16, 5),
    "Dates": Shape(20, 6),
    "Names": Shape(30, 10),
}
SENTENCES = {"Promised": Shape(8, 2), "Open": Shape(6, 2), "Asked": Shape(6, 2)}
FIRST, FAILED = "Asked first", "Failed last"
_YOU = re.compile(r"\b(?:you|your|ihnen|ihre?|dir|dich|euch|vous|votre|vos|usted|les?|te)\b", re.IGNORECASE)


@dataclass(slots=True)
class _Kept:
    """What is kept of a session, list by list; `notes` are lines that somebody else wrote."""

    first: str = ""
    failed: str = ""
    lists: dict[str, list[str]] = field(default_factory=lambda: {name: [] for name in (*WORDS, *SENTENCES)})
    notes: list[str] = field(default_factory=list)


class LocalSummariser:
    """Takes out what has to survive, by patterns. No key, no network, the same every time."""

    NAME = "local"

    def summarise(self, previous: str, turns: Sequence[Turn]) -> str:
        kept = _read(previous)
        for turn in turns:
            _take(kept, turn)
        return _written(kept)


def with_notes(summary: str, notes: str) -> str:
    """A local summary with the notes of somebody else in the place of earlier ones."""
    kept = _read(summary)
    # A note that looks like a line of ours must not be read as one.
    lines = (_short(line, NOTE_CHARACTERS) for line in notes.split("\n"))
    kept.notes = [line.replace(": ", " - ", 1) if _is_ours(line) else line for line in lines if line][:MOST_NOTES]
    return _written(kept)


def _is_ours(line: str) -> bool:
    return line.partition(": ")[0] in (*WORDS, *SENTENCES, FIRST, FAILED)


def _take(kept: _Kept, turn: Turn) -> None:
    if turn.kind == "tool_result":
        _take_result(kept, turn)
        return
    _add_all(kept, "Numbers", mentions.numbers(turn.text))
    if turn.kind != "message":
        return
    _add_all(kept, "Amounts", mentions.amounts(turn.text))
    _add_all(kept, "Dates", mentions.days(turn.text, turn.said_on))
    _add_all(kept, "Names", mentions.names(turn.text))
    is_user = turn.role == "user"
    if is_user and not kept.first and one_line(turn.text):
        kept.first = _said(turn, turn.text)
    for sentence in mentions.sentences(turn.text):
        if mentions.promises(sentence) and (is_user or _binds(sentence)):
            _add(kept, "Promised", _said(turn, sentence))
        elif mentions.is_open(sentence):
            _add(kept, "Open", _said(turn, sentence))
        elif is_user and mentions.asks(sentence):
            _add(kept, "Asked", _said(turn, sentence))


def _binds(sentence: str) -> bool:
    """Whether a promise of the agent concerns anybody: "I'll run the tests" says only what it does next."""
    return bool(
        _YOU.search(sentence) or mentions.days(sentence, "") or mentions.amounts(sentence) or mentions.numbers(sentence)
    )


def _said(turn: Turn, words: str) -> str:
    return f"{_short(turn.speaker, SPEAKER_CHARACTERS)}, {turn.said_on}: {_short(words, SENTENCE_CHARACTERS)}"


def _take_result(kept: _Kept, turn: Turn) -> None:
    if turn.failed:
        kept.failed = _said(turn, turn.text)
    elif kept.failed.startswith(f"{_short(turn.speaker, SPEAKER_CHARACTERS)}, "):
        kept.failed = ""


def _add_all(kept: _Kept, name: str, items: Iterable[str]) -> None:
    for item in items:
        if len(item) <= WORD_CHARACTERS:
            _add(kept, name, one_line(item).replace("·", "-"))


def _add(kept: _Kept, name: str, item: str) -> None:
    """Last mentioned stands last. The first of a list stay where they are, and stay."""
    shape = WORDS.get(name) or SENTENCES[name]
    items = kept.lists[name]
    if not item:
        return
    place = next((number for number, known in enumerate(items) if _same(known, item)), None)
    if place is not None:
        item = max(items[place], item, key=len)
        if place < shape.first:
            items[place] = item
            return
        del items[place]
    items.append(item)
    if len(items) > shape.most:
        del items[shape.first]


def _same(known: str, item: str) -> bool:
    """Also `4821` and `order 4821`: the one with its word is kept."""
    known, item = f" {known.casefold()}", f" {item.casefold()}"
    return known.endswith(item) or item.endswith(known)


def _written(kept: _Kept) -> str:
    lines = [f"{name}: {said}" for name, said in ((FIRST, kept.first),) if said]
    lines += kept.notes
    lines += [f"{name}: {SEPARATOR.join(kept.lists[name])}" for name in WORDS if kept.lists[name]]
    lines += [f"{name}: {item}" for name in SENTENCES for item in kept.lists[name]]
    lines += [f"{name}: {said}" for name, said in ((FAILED, kept.failed),) if said]
    return "\n".join(lines)


def _read(written: str) -> _Kept:
    """What `_written` wrote; any other line is a note."""
    kept = _Kept()
    for line in written.split("\n"):
        name, colon, rest = line.partition(": ")
        if colon and name in WORDS:
            kept.lists[name] = rest.split(SEPARATOR)[: WORDS[name].most]
        elif colon and name in SENTENCES:
            kept.lists[name] = [*kept.lists[name], rest][: SENTENCES[name].most]
        elif colon and name == FIRST:
            kept.first = rest
        elif colon and name == FAILED:
            kept.failed = rest
        elif note := _short(line, NOTE_CHARACTERS):
            kept.notes.append(note)
    del kept.notes[MOST_NOTES:]
    return kept


def _short(text: str, most: int) -> str:
    line = one_line(text[: 4 * most])
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"
