"""What was learned, before it is a fact: what it says, whom it is about, when it was said, and who may be told."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory import privacy
from memory.models import Observation, Session, Subject
from memory.models.subject import PROJECT
from memory.types import Overrides, type_of

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

    `said_at` is when it was said, where that is known better than from the quotes. `agent_ids` None means: the scope
    that its type and its findings propose; `()` means everyone in the project.
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
    said_at: datetime | None = None


def subject_for(about: str, session: Session, mentioned: str = "") -> Subject:
    """The subject that a candidate is about: the session's person, repository or customer, else the project's own.

    With several of a kind, the one whose id or label stands in `mentioned` (the quotes), else the first.
    """
    subjects = list(session.subjects.order_by("session_subjects__pk"))
    folded = mentioned.casefold()
    for wanted in _INSTEAD.get(about, ()):
        fitting = [subject for subject in subjects if is_of(subject, wanted)]
        named = [subject for subject in fitting if _named(subject, folded)]
        if fitting:
            return (named or fitting)[0]
    return Subject.objects.of_project(session.project)


def findings_of(learned: Learned) -> list[dict[str, Any]]:
    """What the classifier sees in the sentence (with spans), and in key, value and quotes (their kinds only)."""
    return privacy.of_statement(learned.text, learned.key, learned.value, [cited.quote for cited in learned.cited])


def is_for_one_agent(learned: Learned, findings: list[dict[str, Any]], types: Overrides) -> bool:
    """Whether it is proposed for the agent alone that heard it: by its type, its nature, its findings, or its words."""
    said = " ".join([learned.text, *(cited.quote for cited in learned.cited)])
    return (
        type_of(learned.type, types).own_agent_only
        or learned.nature == "sentiment"
        or any(row["category"] in SENSITIVE for row in findings)
        or _CONFIDENTIAL.search(said) is not None
    )


def said_at(learned: Learned, now: datetime) -> datetime | None:
    """When the newest of its words was said, never later than now: a clock that runs ahead wins nothing."""
    times = [cited.observation.occurred_at for cited in learned.cited if cited.observation.occurred_at is not None]
    told = learned.said_at or max(times, default=None)
    return None if told is None else min(told, now)


def is_of(subject: Subject, wanted: str) -> bool:
    if wanted == "customer":
        return subject.entity_type not in ("person", "repo", PROJECT)
    return subject.entity_type == wanted


def _named(subject: Subject, folded: str) -> bool:
    return any(name and name.casefold() in folded for name in (subject.entity_id, subject.label))
