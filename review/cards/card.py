"""A memory as a reviewer sees it: its sentence, the proof, what to look at twice, and what happens if it is approved.

Everything here is plain values made of rows, so that a template only prints. Agent text stays text: marks are pieces
of it, never markup.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from django.utils.translation import gettext as _

from memory import reads, short_ids
from memory.models import Evidence, Fact, Status
from memory.prepared import fetch
from memory.served import briefs_of, briefs_with
from projects.models import Agent, Membership
from review.cards import lifetime
from review.cards.beside import Beside, beside
from review.cards.flag import GRAVE, SOURCE, Flag
from review.cards.flags import MOST_FLAGS, blocked_by, flags_of, seen_beside, underlined, unsupported
from review.cards.impact import cost
from review.cards.kinds import Kind, kind_of
from review.cards.origin_beside import Alike, from_same_place
from review.cards.pieces import MASKED, Piece, masked, visible
from review.cards.proof import ON_CARD, Proof, proofs_of
from review.cards.risk import Risk, risk_of
from review.cards.served_value import unsaid
from review.cards.similar import Similar, similar_to
from review.cards.word_diff import diff

# Live memories about the same subject that are shown; their number is told in full.
KNOWN_SHOWN = 3


_KNOWN = """
SELECT id, text, count(*) OVER () FROM memory_fact
WHERE project_id = %(project)s::bigint AND subject_id = %(subject)s::bigint AND status = 'approved'
    AND (expires_at IS NULL OR expires_at > %(now)s::timestamptz) AND id <> ALL (%(but)s::bigint[])
    AND NOT EXISTS (SELECT 1 FROM memory_standingpart
        WHERE part_id = memory_fact.id AND standing_id = %(fact)s::bigint)
