"""Three practice cards before a reviewer's first sitting: one that holds, one that says more than its quote, one that
is an instruction from a page. Invented and shipped as data; never memories, never counted.
"""

from __future__ import annotations

import functools
import tomllib
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from projects.models import Membership
from review.cards.flags import underlined
from review.cards.pieces import Piece

DATA = Path(__file__).parent.parent / "data" / "practice.toml"
ANSWERS = ("approve", "edit", "reject")


@dataclass(frozen=True)
class Turn:
    """One turn, as the evidence of a card shows it."""

    who: str
    pieces: tuple[Piece, ...]
    is_hit: bool
    is_command: bool
    exit_code: int | None


@dataclass(frozen=True)
class PracticeCard:
    """One practice card; `holds` is whether approving it is right."""

    number: int
    subject: str
    type: str
    key: str
    sentence: tuple[Piece, ...]
    goes_to: str
    lives: str
    proposer: str
    session: str
    turns: tuple[Turn, ...]
    is_terminal: bool
    flag: str
    advice: str
    holds: bool
    right: str
    wrong: str

    def is_right(self, answer: str) -> bool:
        """Whether this was right: of what does not hold, rejecting it or editing it out."""
        return answer == "approve" if self.holds else answer in ("edit", "reject")

    def feedback(self, answer: str) -> str:
        """One sentence on an answer of ANSWERS."""
        return self.right if self.is_right(answer) else self.wrong


@functools.cache
def cards() -> tuple[PracticeCard, ...]:
    rows = tomllib.loads(DATA.read_text("utf-8"))["card"]
    return tuple(_card(number, row) for number, row in enumerate(rows, 1))


def is_due(membership: Membership) -> bool:
    """Whether this is a reviewer's first sitting in this project."""
    return membership.can_review and membership.practised_at is None


def done(membership: Membership, now: datetime) -> None:
    """They went through the cards, or past them. Whoever practises again keeps the first day."""
    Membership.objects.filter(pk=membership.pk, practised_at__isnull=True).update(practised_at=now)


def _card(number: int, row: dict[str, Any]) -> PracticeCard:
    missing = (row["unsupported"],) if "unsupported" in row else ()
    told = {name: row.get(name, "") for name in ("flag", "advice")}
    plain = {name: row[name] for name in ("subject", "type", "key", "goes_to", "lives", "proposer", "session")}
    answers = {name: row[name] for name in ("holds", "right", "wrong")}
    turns = tuple(_turn(turn) for turn in row["turn"])
    return PracticeCard(
        number=number,
        sentence=underlined(row["sentence"], missing),
        turns=turns,
        is_terminal=any(turn.is_command for turn in turns),
        **plain,
        **told,
        **answers,
    )


def _turn(row: dict[str, Any]) -> Turn:
    spoken = (
        ("same", row.get("text", row.get("before", ""))),
        ("mark", row.get("mark", "")),
        ("same", row.get("after", "")),
    )
    pieces = tuple((mark, text) for mark, text in spoken if text)
    is_hit = any(mark == "mark" for mark, _text in pieces)
    return Turn(row["who"], pieces, is_hit, row.get("is_command", False), row.get("exit_code"))
