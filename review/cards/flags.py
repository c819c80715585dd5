"""What to look at twice on a card: words no quote holds, findings, and what keeps a memory from being approved."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memory import grounding
from memory.models import Evidence, Fact
from memory.transcript import Quote
from projects.models import Agent
from review.cards.pieces import Piece, has_hidden, visible
from review.cards.proof import Proof

SENTENCE_LIMIT = 240
MOST_FLAGS = 3
SENSITIVE = {
    "contact": "Contact data",
    "payment": "Payment data",
    "health": "Words about health",
    "secret": "A secret was replaced",
}


@dataclass(frozen=True)
class Flag:
    """A finding and what to do about it."""

    finding: str
    advice: str


def underlined(text: str, missing: tuple[str, ...]) -> tuple[Piece, ...]:
    """The sentence in pieces; `("unsupported", word)` is a word that no quote holds."""
    if not missing:
        return tuple(visible(text))
    longest_first = "|".join(re.escape(word) for word in sorted(missing, key=len, reverse=True))
    pattern = re.compile(rf"(?<!\w)(?:{longest_first})(?!\w)", re.IGNORECASE)
    pieces: list[Piece] = []
    end = 0
    for found in pattern.finditer(text):
        pieces += visible(text[end : found.start()])
        pieces.append(("unsupported", found.group()))
        end = found.end()
    return tuple(pieces + visible(text[end:]))


def unsupported(fact: Fact, evidence: list[Evidence]) -> tuple[str, ...]:
    quotes = [Quote(ref=row.pk, start=row.start, end=row.end, text=row.quote) for row in evidence]
    missing = grounding.unsupported_words(fact.text, quotes) if quotes else ()
    # A single letter is the s of a genitive or the t of a negation, never a claim.
    return tuple(word for word in missing if len(word) > 1 or not word.isalpha())


def flags_of(fact: Fact, proofs: tuple[Proof, ...], missing: tuple[str, ...], agents: tuple[Agent, ...]) -> list[Flag]:
    flags: list[Flag] = []
    if any(proof.verdict == "mismatch" for proof in proofs):
        flags.append(Flag("The quote is not in its source.", "It cannot be approved; reject it, or write it anew."))
    if has_hidden(fact.text):
        flags.append(Flag("Hidden characters in the sentence.", "Edit them out before you approve."))
    if fact.valid_to is not None:
        flags.append(Flag("It was said before what is known.", "Approved, it becomes history; what is known stays."))
    for category in dict.fromkeys(found.get("category", "") for found in fact.findings):
        if category in SENSITIVE:
            flags.append(Flag(f"{SENSITIVE[category]}.", "Approve it only for the agents that need it."))
    if missing and proofs:
        # Isolated, so that a word of another script does not turn the sentence round.
        missing = tuple(f"\u2068{word if len(word) <= 40 else word[:40] + '…'}\u2069" for word in missing)
        shown = "”, “".join(missing[:3])
        rest = f" and {len(missing) - 3} more words" if len(missing) > 4 else f", “{missing[3]}”" if missing[3:] else ""
        verb, them = ("is", "it") if len(missing) == 1 else ("are", "them")
        flags.append(Flag(f"“{shown}”{rest} {verb} in no quote.", f"Check {them}, or edit {them} out."))
    if len(fact.text) > SENTENCE_LIMIT:
        flags.append(Flag(f"{len(fact.text)} characters.", "A memory is one sentence; shorten it."))
    if not proofs and fact.source != "manual":
        flags.append(Flag("No quote.", "An agent proposed it and showed nothing; ask yourself how it would know."))
    if fact.type_row.own_agent_only and fact.everyone and len(agents) > 1:
        flags.append(Flag("Goes to every agent.", "What is known about a customer usually stays with one."))
    return flags


def blocked_by(fact: Fact, proofs: tuple[Proof, ...]) -> str:
    """Why Approve is off, or ""."""
    if any(proof.verdict == "mismatch" for proof in proofs):
        return "The evidence does not match its source."
    if has_hidden(fact.text):
        return "The sentence holds hidden characters."
    return ""
