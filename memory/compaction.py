"""Proposes one standing lesson for what sessions keep teaching: never silent, never twice, not again once refused.

A lesson is repeated when three sessions taught it: as one memory that was counted three times, or as several that say
nearly the same, each countersigned. Its sentence is one of theirs, word for word: nobody has to trust a new one. What
is about a person is only ever joined with what is about the same person.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef

from memory import likeness
from memory.languages import language_of
from memory.learned import Learned, findings_of
from memory.likeness_terms import read
from memory.models import Evidence, Fact, StandingPart, Status, Subject
from memory.models.lifetimes import default_expiry
from memory.models.subject import PROJECT
from memory.reconciliation import lock
from memory.statements import Statement, relate
from memory.weighing import weigh
from projects import audit, tenancy
from projects.models import Project

NAME, VERSION = "compaction", "1"
SOURCE = "compaction"
# So many sessions, or so many memories, make a lesson a repeated one.
REPEATED = 3
# As near as this, with nothing specific in one alone: the verdict of memory/likeness.py alone shows more.
NEAR = 0.8
STANDS_FOR = timedelta(days=365)
# What holds for a moment, or was promised, is no lesson.
NO_LESSONS = ("sentiment", "problem", "commitment")
# What any repository may teach any other; the rest is about somebody.
IMPERSONAL_TYPES = frozenset(["fix", "error", "failed_command", "environment", "owning_file", "choice"])
IMPERSONAL_SUBJECTS = frozenset([PROJECT, "repo"])

# Bounds of one run for one project: about two seconds at most.
MOST_FACTS = 2_000
MOST_COMPARED = 5_000
MOST_ALIKE = 40  # facts with one word in common; a commoner word tells nothing
MOST_PARTS = 20
MOST_PROPOSED = 10


@dataclass(frozen=True, slots=True)
class _Lesson:
    """A countersigned memory, and the sessions that taught it (those whose records are gone are counted)."""

    fact: Fact
    sessions: frozenset[int]
    gone: int

    @property
    def session_count(self) -> int:
        return len(self.sessions) + self.gone

    @property
    def is_impersonal(self) -> bool:
        return self.fact.type in IMPERSONAL_TYPES and self.fact.subject.entity_type in IMPERSONAL_SUBJECTS


def sweep(now: datetime) -> int:
    """Looks through every project; returns how many standing lessons it proposed."""
    with tenancy.system("sweeper"):
        projects = list(Project.objects.filter(facts__status=Status.APPROVED).distinct().order_by("pk"))
    proposed = 0
    for project in projects:
        with tenancy.project(project.pk):
            proposed += len(propose(project, now))
    return proposed


def propose(project: Project, now: datetime) -> list[Fact]:
    """The new standing proposals of one run, at most ten. Runs in the caller's transaction."""
    lessons = _lessons(project, now)
    made: list[Fact] = []
    for cluster in sorted(_clusters(lessons), key=_session_count, reverse=True):
        if len(made) == MOST_PROPOSED:
            break
        if _is_repeated(cluster) and (fact := _proposed(project, cluster[:MOST_PARTS], now)) is not None:
            made.append(fact)
    if made:
        ids = [fact.pk for fact in made]
        audit.record("compaction", None, project_id=project.pk, object_kind="fact", object_ids=ids, now=now)
    return made


def _lessons(project: Project, now: datetime) -> list[_Lesson]:
    """What may be joined: live, no standing lesson itself, and never yet part of one, whatever became of that."""
    spoken_for = StandingPart.objects.filter(part=OuterRef("pk"))
    facts = list(
        Fact.objects.filter(project=project, standing=False)
        .live(now)
        .exclude(type__in=NO_LESSONS)
        .filter(~Exists(spoken_for))
        .select_related("subject", "project")
        .defer("search")
        .order_by("-last_seen_at", "-pk")[:MOST_FACTS]
    )
    taught: dict[int, set[int]] = defaultdict(set)
    gone: Counter[int] = Counter()
    # Only what is quoted counts: how often an agent proposed it without showing anything says nothing.
    quotes = Evidence.objects.filter(fact__in=facts).order_by("pk")
    for fact_id, session_id in quotes.values_list("fact", "observation__session"):
        if session_id is None:
            gone[fact_id] += 1
        else:
            taught[fact_id].add(session_id)
    return [
        _Lesson(fact, frozenset(taught[fact.pk]), max(0, min(gone[fact.pk], fact.times_seen - len(taught[fact.pk]))))
        for fact in facts
    ]