ORDER BY times_seen DESC, id DESC LIMIT {most}
""".replace("{most}", str(KNOWN_SHOWN))


@dataclass(frozen=True)
class Known:
    """A live memory about the same subject, and in how many briefs it was."""

    pk: int
    text: str
    briefs: int

    @property
    def short_id(self) -> str:
        return short_ids.encode(self.pk)


@dataclass(frozen=True)
class Card:
    """Everything one card shows."""

    fact: Fact
    kind: Kind
    sentence: tuple[Piece, ...]
    proofs: tuple[Proof, ...]
    flags: tuple[Flag, ...]
    blocked: str
    more_proofs: int
    known: tuple[Known, ...]
    known_count: int
    beside: Beside
    # What agents get that the sentence does not say.
    unsaid: tuple[Piece, ...] = ()
    rival: Fact | None = None
    # What an approval would replace by its key alone, as the form says it back: `f-….3,f-….1`.
    replaces: str = ""
    rival_pieces: tuple[Piece, ...] = ()
    own_pieces: tuple[Piece, ...] = ()
    rival_briefs: int = 0
    proposer: str = ""
    goes_to: str = ""
    cost: int = 0
    agents: tuple[Agent, ...] = field(default=())
    risk: Risk | None = None
    # Whether the memory itself takes two people; `risk` may be that of the one it conflicts with.
    takes_two: bool = False
    # Whether a risky card was opened: its quote is on the screen, and what was masked.
    is_opened: bool = False
    alike: Alike | None = None
    similar: Similar | None = None
    heard: str = ""
    # The rule that moves its end, in words, or what its end is counted from; both mostly empty.
    lives: str = ""
    after_due: str = ""

    @property
    def names(self) -> str:
        """The agents it goes to when it does not go to everyone."""
        return " and ".join(_names(self.fact, self.agents)) or "its agents"

    @property
    def is_quiet(self) -> bool:
        """Whether nothing speaks against what the card suggests: then its button is filled."""
        is_odd = self.fact.status == Status.PROPOSED and any(flag.rank < GRAVE for flag in self.flags)
        return self.risk is None and not self.blocked and not is_odd

    @property
    def is_shut(self) -> bool:
        """Whether its quote is still to be opened: until then it cannot be approved."""
        return self.risk is not None and self.risk.needs_opening and not self.is_opened

    @property
    def is_masked(self) -> bool:
        """Whether parts of the sentence stand as dots."""
        return any(mark == "masked" for mark, _ in self.sentence)

    @property
    def locked(self) -> str:
        """Why Approve is off, or ""."""
        return self.blocked or (_("Open the quote first.") if self.is_shut else "")

    @property
    def approve_words(self) -> str:
        """`Approve`; on a risky card `Approve for support`: the button names who gets it."""
        if self.risk is None or self.is_shut:
            return _("Approve")
        names = _names(self.fact, self.agents)
        if self.fact.everyone:
            return _("Approve for everyone")
        if len(names) > 2:
            return _("Approve for %(count)d agents") % {"count": len(names)}
        return _("Approve for %(agents)s") % {"agents": _(" and ").join(names) or _("its agents")}

    @property
    def source_flags(self) -> tuple[Flag, ...]:
        """Those that are read before the evidence."""
        return tuple(flag for flag in self.flags if flag.about == SOURCE)

    @property
    def word_flags(self) -> tuple[Flag, ...]:
        return tuple(flag for flag in self.flags if flag.about != SOURCE)

    @property
    def shut_lines(self) -> int:
        return sum(proof.line_count for proof in self.proofs)

    @property
    def shut_hidden(self) -> int:
        return sum(proof.hidden_count for proof in self.proofs)

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
        return _("Still true") if self.kind == Kind.STILL_TRUE else "It holds"

    @property
    def is_broken(self) -> bool:
        """Whether a quote is not in its source: no edit of the sentence mends that."""
        return any(proof.verdict == "mismatch" for proof in self.proofs)


def build(
    fact: Fact,
    membership: Membership,
    now: datetime,
    proofs_shown: int = ON_CARD,
    is_opened: bool = False,
    quotes: list[Evidence] | None = None,
    stays_shut: bool = False,
) -> Card:
    """The card of one memory, about twelve queries whatever it holds. `is_opened`: its reader opened the quote;
    `quotes`: with their sessions, where they are not the memory's own rows; `stays_shut`: a quote that was shut while
    it waited is still, whatever somebody decided."""
    agents = tuple(reads.AGENTS.all(project=membership.project_id))
    for agent in agents:
        agent.project = membership.project
    evidence = _quotes(fact, agents) if quotes is None else quotes
    proofs, more_proofs = proofs_of(evidence, proofs_shown)
    by_keys = list(Fact.objects.rivals_of(fact).select_related("approved_by")) if fact.approved_at is None else []
    by_key = by_keys[0] if by_keys else None
    kind = kind_of(fact, by_key, now)
    rival = (by_key or fact.related) if kind == Kind.CHANGES else None
    # What somebody countersigned they answer for, whatever the quote says.
    missing = unsupported(fact, evidence, seen_beside(fact, proofs)) if fact.status == Status.PROPOSED else ()
    risk = risk_of(fact, evidence, agents) if stays_shut or fact.status == Status.PROPOSED else None
    takes_two = fact.status == Status.PROPOSED and risk is not None and risk.needs_two
    if risk is None and kind == Kind.CONFLICT and fact.related is not None and fact.related.status == Status.PROPOSED:
        # To keep the other claim is to countersign it.
        risk = risk_of(fact.related, None, agents)
    is_shut = risk is not None and risk.needs_opening and not is_opened
    stands_beside = beside(fact, kind, proofs, is_shut)
    old, new = diff(rival.text, fact.text) if rival else ([], [])
    own_cost = cost(fact)
    known, known_count = _known(fact, rival, now)
    return Card(
        fact=fact,
        kind=kind,
        beside=stands_beside,
        sentence=tuple(masked(fact.text, fact.findings, MASKED)) if is_shut else underlined(fact.text, missing),
        proofs=proofs,
        flags=tuple(flags_of(fact, proofs, () if is_shut else missing, risk, is_shut)[:MOST_FLAGS]),
        blocked=blocked_by(fact, proofs),
        more_proofs=more_proofs,
        known=known,
        known_count=known_count,
        unsaid=() if is_shut else tuple(visible(unsaid(fact))),
        rival=rival,
        replaces=replaced(by_keys),
        rival_pieces=tuple(old),
        own_pieces=tuple(masked(fact.text, fact.findings, MASKED)) if is_shut and rival else tuple(new),
        rival_briefs=briefs_with(rival) if rival else 0,
        proposer=proposer(fact),
        goes_to=goes_to(fact, agents),
        cost=own_cost,
        agents=agents,
        risk=risk,
        takes_two=takes_two,
        is_opened=is_opened,
        alike=from_same_place(fact, proofs) if risk is not None else None,
        similar=similar_to(fact) if fact.status == Status.PROPOSED else None,
        heard=lifetime.heard(fact, kind, stands_beside.complaint_count, now),
        lives=lifetime.rule(fact),
        after_due=lifetime.after_due(fact),
    )


def replaced(rivals: Iterable[Fact]) -> str:
    """Which memories, and which revisions of them, a form says that its reader saw beside the card."""
    return ",".join(sorted(f"{one.short_id}.{one.revision}" for one in rivals))


def _quotes(fact: Fact, agents: tuple[Agent, ...]) -> list[Evidence]:
    """Its quotes with their observations and sessions; whose sessions these are is known mostly."""
    rows = reads.QUOTES.all(fact=fact.pk)
    by_id = {agent.pk: agent for agent in agents}
    for row in rows:
        session = row.observation.session if row.observation is not None else None
        if session is not None and session.agent_id in by_id:
            session.agent = by_id[session.agent_id]
    if fact.proposed_by_agent_id in by_id:
        fact.proposed_by_agent = by_id[fact.proposed_by_agent_id]
    return rows


def _known(fact: Fact, rival: Fact | None, now: datetime) -> tuple[tuple[Known, ...], int]:
    """What else agents get about its subject: the commonest, each with its briefs, and how many there are. Two
    queries."""
    if fact.subject.frozen_at is not None:
        return (), 0
    but = [fact.pk, rival.pk if rival else 0, fact.related_id or 0]
    named = {"project": fact.project_id, "subject": fact.subject_id, "now": now, "but": but}
    named["fact"] = fact.pk
    rows = fetch(Fact.objects.db, _KNOWN, named)
    briefs = briefs_of(fact.project_id, [row[0] for row in rows])
    return tuple(Known(pk, text, briefs[pk]) for pk, text, _count in rows), rows[0][2] if rows else 0


def proposer(fact: Fact) -> str:
    """Who stands on the left line: the agent and its reader, or the person who wrote it by hand."""
    if fact.proposed_by is not None:
        return fact.proposed_by.short_name
    agent = fact.proposed_by_agent.slug if fact.proposed_by_agent is not None else "an agent"
    if not fact.distiller:
        return agent
    return (
        _("%(agent)s · %(distiller)s reader %(prompt_version)s")
        % {"agent": agent, "distiller": fact.distiller, "prompt_version": fact.prompt_version}
    ).strip()


def goes_to(fact: Fact, agents: tuple[Agent, ...]) -> str:
    """Who receives it, in words."""
    if fact.everyone:
        return "everyone"
    names = _names(fact, agents)
    return f"{names[0]} only" if len(names) == 1 else ", ".join(names) or "an archived agent"


def _names(fact: Fact, agents: tuple[Agent, ...]) -> list[str]:
    return [agent.slug for agent in agents if agent.pk in fact.agent_ids]
