"""Facts for an agent, by key or by meaning. Every reading here starts at `Fact.objects.visible_to(agent, now)`.

Search is exact: every visible fact in scope is scored, so none is missing. Half of the order is the cosine of the local
vectors, half is full text with the query's words OR-ed (0.5 / 0.5, no length normalisation: R@5 0.576 on LoCoMo, where
vectors alone reached 0.33). What may come at all is decided by `relevance`, on which `min_score` works: the cosine, or
the share of the query's words that the fact holds, the rare ones weighing more. A floor on the fused figure would cut
nothing (its best lexical hit always gets 0.5), one on the cosine alone cuts true hits.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.db.models import Q

from memory import embeddings
from memory.models import Fact, Subject
from memory.prepared import about, fetch
from memory.prepared import visible as visible_sql
from memory.supposed import Suppose
from memory.types import Overrides, cell_of
from projects.models import Agent

MIN_SCORE = 0.3
QUERY_CHARS = 4_000  # the embedder reads 256 tokens; words beyond would only blur the rest
QUERY_WORDS = 48
PAGE_LIMIT = 100
ALL_OF_A_TYPE = "*"

# How far a statement is trusted by where it comes from. All were countersigned; a person's own words need no reading
# between the lines.
CONFIDENCE = {"manual": 1.0, "conversation": 0.9, "import": 0.8, "extraction": 0.7}
# priority = decay × (relevance, confidence, recency), the weights of the three; chosen by hand, to be measured.
WEIGHTS = (0.6, 0.25, 0.15)
RECENT_DAYS = 90
# Each doubling of the sessions it was seen in, or of the days an agent said it helped, trusts it a little more: never
# more than a person's own words, so nobody can talk a fact to the top.
AGAIN = 0.05
HISTORY = 0.5


@dataclass(frozen=True, slots=True)
class Page:
    """A page of facts, newest first, and where the next one starts (None: this was the last)."""

    facts: list[Fact]
    next_after: int | None


@dataclass(frozen=True, slots=True)
class Scored:
    """How well a fact fits a query: `relevance` 0..1 is what the floor looks at, `fused` only orders."""

    pk: int
    relevance: float
    fused: float
    cosine: float
    share: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A fact that was found, how relevant it is, and its priority in a brief."""

    fact: Fact
    score: float
    priority: float
    why: str


def lookup(
    agent: Agent,
    *,
    subject: Subject | None = None,
    key: str | None = None,
    key_prefix: str | None = None,
    limit: int = 20,
    after: int | None = None,
    now: datetime,
) -> Page:
    """Facts by exact key, by whole-segment prefix, or all of a type (`type:*`); newest first, without embedding.

    `user_preference:contact` as a prefix finds itself and `user_preference:contact.phone`, not
    `user_preference:contacts`. Every other character, `%` and `_` included, stands for itself. A page continues
    behind the fact `after`: new facts come in front, so no row is shown twice or missed.
    """
    found = Fact.objects.visible_to(agent, now).filter(_keyed(key, key_prefix))
    if subject is not None:
        found = found.filter(subject=subject)
    if after is not None:
        found = found.filter(pk__lt=after)
    limit = max(1, min(limit, PAGE_LIMIT))
    rows = list(found.select_related("subject").defer("search").order_by("-pk")[: limit + 1])
    return Page(rows[:limit], rows[limit - 1].pk if len(rows) > limit else None)


def visible(agent: Agent, pk: int, now: datetime) -> Fact | None:
    """One fact, if this agent may see it."""
    return Fact.objects.visible_to(agent, now).select_related("subject").defer("search").filter(pk=pk).first()


