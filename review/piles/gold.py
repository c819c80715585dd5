"""Planted cards: a few among the real ones, with a known answer, told at once. A project switches them on.

They are never memories: made from what was approved about projects and repositories, kept apart, seen by the desk
alone. Whoever is reliable meets fewer of them; nobody is ever met with more for having been wrong.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connections
from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memory.models import Decision, Fact, Status, Verb
from memory.models.fact_on_arrival import IMPERSONAL
from projects import tenancy
from projects.models import Membership, Person, Project, Role
from review.cards.flags import SENTENCE_LIMIT
from review.deciding.policy import Policy
from review.models import GoldAnswer, GoldItem
from review.piles.planting import names_in, planted

# From so many reviewers and decisions a week on there is something to learn from them.
REVIEWERS, A_WEEK = 3, 300
WEEK = timedelta(days=7)
# One planted card in so many; the exact place differs, so that nobody can count up to it.
FEWEST_BETWEEN, MOST_BETWEEN = 20, 25
RELIABLE_BETWEEN = 50
# Right in nine of the last ten: met with half as many.
LATELY, RELIABLE = 10, 9
# Items a reviewer has not met yet, and how many are made at once.
STOCK = 40
MADE_AT_ONCE = 20
# Of the planted cards so many hold: somebody who rejects every doubtful one must not be always right.
RIGHT_SHARE = 0.3
# Verbs that say something about the card; who gets it, and later, do not.
COUNTED = ("approve", "edit", "reject")
WRONG_IS_CAUGHT_BY = ("edit", "reject")
KNOWN = "known"
# The newest memories that cards are made from, and how long ago they were learned at most: a card shows its days, and
# no proposal waits longer in a pile.
LOOKED_AT = 200
LEARNED_WITHIN = timedelta(days=30)

_ENDS = (Verb.APPROVE, Verb.FIRST_YES, Verb.REJECT, Verb.MERGE, Verb.RECONFIRM, Verb.REMOVE)


@dataclass(frozen=True)
class Offer:
    """Whether a project may switch planted cards on; `reviewers` and `decisions` of the last week say how far it is."""

    reviewers: int
    decisions: int

    @property
    def is_open(self) -> bool:
        return self.reviewers >= REVIEWERS and self.decisions >= A_WEEK

    @property
    def missing(self) -> str:
        """`2 reviewers and 41 decisions in the last week`: what there is, while that is too little."""
        if self.is_open:
            return ""
        people = ngettext("%(count)d reviewer", "%(count)d reviewers", self.reviewers) % {"count": self.reviewers}
        done = ngettext("%(count)d decision", "%(count)d decisions", self.decisions) % {"count": self.decisions}
        return _("There are %(people)s and %(done)s in the last week.") % {"people": people, "done": done}


def offer(project: Project, now: datetime) -> Offer:
    """Two queries, each counting no further than it needs to."""
    reviewers = Membership.objects.filter(project=project, role__in=[Role.REVIEWER, Role.OWNER]).count()
    lately = Decision.objects.filter(
        project=project, person__isnull=False, at__gt=now - WEEK, verb__in=_ENDS, undone_by__isnull=True
    )
    return Offer(reviewers, lately.values("pk")[:A_WEEK].count())


def sweep(now: datetime) -> int:
    """Makes planted cards where they are switched on and run short; returns how many."""
    with tenancy.system("sweeper"):
        projects = list(Project.objects.filter(review_policy__gold=True, paused_at__isnull=True).order_by("pk"))
    return sum(stock_up(project, now) for project in projects)


def stock_up(project: Project, now: datetime) -> int:
    """Makes what is missing in one project, from its newest memories that are about nobody; returns how many.

    A card whose memory no longer holds goes.
    """
    with tenancy.project(project.pk):
        if not Policy.of(project).gold or not offer(project, now).is_open:
            return 0
        facts = {fact.pk: fact for fact in sources(project, now)[:LOOKED_AT]}
        current = GoldItem.objects.filter(project=project, retired_at__isnull=True)
        current.exclude(card__source__in=list(facts)).update(retired_at=now)
        unmet = current.annotate(met=Count("answers")).filter(met=0).count()
        used = set(GoldItem.objects.filter(project=project).values_list("card__source", "flaw"))
        items = [item for item in _items(project, list(facts.values())) if (item.card["source"], item.flaw) not in used]
        random.Random(f"{project.pk} {len(used)}").shuffle(items)  # noqa: S311 (which ones, not whether)
        made = _mixed(items)[: max(0, min(MADE_AT_ONCE, STOCK - unmet))]
        for item, number in zip(made, _numbers(len(made)), strict=True):
            item.card["number"] = number
        GoldItem.objects.bulk_create(made)
        return len(made)


def _numbers(count: int) -> list[int]:
    """Numbers that memories would have had: the address of a planted card looks like any other, and is no memory's."""
    with connections[Fact.objects.db].cursor() as cursor:
        cursor.execute(
            "SELECT nextval(pg_get_serial_sequence('memory_fact', 'id')) FROM generate_series(1, %s)", [count]
        )
        return [int(row[0]) for row in cursor.fetchall()]


def _mixed(items: list[GoldItem]) -> list[GoldItem]:
    """Right and wrong ones in their share, and no two of one memory beside each other where that can be."""
    right = [item for item in items if not item.flaw]
    wrong = [item for item in items if item.flaw]
    mixed: list[GoldItem] = []
    seen: set[int] = set()
    while right or wrong:
        wants_right = right and (not wrong or sum(not one.flaw for one in mixed) < RIGHT_SHARE * (len(mixed) + 1))
        pool = right if wants_right else wrong
        place = next((n for n, one in enumerate(pool) if one.card["source"] not in seen), 0)
        seen.add(pool[place].card["source"])
        mixed.append(pool.pop(place))
    return mixed


