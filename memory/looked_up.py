"""What is read of the known facts when something learned is placed, and the quotes written: one at a time, or for
many lines of one session in few queries. Both find the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db.models import Q

from memory import rendering
from memory.learned import Cited, Learned
from memory.models import Decision, Evidence, Fact, Session, Status, Subject, Verb, quote_hash
from memory.models.fact_queries import FactQuerySet
from memory.models.subject import PROJECT
from memory.neighbours import near_ids, neighbours

REFUSED = (Status.REJECTED, Status.REMOVED)
# Of the standing lessons of one key, the newest.
LESSONS = 5


class OneByOne:
    """Reads for each question anew: for a session's few memories, and what an agent says of its own accord."""

    def lock(self, subject: Subject) -> None:
        lock([subject])

    def told_by(self, session: Session, subject: Subject, said: str) -> Fact | None:
        """The fact that this session told before, by the words it has now or those it was proposed in."""
        quoted = Evidence.objects.filter(observation__session=session).values("fact")
        told = list(
            Fact.objects.filter(subject=subject, pk__in=quoted)
            .exclude(standing=True, status__in=REFUSED)
            .order_by("-pk")
        )
        for fact in told:
            if fact.fingerprint == said:
                return fact
        proposals = Decision.objects.filter(fact__in=told, verb=Verb.PROPOSE).select_related("fact").order_by("-pk")
        return next((proposal.fact for proposal in proposals if _first_said(proposal) == said), None)

    def saying(self, subject: Subject, said: str) -> list[Fact]:
        """The facts with this fingerprint, whatever became of them, the newest first."""
        return list(Fact.objects.filter(subject=subject, fingerprint=said).order_by("-pk"))

    def near(self, subject: Subject, key: str, words: str, now: datetime) -> list[Fact]:
        return neighbours(subject, key, words, now)

    def lessons(self, subject: Subject, learned: Learned, now: datetime) -> list[Fact]:
        """Standing facts of the whole project with this type and key."""
        found = _lessons(subject.project_id, now).filter(type=learned.type, key=learned.key)
        return list(found.order_by("-pk")[:LESSONS])

    def is_quoted_in(self, fact: Fact, session: Session) -> bool:
        return Evidence.objects.filter(fact=fact, observation__session=session).exists()

    def rests_on(self, fact: Fact, cited: Sequence[Cited]) -> bool:
        """Whether one of its quotes overlaps one of these."""
        places = Q()
        for one in cited:
            places |= Q(observation=one.observation, start__lt=one.end, end__gt=one.start)
        return bool(places) and fact.evidence.filter(places).exists()

    def proposed(self, fact: Fact) -> None:
        """`fact` was made just now."""

    def cite(self, fact: Fact, cited: Iterable[Cited], now: datetime) -> None:
        """Adds the quotes as evidence; one that is there already stays once."""
        _write(_evidence(fact, cited, now))


