"""Compares what was learned with what is known: new, the same again, or something a person already refused.

Only exact repeats count as the same (memory/rendering.py, `fingerprint`): every digit, name and negation matters. A
value that contradicts an approved one is simply proposed; the card shows both, and nothing approved moves by itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory import privacy, rendering
from memory.models import Decision, Evidence, Fact, Observation, Session, Status, Subject, Verb, quote_hash
from memory.models.subject import PROJECT
from memory.types import Overrides, type_of
from projects.models import Agent

# What a person may be harmed by: proposed for the one agent that heard it; the reviewer decides.
SENSITIVE = frozenset({"health", "payment"})
_CONFIDENTIAL = re.compile(
    r"\b(?:confidential(?:ly)?|embargo(?:ed)?|under nda|off the record|internal[- ]only"
    r"|do(?: not|n['’]t) (?:share|tell))\b",
    re.IGNORECASE,
)
# Which subjects of a session stand in for one that it does not have, in order.
_INSTEAD = {
    "customer": ("customer", "person"),
    "person": ("person", "customer"),
    "repo": ("repo",),
    "project": (),
}


@dataclass(frozen=True, slots=True)
class Cited:
    """A checked quote: `observation.text[start:end]`, with the turn before and the one after it, shortened."""

    observation: Observation
    start: int
    end: int
    before: str = ""
    after: str = ""

    @property
    def quote(self) -> str:
        return self.observation.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Learned:
    """What a distiller or an agent says was learned, grounded and cleaned, before it is a fact.

    `agent_ids` None means: the scope that its type and its findings propose; `()` means everyone in the project.
    """

    type: str
    key: str
    value: Any
    text: str
    cited: tuple[Cited, ...] = ()
    nature: str = "factual"
    use: str = "actionable"
    expires_at: datetime | None = None
    source: str = "extraction"
    distiller: str = ""
    version: str = ""
    agent_ids: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """What became of it: `new` (fact is the proposal), `same` (fact is the known one) or `suppressed` (fact is the
    one a person refused). `counted` says whether the known fact was counted up: once a session, never more. `hidden`
    says that it was none of this agent's until now: neither proposed by it nor meant for it."""

    outcome: str
    fact: Fact
    counted: bool = False
    hidden: bool = False


def place(
    learned: Learned, *, subject: Subject, agent: Agent | None, now: datetime, session: Session | None = None
) -> Placed:
    """Finds or makes the fact. Locks the subject until the transaction ends, so that two workers make one fact."""
    lock([subject])
    said = rendering.fingerprint(learned.type, learned.key, learned.value, rendering.one_line(learned.text))
    told = _told_by(session, subject, said) if session is not None else None
    if told is not None:
        # Read again: what a person made of it since (edited, rejected, moved) stands.
        _cite(told, learned.cited, now)
        return Placed("suppressed" if told.status in (Status.REJECTED, Status.REMOVED) else "same", told)
    known = _known(subject, said, agent, now)
    if known is not None and known.status in (Status.REJECTED, Status.REMOVED):
        return Placed("suppressed", known, hidden=agent is not None and not _may_know(known, agent))
    if known is not None:
        known.count_again(now)
        _cite(known, learned.cited, now)
        return Placed("same", known, counted=True)
    return _propose(learned, subject, agent, now)


