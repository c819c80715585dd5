"""Existing memories brought in: their lines become observations of a session of kind `import`, each quoted whole by the
fact it proposes. So evidence, history and erasure work as for everything else, and nothing is approved by it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from memory import capture, embedding_store, embeddings, proposals, rendering, short_ids
from memory.existing import Found, MemoryLine
from memory.looked_up import AtOnce
from memory.models import BadSubject, Fact, Observation, Session, SessionKind, SessionStatus, SessionSubject, Subject
from memory.models.fact import MAX_TEXT, NATURES, USES
from memory.models.lifetimes import reachable
from memory.models.subject import split
from memory.reconciliation import Cited, Learned, place
from memory.transcript import Incoming, IncomingSession
from memory.types import OTHER, table
from memory.weighing import weigh
from projects import audit, tenancy
from projects.models import Agent, Person, Project

# Holds the sessions of imports. It is archived from the start: it has no key, and no brief is made for it.
IMPORTER = "imports"
_PLACED_AT_ONCE = 200
NEW = ("new", "changes", "conflicts", "same_thing")


@dataclass(slots=True)
class Brought:
    """What became of the lines of one file: lines = placed by outcome + dropped by reason.

    `known` counts `same` and what an export of ours said of memories that stand as they stood. `facts` are the new
    proposals in the order of the lines; `touched` are their ids and those of what they said again.
    """

    session: Session | None = None
    outcomes: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    facts: list[Fact] = field(default_factory=list)
    touched: set[int] = field(default_factory=set)

    @property
    def known(self) -> int:
        return self.outcomes["same"]

    @property
    def words(self) -> str:
        """`41 new, 6 known, 2 conflict`."""
        said = [(self.outcomes["new"], "new"), (self.known, "known")]
        said += [(self.outcomes["changes"], "change what is known"), (self.outcomes["conflicts"], "conflict")]
        said += [(self.outcomes["same_thing"], "nearly known"), (self.outcomes["suppressed"], "refused before")]
        said += [(self.dropped.total(), "left out")]
        return ", ".join(f"{count} {word}" for count, word in said if count) or "nothing in it"


def bring_in(project: Project, found: Found, *, person: Person | None, about: str = "", now: datetime) -> Brought:
    """Proposes what is new of `found`, on behalf of `person`. A second run of the same file changes nothing.

    `about` is the subject of lines that name none, as `customer:cust_123`; empty: the project. Raises BadSubject.
    """
    brought = Brought()
    with tenancy.project(project.pk):
        default = Subject.objects.resolve(project.pk, *split(about)) if about else Subject.objects.of_project(project)
        lines = list(_not_ours(project, found.lines, brought))
        if not lines:
            return brought
        agent = _importer(project, now)
    session = _captured(agent, found, lines, person, now)
    brought.session = session
    for start in range(0, len(lines), _PLACED_AT_ONCE):
        with tenancy.project(project.pk):
            _place(session, lines[start : start + _PLACED_AT_ONCE], default, brought, now)
    with tenancy.project(project.pk):
        session.mark(SessionStatus.DISTILLED, kind=SessionKind.IMPORT, distilled_at=now)
        ids = [fact.pk for fact in brought.facts]
        audit.record(
            "memories.import", person, project_id=project.pk, object_kind="session", object_ids=[session.pk], now=now
        )
        try:
            embedding_store.embed_facts(list(Fact.objects.filter(pk__in=ids)))
        except embeddings.EmbedderUnavailable:
            pass  # the sweep embeds them, and says why it cannot
    # Last, when its session is an import: before, it would count as a talk about each of its subjects.
    touched = sorted(brought.touched)
    for start in range(0, len(touched), _PLACED_AT_ONCE):
        with tenancy.project(project.pk):
            weigh(project.pk, touched[start : start + _PLACED_AT_ONCE], now)
    return brought


def preview(project: Project, found: Found) -> Counter[str]:
    """How many lines would be new, and how many say word for word what is known: nothing is written."""
    counts: Counter[str] = Counter()
    brought = Brought()
    with tenancy.project(project.pk):
        left = list(_not_ours(project, found.lines, brought))
        texts = [rendering.one_line(line.text) for line in left]
        known = set(Fact.objects.filter(project=project, text__in=texts).values_list("text", flat=True))
    counts["known"] = brought.known + sum(text in known for text in texts)
    counts["new"] = len(found.lines) - counts["known"]
    return counts


def _not_ours(project: Project, lines: Iterable[MemoryLine], brought: Brought) -> Iterator[MemoryLine]:
    """The lines, without those that an export of this project wrote and that still say what their memory says."""
    lines = list(lines)
    own = {line.number: pk for line in lines if line.own_id and (pk := short_ids.decode(line.own_id)) is not None}
    stored = {fact.pk: fact for fact in Fact.objects.filter(project=project, pk__in=set(own.values()))}
    for line in lines:
        fact = stored.get(own.get(line.number, 0))
        if fact is not None and (fact.fingerprint == _said(line) or _is_flat(line, fact)):
            brought.outcomes["same"] += 1
        else:
            yield line


def _is_flat(line: MemoryLine, fact: Fact) -> bool:
    """Whether it is the memory as a table has it: everything but the value."""
    flat = (line.type, line.key, rendering.one_line(line.text))
    return line.value is None and flat == (fact.type, fact.key, fact.text)


def _said(line: MemoryLine) -> str:
    try:
        return rendering.fingerprint(line.type, line.key, line.value, line.text)
    except (ValueError, RecursionError):  # NaN, or nested without end: nothing we exported
        return ""


def _importer(project: Project, now: datetime) -> Agent:
    agent, _ = Agent.objects.get_or_create(project=project, slug=IMPORTER, defaults={"archived_at": now})
    return agent


def _captured(agent: Agent, found: Found, lines: Sequence[MemoryLine], person: Person | None, now: datetime) -> Session:
    """The session with its observations, cleaned at the one point where all text is."""
    ids = [_line_id(line) for line in lines]
    name = hashlib.sha256("\n".join(ids).encode()).hexdigest()[:16]
    incoming = IncomingSession(
        external_id=f"import-{name}",
        source_format=f"import_{found.format}",
        observations=[
            Incoming(kind="message", role="user", text=line.text, id=one, seq=place_, occurred_at=now)
            for place_, (line, one) in enumerate(zip(lines, ids, strict=True), start=1)
        ],
    )
    capture.import_session(agent, incoming, person, now)
    with tenancy.project(agent.project_id):
        return Session.objects.select_related("agent", "project").get(agent=agent, external_id=incoming.external_id)


def _line_id(line: MemoryLine) -> str:
    said = "\x1f".join([str(line.number), line.text, line.type, line.key, line.subject, repr(line.value)])
    return hashlib.sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def _place(session: Session, lines: Sequence[MemoryLine], default: Subject, brought: Brought, now: datetime) -> None:
    ids = [_line_id(line) for line in lines]
    rows = {row.external_id: row for row in session.observations.filter(external_id__in=ids).order_by("pk")}
    types = table(session.project.types)
    agents = {agent.slug: agent.pk for agent in session.project.agents.all()}
    subjects = _Subjects(session.project, default, lines)
    fit: list[tuple[Learned, Subject]] = []
    for line, one in zip(lines, ids, strict=True):
        try:
            if (row := rows.get(one)) is None:
                raise Unfit("refused")
            fit.append((_learned(line, row, types, agents, now), subjects.of(line)))
        except Unfit as unfit:
            brought.dropped[unfit.reason] += 1
    known = AtOnce(session, fit, now)
    for learned, subject in fit:
        placed = place(learned, subject=subject, agent=None, now=now, session=session, read=known)
        brought.outcomes[placed.outcome] += 1
        brought.touched.add(placed.fact.pk)
        if placed.outcome in NEW:
            brought.facts.append(placed.fact)
    known.finish()
    about = {subject.pk for _, subject in fit}
    links = [SessionSubject(project=session.project, session=session, subject_id=pk) for pk in sorted(about)]
    SessionSubject.objects.bulk_create(links, ignore_conflicts=True)


class Unfit(Exception):
    """A line that makes no memory; `reason` is what it is counted under."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(reason)