def _items(project: Project, facts: list[Fact]) -> Iterable[GoldItem]:
    names = sorted({name for fact in facts for name in names_in(fact.text)})
    for fact in facts:
        evidence = list(fact.evidence.all())
        quotes = [row.quote for row in evidence if row.observation is not None and row.verdict() == "holds"]
        if fact.type_row.single_valued or not quotes or len(quotes) != len(evidence):
            continue
        card = {"source": fact.pk, "type": fact.type, "subject": fact.subject.words, "text": fact.text}
        card |= {"quotes": quotes}
        right = _("the quote says what the sentence says.")
        yield GoldItem(project=project, card=dict(card), explanation=right)
        chance = random.Random(fact.pk)  # noqa: S311 (the same card each time)
        for one in planted(fact.text, quotes, names, chance):
            if len(one.text) <= SENTENCE_LIMIT:
                wrong = {**card, "text": one.text}
                yield GoldItem(project=project, card=wrong, flaw=one.flaw, explanation=one.explanation)


def sources(project: Project, now: datetime) -> QuerySet[Fact]:
    """What planted cards are made from: signed by a person, about a project or a repository, nothing found in it, and
    learned lately."""
    return (
        Fact.objects.filter(
            project=project,
            status=Status.APPROVED,
            approved_by__isnull=False,
            source="extraction",
            standing=False,
            nature="factual",
            findings=[],
            subject__entity_type__in=IMPERSONAL,
            first_seen_at__gte=now - LEARNED_WITHIN,
        )
        .live(now)
        .exclude(proposed_by_agent=None)
        .select_related("subject", "project", "proposed_by_agent")
        .prefetch_related("evidence__observation__session")
        .order_by("-pk")
    )


def next_for(membership: Membership, now: datetime) -> GoldItem | None:
    """The planted card that is due for this person now, or None. No query while the switch is off, else four."""
    project, person = membership.project, membership.person
    if not membership.can_review or not Policy.of(project).gold:
        return None
    last = GoldAnswer.objects.filter(project=project, person=person).order_by("-pk").first()
    between = _between(project, person, last)
    since = Decision.objects.filter(project=project, person=person, verb__in=_ENDS, undone_by__isnull=True)
    if last is not None:
        since = since.filter(at__gt=last.at)
    # An act on many is one moment of looking.
    if len(set(since.order_by("-pk").values_list("batch", flat=True)[: between * 4])) < between:
        return None
    return _unmet(project, person).first()


def asked(membership: Membership, number: int) -> GoldItem | None:
    """The planted card behind this number, while this person has not answered it."""
    return looked_at(membership, number) if membership.can_review else None


def looked_at(membership: Membership, number: int) -> GoldItem | None:
    """The same for who may only look."""
    if not Policy.of(membership.project).gold:
        return None
    return _unmet(membership.project, membership.person).filter(card__number=number).first()


def _unmet(project: Project, person: Person) -> QuerySet[GoldItem]:
    open_items = GoldItem.objects.filter(project=project, retired_at__isnull=True)
    return open_items.exclude(answers__person=person).order_by("pk")


def _between(project: Project, person: Person, last: GoldAnswer | None) -> int:
    """After how many cards the next one comes: 20 to 25, or 50 for who was right nine times of ten."""
    lately = list(
        GoldAnswer.objects.filter(project=project, person=person, verb__in=COUNTED)
        .order_by("-pk")
        .values_list("is_right", flat=True)[:LATELY]
    )
    if len(lately) == LATELY and sum(lately) >= RELIABLE:
        return RELIABLE_BETWEEN
    place = zlib.crc32(f"{person.pk} {last.pk if last else 0}".encode())
    return FEWEST_BETWEEN + place % (MOST_BETWEEN - FEWEST_BETWEEN + 1)


def answer(membership: Membership, item: GoldItem, verb: str, reason: str, now: datetime) -> GoldAnswer:
    """Keeps what this person said to a planted card, once. Editing or rejecting a wrong one is right; what is put off
    is neither, and does not count."""
    if not item.flaw and reason == KNOWN:
        verb = ""  # so it is: the memory it was made from
    is_right = verb in WRONG_IS_CAUGHT_BY if item.flaw else verb in ("approve", "edit")
    said, _is_new = GoldAnswer.objects.get_or_create(
        item=item,
        person=membership.person,
        defaults={
            "project": membership.project,
            "verb": verb if verb in COUNTED else "put_off",
            "reason": reason[:40],
            "is_right": is_right,
            "at": now,
        },
    )
    return said


def feedback(said: GoldAnswer) -> str:
    """`This one was planted: the quote says 200, the sentence 300. You caught it.`"""
    terms = {"what": said.item.explanation}
    if said.verb not in COUNTED:
        return _("This one was planted, and nothing was changed: %(what)s") % terms
    if said.is_right:
        caught = _("This one was planted: %(what)s You caught it.") if said.item.flaw else ""
        return (caught or _("This one was planted, and it holds: %(what)s You were right.")) % terms
    if said.item.flaw:
        return _("This one was planted: %(what)s No agent gets it.") % terms
    return _("This one was planted, and it holds: %(what)s") % terms


def accuracy(person: Person, projects: Iterable[int]) -> tuple[int, int]:
    """(right, of how many) planted cards this person answered."""
    counted = GoldAnswer.objects.filter(person=person, project__in=projects, verb__in=COUNTED)
    found = counted.aggregate(right=Count("pk", filter=Q(is_right=True)), all=Count("pk"))
    return found["right"], found["all"]
