"""A transcript in turns (values made of rows): who spoke, what is quoted marked and numbered, tool calls folded."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from itertools import pairwise

from memory.models import Evidence, Observation
from review.cards.pieces import Piece, named, visible
from review.cards.proof import TERMINAL_KINDS, speaker

# What is read of a folded command before it is opened.
HEADLINE_CHARACTERS = 120
# A text longer than this is shown so far; the rest is one click away.
SHOWN_CHARACTERS = 6_000

NumberedPiece = tuple[str, str, tuple[int, ...]]


@dataclass(frozen=True)
class Printed:
    """What a command answered: its observation and the pieces of it."""

    observation: Observation
    pieces: tuple[NumberedPiece, ...]


@dataclass(frozen=True)
class TranscriptTurn:
    """One turn in pieces `(mark, text, numbers)`; `("mark", text, (3,))` ends the quote of the third memory. A command
    and its result are one turn, folded to `headline` unless a memory came from it."""

    observation: Observation
    who: str
    pieces: tuple[NumberedPiece, ...]
    is_terminal: bool
    is_hit: bool
    headline: str = ""
    printed: Printed | None = None
    # Characters of its text that are not shown: the page has a link for them.
    left_out: int = 0

    @property
    def can_be_quoted(self) -> bool:
        """Whether a person may remember something from it."""
        return self.observation.may_be_evidence and bool(self.observation.text.strip())

    @property
    def end(self) -> Observation:
        """The observation that says how it ended."""
        return self.printed.observation if self.printed else self.observation


@dataclass(frozen=True)
class Look:
    """How a transcript is read: `points` shows the code point of every letter beyond ASCII, `whole` is the id of the
    one observation of which all is shown."""

    points: bool = False
    whole: int = 0


def turns(
    rows: list[Observation],
    quotes: dict[int, list[Evidence]],
    number: dict[int, int],
    asker: str,
    look: Look = Look(),
) -> list[TranscriptTurn]:
    """The window in turns, each result under the command it belongs to. No query."""
    answers = {row.call_id: row for row in reversed(rows) if row.kind == "tool_result" and row.call_id}
    commands = {row.call_id for row in rows if row.kind != "tool_result"}
    found = []
    for row in rows:
        if row.kind == "tool_result" and row.call_id and row.call_id in commands:
            continue
        answer = answers.get(row.call_id) if row.kind != "tool_result" and row.call_id else None
        pieces, left_out = _pieces(row, quotes.get(row.pk, []), number, look)
        printed = None
        if answer:
            shown, more = _pieces(answer, quotes.get(answer.pk, []), number, look)
            printed, left_out = Printed(answer, shown), left_out + more
        is_hit = bool(quotes.get(row.pk) or (answer and quotes.get(answer.pk)))
        is_terminal = row.kind in TERMINAL_KINDS
        headline = _headline(row) if is_terminal else ""
        found.append(TranscriptTurn(row, speaker(row, asker), pieces, is_terminal, is_hit, headline, printed, left_out))
    return found


def _headline(row: Observation) -> str:
    """The first line that says something; of a long one its beginning."""
    line = next((line.strip() for line in row.text.split("\n") if line.strip()), row.tool or row.kind.replace("_", " "))
    return line if len(line) <= HEADLINE_CHARACTERS else line[:HEADLINE_CHARACTERS].rstrip() + " …"


def _pieces(
    row: Observation, quotes: list[Evidence], number: dict[int, int], look: Look
) -> tuple[tuple[NumberedPiece, ...], int]:
    """The row's text cut where a quote begins or ends, and how many characters at its end are left out: quotes may
    overlap, and each is numbered at its own end. A quote is never cut away."""
    for quote in quotes:
        quote.observation = row
    holding = [quote for quote in quotes if quote.verdict() == "holds"]
    text = row.text if holding else row.text.rstrip("\n")
    most = max([SHOWN_CHARACTERS, *(quote.end + HEADLINE_CHARACTERS for quote in holding)])
    end = len(text) if row.pk == look.whole or len(text) <= most + HEADLINE_CHARACTERS else most
    cuts = sorted({0, end, *(quote.start for quote in holding), *(quote.end for quote in holding)})
    split = points if look.points else visible
    pieces: list[NumberedPiece] = []
    for since, until in pairwise(cuts):
        is_quoted = any(quote.start <= since and quote.end >= until for quote in holding)
        pieces += [(mark, words, ()) for mark, words in split(text[since:until], "mark" if is_quoted else "same")]
        ending = tuple(sorted({number[quote.fact_id] for quote in holding if quote.end == until}))
        if ending:
            mark, words, _ = pieces.pop()
            pieces.append((mark, words, ending))
    return tuple(pieces), len(text) - end


def points(text: str, mark: str = "same") -> list[Piece]:
    """The text in pieces, every character beyond printable ASCII apart, with its code point and itself where it has a
    look: what a model reads where a person sees a letter."""
    pieces: list[Piece] = []
    start = 0
    for place, char in enumerate(text):
        if " " <= char <= "~" or char == "\n":
            continue
        if place > start:
            pieces.append((mark, text[start:place]))
        # Letters, signs and emoji are shown; what joins, turns or hides is named.
        is_seen = char.isprintable() and not unicodedata.combining(char)
        pieces.append(("hidden", f"U+{ord(char):04X} {char}" if is_seen else named(char)))
        start = place + 1
    if start < len(text):
        pieces.append((mark, text[start:]))
    return pieces
