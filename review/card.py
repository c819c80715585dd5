"""A memory as a reviewer sees it: its sentence, the proof, what to look at twice, and what happens if it is approved.

Everything here is plain values made of rows, so that a template only prints. Agent text stays text: marks are pieces
of it, never markup.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime

from memory import grounding, rendering, tokens
from memory.models import Evidence, Fact, Observation
from memory.transcript import Quote
from memory.types import type_of
from projects.models import Agent, Membership
from review.decisions import received
from review.pieces import Piece, has_hidden, visible
from review.word_diff import diff

SENTENCE_LIMIT = 240
MOST_FLAGS = 3
# Lines of a quote that are shown before the rest is folded away.
QUOTE_LINES = 8
TERMINAL_KINDS = {"tool_call", "tool_result", "action", "error", "edit"}
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
class Turn:
    """One turn of the proof: who, and the pieces of what was said; `("mark", …)` is the quoted part."""

    who: str
    pieces: tuple[Piece, ...]
    is_hit: bool
    kind: str = "message"
    exit_code: int | None = None


@dataclass(frozen=True)
class Proof:
    """One quote with its surroundings, checked anew. `face` is speech or terminal; `verdict` as Evidence.verdict."""

    evidence: Evidence
    face: str
    turns: tuple[Turn, ...]
    verdict: str
    session: object | None
    said_at: datetime | None
    folded_lines: int = 0


@dataclass(frozen=True)
class Reader:
    """What approving would mean for one agent."""

    agent: Agent
    sees_it: bool
    tokens: int


@dataclass(frozen=True)
class Card:
    """Everything one card shows."""

    fact: Fact
    kind: str
    sentence: tuple[Piece, ...]
    proofs: tuple[Proof, ...]
    flags: tuple[Flag, ...]
    blocked: str
    readers: tuple[Reader, ...]
    known: tuple[Fact, ...]
    known_count: int
    rival: Fact | None = None
    rival_pieces: tuple[Piece, ...] = ()
    own_pieces: tuple[Piece, ...] = ()
    rival_briefs: int = 0
    proposer: str = ""
    goes_to: str = ""
    cost: int = 0
    agents: tuple[Agent, ...] = field(default=())


def build(fact: Fact, membership: Membership, now: datetime) -> Card:
    """The card of one memory, about ten queries whatever it holds."""
    agents = tuple(membership.project.agents.filter(archived_at__isnull=True))
    evidence = list(fact.evidence.select_related("observation__session__agent").order_by("pk"))
    proofs = tuple(_proof(row) for row in evidence[:3])
    rival = Fact.objects.rivals_of(fact).select_related("approved_by").first()
    missing = _unsupported(fact, evidence)
    old, new = diff(rival.text, fact.text) if rival else ([], [])
    cost = tokens.count(rendering.fact_line(fact.short_id, fact.text))
    known = (
        Fact.objects.filter(project_id=fact.project_id, subject_id=fact.subject_id)
        .live(now)
        .exclude(pk=fact.pk)
        .order_by("-times_seen", "-pk")
    )
    return Card(
        fact=fact,
        kind="Changes" if rival else "New",
        sentence=underlined(fact.text, missing),
        proofs=proofs,
        flags=tuple(_flags(fact, proofs, missing, agents)[:MOST_FLAGS]),
        blocked=_blocked(fact, proofs),
        readers=tuple(Reader(agent, fact.everyone or agent.pk in fact.agent_ids, cost) for agent in agents),
        known=tuple(known[:3]),
        known_count=known.count(),
        rival=rival,
        rival_pieces=tuple(old),
        own_pieces=tuple(new),
        rival_briefs=received(rival) if rival else 0,
        proposer=proposer(fact),
        goes_to=goes_to(fact, agents),
        cost=cost,
        agents=agents,
    )


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
    names = [agent.slug for agent in agents if agent.pk in fact.agent_ids]
    return f"{names[0]} only" if len(names) == 1 else ", ".join(names) or "an archived agent"


def underlined(text: str, missing: tuple[str, ...]) -> tuple[Piece, ...]:
    """The sentence in pieces; `("unsupported", word)` is a word that no quote holds."""
    if not missing:
        return tuple(visible(text))
    pattern = re.compile("|".join(re.escape(word) for word in sorted(missing, key=len, reverse=True)), re.IGNORECASE)
    pieces: list[Piece] = []
    end = 0
    for found in pattern.finditer(text):
        pieces += visible(text[end : found.start()])
        pieces.append(("unsupported", found.group()))
        end = found.end()
    return tuple(pieces + visible(text[end:]))


def speaker(observation: Observation) -> str:
    """Who speaks in the gutter: the agent by its name, a tool by its own, else the role."""
    if observation.kind == "tool_call":
        return observation.tool or "command"
    if observation.role == "tool" or observation.kind == "tool_result":
        return "result"
    if observation.role == "assistant":
        return observation.session.agent.slug
    return {"user": "customer" if _about_customer(observation) else "user"}.get(observation.role, observation.role)


def _about_customer(observation: Observation) -> bool:
    return observation.session.source_format == "api" and not observation.session.cwd


def _proof(evidence: Evidence) -> Proof:
    observation = evidence.observation
    verdict = evidence.verdict()
    if observation is None or verdict == "mismatch":
        quote = tuple(visible(evidence.quote, "mark"))
        return Proof(evidence, "speech", (Turn("", quote, True),), verdict, None, evidence.checked_at)
    around = list(
        Observation.objects.filter(session_id=observation.session_id, seq__gte=observation.seq - 6)
        .filter(seq__lte=observation.seq + 6)
        .exclude(kind__in=["meta", "usage", "context_lookup", "summary", "brief"])
        .select_related("session__agent")
        .order_by("seq", "pk")
    )
    place = next((number for number, row in enumerate(around) if row.pk == observation.pk), None)
    near = around[max(0, place - 1) : place + 2] if place is not None else [observation]
    face = "terminal" if observation.kind in TERMINAL_KINDS else "speech"
    folded = 0
    turns = []
    for row in near:
        if row.pk == observation.pk:
            pieces, folded = _marked(row.text, evidence.start, evidence.end)
        else:
            pieces = tuple(visible(_shortened(row.text)))
        turns.append(Turn(speaker(row), pieces, row.pk == observation.pk, row.kind, row.exit_code))
    return Proof(evidence, face, tuple(turns), verdict, observation.session, observation.occurred_at, folded)


def _marked(text: str, start: int, end: int) -> tuple[tuple[Piece, ...], int]:
    """The text with the quoted part marked, folded round the mark when it is long; and how many lines are hidden."""
    first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    last = len(text) if last < 0 else last
    lines = text.count("\n") + 1
    if lines <= QUOTE_LINES and len(text) <= 1200:
        first, last, hidden = 0, len(text), 0
    else:
        first, last = max(first, start - 300), min(last, end + 300)
        hidden = lines - text[first:last].count("\n") - 1
    head, tail = ("… " if first > 0 else ""), (" …" if last < len(text) else "")
    pieces = visible(head + text[first:start]) + visible(text[start:end], "mark") + visible(text[end:last] + tail)
    return tuple(pieces), hidden


def _shortened(text: str, limit: int = 400) -> str:
    return text if len(text) <= limit else text[:limit].rstrip() + " …"


def _unsupported(fact: Fact, evidence: list[Evidence]) -> tuple[str, ...]:
    quotes = [Quote(ref=row.pk, start=row.start, end=row.end, text=row.quote) for row in evidence]
    return tuple(grounding.unsupported_words(fact.text, quotes)) if quotes else ()


def _flags(fact: Fact, proofs: tuple[Proof, ...], missing: tuple[str, ...], agents: tuple[Agent, ...]) -> list[Flag]:
    flags = []
    if any(proof.verdict == "mismatch" for proof in proofs):
        flags.append(Flag("The quote is not in its source.", "It cannot be approved; reject it, or write it anew."))
    if has_hidden(fact.text):
        flags.append(Flag("Hidden characters in the sentence.", "Edit them out before you approve."))
    for category in dict.fromkeys(found.get("category", "") for found in fact.findings):
        if category in SENSITIVE:
            flags.append(Flag(f"{SENSITIVE[category]}.", "Approve it only for the agents that need it."))
    if missing and proofs:
        shown = "”, “".join(missing[:3])
        verb = "is" if len(missing) == 1 else "are"
        flags.append(Flag(f"“{shown}” {verb} in no quote.", "Check, or edit it out."))
    if len(fact.text) > SENTENCE_LIMIT:
        flags.append(Flag(f"{len(fact.text)} characters.", "A memory is one sentence; shorten it."))
    if not proofs and fact.source != "manual":
        flags.append(Flag("No quote.", "An agent proposed it and showed nothing; ask yourself how it would know."))
    if type_of(fact.type).own_agent_only and fact.everyone and len(agents) > 1:
        flags.append(Flag("Goes to every agent.", "What is known about a customer usually stays with one."))
    return flags


def _blocked(fact: Fact, proofs: tuple[Proof, ...]) -> str:
    """Why Approve is off, or ""."""
    if any(proof.verdict == "mismatch" for proof in proofs):
        return "The evidence does not match its source."
    if has_hidden(fact.text):
        return "The sentence holds hidden characters."
    return ""
