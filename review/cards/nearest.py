"""Which memories may say the same as this one: those of its subject, the nearest first."""

from __future__ import annotations

from datetime import datetime

from django.contrib.postgres.search import SearchQuery
from django.db.models import Q

from memory.models import Fact, Status
from memory.models.fact_queries import FactQuerySet
from memory.neighbours import neighbours

# As many as a bar holds, each with a digit.
MOST = 6
# Of what was looked for; the nearest of these are shown.
LOOKED_AT = 50


def nearest(fact: Fact, words: str, now: datetime) -> list[Fact]:
    """At most six living memories of the subject that `fact` could be merged into; with `words`, those that have them.

    About four queries, however many memories the subject has.
    """
    words = words.replace("\x00", " ").strip()
    living = _living(fact, now)
    if words:
        found = Q(text__icontains=words) | Q(search=SearchQuery(words, config="simple"))
        candidates = list(living.filter(found).order_by("-pk")[:LOOKED_AT])
    else:
        near = [one.pk for one in neighbours(fact.subject, fact.key, fact.text, now)]
        candidates = list(living.filter(pk__in=near))
        if len(candidates) < MOST:
            candidates += living.exclude(pk__in=near).order_by("-pk")[: MOST - len(candidates)]
    return sorted(candidates, key=lambda one: (one.pk != fact.related_id, -_likeness(fact, one), -one.pk))[:MOST]


def _living(fact: Fact, now: datetime) -> FactQuerySet:
    alive = Q(status=Status.APPROVED) & (Q(expires_at__isnull=True) | Q(expires_at__gt=now))
    return (
        Fact.objects.filter(alive | Q(status=Status.PROPOSED), project_id=fact.project_id, subject_id=fact.subject_id)
        .exclude(pk=fact.pk)
        .select_related("subject", "approved_by")
        .defer("search")
    )


def _likeness(fact: Fact, other: Fact) -> float:
    """0..2: the share of letter pairs that the sentences have in common (Dice), and 1 more where both have one key."""
    own, others = _pairs(fact.text), _pairs(other.text)
    shared = 2 * len(own & others) / ((len(own) + len(others)) or 1)
    return shared + (1 if other.key == fact.key else 0)


def _pairs(text: str) -> set[str]:
    letters = "".join(text.casefold().split())
    return {letters[at : at + 2] for at in range(len(letters) - 1)}
