"""Memories by a pasted sentence: as they read now, as they read once, and as a brief printed them.

Words are looked for in all memories of the reader's projects; how well each fits is weighed here, where quotes, dashes
and case are folded. A memory fits where every word that was asked for stands in it. One word off
may be another memory (a number, a "not"), so it comes apart, behind those that fit.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from django.db import connections
from django.db.models import Q

from memory import short_ids
from memory.models import BriefServed, Decision, Fact, Status
from review.finding.asked import bare, folded, words_of

SHOWN = 20
CANDIDATES = 100
WORDS = 40
# A sentence of fewer words finds too much when one of them may be missing.
LEAST_TO_HALVE = 4
TELLING_WORDS = 6
# How far back printed briefs are read for a line that no memory and no earlier wording holds.
BRIEFS_READ = 1_000
EARLIER_READ = 500
_NAMED = re.compile(r"- \[(f-[0-9a-z]{6,13})\] ([^\n]*)")

# Exact, whole, part: how well a text fits what was asked for. Below PART it only reads alike.
EXACT, INSIDE, PART = 3, 2, 1
# A folded sentence, and its words.
Pair = tuple[str, list[str]]


@dataclass(frozen=True)
class Hit:
    """A memory that was found. `fit`: EXACT, INSIDE, PART, or 0 where it only reads alike; `was` is the earlier wording
    that fits instead of today's; `instead_of` is the memory that was found and whose place this one took."""

    fact: Fact
    fit: int
    is_live: bool
    was: str = ""
    by_id: bool = False
    instead_of: Fact | None = None

    @property
    def fits(self) -> bool:
        return self.by_id or self.fit > 0


def find(projects: Sequence[int], ids: Sequence[int], sentences: Sequence[str], now: datetime) -> list[Hit]:
    """What fits, live memories first; then what only reads alike. About eight queries, whatever was pasted."""
    hits: dict[int, Hit] = {}
    for fact in _facts(projects).filter(pk__in=ids) if ids else ():
        _keep(hits, Hit(fact, EXACT, _is_live(fact, now), by_id=True))
    asked = [(sentence, words_of(sentence)) for sentence in sentences]
    lexemes = [found for found in map(_lexemes, (words for _, words in asked)) if found]
    for fact in _by_words(projects, [_all(found) for found in lexemes]):
        _keep(hits, Hit(fact, _best(asked, fact.text), _is_live(fact, now)))
    for fact, was in _by_earlier_words(projects, asked, [_all(found) for found in lexemes]):
        _keep(hits, Hit(fact, _best(asked, was), _is_live(fact, now), was=was))
    if not any(hit.fits and hit.is_live for hit in hits.values()):
        for fact in _by_words(projects, [_half(found) for found in lexemes if len(found) >= LEAST_TO_HALVE]):
            _keep(hits, Hit(fact, _best(asked, fact.text), _is_live(fact, now)))
    if not any(hit.fits for hit in hits.values()):
        for fact in _by_letters(projects, sentences):
            _keep(hits, Hit(fact, INSIDE, _is_live(fact, now)))
    if not any(hit.fits for hit in hits.values()):
        for fact, line in _by_printed_line(projects, asked):
            _keep(hits, Hit(fact, PART, _is_live(fact, now), was=line))
    for hit in _in_their_place(projects, hits, now):
        _keep(hits, hit)
    return sorted(hits.values(), key=_order)[:SHOWN]


def _best(asked: Sequence[Pair], text: str) -> int:
    return max((fit(sentence, words, text) for sentence, words in asked), default=0)


def fit(sentence: str, asked: Sequence[str], text: str) -> int:
    """How well a text fits a folded sentence of these words."""
    said = folded(text)
    if bare(said) == sentence or said == sentence:
        return EXACT
    there = words_of(said)
    if sentence in said or (len(there) > 2 and said.rstrip(".") in sentence):
        return INSIDE
    known = set(there)
    missing = [word for word in asked if word not in known]
    # A paste may begin or end in the middle of a word.
    ends = {asked[0], asked[-1]} if len(asked) > 2 else {asked[-1]} if asked else set()
    if asked and all(word in ends and any(word in other for other in there) for word in missing):
        return PART
    return 0


def _order(hit: Hit) -> tuple[bool, bool, bool, int, int]:
    return (not hit.fits, not hit.is_live, not hit.by_id, -hit.fit, -hit.fact.pk)


def _keep(hits: dict[int, Hit], hit: Hit) -> None:
    """The better of two reasons to show one memory."""
    known = hits.get(hit.fact.pk)
    if known is None or (hit.by_id, hit.fit, not hit.was) > (known.by_id, known.fit, not known.was):
        hits[hit.fact.pk] = hit


def _facts(projects: Sequence[int]):  # type: ignore[no-untyped-def]
    related = ("subject", "project", "superseded_by")
    return Fact.objects.filter(project__in=projects).select_related(*related).defer("search")


def _is_live(fact: Fact, now: datetime) -> bool:
    return fact.status == Status.APPROVED and (fact.expires_at is None or fact.expires_at > now)


# By the words of today's text -----------------------------------------------------------------------------------------

