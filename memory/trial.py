"""Plays gold sessions through capture's rows and the real distillation, in a scratch project, and rolls all of it back.

Between the sessions of a group every proposal is approved, so that the second meets what the first taught.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from memory import distillation
from memory.distillation import Reader
from memory.models import Evidence, Fact, JobStatus, NotAllowed, Observation, Session, SessionSubject, Status, Subject
from memory.privacy import clean_text
from memory.scoring import Proposed, SessionScore, Total, pool, score_session, seen_from_gold
from memory.transcript import KINDS, Seen
from projects import tenancy
from projects.models import Agent, Person, Project


class NotRead(Exception):
    """A session that the distiller could not read: a score without it would be none. The message says why."""


class NoGold(ValueError):
    """A file that holds no gold sessions. The message says which and where."""


def gold_sessions(path: str) -> list[dict[str, Any]]:
    """The sessions of one file, a JSON object a line. Raises NoGold."""
    try:
        lines = Path(path).read_text("utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as problem:
        raise NoGold(f"{path} cannot be read ({type(problem).__name__}).") from None
    found = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            session = json.loads(line)
            seen_from_gold(session)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise NoGold(f"{path}, line {number}: this is no gold session.") from None
        found.append(session)
    if not found:
        raise NoGold(f"{path} holds no gold session.")
    return found


def score(gold: Sequence[Mapping[str, Any]], reader: Reader) -> tuple[Total, list[SessionScore]]:
    """The pooled figures and those of each session, in order. Nothing stays in the database. Raises NotRead."""
    with tenancy.system("command"), transaction.atomic(using="default"):
        scores = [_Scratch(reader).play(group) for group in _groups(gold)]
        transaction.set_rollback(True, using="default")
    flat = [one for group in scores for one in group]
    return pool(flat), flat


@dataclass(frozen=True, slots=True)
class Card:
    """A proposal as it would lie on the pile: from which session, what it says and what it quotes."""

    session: str
    type: str
    key: str
    text: str
    value: Any
    about: str
    expires_at: datetime | None
    # (who said it, the turn before, the quote, the turn after)
    quotes: tuple[tuple[str, str, str, str], ...]


def pile(sessions: Sequence[Mapping[str, Any]], reader: Reader) -> list[Card]:
    """What all these sessions, read one after another in one project, put on its pile. Nothing stays in the database.

    Raises NotRead.
    """
    with tenancy.system("command"), transaction.atomic(using="default"):
        scratch = _Scratch(reader)
        cards = [card for number, session in enumerate(sessions) for card in scratch.cards(session, number)]
        transaction.set_rollback(True, using="default")
    return cards


def captured(sessions: Sequence[Mapping[str, Any]], reader: Reader) -> list[int]:
    """Writes the sessions into a new project and asks for their reading; gives the ids of the jobs. Nothing is read."""
    with tenancy.system("command"), transaction.atomic(using="default"):
        scratch = _Scratch(reader)
        asked = []
        for number, gold in enumerate(sessions):
            session, _, now = scratch.capture(gold, number)
            asked.append(distillation.request(session, now, ring=False))
    return [job.pk for job in asked if job is not None]


def _groups(gold: Sequence[Mapping[str, Any]]) -> list[list[Mapping[str, Any]]]:
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for number, session in enumerate(gold):
        groups.setdefault(str(session.get("group") or f"alone {number}"), []).append(session)
    return list(groups.values())


class _Scratch:
    """A project of its own for each group."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        number = Project.objects.order_by("-pk").values_list("pk", flat=True).first() or 0
        self.project = Project.objects.create(slug=f"trial-{number + 1}", name="Trial")
        self.person = Person.objects.create_person(f"trial-{number + 1}@example.invalid", name="Trial")
        self.agents: dict[str, Agent] = {}

    def play(self, group: Sequence[Mapping[str, Any]]) -> list[SessionScore]:
        scores = []
        for number, gold in enumerate(group):
            scores.append(self._session(gold, number))
            if number < len(group) - 1 or "after_group" in gold:
                self._approve_all(scores[-1], gold)
        return scores

    def cards(self, gold: Mapping[str, Any], number: int) -> list[Card]:
        known = set(Fact.objects.filter(project=self.project).values_list("pk", flat=True))
        self._session(gold, number)
        new = Fact.objects.filter(project=self.project).exclude(pk__in=known).select_related("subject").order_by("pk")
        return [_card(str(gold.get("id", number)), fact) for fact in new]

    def _session(self, gold: Mapping[str, Any], number: int) -> SessionScore:
        session, indices, now = self.capture(gold, number)
        job = distillation.request(session, now, ring=False)
        if job is not None:
            ended = distillation.run(job.pk, now, self.reader)
            if ended is None or ended.status != JobStatus.DONE:
                word = ended.error if ended is not None else "gone"
                raise NotRead(f"Session {gold.get('id', number)} could not be read: {word}.")
        self.now = now
        return score_session(gold, self._proposed(session, indices))

    def capture(self, gold: Mapping[str, Any], number: int) -> tuple[Session, dict[int, int], datetime]:
        """The session with its observations; the index that each observation has in the gold; when it ended."""
        seen = seen_from_gold(gold)
        now = max((one.occurred_at for one in seen if one.occurred_at), default=timezone.now())
        session = Session.objects.create(
            project=self.project,
            agent=self._agent(gold.get("agent") or ("claude-code" if _is_coding(seen) else "support")),
            external_id=f"{gold.get('id', '')}-{number}",
            timezone=gold.get("timezone") or "UTC",
            first_seen_at=now,
            last_seen_at=now,
        )
        for kind, ident in self._subjects(gold, seen):
            subject = Subject.objects.resolve(self.project.pk, kind, ident)
            SessionSubject.objects.create(project=self.project, session=session, subject=subject)
        indices = {row.pk: one.ref for one, row in zip(seen, self._observe(session, seen, now), strict=True)}
        return session, indices, now

    def _agent(self, slug: str) -> Agent:
        if slug not in self.agents:
            self.agents[slug] = Agent.objects.create(project=self.project, slug=slug)
        return self.agents[slug]

    def _subjects(self, gold: Mapping[str, Any], seen: Sequence[Seen]) -> list[tuple[str, str]]:
        if gold.get("entity") or not _is_coding(seen):
            return [("customer", str(gold.get("entity") or "cust_trial"))]
        return [("repo", str(gold.get("repo") or "trial")), ("person", self.person.email)]

    def _observe(self, session: Session, seen: Sequence[Seen], now: datetime) -> list[Observation]:
        return Observation.objects.bulk_create(self._row(session, one, now) for one in seen)

    def _row(self, session: Session, seen: Seen, now: datetime) -> Observation:
        cleaned = clean_text(seen.text)
        return Observation(
            project=self.project,
            session=session,
            seq=seen.ref,
            kind=seen.kind if seen.kind in KINDS else "meta",
            role=seen.role,
            text=cleaned.text,
            original_length=cleaned.original_length,
            tool=seen.tool,
            call_id=seen.call_id,
            exit_code=seen.exit_code,
            is_error=seen.is_error,
            paths=list(seen.paths),
            sidechain=seen.sidechain,
            occurred_at=seen.occurred_at or now,
            occurred_source="sent" if seen.occurred_at else "server",
            received_at=now,
        )

    def _proposed(self, session: Session, indices: Mapping[int, int]) -> list[Proposed]:
        """What the session taught: new proposals, and what was known already and counted."""
        cited: dict[int, set[int]] = {}
        quotes = Evidence.objects.filter(observation__session=session).order_by("pk")
        for fact_id, observation_id in quotes.values_list("fact_id", "observation_id"):
            if observation_id is not None:
                cited.setdefault(fact_id, set()).add(indices[observation_id])
        return [
            Proposed(fact.type, fact.key, fact.value, fact.text, frozenset(cited[fact.pk]), fact.expires_at)
            for fact in Fact.objects.filter(pk__in=cited).order_by("pk")
        ]

    def _approve_all(self, score: SessionScore, gold: Mapping[str, Any]) -> None:
        later = self.now + timedelta(minutes=1)
        for fact in Fact.objects.filter(project=self.project, status=Status.PROPOSED).order_by("pk"):
            try:
                fact.approve(self.person, revision=fact.revision, now=later)
            except NotAllowed:
                continue  # its lifetime, as the talk named it, is over
        for name, status in (("active_value", Status.APPROVED), ("superseded_value", Status.SUPERSEDED)):
            if wanted := gold.get("after_group", {}).get(name):
                facts = Fact.objects.filter(project=self.project, status=status).order_by("pk")
                holds = any(wanted in json.dumps([fact.value, fact.text], ensure_ascii=False) for fact in facts)
                score.attributes[f"{name}:{'ok' if holds else 'off'}"] += 1


def _card(session: str, fact: Fact) -> Card:
    evidence = Evidence.objects.filter(fact=fact).select_related("observation").order_by("pk")
    quotes = tuple(
        (one.observation.role if one.observation else "", one.before, one.quote, one.after) for one in evidence
    )
    about = f"{fact.subject.entity_type}:{fact.subject.entity_id}"
    return Card(session, fact.type, fact.key, fact.text, fact.value, about, fact.expires_at, quotes)


def _is_coding(seen: Sequence[Seen]) -> bool:
    return any(one.kind == "tool_call" and one.tool in ("Bash", "Edit", "Read", "Write") for one in seen)