def lock(subjects: Iterable[Subject]) -> None:
    """Takes these subjects for this transaction, always in the same order; captures about them go on."""
    ids = sorted({subject.pk for subject in subjects})
    list(Subject.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk").values_list("pk"))


def subject_for(about: str, session: Session, mentioned: str = "") -> Subject:
    """The subject that a candidate is about: the session's person, repository or customer, else the project's own.

    With several of a kind, the one whose id or label stands in `mentioned` (the quotes), else the first.
    """
    subjects = list(session.subjects.order_by("session_subjects__pk"))
    folded = mentioned.casefold()
    for wanted in _INSTEAD.get(about, ()):
        fitting = [subject for subject in subjects if _is(subject, wanted)]
        named = [subject for subject in fitting if _named(subject, folded)]
        if fitting:
            return (named or fitting)[0]
    return Subject.objects.of_project(session.project)


def findings_of(learned: Learned) -> list[dict[str, Any]]:
    """What the classifier sees in the sentence (with spans), and in key, value and quotes (their kinds only)."""
    found = [{**finding.as_dict(), "in": "text"} for finding in privacy.clean_text(learned.text).findings]
    beside = [("value", f"{learned.key} {json.dumps(learned.value, ensure_ascii=False, default=str)}")]
    beside += [("quote", cited.quote) for cited in learned.cited]
    seen = {row["category"] for row in found}
    for origin, text in beside:
        for finding in privacy.clean_text(text).findings:
            if finding.category not in seen:
                seen.add(finding.category)
                # Its span belongs to another text than the sentence: an empty one marks nothing.
                found.append({**finding.as_dict(), "start": 0, "end": 0, "in": origin})
    return found


def _propose(learned: Learned, subject: Subject, agent: Agent | None, now: datetime) -> Placed:
    findings = findings_of(learned)
    agent_ids = learned.agent_ids
    if agent_ids is None:
        for_one = agent is not None and _is_for_one_agent(learned, findings, subject.project.types)
        agent_ids = (agent.pk,) if agent is not None and for_one else ()
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
    )
    _cite(fact, learned.cited, now)
    if is_new:
        return Placed("new", fact)
    hidden = agent is not None and not _may_know(fact, agent)
    if agent is not None and not _covers(fact, agent):
        # Two agents learned the same by themselves; a proposal exists once, so it is proposed for both.
        fact.rescope(
            None, revision=fact.revision, now=now, everyone=not agent_ids, agent_ids=[*fact.agent_ids, *agent_ids]
        )
    return Placed("same", fact, counted=True, hidden=hidden)


def _known(subject: Subject, said: str, agent: Agent | None, now: datetime) -> Fact | None:
    """The fact that says the same already and reaches this agent, else the one a person refused.

    A fact that only others may receive is not it: counted there, this agent's own knowledge would be lost.
    """
    same = list(Fact.objects.filter(subject=subject, fingerprint=said).order_by("-pk"))
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
    return next((fact for fact in same if fact.status in (Status.REJECTED, Status.REMOVED)), None)


def _heir(fact: Fact) -> Fact:
    """What a merged fact went into."""
    for _ in range(10):
        if fact.status != Status.MERGED or fact.superseded_by is None:
            break
        fact = fact.superseded_by
    return fact


def _told_by(session: Session, subject: Subject, said: str) -> Fact | None:
    """The fact that this session told before, by the words it has now or those it was proposed in."""
    quoted = Evidence.objects.filter(observation__session=session).values("fact")
    told = list(Fact.objects.filter(subject=subject, pk__in=quoted).order_by("-pk"))
    for fact in told:
        if fact.fingerprint == said:
            return fact
    proposals = Decision.objects.filter(fact__in=told, verb=Verb.PROPOSE).select_related("fact").order_by("-pk")
    for proposal in proposals:
        first = proposal.after
        if rendering.fingerprint(first["type"], first["key"], first["value"], first["text"]) == said:
            return proposal.fact
    return None


def _cite(fact: Fact, cited: Iterable[Cited], now: datetime) -> None:
    """Adds the quotes as evidence; one that is there already stays once."""
    Evidence.objects.bulk_create(
        [
            Evidence(
                project_id=fact.project_id,
                fact=fact,
                observation=one.observation,
                start=one.start,
                end=one.end,
                quote=one.quote,
                before=one.before,
                after=one.after,
                sha256=quote_hash(one.quote),
                checked_at=now,
            )
            for one in cited
        ],
        ignore_conflicts=True,
    )


def _covers(fact: Fact, agent: Agent) -> bool:
    return fact.everyone or agent.pk in fact.agent_ids


def _may_know(fact: Fact, agent: Agent) -> bool:
    return _covers(fact, agent) or fact.proposed_by_agent_id == agent.pk


def _is_for_one_agent(learned: Learned, findings: list[dict[str, Any]], types: Overrides) -> bool:
    said = " ".join([learned.text, *(cited.quote for cited in learned.cited)])
    return (
        type_of(learned.type, types).own_agent_only
        or learned.nature == "sentiment"
        or any(row["category"] in SENSITIVE for row in findings)
        or _CONFIDENTIAL.search(said) is not None
    )


def _is(subject: Subject, wanted: str) -> bool:
    if wanted == "customer":
        return subject.entity_type not in ("person", "repo", PROJECT)
    return subject.entity_type == wanted


def _named(subject: Subject, folded: str) -> bool:
    return any(name and name.casefold() in folded for name in (subject.entity_id, subject.label))
