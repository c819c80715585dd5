"""From what a model said to candidates (values): fields put right, quotes found, orders left out, repeats joined."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any

from memory.distillers.hosted import quotes
from memory.distillers.hosted.prompt import ABOUT
from memory.distillers.hosted.replies import Said
from memory.lint import faults
from memory.rendering import one_line
from memory.transcript import Candidate, Quote, Seen
from memory.types import OTHER, TYPES, FactType

MOST_QUOTES = 3
YEARS = range(1900, 2200)  # near the ends of the calendar a day more has no date
GRACE = timedelta(days=14)  # a commitment is of use a little after its day
KEY_LIMIT = 200
VALUE_LIMIT = 1_000  # characters of its JSON

# Whom a type is about where the model does not say.
_ABOUT = {
    "user_preference": "person",
    **dict.fromkeys(("account_detail", "customer_fact", "problem", "commitment", "sentiment"), "customer"),
}
# What only the person of the session can say of themselves: no tool's output and no agent.
_SAID_BY_THE_PERSON = frozenset({"user_preference", "sentiment"})
# Text in what an agent read that speaks to whoever reads it by machine.
_ORDER = re.compile(
    r"\b(?:note|message|instructions?|attention|reminder)\s+(?:to|for)\s+(?:all\s+|any\s+|the\s+)?"
    r"(?:ai\b|assistants?\b|agents?\b|models?\b|llms?\b|chatbots?\b|bots?\b|summari[sz]ers?\b)"
    r"|\b(?:ai assistants?|assistants?|llms?|language models?|chatbots?)\s+(?:must|should|shall|have to|are to|is to)\b"
    r"|\b(?:store|save|keep|record|remember|memori[sz]e|add|note)\b.{0,40}"
    r"\b(?:preferences?|memories|(?:your|long[- ]term|persistent) memory)\b"
    r"|\bignore (?:all |any |the )?(?:previous|prior|above|earlier)\b|\b(?:house|standing) rule\b"
    r"|\bsystem prompt\b|\byou are now\b",
    re.IGNORECASE | re.DOTALL,
)
_BESIDE = 300  # characters round a quote in which such an order taints it
_KEY_JUNK = re.compile(r"[^\w.@/+-]+")


def build(
    said: Iterable[Said], numbered: Mapping[int, Seen], order: Sequence[int], zone: tzinfo, dropped: Counter[str]
) -> list[Candidate]:
    """Candidates in the order they were said; what may not become one is counted in `dropped`.

    A quote that is not found stays without a place: grounding drops and counts it like any other.
    """
    made = []
    by_ref = {seen.ref: seen for seen in numbered.values()}
    for one in said:
        found = tuple(_quote(words, number, numbered, order) for number, words in one.quotes[:MOST_QUOTES])
        candidate = _candidate(one, found, zone)
        if reason := _untrusted(candidate, by_ref):
            dropped[reason] += 1
        else:
            made.append(candidate)
    return made


def merge(pieces: Iterable[Sequence[Candidate]], types: Mapping[str, FactType] = TYPES) -> list[Candidate]:
    """The candidates of all pieces, the same lesson once: same key and value, same sentence, or, of two pieces that
    overlap, the same words quoted for the same type.

    Of a type that holds one value per key the later stands; where both say the same, their quotes are joined. One that
    will be dropped anyway never takes the place of another.
    """
    kept: list[tuple[int, Candidate]] = []
    for piece, candidates in enumerate(pieces):
        for candidate in candidates:
            for place, (other_piece, other) in enumerate(kept):
                if not _holds(candidate) or (candidate.type, candidate.about) != (other.type, other.about):
                    continue
                if _says_the_same(candidate, other):
                    joined = dict.fromkeys((*other.quotes, *candidate.quotes))
                    kept[place] = piece, replace(candidate, quotes=tuple(joined)[:MOST_QUOTES])
                    break
                overlaps = piece != other_piece and set(candidate.quotes) == set(other.quotes)
                if overlaps or (candidate.key == other.key and types.get(candidate.type, OTHER).single_valued):
                    kept[place] = piece, candidate
                    break
            else:
                kept.append((piece, candidate))
    return [candidate for _, candidate in kept]


def _holds(candidate: Candidate) -> bool:
    return bool(candidate.quotes) and all(quote.end for quote in candidate.quotes) and not faults(candidate.text)


def _says_the_same(one: Candidate, other: Candidate) -> bool:
    return _folded(one.text) == _folded(other.text) or (
        one.key == other.key and _folded(one.value) == _folded(other.value)
    )


def _folded(value: Any) -> str:
    return one_line(value if isinstance(value, str) else json.dumps(value, sort_keys=True)).casefold().rstrip(".")


def _quote(words: str, number: int | None, numbered: Mapping[int, Seen], order: Sequence[int]) -> Quote:
    found = quotes.find(words, number, numbered, order)
    if found is not None:
        return found
    seen = numbered.get(number) if number is not None else None
    return Quote(seen.ref if seen is not None else -1, 0, 0, words)


def _candidate(said: Said, found: tuple[Quote, ...], zone: tzinfo) -> Candidate:
    type_ = said.type.casefold().replace(" ", "_").replace("-", "_")
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,39}", type_):
        type_ = "note"
    text = _sentence(said)
    due = _moment(said.due, zone) if type_ == "commitment" else None
    ends = _moment(said.expires_on, zone)
    return Candidate(
        type_,
        _key(type_, said),
        _value(said, type_, due),
        text,
        tuple(dict.fromkeys(found)),
        said.about if said.about in ABOUT else _ABOUT.get(type_, "repo" if type_ in TYPES else "project"),
        nature="sentiment" if type_ == "sentiment" else "factual",
        use="historical" if said.use == "historical" else "actionable",
        expires_at=due + GRACE if due is not None else ends,
    )


def _sentence(said: Said) -> str:
    """Its text, else its value where that is a sentence, else the plainest one that both make."""
    text = one_line(said.text)
    if not text:
        value = said.value if isinstance(said.value, str) else json.dumps(said.value, ensure_ascii=False)
        text = one_line(value)
        if len(text.split()) < 3:
            text = f"The value of {said.key.rpartition(':')[2]} is {text}"
    return text if text.endswith((".", "!", "?", "。", "！", "？", "…", "”", '"', ")", "）", "」", "`")) else f"{text}."


def _key(type_: str, said: Said) -> str:
    bare = said.key.casefold().removeprefix(f"{type_}:") or ".".join(said.text.casefold().split()[:5])
    bare = _KEY_JUNK.sub(".", one_line(bare)).strip(".")[:KEY_LIMIT] or "fact"
    return f"{type_}:{bare}"


def _value(said: Said, type_: str, due: datetime | None) -> Any:
    value = said.value if said.value is not None else said.text
    if len(json.dumps(value, ensure_ascii=False)) > VALUE_LIMIT:
        value = said.text
    if type_ == "commitment" and due is not None:
        return {"what": value, "due": due.isoformat(), "due_on": due.isoformat()}
    if type_ == "problem" and said.state in ("open", "solved"):
        return {"what": value, "state": said.state}
    return value


def _moment(written: str, zone: tzinfo) -> datetime | None:
    """A day is over at its end, where the session was. What is no date, or one of no calendar in use, is none."""
    try:
        if len(written) <= 10:
            moment = datetime.combine(date.fromisoformat(written), time(23, 59, 59), zone)
        else:
            moment = datetime.fromisoformat(written)
        moment = (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment if moment.year in YEARS else None


def _untrusted(candidate: Candidate, by_ref: Mapping[int, Seen]) -> str:
    """Why what was quoted cannot carry this fact, or "": nobody said it who could, or it gives orders to machines."""
    cited = [by_ref[quote.ref] for quote in candidate.quotes if quote.ref in by_ref]
    if not cited or any(seen.kind == "message" and seen.role == "user" for seen in cited):
        return ""
    if candidate.type in _SAID_BY_THE_PERSON:
        return "not_said_by_the_person"
    if any(_gives_orders(quote, by_ref[quote.ref].text) for quote in candidate.quotes if quote.ref in by_ref):
        return "instruction_in_output"
    return ""


def _gives_orders(quote: Quote, text: str) -> bool:
    """Whether the quoted words, or the paragraph they stand in, speak to whoever reads it by machine."""
    start, end = max(quote.start - _BESIDE, 0), quote.end + _BESIDE
    first = text.rfind("\n\n", start, quote.start)
    last = text.find("\n\n", quote.end, end)
    return bool(_ORDER.search(text[first + 2 if first >= 0 else start : last if last >= 0 else end]))
