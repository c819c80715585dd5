"""What stands beside a memory on its card: the claim it conflicts with, the lessons it stands for, complaints.

Plain values made of rows, as in `review.cards.card`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from memory.models import BriefServed, Fact, Feedback, Observation, Session, Status
from memory.served import briefs_with
from review.cards.kinds import Kind, complaints_of
from review.cards.pieces import MASKED, Piece, has_hidden, masked, visible
from review.cards.proof import Proof, Turn, proofs_of, speaker
from review.cards.proof_lines import folded
from review.cards.risk import risk_of
from review.cards.word_diff import diff

# Complaints and parts that a card shows; their number is told in full.
MOST_SHOWN = 6
# A value that fits on a button; of others the place is named.
VALUE_ON_BUTTON = 24
# Of an agent's briefs the newest, in which the one it complained of is looked for; and turns shown of its session.
BRIEFS_LOOKED_AT = 200
TURNS_SHOWN = 3


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
class Happened:
    """What was said last in a session whose agent complained of the memory it had been given."""

    session: Session
    at: datetime
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class Beside:
    """Everything that a card of this kind shows beyond its own sentence and proof; most of it is empty."""

    claims: tuple[Claim, ...] = ()
    parts: tuple[Fact, ...] = ()
    part_count: int = 0
    complaints: tuple[Feedback, ...] = ()
    complaint_count: int = 0
    # Of the newest complaint: the session that it came from, as far as the briefs tell.
    happened: Happened | None = None


def beside(fact: Fact, kind: Kind, proofs: tuple[Proof, ...], is_shut: bool = False) -> Beside:
    """What stands beside `fact`, whose own proof is `proofs`. `is_shut`: its quotes are not opened yet, so none is
    shown. At most nine queries."""
    if kind in (Kind.CONFLICT, Kind.SAME_THING) and fact.related is not None:
        # A conflict is opened whole; of near-duplicates each is opened on its own card.
        apart = kind == Kind.SAME_THING and _waits_shut(fact.related)
        return Beside(claims=_claims(fact.related, fact, proofs, is_shut, apart))
    if kind == Kind.STANDING:
        parts = list(Fact.objects.filter(part_of__standing=fact).select_related("subject").order_by("pk"))
        return Beside(parts=tuple(parts[:MOST_SHOWN]), part_count=len(parts))
    if kind == Kind.COMPLAINT:
        said = complaints_of(fact).select_related("agent").order_by("-pk")
        shown = tuple(said[:MOST_SHOWN])
        return Beside(complaints=shown, complaint_count=said.count(), happened=_happened(fact, shown[:1]))
    return Beside()


def _happened(fact: Fact, complaints: tuple[Feedback, ...]) -> Happened | None:
    """Three queries. Nothing in it is marked: no word of it is a quote of the memory."""
    for said in complaints:
        briefs = BriefServed.objects.filter(project_id=fact.project_id, agent=said.agent, at__lte=said.at)
        recent = briefs.exclude(session=None).order_by("-pk").values_list("session", "fact_ids")[:BRIEFS_LOOKED_AT]
        session_id = next((session for session, ids in recent if fact.pk in ids), None)
        if session_id is None:
            continue
        talk = (
            Observation.objects.filter(session=session_id, kind="message", received_at__lte=said.at)
            .exclude(role="system")
            .select_related("session__agent")
            .order_by("-seq", "-pk")[:TURNS_SHOWN]
        )
        rows = list(reversed(talk))
        if rows:
            session = rows[0].session
            asker = session.asker()
            turns = tuple(Turn(speaker(row, asker), tuple(folded(row, [])), False) for row in rows)
            return Happened(session, rows[-1].occurred_at, turns)
    return None


def _waits_shut(known: Fact) -> bool:
    risk = risk_of(known) if known.status == Status.PROPOSED else None
    return risk is not None and risk.needs_opening


def _claims(
    known: Fact, proposed: Fact, proofs: tuple[Proof, ...], is_shut: bool, is_known_shut: bool
) -> tuple[Claim, ...]:
    quoted = list(known.evidence.select_related("observation__session__agent").order_by("pk"))
    known_proofs, _more = proofs_of(quoted, 1)
    old, new = diff(known.text, proposed.text)
    is_live = known.approved_at is not None
    if is_known_shut:
        # Compared word by word, this one would tell what that one does not.
        old, new = [], list(visible(proposed.text))
    places = (_("Known"), _("Proposed")) if is_live else (_("Waits already"), _("Newer"))
    return (
        _claim(known, places[0], old, known_proofs, "1", is_shut or is_known_shut),
        _claim(proposed, places[1], new, proofs, "2", is_shut),
    )


def _claim(fact: Fact, place: str, pieces: list[Piece], proofs: tuple[Proof, ...], number: str, is_shut: bool) -> Claim:
    proof = proofs[0] if proofs else None
    hits = [turn.pieces for stretch in proof.stretches for turn in stretch.turns if turn.is_hit] if proof else []
    said = _on_button(fact, tuple(pieces))
    return Claim(
        fact=fact,
        place=place,
        sentence=tuple(masked(fact.text, fact.findings, MASKED) if is_shut else visible(fact.text)),
        pieces=tuple(masked(fact.text, fact.findings, MASKED) if is_shut else pieces),
        quote=hits[0] if hits and not is_shut else (),
        proof=proof,
        briefs=briefs_with(fact) if fact.approved_at is not None else 0,
        button=_("Keep %(value)s") % {"value": said}
        if said and not (is_shut and fact.findings)
        else (_("Keep the first") if number == "1" else _("Keep the second")),
    )


def _on_button(fact: Fact, pieces: tuple[Piece, ...]) -> str:
    """What the button keeps, in few words: the value, or where that is a number the words in which the two differ,
    with what is counted: `45 days`. "" where nothing short says it."""
    value = fact.value
    said = value if isinstance(value, str) and value != fact.text and not value.strip().isdigit() else ""
    changed = [place for place, (mark, _text) in enumerate(pieces) if mark in ("gone", "new")]
    if not said and len(changed) == 1:
        rest = pieces[changed[0] + 1][1] if changed[0] + 1 < len(pieces) else ""
        said = pieces[changed[0]][1].strip()
        if said.replace(".", "").replace(",", "").isdigit() and rest[:1] == " ":
            said = f"{said} {rest.split()[0]}" if rest.split() else said
        said = said.rstrip(".,;:")
    if not said and isinstance(value, int | float | str) and not isinstance(value, bool) and value != fact.text:
        said = str(value)
    return said if 0 < len(said) <= VALUE_ON_BUTTON and not has_hidden(said) else ""