def search(
    agent: Agent,
    query: str,
    *,
    subject: Subject | None = None,
    types: Sequence[str] | None = None,
    min_score: float = MIN_SCORE,
    limit: int = 5,
    now: datetime,
) -> list[Hit]:
    """The facts that fit the query, best first; none for a query without a word in it. Any text is a query."""
    subjects = None if subject is None else [subject.pk]
    scored = score(agent, query, subjects=subjects, types=types, min_score=min_score, limit=limit, now=now)
    facts = {
        fact.pk: fact
        for fact in Fact.objects.visible_to(agent, now)
        .filter(pk__in=[one.pk for one in scored])
        .select_related("subject")
        .defer("search")
    }
    return [
        Hit(
            fact := facts[one.pk],
            one.relevance,
            _priority_of(fact, agent, one.relevance, now),
            "meaning" if one.cosine >= one.share else "words",
        )
        for one in scored
        if one.pk in facts
    ]


def _priority_of(fact: Fact, agent: Agent, relevance: float, now: datetime) -> float:
    zone = agent.project.timezone
    age = day(now, zone) - day(max(fact.last_seen_at, fact.confirmed_at or fact.last_seen_at), zone)
    return priority(
        fact.type,
        fact.source,
        fact.times_seen,
        age.days,
        relevance,
        use=fact.use,
        helped_count=fact.helped_count,
        types=agent.project.types,
    )


def priority(
    type_: str,
    source: str,
    times_seen: int,
    age_days: int,
    relevance: float = 0.0,
    *,
    use: str = "actionable",
    helped_count: int = 0,
    types: Overrides = None,
) -> float:
    """What comes first in a brief, 0..1. Fades with the half-life of the type since the day it was last seen or
    confirmed; what is only history comes behind what one can act on."""
    age_days = max(0, age_days)
    half_life = cell_of(type_, "half_life_days", types)
    fading = 0.5 ** (age_days / half_life) if half_life else 1.0
    if use == "historical":
        fading *= HISTORY
    again = math.log2(max(1, times_seen) * (1 + helped_count))
    confidence = min(1.0, CONFIDENCE.get(source, 0.7) + AGAIN * again)
    recency = 0.5 ** (age_days / RECENT_DAYS)
    by_relevance, by_confidence, by_recency = WEIGHTS
    relevance = max(0.0, min(1.0, relevance))
    return fading * (by_relevance * relevance + by_confidence * confidence + by_recency * recency)


def day(at: datetime, timezone: str) -> date:
    """The calendar day of the project."""
    return at.astimezone(ZoneInfo(timezone)).date()


def _keyed(key: str | None, key_prefix: str | None) -> Q:
    condition = Q()
    for asked, by_prefix in ((key, False), (key_prefix, True)):
        if asked is None:
            continue
        # Postgres has no NUL and no half characters; no key holds them either.
        wanted = unicodedata.normalize("NFC", asked.strip())
        if not wanted.isprintable() or not wanted:
            return Q(pk__in=[])
        kind, _, rest = wanted.partition(":")
        if rest == ALL_OF_A_TYPE or (by_prefix and not rest):
            condition &= Q(type=kind)
        elif by_prefix:
            whole = wanted.rstrip(".")
            condition &= Q(key=whole) | Q(key__startswith=f"{whole}.")
        else:
            condition &= Q(key=wanted)
    return condition


# How a query is read --------------------------------------------------------------------------------------------------

# As countersign_search_vector splits the texts: `src/app.py` is found by `app`, and finds it.
_MARKS = str.maketrans(dict.fromkeys("/\\.:;,=_-@#$%&*+?!|~^<>()[]{}\"`'", " "))

# One row per distinct word: as it stands, and its English stem (empty for a stop word, which is then left out).
_WORDS = """
SELECT lexeme, ts_lexize('pg_catalog.english_stem', lexeme)
FROM unnest(to_tsvector('pg_catalog.simple', %(query)s)) ORDER BY positions[1], lexeme
"""