# The words as the indexes hold them, in order.
_WORDS = "SELECT lexeme FROM unnest(countersign_words(%(words)s)) ORDER BY positions[1], lexeme"
_FACTS = "SELECT countersign_find_facts(%(query)s, %(most)s)"
_REWORDED = "SELECT countersign_find_reworded(%(query)s, %(most)s)"


def _by_words(projects: Sequence[int], queries: Sequence[str]) -> Iterable[Fact]:
    """Row security lets the pages use no index of words: a function of the database does, and sees what its caller may
    see (memory.migrations.0013)."""
    query = " | ".join(queries)
    return list(_facts(projects).filter(pk__in=_called(_FACTS, query, CANDIDATES))) if query else []


def _called(sql: str, query: str, most: int) -> list[int]:
    with connections[Fact.objects.db].cursor() as cursor:
        cursor.execute(sql, {"query": query, "most": most})
        return [pk for (pk,) in cursor.fetchall()]


def _lexemes(words: Sequence[str]) -> list[str]:
    """These words as a tsquery writes them; the last one may go on, for a paste may end in the middle of a word."""
    with connections[Fact.objects.db].cursor() as cursor:
        cursor.execute(_WORDS, {"words": " ".join(words)})
        found = [_quoted(lexeme) for (lexeme,) in cursor.fetchall()][:WORDS]
    return [*found[:-1], f"{found[-1]}:*"] if found else []


def _all(lexemes: Sequence[str]) -> str:
    """All of them; without the first, which may be the end of a word that was cut."""
    ways = [lexemes, lexemes[1:]] if len(lexemes) > 2 else [lexemes]
    return " | ".join(f"({' & '.join(way)})" for way in ways)


def _half(lexemes: Sequence[str]) -> str:
    """One half or the other: whatever one word is off, one half has it not."""
    middle = len(lexemes) // 2
    return f"({' & '.join(lexemes[:middle])}) | ({' & '.join(lexemes[middle:])})"


def _quoted(lexeme: str) -> str:
    return "'" + lexeme.replace("\\", "\\\\").replace("'", "''") + "'"


def _by_letters(projects: Sequence[int], sentences: Sequence[str]) -> Iterable[Fact]:
    """By a part of a word: scripts without spaces, keys, signs alone. Letter by letter, so nothing for a sentence."""
    for sentence in sentences[:1]:
        if len(words_of(sentence)) >= LEAST_TO_HALVE:
            return
        apart = _facts(projects).filter(Q(text__contains=sentence) | Q(key__contains=sentence))
        yield from apart.order_by("-pk")[:SHOWN]


# By what was said before ----------------------------------------------------------------------------------------------


def _by_earlier_words(
    projects: Sequence[int], asked: Sequence[Pair], queries: Sequence[str]
) -> Iterable[tuple[Fact, str]]:
    """Memories whose wording was another one once: what agents were told then may be what was pasted."""
    query = " | ".join(queries)
    if not query:
        return
    reworded = Decision.objects.filter(pk__in=_called(_REWORDED, query, EARLIER_READ)).order_by("-pk")
    rows = list(reworded.filter(project__in=projects).values_list("fact_id", "before__text"))
    facts = {fact.pk: fact for fact in _facts(projects).filter(pk__in={pk for pk, _ in rows})} if rows else {}
    for pk, was in rows:
        if pk in facts and _best(asked, was):
            yield facts[pk], was


def _by_printed_line(projects: Sequence[int], asked: Sequence[Pair]) -> Iterable[tuple[Fact, str]]:
    """The last resort: the texts of the last briefs, line by line."""
    briefs = BriefServed.objects.filter(project__in=projects).order_by("-pk")
    since = next(iter(briefs.values_list("pk", flat=True)[BRIEFS_READ : BRIEFS_READ + 1]), 0)
    lines: dict[int, str] = {}
    for sentence, words in asked[:2]:
        if len(words) < 2:
            continue
        held = Q()
        for word in sorted(dict.fromkeys(words), key=len)[-TELLING_WORDS:]:
            held &= Q(text__icontains=word)
        found = briefs.filter(held, pk__gt=since).values_list("text", flat=True)
        for text in found[:SHOWN]:
            for named, line in _NAMED.findall(text):
                pk = short_ids.decode(named)
                if pk is not None and pk not in lines and fit(sentence, words, line):
                    lines[pk] = line
    for fact in _facts(projects).filter(pk__in=list(islice(lines, SHOWN))) if lines else ():
        yield fact, lines[fact.pk]


# What took their place ------------------------------------------------------------------------------------------------


def _in_their_place(projects: Sequence[int], hits: dict[int, Hit], now: datetime) -> Iterable[Hit]:
    """Of memories that fit and were replaced or merged: the live one that agents get in their place."""
    wanted = {hit.fact.superseded_by_id: hit for hit in hits.values() if hit.fits and not hit.is_live}
    wanted.pop(None, None)
    for _ in range(5):
        if not wanted:
            return
        after: dict[int | None, Hit] = {}
        for fact in _facts(projects).filter(pk__in=list(wanted)):
            first = wanted[fact.pk]
            if _is_live(fact, now):
                yield Hit(fact, PART, True, instead_of=first.fact)
            elif fact.superseded_by_id is not None:
                after[fact.superseded_by_id] = first
        wanted = after
