"""What stands beside a memory on its card: the claim it conflicts with, the lessons it stands for, complaints.

Plain values made of rows, as in `review.cards.card`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from memory.models import Fact, Feedback
from memory.served import briefs_with
from review.cards.kinds import Kind, complaints_of
from review.cards.pieces import Piece, has_hidden, visible
from review.cards.proof import Proof, proofs_of
from review.cards.word_diff import diff

# Complaints and parts that a card shows; their number is told in full.
MOST_SHOWN = 6
# A value that fits on a button; of others the place is named.
VALUE_ON_BUTTON = 24


@dataclass(frozen=True)
class Claim:
    """One of two statements, with the quote it rests on and who stands behind it."""

    fact: Fact
    place: str
    sentence: tuple[Piece, ...]
    # The same, with the words marked in which the two differ.
    pieces: tuple[Piece, ...]
    quote: tuple[Piece, ...]
    proof: Proof | None
    briefs: int
    button: str


@dataclass(frozen=True)
class Beside:
    """Everything that a card of this kind shows beyond its own sentence and proof; most of it is empty."""

    claims: tuple[Claim, ...] = ()
    parts: tuple[Fact, ...] = ()
    part_count: int = 0
    complaints: tuple[Feedback, ...] = ()
    complaint_count: int = 0


def beside(fact: Fact, kind: Kind, proofs: tuple[Proof, ...]) -> Beside:
    """What stands beside `fact`, whose own proof is `proofs`. At most six queries."""
    if kind in (Kind.CONFLICT, Kind.SAME_THING) and fact.related is not None:
        return Beside(claims=_claims(fact.related, fact, proofs))
    if kind == Kind.STANDING:
        parts = list(Fact.objects.filter(part_of__standing=fact).select_related("subject").order_by("pk"))
        return Beside(parts=tuple(parts[:MOST_SHOWN]), part_count=len(parts))
    if kind == Kind.COMPLAINT:
        said = complaints_of(fact).select_related("agent").order_by("-pk")
        return Beside(complaints=tuple(said[:MOST_SHOWN]), complaint_count=said.count())
    return Beside()


def _claims(known: Fact, proposed: Fact, proofs: tuple[Proof, ...]) -> tuple[Claim, ...]:
    quoted = list(known.evidence.select_related("observation__session__agent").order_by("pk"))
    known_proofs, _ = proofs_of(quoted, 1)
    old, new = diff(known.text, proposed.text)
    places = ("Known", "Proposed") if known.approved_at is not None else ("Waits already", "Newer")
    return (
        _claim(known, places[0], old, known_proofs, "1"),
        _claim(proposed, places[1], new, proofs, "2"),
    )


def _claim(fact: Fact, place: str, pieces: Iterable[Piece], proofs: tuple[Proof, ...], number: str) -> Claim:
    proof = proofs[0] if proofs else None
    hits = [turn.pieces for stretch in proof.stretches for turn in stretch.turns if turn.is_hit] if proof else []
    value = fact.value if isinstance(fact.value, str | int | float) else None
    said = "" if value is None or isinstance(value, bool) else str(value)
    is_short = 0 < len(said) <= VALUE_ON_BUTTON and not has_hidden(said)
    return Claim(
        fact=fact,
        place=place,
        sentence=tuple(visible(fact.text)),
        pieces=tuple(pieces),
        quote=hits[0] if hits else (),
        proof=proof,
        briefs=briefs_with(fact) if fact.approved_at is not None else 0,
        button=f"Keep {said}" if is_short else f"Keep the {'first' if number == '1' else 'second'}",
    )