class AtOnce(OneByOne):
    """The same for many lines of one session, read ahead in nine queries: `lines` are what was learned, with whom it is
    about. Within one transaction: their subjects are locked to its end. Call `finish` in it, after the last line."""

    def __init__(self, session: Session, lines: Sequence[tuple[Learned, Subject]], now: datetime) -> None:
        self._session = session
        self._subjects = {subject.pk: subject for _, subject in lines}
        self._seen: dict[int, Fact] = {}
        self._waiting: list[Evidence] = []
        lock(self._subjects.values())
        of_these = Fact.objects.filter(subject__in=self._subjects)
        # Subjects that anything at all is known of.
        self._known = set(of_these.order_by().values_list("subject_id", flat=True).distinct())
        self._saying: dict[tuple[int, str], list[Fact]] = defaultdict(list)
        for fact in self._kept(of_these.filter(fingerprint__in={said(learned) for learned, _ in lines})):
            self._saying[fact.subject_id, fact.fingerprint].append(fact)
        quotes = Evidence.objects.filter(observation__session=session)
        self._quoted = set(quotes.values_list("fact_id", flat=True))
        self._places: dict[tuple[int, int | None], list[tuple[int, int]]] = defaultdict(list)
        heard = {one.observation.pk for learned, _ in lines for one in learned.cited}
        for row in quotes.filter(observation__in=heard).values_list("fact_id", "observation_id", "start", "end"):
            self._places[row[0], row[1]].append((row[2], row[3]))
        told = self._kept(of_these.filter(pk__in=self._quoted))
        self._first: dict[int, set[str]] = defaultdict(set)
        self._read_first_words({*self._seen})
        self._told: dict[tuple[int, str], list[Fact]] = defaultdict(list)
        for fact in reversed(told):
            self._tell(fact)
        self._lessons: dict[tuple[str, str], list[Fact]] = defaultdict(list)
        project_id = session.project_id
        named = {"type__in": {one.type for one, _ in lines}, "key__in": {one.key for one, _ in lines}}
        for fact in _lessons(project_id, now).filter(**named).order_by("-pk"):
            self._lessons[fact.type, fact.key].append(fact)

    def lock(self, subject: Subject) -> None:
        if subject.pk not in self._subjects:
            raise ValueError("Only what was read ahead can be placed.")

    def told_by(self, session: Session, subject: Subject, said: str) -> Fact | None:
        found = [fact for fact in self._told[subject.pk, said] if not (fact.standing and fact.status in REFUSED)]
        now_so = [fact for fact in found if fact.fingerprint == said]
        return max(now_so or found, key=lambda fact: fact.pk, default=None)

    def saying(self, subject: Subject, said: str) -> list[Fact]:
        return list(self._saying[subject.pk, said])

    def near(self, subject: Subject, key: str, words: str, now: datetime) -> list[Fact]:
        if subject.pk not in self._known:
            return []
        ids = near_ids(subject, key, words, now)
        if missing := [pk for pk in ids if pk not in self._seen]:
            self._kept(Fact.objects.filter(pk__in=missing))
        return [self._seen[pk] for pk in ids]

    def lessons(self, subject: Subject, learned: Learned, now: datetime) -> list[Fact]:
        return self._lessons[learned.type, learned.key][:LESSONS]

    def is_quoted_in(self, fact: Fact, session: Session) -> bool:
        return fact.pk in self._quoted

    def rests_on(self, fact: Fact, cited: Sequence[Cited]) -> bool:
        return any(
            start < one.end and end > one.start
            for one in cited
            for start, end in self._places.get((fact.pk, one.observation.pk), ())
        )

    def proposed(self, fact: Fact) -> None:
        if fact.pk in self._seen:
            return
        self._seen[fact.pk] = fact
        self._known.add(fact.subject_id)
        self._saying[fact.subject_id, fact.fingerprint].insert(0, fact)
        self._first[fact.pk] = {fact.fingerprint}

    def cite(self, fact: Fact, cited: Iterable[Cited], now: datetime) -> None:
        for row in _evidence(fact, cited, now):
            self._waiting.append(row)
            self._places[fact.pk, row.observation_id].append((row.start, row.end))
        if fact.pk not in self._quoted:
            self._quoted.add(fact.pk)
            if fact.pk not in self._first:
                self._read_first_words({fact.pk})
            self._tell(fact)

    def finish(self) -> None:
        """Writes the quotes."""
        _write(self._waiting)
        self._waiting = []

    def _kept(self, facts: Iterable[Fact]) -> list[Fact]:
        """One object for each row, however often it is found: what is done to it is seen everywhere."""
        found = []
        for fact in facts:
            kept = self._seen.setdefault(fact.pk, fact)
            kept.subject = self._subjects[kept.subject_id]
            kept.project = self._session.project
            found.append(kept)
        return found

    def _read_first_words(self, ids: set[int]) -> None:
        for decision in Decision.objects.filter(fact__in=ids, verb=Verb.PROPOSE).order_by("-pk"):
            self._first[decision.fact_id].add(_first_said(decision))

    def _tell(self, fact: Fact) -> None:
        for words in {fact.fingerprint, *self._first[fact.pk]}:
            self._told[fact.subject_id, words].append(fact)


def lock(subjects: Iterable[Subject]) -> None:
    """Takes these subjects for this transaction, always in the same order; captures about them go on."""
    Subject.objects.hold(subject.pk for subject in subjects)


def said(learned: Learned) -> str:
    """What a fact with just this type, key, value and words is told by."""
    return rendering.fingerprint(learned.type, learned.key, learned.value, rendering.one_line(learned.text))


def _lessons(project_id: int, now: datetime) -> FactQuerySet:
    lessons = Fact.objects.filter(
        project_id=project_id, standing=True, status=Status.APPROVED, subject__entity_type=PROJECT
    )
    return lessons.filter(Q(expires_at__isnull=True) | Q(expires_at__gt=now))


def _first_said(proposal: Decision) -> str:
    first = proposal.after
    return rendering.fingerprint(first["type"], first["key"], first["value"], first["text"])


def _write(rows: Iterable[Evidence]) -> None:
    Evidence.objects.bulk_create(rows, ignore_conflicts=True)


def _evidence(fact: Fact, cited: Iterable[Cited], now: datetime) -> list[Evidence]:
    return [
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
    ]
