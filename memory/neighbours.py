"""The known facts that a new statement has to be compared with: few, found by index, however many a subject has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from django.db.models import Q

from memory import embeddings
from memory.embedding_store import text_sha256
from memory.languages import language_of
from memory.likeness_terms import read
from memory.likeness_vocabulary import words_for
from memory.models import Fact, FactEmbedding, Status, Subject
from memory.models.fact_queries import FactQuerySet
from memory.prepared import fetch

# Of one key the history may be long, the living values are few.
SAME_KEY = 20
# By words in common, the best first.
BY_WORDS = 30
# Where words are not set apart there is no index of them: the newest are looked at.
NEWEST_UNSPACED = 100
# Words that one statement may look for: its own and all that mean the same.
MOST_FORMS = 200
# Texts that may be embedded for one statement beside itself; of more, the words alone decide.
MOST_EMBEDDED = 4

_FIGURES = re.compile(r"\d[\w.:-]*")
_UNSPACED = r"[\u3040-\u30ff\u3400-\u9fff]"
# A lesson that was refused for others may be true all the same.
_LIVING = """(fact.status = 'proposed' OR fact.status IN ('rejected', 'removed') AND NOT fact.standing
        OR fact.status = 'approved' AND (fact.expires_at IS NULL OR fact.expires_at > %(now)s))"""
# The lexemes of the words as countersign_search_vector makes them; a fact has any of them.
_NEAR = rf"""
WITH asked AS MATERIALIZED (
    SELECT string_agg('''' || replace(replace(lexeme, '\', '\\'), '''', '''''') || '''', ' | ')::tsquery AS words
    FROM unnest(countersign_search_vector(%(words)s, ''))
), keyed AS (
    SELECT fact.id FROM memory_fact fact
    WHERE fact.subject_id = %(subject)s AND fact.key = %(key)s AND {_LIVING} ORDER BY fact.id DESC LIMIT %(most)s
), worded AS (
    SELECT fact.id FROM memory_fact fact CROSS JOIN asked
    WHERE fact.subject_id = %(subject)s AND fact.search @@ asked.words AND {_LIVING}
    ORDER BY ts_rank(fact.search, asked.words) DESC, fact.id DESC LIMIT %(limit)s
)
SELECT id FROM (SELECT id, 0 AS place FROM keyed UNION ALL SELECT id, 1 FROM worded) near ORDER BY place, id DESC
"""  # noqa: S608 - put together of our own text alone


def neighbours(subject: Subject, key: str, text: str, now: datetime) -> list[Fact]:
    """Facts of `subject` with this key, or with words that mean what words of `text` mean: at most 50, as a rule.

    Living ones (approved and unexpired, or proposed) and those that a person refused. Two queries.
    """
    ids = near_ids(subject, key, text, now)
    found = {fact.pk: fact for fact in Fact.objects.filter(pk__in=ids).defer("search")}
    return [found[pk] for pk in ids if pk in found]


def near_ids(subject: Subject, key: str, text: str, now: datetime) -> list[int]:
    """The ids of `neighbours`: those of the key first, then those by words, the newest of each first."""
    words = forms(text).replace("\x00", " ")
    parameters = {"words": words, "key": key, "subject": subject.pk, "now": now, "limit": BY_WORDS, "most": SAME_KEY}
    found = dict.fromkeys(pk for (pk,) in fetch(Fact.objects.db, _NEAR, parameters))
    if re.search(_UNSPACED, text):
        unspaced = _known(subject, now).filter(text__regex=_UNSPACED).order_by("-pk")
        found |= dict.fromkeys(unspaced.values_list("pk", flat=True)[:NEWEST_UNSPACED])
    return list(found)


def forms(text: str) -> str:
    """The words of `text` that say something, and all that mean the same, as one text to look for."""
    language = language_of(text) or "en"
    found = dict.fromkeys(_FIGURES.findall(text))
    terms = read(text, language).terms
    # What so many statements share would find them all; looked for only where a statement says nothing else.
    for term in [term for term in terms if term.is_strong] or terms:
        found[term.surface] = None
        if term.kind in ("word", "name"):
            found |= dict.fromkeys(words_for(term.value, language))
    return " ".join(list(found)[:MOST_FORMS])


class Cosines:
    """Of one statement to the facts beside it: stored vectors where they fit their text, else a few made here."""

    def __init__(self, text: str, facts: Sequence[Fact]) -> None:
        self._text, self._facts, self._made = text, facts, 0
        self._own: list[float] | None = None
        self._stored: dict[int, list[float]] | None = None

    def to(self, fact: Fact) -> float | None:
        """None where there is no embedder, or too many were asked for."""
        try:
            if self._own is None:
                [self._own] = embeddings.embed([self._text])
            other = self._vector(fact)
        except (embeddings.EmbedderUnavailable, embeddings.BadVector):
            return None
        return None if other is None else sum(a * b for a, b in zip(self._own, other, strict=True))

    def _vector(self, fact: Fact) -> list[float] | None:
        if self._stored is None:
            texts = {one.pk: text_sha256(one.text) for one in self._facts}
            rows = FactEmbedding.objects.filter(
                fact__in=texts, model=embeddings.MODEL_ID, precision=embeddings.PRECISION
            )
            self._stored = {row.fact_id: row.vector for row in rows if row.text_sha256 == texts[row.fact_id]}
        if fact.pk not in self._stored:
            if self._made >= MOST_EMBEDDED:
                return None
            self._made += 1
            [self._stored[fact.pk]] = embeddings.embed([fact.text])
        return self._stored[fact.pk]


def _known(subject: Subject, now: datetime) -> FactQuerySet:
    living = Q(status=Status.APPROVED) & (Q(expires_at__isnull=True) | Q(expires_at__gt=now))
    # A lesson that was not to stand for others may be true all the same.
    others = Q(status=Status.PROPOSED) | Q(status__in=(Status.REJECTED, Status.REMOVED), standing=False)
    return Fact.objects.filter(living | others, subject=subject, project_id=subject.project_id).defer("search")