# The share of words weighs each by its rarity among the facts this agent may see (BM25's weight): counting hidden
# ones too would let a score betray them. A vector counts only when its model, its precision and its text are current.
_SCORE = """
WITH visible AS MATERIALIZED ({visible}),
word AS (SELECT ord, q::tsquery AS q FROM unnest(%(words)s::text[]) WITH ORDINALITY AS asked(q, ord)),
rarity AS (
    SELECT word.ord, word.q, ln(1 + (n.total - count(v.id) + 0.5) / (count(v.id) + 0.5)) AS weight
    FROM word CROSS JOIN (SELECT count(*) AS total FROM visible) n LEFT JOIN visible v ON v.search @@ word.q
    GROUP BY word.ord, word.q, n.total
),
scored AS (
    SELECT v.id,
        ts_rank(v.search, %(any)s::tsquery) AS rank,
        coalesce((
            SELECT greatest(0, 1 - (e.vector <=> %(vector)s::halfvec)) FROM memory_factembedding e
            WHERE e.fact_id = v.id AND e.model = %(model)s AND e.precision = %(precision)s
                AND e.text_sha256 = encode(sha256(convert_to(v.text, 'UTF8')), 'hex')
        ), 0) AS cosine,
        (SELECT coalesce(sum(r.weight) FILTER (WHERE v.search @@ r.q), 0) / sum(r.weight) FROM rarity r) AS share
    FROM visible v
    WHERE (%(subjects)s::bigint[] IS NULL OR v.subject_id = ANY (%(subjects)s::bigint[]))
        AND (%(types)s::text[] IS NULL OR v.type = ANY (%(types)s::text[]))
),
ordered AS (
    SELECT id, greatest(cosine, share) AS relevance, cosine, share,
        0.5 * cosine + 0.5 * coalesce(rank / nullif(max(rank) OVER (), 0), 0) AS fused
    FROM scored
)
SELECT id, relevance::float8, fused::float8, cosine::float8, share::float8 FROM ordered
WHERE relevance >= %(min_score)s::float8 ORDER BY fused DESC, id DESC LIMIT %(limit)s::int
"""


def score(
    agent: Agent,
    query: str,
    *,
    subjects: Iterable[int] | None = None,
    types: Iterable[str] | None = None,
    min_score: float = MIN_SCORE,
    limit: int,
    now: datetime,
    suppose: Suppose | None = None,
) -> list[Scored]:
    """Every visible fact in scope against the query, best first. Where the embedder is missing, words alone decide."""
    asked = _storable(query)
    if not asked or agent.paused_at or agent.archived_at or agent.project.paused_at:
        return []
    alias = Fact.objects.db
    words = _tsqueries(fetch(alias, _WORDS, {"query": asked.translate(_MARKS)}))
    if not words:
        return []
    parameters = {
        **about(agent, now),
        "words": words,
        "any": " | ".join(words),
        "vector": _vector(asked),
        "model": embeddings.MODEL_ID,
        "precision": embeddings.PRECISION,
        "subjects": None if subjects is None else list(subjects),
        "types": None if types is None else list(types),
        "min_score": min_score,
        "limit": limit,
    }
    sql = _SCORE.format(visible=visible_sql(agent, "id", "subject_id", "type", "text", "search"))
    rows = fetch(alias, sql, parameters, suppose)
    return [Scored(pk, min(1.0, relevance), fused, *parts) for pk, relevance, fused, *parts in rows]


def _storable(query: str) -> str:
    """The query as Postgres can read it: no NUL, no half characters, not endless."""
    kept = query[:QUERY_CHARS].replace("\x00", " ").encode("utf-8", "replace").decode("utf-8")
    return unicodedata.normalize("NFC", kept).strip()


def _tsqueries(rows: Iterable[tuple[Any, ...]]) -> list[str]:
    """One tsquery per word: the word as it stands or its stem. `run` and `running` are one word; stop words none."""
    forms: dict[str, list[str]] = {}
    for word, stems in rows:
        if stems == [] or not any(char.isalnum() for char in word):
            continue
        stem = stems[0] if stems else word
        known = forms.setdefault(stem, [stem])
        if word not in known:
            known.append(word)
    return [" | ".join(_quoted(form) for form in known) for known in list(forms.values())[:QUERY_WORDS]]


def _quoted(lexeme: str) -> str:
    # A lexeme may hold what a tsquery reads as operators or quotes.
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"


def _vector(query: str) -> str | None:
    try:
        return "[" + ",".join(f"{value:.6f}" for value in embeddings.embed([query])[0]) + "]"
    except (embeddings.EmbedderUnavailable, embeddings.BadVector):
        return None
