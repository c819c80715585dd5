"""Is what a distiller proposes really written in the session? Plain values in and out, no ORM.

A quote that is not verbatim, or that stands in something that may never count as evidence, drops the whole candidate:
half-true evidence is worse than none, because a reviewer trusts the mark.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memory.own_briefs import is_own_brief
from memory.transcript import NEVER_EVIDENCE, Candidate, Quote, Seen

# Words a sentence needs for grammar, or that our own templates add; the reviewer need not look for them in a quote.
# English only: other languages keep the speaker's own words, so little is left unsupported there.
GRAMMAR = frozenset(
    """a about after again all also am an and any are as asked asks at be because been before being between both but by
    can cannot could customer customer's did do does done during each either every expects expires fails fix fixed
    for from gives given had has have he her here him his how i if in instead into is it its lives may me might must
    my need needed needs neither never no nor not of off on once one only or other our out over owns per project
    promised promises runs same says set she should since so such than that the their them then there these they
    this those though through to under unless until up us use used user user's uses using via wants was we were when
    where whether which while who whose will with within without works would you your""".split()  # noqa: SIM905  (words read better as text)
)
# What is written above or under a letter (accents, Hebrew and Arabic vowels) belongs to its word, and is no \w.
_MARKS = "\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u064b-\u065f\u0670"
# An amount is one word with its currency and the commas in it.
_CURRENCY = "$€£¥"
_WORD = re.compile(rf"[{_CURRENCY}]?[^\W_](?:(?:[\w.@/:#+{_MARKS}-]|(?<=\d),(?=\d))*[\w{_MARKS}])?", re.UNICODE)
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")


@dataclass(frozen=True, slots=True)
class GroundedQuote:
    """A quote that was found, with the hash that a later check compares."""

    quote: Quote
    sha256: str


@dataclass(frozen=True, slots=True)
class Grounded:
    """A candidate whose every quote holds. `unsupported` are the words of its sentence that no quote holds."""

    candidate: Candidate
    quotes: tuple[GroundedQuote, ...]
    unsupported: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A candidate that was refused, and why: a code that is counted, never captured text."""

    candidate: Candidate
    reason: str


def sha256_of(text: str) -> str:
    """Hash of a quote as it is stored with the evidence."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def why_never_evidence(seen: Seen) -> str:
    """The reason why nothing in this observation may be quoted, or ""."""
    if seen.kind in NEVER_EVIDENCE:
        return f"kind_{seen.kind}"
    if seen.role == "system":
        return "role_system"
    if seen.role == "user" and seen.sidechain:
        return "sidechain_prompt"  # one agent's order to another; no person said it
    if is_own_brief(seen.text):
        return "own_brief"
    return ""


def ground(candidate: Candidate, by_ref: Mapping[int, Seen]) -> Grounded | Dropped:
    """The candidate with its quotes hashed, or the reason why it is dropped."""
    if not candidate.quotes:
        return Dropped(candidate, "no_quote")
    for quote in candidate.quotes:
        if reason := _fault(quote, by_ref.get(quote.ref)):
            return Dropped(candidate, reason)
    quotes = tuple(GroundedQuote(quote, sha256_of(quote.text)) for quote in candidate.quotes)
    return Grounded(candidate, quotes, unsupported_words(candidate.text, candidate.quotes))


def _fault(quote: Quote, seen: Seen | None) -> str:
    if seen is None:
        return "unknown_observation"
    if reason := why_never_evidence(seen):
        return reason
    if not quote.text.strip():
        return "empty_quote"
    if not 0 <= quote.start < quote.end <= len(seen.text) or seen.text[quote.start : quote.end] != quote.text:
        return "not_verbatim"
    return ""


def unsupported_words(text: str, quotes: Iterable[Quote], beside: str = "") -> tuple[str, ...]:
    """Words of `text` that no quote holds, once each; numbers and names come first because a wrong one hurts most.

    `beside` is what a reader sees next to the quotes, which holds a word as well. A date counts as supported by
    nothing but itself: that we worked it out is what the reviewer should look at.
    """
    quoted = " ".join([*(quote.text for quote in quotes), beside]).casefold()
    stems = {stem for word in _WORD.findall(quoted) for stem in _stems(word)}
    missing: dict[str, tuple[int, str]] = {}
    for found in _WORD.finditer(text):
        word, folded = found[0], found[0].casefold()
        if folded in GRAMMAR or folded.lstrip(_CURRENCY) in quoted or _UNSPACED.search(folded):
            continue
        if not stems.isdisjoint(_stems(folded)):
            continue
        missing.setdefault(folded, (_weight(word, _begins(text[: found.start()])), word))
    return tuple(word for _, word in sorted(missing.values(), key=lambda one: one[0]))


def _stems(word: str) -> set[str]:
    """Crude: enough that "retries" finds "retry", "likes" finds "like" and "moved" finds "move"."""
    found = {word}
    for ending in ("ies", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            bare = word[: -len(ending)]
            found |= {bare + "y"} if ending == "ies" else {bare} if ending == "s" else {bare, bare + "e"}
    return found


def _begins(before: str) -> bool:
    """Whether a sentence begins after this: a capital there makes no name."""
    said = before.rstrip(" \t\n\"'“‘(`")
    return not said or said[-1] in ".!?:"


def _weight(word: str, begins: bool) -> int:
    if any(letter.isdigit() for letter in word):
        return 0
    return 1 if word[0].isupper() and not (begins and word[1:].islower()) else 2
