"""Compares what was learned with what is known: new, the same again, changing or contradicting something, nearly the
same as something, or something that a person already refused.

Counted without asking is only what says the same under the same key, word for word or in words that mean the same
(memory/likeness.py): every digit, name and denial matters. Whatever else stands near a known fact is proposed with that
fact beside it, for a person to see; nothing approved moves by itself. docs/reconciliation.md tells the rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from memory import embeddings, likeness, rendering
from memory.learned import Cited, Learned, findings_of, is_for_one_agent, is_of, said_at, subject_for
from memory.likeness import Likeness
from memory.looked_up import REFUSED, OneByOne, lock
from memory.looked_up import said as said_in
from memory.models import Fact, Relation, Session, Status, Subject, Suppression
from memory.models.subject import PROJECT
from memory.neighbours import Cosines
from memory.statements import CHANGES, Statement, relate
from memory.types import type_of
from projects.models import Agent

__all__ = ["Cited", "Learned", "Placed", "compare", "findings_of", "lock", "place", "subject_for"]

# So much of what was learned has to be in what a person refused, and nothing beside it, for it to be held back unseen.
NEAR_REFUSED = 0.75
# Of several facts that it stands beside, the one that the card asks about.
_FIRST_ASKED = (Relation.CHANGES, Relation.CONFLICTS, Relation.SAME_THING)


@dataclass(frozen=True, slots=True)
class Placed:
    """What became of it. `new`: `fact` is the proposal. `changes`, `conflicts`, `same_thing`: it is too, and
    `fact.related` the known fact it stands beside. `same`: `fact` is the known one. `suppressed`: it is the one a
    person refused.

    `counted` says whether the known fact was counted up: once a session, never more. `hidden` says that it was none of
    this agent's until now: neither proposed by it nor meant for it.
    """

    outcome: str
    fact: Fact
    counted: bool = False
    hidden: bool = False

    @property
    def is_proposal(self) -> bool:
        return self.outcome not in ("same", "suppressed")


def compare(first: str, second: str) -> Likeness:
    """How two statements about one subject stand to each other by their words, with the local vectors where there are
    some: same, same_thing, conflicts or different."""

    def cosine() -> float | None:
        try:
            one, two = embeddings.embed([first, second])
        except (embeddings.EmbedderUnavailable, embeddings.BadVector):
            return None
        return sum(a * b for a, b in zip(one, two, strict=True))

    return likeness.compare(first, second, cosine)


def place(
    learned: Learned,
    *,
    subject: Subject,
    agent: Agent | None,
    now: datetime,
    session: Session | None = None,
    read: OneByOne | None = None,
) -> Placed:
    """Finds or makes the fact. Locks the subject until the transaction ends, so that two workers make one fact.

    `read` is `AtOnce` for many lines of one session, whose quotes are written when it finishes.
    """
    read = read or OneByOne()
    read.lock(subject)
    words = said_in(learned)
    told = read.told_by(session, subject, words) if session is not None else None
    if told is not None:
        # Read again: what a person made of it since (edited, rejected, moved) stands.
        read.cite(told, learned.cited, now)
        return Placed("suppressed" if told.status in REFUSED else "same", told)
    known = _known(read.saying(subject, words), agent, now)
    if known is not None and known.status == Status.LAPSED:
        known.come_back(now)
    if known is not None and known.status not in REFUSED:
        return _counted(known, learned, session, now, read)
    return _weighed(learned, subject, agent, session, now, read, refused=known)


def _weighed(
    learned: Learned,
    subject: Subject,
    agent: Agent | None,
    session: Session | None,
    now: datetime,
    read: OneByOne,
    *,
    refused: Fact | None,
) -> Placed:
    """What nothing living says word for word: compared with whatever stands near it. `refused` says just that."""
    words = rendering.one_line(learned.text)
    facts = read.near(subject, learned.key, words, now)
    cosines = Cosines(words, facts)
    said = Statement(learned.type, learned.key, learned.value, words)
    is_one_value = type_of(learned.type, subject.project.types).single_valued
    beside: list[tuple[Fact, Likeness]] = []
    near: list[tuple[Fact, float]] = [] if refused is None else [(refused, 1.0)]
    for fact in facts:
        if fact.status not in REFUSED and agent is not None and not _covers(fact, agent):
            # What only others receive is nothing to this agent, nor to a card about what it learned.
            continue
        known = Statement(fact.type, fact.key, fact.value, fact.text)
        told = relate(
            known,
            said,
            is_one_value=is_one_value,
            cosine=lambda fact=fact: cosines.to(fact),  # type: ignore[misc]
        )
        if fact.status in REFUSED:
            near += [(fact, told.score)] if _is_near(told) else []
        elif told.verdict == likeness.SAME:
            return _counted(fact, learned, session, now, read)
        elif told.verdict != likeness.DIFFERENT:
            beside.append((fact, told))
    standing = _standing(learned, said, subject, agent, now, read)
    if standing is not None:
        return _counted(standing, learned, session, now, read)
    if near:
        nearest, similarity = max(near, key=lambda one: one[1])
        return _held_back(nearest, learned, similarity, agent, session, now)
    if not beside:
        return _propose(learned, subject, agent, now, read)
    fact, told = min(beside, key=lambda one: (_FIRST_ASKED.index(Relation(one[1].verdict)), -one[1].score, -one[0].pk))
    if told.verdict == Relation.SAME_THING and _told_in_these_words(fact, learned, read):
        read.cite(fact, learned.cited, now)
        return Placed("same", fact)
    return _propose(learned, subject, agent, now, read, beside=fact, relation=told.verdict)


def _counted(known: Fact, learned: Learned, session: Session | None, now: datetime, read: OneByOne) -> Placed:
    """The same again: its evidence grows, and its count where this session had no part in it yet.

    What an agent says again without a quote keeps it alive and counts nothing: whoever repeats itself all day would
    talk it to the front of the pile.
    """
    is_first = session is not None and not read.is_quoted_in(known, session)
    if session is None or is_first:
        known.count_again(now, times=1 if is_first else 0)
    read.cite(known, learned.cited, now)
    return Placed("same", known, counted=is_first)


def _held_back(
    known: Fact, learned: Learned, similarity: float, agent: Agent | None, session: Session | None, now: datetime
) -> Placed:
    """Not proposed, and written down that it was not: a row for each session that said it again."""
    text = rendering.one_line(learned.text)
    noted = {"text": text, "similarity": similarity, "at": now, "project_id": known.project_id}
    if session is not None:
        Suppression.objects.get_or_create(fact=known, session=session, defaults=noted)
    elif not Suppression.objects.filter(fact=known, session=None, text=text).update(at=now):
        # Without a session, what an agent repeats all day is one row: the lock on the subject keeps it so.
        Suppression.objects.create(fact=known, session=None, **noted)
    return Placed("suppressed", known, hidden=agent is not None and not _may_know(known, agent))


def _is_near(told: Likeness) -> bool:
    """Whether it says what was refused and nothing beside it. A denial or another figure says something else."""
    return told.verdict == likeness.SAME or (
        told.verdict == likeness.SAME_THING and told.score >= NEAR_REFUSED and not told.adds and not told.has_specifics
    )


def _standing(
    learned: Learned, said: Statement, subject: Subject, agent: Agent | None, now: datetime, read: OneByOne
) -> Fact | None:
    """A standing fact of the whole project that says the same for this subject as well."""
    if subject.entity_type in ("person", PROJECT) or is_of(subject, "customer"):
        return None
    for fact in read.lessons(subject, learned, now):
        known = Statement(fact.type, fact.key, fact.value, fact.text)
        if (agent is None or _covers(fact, agent)) and relate(known, said, is_one_value=False).verdict == likeness.SAME:
            return fact
    return None


def _told_in_these_words(fact: Fact, learned: Learned, read: OneByOne) -> bool:
    """Whether the known fact, of the same type, rests on the very words that this one was heard in."""
    return fact.type == learned.type and read.rests_on(fact, learned.cited)


def _propose(
    learned: Learned,
    subject: Subject,
    agent: Agent | None,
    now: datetime,
    read: OneByOne,
    *,
    beside: Fact | None = None,
    relation: str = "",
) -> Placed:
    findings = findings_of(learned)
    agent_ids = learned.agent_ids
    if agent_ids is None:
        one = agent is not None and is_for_one_agent(learned, findings, subject.project.types)
        agent_ids = (agent.pk,) if one and agent is not None else ()
    if beside is not None and relation == CHANGES and not _would_replace(beside, agent_ids):
        # Another's value, or one that nobody approved yet: a person chooses, no approval decides by itself.
        relation = Relation.CONFLICTS
    when = said_at(learned, now)
    fact, is_new = Fact.propose(
        subject=subject,
        type=learned.type,
        key=learned.key,
        value=learned.value,
        text=learned.text,
        source=learned.source,
        now=now,
        agent=agent,
        everyone=not agent_ids,
        agent_ids=list(agent_ids),
        expires_at=learned.expires_at,
        nature=learned.nature,
        use=learned.use,
        distiller=learned.distiller,
        prompt_version=learned.version,
        findings=findings,
        valid_from=when,
        # Said before what is known was: it was true until then.
        valid_to=beside.since if beside is not None and relation == CHANGES and beside.came_after(when) else None,
        relation=relation,
        related=beside,
    )
    if is_new:
        read.proposed(fact)
    read.cite(fact, learned.cited, now)
    if is_new:
        return Placed(relation or "new", fact)
    hidden = agent is not None and not _may_know(fact, agent)
    if agent is not None and not _covers(fact, agent):
        # Two agents learned the same by themselves; a proposal exists once, so it is proposed for both.
        fact.rescope(
            None, revision=fact.revision, now=now, everyone=not agent_ids, agent_ids=[*fact.agent_ids, *agent_ids]
        )
    return Placed("same", fact, counted=True, hidden=hidden)


def _would_replace(known: Fact, agent_ids: tuple[int, ...]) -> bool:
    """Whether approving a value for these agents (none: everyone) replaces this one by its key alone."""
    if known.status != Status.APPROVED or known.everyone != (not agent_ids):
        return False
    return known.everyone or bool(set(known.agent_ids) & set(agent_ids))


def _known(same: list[Fact], agent: Agent | None, now: datetime) -> Fact | None:
    """Of those that say the same: one that reaches this agent, else the one a person refused, else one that lapsed.

    A fact that only others may receive is not it: counted there, this agent's own knowledge would be lost.
    """
    heirs = [_heir(fact) for fact in same]
    alive = [
        fact
        for fact in heirs
        if (fact.status == Status.APPROVED and (fact.expires_at is None or fact.expires_at > now))
        or fact.status == Status.PROPOSED
    ]
    alive.sort(key=lambda fact: fact.status != Status.APPROVED)
    for fact in alive:
        if agent is None or _covers(fact, agent):
            return fact
    if alive:
        return None
    # A lesson that was not to stand for others may be true all the same.
    refused = next((fact for fact in same if fact.status in REFUSED and not fact.standing), None)
    return refused or next((fact for fact in same if _may_come_back(fact, agent, now)), None)


def _may_come_back(fact: Fact, agent: Agent | None, now: datetime) -> bool:
    if fact.status != Status.LAPSED or fact.standing or (agent is not None and not _covers(fact, agent)):
        return False
    return fact.expires_at is None or fact.expires_at > now


def _heir(fact: Fact) -> Fact:
    """What a merged fact went into."""
    for _ in range(10):
        if fact.status != Status.MERGED or fact.superseded_by is None:
            break
        fact = fact.superseded_by
    return fact


def _covers(fact: Fact, agent: Agent) -> bool:
    return fact.everyone or agent.pk in fact.agent_ids


def _may_know(fact: Fact, agent: Agent) -> bool:
    return _covers(fact, agent) or fact.proposed_by_agent_id == agent.pk
