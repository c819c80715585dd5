"""A memory as a reviewer sees it: its sentence, the proof, what to look at twice, and what happens if it is approved.

Everything here is plain values made of rows, so that a template only prints. Agent text stays text: marks are pieces
of it, never markup.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime

from memory import grounding, rendering, tokens
from memory.models import BriefServed, Evidence, Fact, Status
from memory.transcript import Quote
from projects.models import Agent, Membership
from review.beside import Beside, beside
from review.decisions import received
from review.kinds import Kind, kind_of
from review.pieces import Piece, has_hidden, visible
from review.proof import ON_CARD, Proof, proofs_of
from review.served_value import unsaid
from review.word_diff import diff

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


@dataclass(frozen=True)
class Reader:
    """What approving would mean for one agent."""

    agent: Agent
    sees_it: bool
    tokens: int  # more than now; fewer where a shorter sentence replaces a longer one

    @property
    def change(self) -> str:
        """`+31 tokens`, `−3 tokens`."""
        sign = "−" if self.tokens < 0 else "+"
        return f"{sign}{abs(self.tokens)} token{'' if abs(self.tokens) == 1 else 's'}"


@dataclass(frozen=True)
class Known:
    """A live memory about the same subject, and in how many briefs it was."""

    fact: Fact
    briefs: int


@dataclass(frozen=True)
class Card:
    """Everything one card shows."""

    fact: Fact
    kind: Kind
    sentence: tuple[Piece, ...]
    proofs: tuple[Proof, ...]
    flags: tuple[Flag, ...]
    blocked: str
    readers: tuple[Reader, ...]
    more_proofs: int
    known: tuple[Known, ...]
    known_count: int
    beside: Beside
    # What agents get that the sentence does not say.
    unsaid: tuple[Piece, ...] = ()
    rival: Fact | None = None
    rival_pieces: tuple[Piece, ...] = ()
    own_pieces: tuple[Piece, ...] = ()
    rival_briefs: int = 0
    proposer: str = ""
    goes_to: str = ""
    cost: int = 0
    agents: tuple[Agent, ...] = field(default=())

    @property
    def names(self) -> str:
        """The agents it goes to when it does not go to everyone."""
        return " and ".join(_names(self.fact, self.agents)) or "its agents"

    @property
    def is_quiet(self) -> bool:
        """Whether nothing speaks against what the card suggests: then its button is filled."""
        return self.kind == Kind.STILL_TRUE

    @property
    def may_keep_both(self) -> bool:
        """Whether the memory beside it can hold as well: a key of one value holds one for the same readers."""
        fact, other = self.fact, self.fact.related
        if other is None or not fact.type_row.single_valued or (other.type, other.key) != (fact.type, fact.key):
            return True
        share_readers = fact.everyone or not set(fact.agent_ids).isdisjoint(other.agent_ids)
        return other.everyone != fact.everyone or not share_readers

    @property
    def confirm_words(self) -> str:
        """What the button of a live memory says: it names what it keeps."""
        return "Still true" if self.kind == Kind.STILL_TRUE else "It holds"

    @property
    def is_broken(self) -> bool:
        """Whether a quote is not in its source: no edit of the sentence mends that."""
        return any(proof.verdict == "mismatch" for proof in self.proofs)


def build(fact: Fact, membership: Membership, now: datetime, proofs_shown: int = ON_CARD) -> Card:
    """The card of one memory, about ten queries whatever it holds."""
    agents = tuple(membership.project.agents.filter(archived_at__isnull=True))
    evidence = list(fact.evidence.select_related("observation__session__agent").order_by("pk"))
    proofs, more_proofs = proofs_of(evidence, proofs_shown)
    by_key = Fact.objects.rivals_of(fact).select_related("approved_by").first() if fact.approved_at is None else None
    kind = kind_of(fact, by_key, now)
    rival = (by_key or fact.related) if kind == Kind.CHANGES else None
    stands_beside = beside(fact, kind, proofs)
    missing = _unsupported(fact, evidence)
    old, new = diff(rival.text, fact.text) if rival else ([], [])
    cost = _cost(fact)
    known = (
        Fact.objects.filter(project_id=fact.project_id, subject_id=fact.subject_id)
        .live(now)
        .exclude(pk__in=[fact.pk, rival.pk if rival else 0, fact.related_id or 0])
        .order_by("-times_seen", "-pk")
    )
    return Card(
        fact=fact,
        kind=kind,
        beside=stands_beside,
        sentence=underlined(fact.text, missing),
        proofs=proofs,
        flags=tuple(_flags(fact, proofs, missing, agents)[:MOST_FLAGS]),
        blocked=_blocked(fact, proofs),
        readers=tuple(_reader(agent, fact, _taken_out(fact, kind, rival), cost) for agent in agents),
        more_proofs=more_proofs,
        known=tuple(Known(one, briefs) for one, briefs in with_briefs(list(known[:3]))),
        known_count=known.count(),
        unsaid=tuple(visible(unsaid(fact))),
        rival=rival,
        rival_pieces=tuple(old),
        own_pieces=tuple(new),
        rival_briefs=received(rival) if rival else 0,
        proposer=proposer(fact),
        goes_to=goes_to(fact, agents),
        cost=cost,
        agents=agents,
    )


def _cost(fact: Fact) -> int:
    return tokens.count(rendering.fact_line(fact.short_id, fact.text))


def _taken_out(fact: Fact, kind: Kind, rival: Fact | None) -> list[Fact]:
    """The live memories whose place this one takes when it is approved as the card suggests."""
    if kind == Kind.STANDING:
        return list(Fact.objects.filter(part_of__standing=fact, status=Status.APPROVED).order_by("pk"))
    if kind == Kind.CONFLICT and fact.related is not None and fact.related.status == Status.APPROVED:
        return [fact.related]
    return [rival] if rival is not None else []


def _reader(agent: Agent, fact: Fact, taken_out: list[Fact], cost: int) -> Reader:
    freed = sum(_cost(one) for one in taken_out if _goes_to(one, agent))
    return Reader(agent, _goes_to(fact, agent), cost - freed)


def _goes_to(fact: Fact, agent: Agent) -> bool:
    return fact.everyone or agent.pk in fact.agent_ids


def with_briefs(facts: list[Fact]) -> list[tuple[Fact, int]]:
    """Each fact with the number of briefs it was in: one query for all."""
    counts = dict.fromkeys((fact.pk for fact in facts), 0)
    if facts:
        served = BriefServed.objects.filter(
            project_id=facts[0].project_id, fact_ids__overlap=sorted(counts), unchanged=False
        ).values_list("fact_ids", flat=True)
        for ids in served:
            for pk in counts.keys() & set(ids):
                counts[pk] += 1
    return [(fact, counts[fact.pk]) for fact in facts]


def proposer(fact: Fact) -> str:
    """Who stands on the left line: the agent and its reader, or the person who wrote it by hand."""
    if fact.proposed_by is not None:
        return fact.proposed_by.short_name
    agent = fact.proposed_by_agent.slug if fact.proposed_by_agent is not None else "an agent"
    if not fact.distiller:
        return agent
    return f"{agent} · {fact.distiller} reader {fact.prompt_version}".strip()


def goes_to(fact: Fact, agents: tuple[Agent, ...]) -> str:
    """Who receives it, in words."""
    if fact.everyone:
        return "everyone"
    names = _names(fact, agents)
    return f"{names[0]} only" if len(names) == 1 else ", ".join(names) or "an archived agent"


def _names(fact: Fact, agents: tuple[Agent, ...]) -> list[str]:
    return [agent.slug for agent in agents if agent.pk in fact.agent_ids]


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


def _unsupported(fact: Fact, evidence: list[Evidence]) -> tuple[str, ...]:
    quotes = [Quote(ref=row.pk, start=row.start, end=row.end, text=row.quote) for row in evidence]
    missing = grounding.unsupported_words(fact.text, quotes) if quotes else ()
    # A single letter is the s of a genitive or the t of a negation, never a claim.
    return tuple(word for word in missing if len(word) > 1 or not word.isalpha())


def _flags(fact: Fact, proofs: tuple[Proof, ...], missing: tuple[str, ...], agents: tuple[Agent, ...]) -> list[Flag]:
    flags = []
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


def _blocked(fact: Fact, proofs: tuple[Proof, ...]) -> str:
    """Why Approve is off, or ""."""
    if any(proof.verdict == "mismatch" for proof in proofs):
        return "The evidence does not match its source."
    if has_hidden(fact.text):
        return "The sentence holds hidden characters."
    return ""
