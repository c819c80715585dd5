"""A long session in pieces that a model can read at once (values): cut where a turn begins, with some overlap.

A call and its result stay together. What can be no evidence (our own briefs, summaries, system text) is not sent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from memory import tokens
from memory.grounding import why_never_evidence
from memory.transcript import Seen

PIECE_TOKENS = 16_000  # of the record alone, counted as o200k
OVERLAP_TOKENS = 1_200
SMALLEST_PIECE = 500  # a model that cannot read this much cannot read at all
# Of one observation: enough to see an error, its surroundings and its end.
HEAD, TAIL = 4_000, 2_000

_WHO = {"user": "user", "assistant": "agent", "tool": "tool"}


@dataclass(frozen=True, slots=True)
class Turn:
    """One observation as it is sent. `number` is its place in the session; `opens` says that a new turn begins here,
    `clings` that it belongs to the one before it."""

    number: int
    seen: Seen
    head: str
    text: str
    tokens: int
    opens: bool
    clings: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """Some turns of a session, in order."""

    turns: tuple[Turn, ...]

    @property
    def tokens(self) -> int:
        return sum(turn.tokens for turn in self.turns)

    def text(self) -> str:
        """The record between marks that nothing inside it can foresee, so that no text can pretend to be a turn."""
        content = "".join(f"{turn.head}\n{turn.text}\n" for turn in self.turns)
        mark = hashlib.sha256(content.encode()).hexdigest()[:8]
        return "\n".join(f"<observation-{mark} {turn.head}>\n{turn.text}\n</observation-{mark}>" for turn in self.turns)


def turns_of(observations: Sequence[Seen], zone: tzinfo) -> list[Turn]:
    """What is sent of a session, numbered by its place in the whole of it (from 1)."""
    found: list[Turn] = []
    for number, seen in enumerate(observations, start=1):
        if why_never_evidence(seen) or not seen.text.strip():
            continue
        head, text = _head(number, seen, zone), _shortened(seen.text)
        before = found[-1].seen if found else None
        clings = seen.role == "tool" and before is not None and before.role in ("assistant", "tool")
        found.append(
            # 30 tokens for the marks round it.
            Turn(number, seen, head, text, tokens.count(f"{head}\n{text}\n") + 30, seen.role == "user", clings)
        )
    return found


def cut(turns: Sequence[Turn], most: int = PIECE_TOKENS, overlap: int = OVERLAP_TOKENS) -> list[Piece]:
    """The turns in pieces of at most `most` tokens, the end of each repeated in the next. A turn that is longer stands
    alone."""
    pieces = []
    start = fresh = 0  # the piece begins at `start`, what it says for the first time at `fresh`
    while fresh < len(turns):
        end, held = start, 0
        while end < len(turns) and (held + turns[end].tokens <= most or end <= fresh):
            if held + turns[end].tokens > most:
                start = end  # a turn that leaves no room for what came before it
            held += turns[end].tokens
            end += 1
        if end < len(turns):
            end = _border(turns, fresh, end)
        pieces.append(Piece(tuple(turns[start:end])))
        fresh, start, held = end, end, 0
        while start > 0 and held + turns[start - 1].tokens <= min(overlap, most // 4):
            start -= 1
            held += turns[start].tokens
    return pieces


def _border(turns: Sequence[Turn], fresh: int, end: int) -> int:
    """Where to cut at or before `end`: before a turn of the user's in the second half, else before anything that does
    not belong to what stands before it."""
    for place in range(end, fresh + (end - fresh) // 2, -1):
        if turns[place].opens:
            return place
    for place in range(end, fresh, -1):
        if not turns[place].clings:
            return place
    return end


def _head(number: int, seen: Seen, zone: tzinfo) -> str:
    parts = [f'n="{number}"', f'who="{_who(seen)}"']
    if seen.tool:
        parts.append(f'tool="{_attribute(seen.tool)}"')
    if seen.exit_code is not None:
        parts.append(f'exit="{seen.exit_code}"')
    elif seen.is_error:
        parts.append('error="yes"')
    if seen.occurred_at is not None:
        parts.append(f'at="{_moment(seen.occurred_at, zone)}"')
    return " ".join(parts)


def _who(seen: Seen) -> str:
    who = _WHO.get(seen.role, "tool")
    if seen.kind in ("tool_call", "edit", "action") and who == "agent":
        who = {"tool_call": "agent runs", "edit": "agent edits", "action": "agent does"}[seen.kind]
    return f"sub-agent, {who}" if seen.sidechain else who


def _moment(at: datetime, zone: tzinfo) -> str:
    try:
        return at.astimezone(zone).strftime("%a %Y-%m-%d %H:%M")
    except OverflowError:  # at the ends of the calendar
        return at.date().isoformat()


def _attribute(name: str) -> str:
    return "".join(letter for letter in name if letter.isprintable() and letter not in '"<>')[:60]


def _shortened(text: str) -> str:
    if len(text) <= HEAD + TAIL + 100:
        return text
    return f"{text[:HEAD]}\n[… {len(text) - HEAD - TAIL:,} characters left out …]\n{text[-TAIL:]}"