def _learned(
    line: MemoryLine, row: Observation, types: dict[str, Any], agents: dict[str, int], now: datetime
) -> Learned:
    """The line as something learned, quoting its whole observation. Raises Unfit."""
    text = rendering.one_line(row.text)
    if not text:
        raise Unfit("no_text")
    if len(text) > MAX_TEXT:
        raise Unfit("too_long")
    type_ = line.type.strip().casefold()
    try:
        if type_ not in types:
            # What another store calls a category is no type of ours; an export of ours keeps what it says.
            type_ = proposals.clean_type(line.type) if line.own_id else OTHER.name
        value = proposals.clean_value(line.value) if line.value is not None else text
        key = proposals.full_key(type_, line.key or _key_of(text))
    except proposals.BadProposal as bad:
        raise Unfit(bad.code) from None
    learned = Learned(
        type=type_,
        key=key,
        value=value,
        text=text,
        cited=(Cited(row, 0, len(row.text)),),
        nature=line.nature if line.nature in NATURES else "factual",
        use=line.use if line.use in USES else "actionable",
        expires_at=reachable(line.expires_at, now) if line.expires_at is not None else None,
        source="import",
        agent_ids=_scope(line, agents),
    )
    try:
        proposals.refuse_unfit(learned)
    except proposals.BadProposal as unfit:
        raise Unfit(unfit.code) from None
    if learned.expires_at is not None and learned.expires_at <= now:
        raise Unfit("ended")
    return learned


def _scope(line: MemoryLine, agents: dict[str, int]) -> tuple[int, ...]:
    """Who may receive it: everyone where the file says nothing; never more than the file says."""
    if line.agents is None:
        return ()
    known = tuple(sorted(agents[slug] for slug in line.agents if slug in agents))
    if not known:
        raise Unfit("unknown_agents")
    return known


class _Subjects:
    """The subjects that lines name, looked up together."""

    def __init__(self, project: Project, default: Subject, lines: Sequence[MemoryLine]) -> None:
        self._project, self._default = project, default
        # The project's own subject goes by another name in every project.
        self._own = Subject.objects.of_project(project)
        self._default.project = self._own.project = project
        named = {one for line in lines if (one := _named(line)) is not None}
        self._found = Subject.objects.find_all(project.pk, named)
        for subject in self._found.values():
            subject.project = project

    def of(self, line: MemoryLine) -> Subject:
        """Raises Unfit."""
        if not line.subject.strip():
            return self._default
        try:
            named = split(line.subject)
            if named[0] == self._own.entity_type:
                subject = self._own
            elif named in self._found:
                subject = self._found[named]
            else:
                subject = self._found[named] = Subject.objects.resolve(self._project.pk, *named)
                subject.project = self._project
        except BadSubject:
            raise Unfit("bad_subject") from None
        if subject.frozen_at:
            raise Unfit("subject_frozen")
        return subject


def _named(line: MemoryLine) -> tuple[str, str] | None:
    try:
        return split(line.subject) if line.subject.strip() else None
    except BadSubject:
        return None


def _key_of(text: str) -> str:
    words = "".join(char if char.isalnum() else " " for char in text.casefold()).split()
    return "_".join(words[:6])[:80] or "note"