def _clusters(lessons: Sequence[_Lesson]) -> Iterator[list[_Lesson]]:
    """The lessons, those together that say nearly the same to the same readers; the best first in each."""
    group = list(range(len(lessons)))

    def head(at: int) -> int:
        while group[at] != at:
            at = group[at]
        return at

    for one, two in _pairs(lessons):
        if head(one) != head(two) and _are_near(lessons[head(one)].fact, lessons[two].fact):
            group[head(two)] = head(one)
    found: dict[int, list[_Lesson]] = defaultdict(list)
    for at, lesson in enumerate(lessons):
        found[head(at)].append(lesson)
    for cluster in found.values():
        yield sorted(cluster, key=lambda one: (-one.session_count, len(one.fact.text), one.fact.pk))


def _pairs(lessons: Sequence[_Lesson]) -> Iterator[tuple[int, int]]:
    """Places of two lessons that may be joined and share what they speak of. Bounded however many there are."""
    seen: set[tuple[int, int]] = set()
    for places in _by_word(lessons).values():
        if len(places) > MOST_ALIKE:
            continue
        for index, one in enumerate(places):
            for two in places[index + 1 :]:
                if (one, two) not in seen and _may_join(lessons[one], lessons[two]):
                    seen.add((one, two))
                    yield one, two
                    if len(seen) >= MOST_COMPARED:
                        return


def _by_word(lessons: Sequence[_Lesson]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = defaultdict(list)
    for at, lesson in enumerate(lessons):
        text = lesson.fact.text
        for value in {term.value for term in read(text, language_of(text) or "en").terms if term.is_strong}:
            places[value].append(at)
    return places


def _may_join(one: _Lesson, two: _Lesson) -> bool:
    a, b = one.fact, two.fact
    if (a.type, a.nature, a.everyone, a.agent_ids) != (b.type, b.nature, b.everyone, b.agent_ids):
        return False
    return a.subject_id == b.subject_id or (one.is_impersonal and two.is_impersonal)


def _are_near(one: Fact, two: Fact) -> bool:
    told = relate(_statement(one), _statement(two), is_one_value=False)
    if told.verdict == likeness.SAME:
        return True
    return told.verdict == likeness.SAME_THING and told.score >= NEAR and not told.has_specifics


def _statement(fact: Fact) -> Statement:
    return Statement(fact.type, fact.key, fact.value, fact.text)


def _session_count(cluster: Sequence[_Lesson]) -> int:
    """A session that taught several of them is one."""
    known = frozenset().union(*(lesson.sessions for lesson in cluster))
    return len(known) + sum(lesson.gone for lesson in cluster)


def _is_repeated(cluster: Sequence[_Lesson]) -> bool:
    if len(cluster) == 1 and not cluster[0].is_impersonal:
        return False
    return len(cluster) >= REPEATED or _session_count(cluster) >= REPEATED


def _proposed(project: Project, cluster: Sequence[_Lesson], now: datetime) -> Fact | None:
    """The card for one cluster, or None where a person or another run was first."""
    facts = [lesson.fact for lesson in cluster]
    subjects = {fact.subject_id: fact.subject for fact in facts}
    target = facts[0].subject if len(subjects) == 1 else Subject.objects.of_project(project)
    lock([*subjects.values(), target])
    best = facts[0]
    if _is_taken(facts, target, best):
        return None
    lasting = default_expiry(best.type, best.value, now, project.types)
    standing, is_new = Fact.propose(
        subject=target,
        type=best.type,
        key=best.key,
        value=best.value,
        text=best.text,
        source=SOURCE,
        now=now,
        everyone=best.everyone,
        agent_ids=best.agent_ids,
        expires_at=None if lasting is None else max(lasting, now + STANDS_FOR),
        nature=best.nature,
        use=best.use,
        distiller=NAME,
        prompt_version=VERSION,
        findings=findings_of(Learned(best.type, best.key, best.value, best.text)),
        standing=True,
        times_seen=_session_count(cluster),
        valid_from=min(fact.since for fact in facts),
    )
    if not is_new:
        return None
    StandingPart.objects.bulk_create(
        [StandingPart(project_id=project.pk, standing=standing, part=fact) for fact in facts]
    )
    for fact in facts:
        Evidence.objects.copy(fact.pk, standing)
    weigh(project.pk, [standing.pk], now)
    return standing


def _is_taken(facts: Sequence[Fact], target: Subject, best: Fact) -> bool:
    """Whether one of them moved or is part of a standing lesson by now, or one that says the same was proposed before,
    whatever became of it."""
    pks = [fact.pk for fact in facts]
    if StandingPart.objects.filter(part__in=pks).exists():
        return True
    revisions = dict(Fact.objects.filter(pk__in=pks, status=Status.APPROVED).values_list("pk", "revision"))
    if revisions != {fact.pk: fact.revision for fact in facts}:
        return True
    same_words = Fact.objects.filter(subject=target, fingerprint=best.fingerprint, status=Status.PROPOSED)
    earlier = Fact.objects.filter(subject=target, standing=True, type=best.type).defer("search").order_by("-pk")
    return same_words.exists() or any(_are_near(fact, best) for fact in earlier[:MOST_FACTS])
