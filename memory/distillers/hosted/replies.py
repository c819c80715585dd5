"""Reads what a model replied, however it is wrapped: fenced, in prose, after its thoughts, cut off, in the wrong form.

What cannot be read is said in one word (`Parsed.fault`); half of a fact is never one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

MOST_CHARACTERS = 200_000  # of a reply; the output limit is far below
MOST_FACTS = 40
_TRIES = 60  # places at which JSON may begin

_THOUGHTS = re.compile(r"<(think|thinking|thought|reasoning)\b[^>]*>.*?</\1\s*>", re.DOTALL | re.IGNORECASE)
# Some models open their thoughts in the prompt, and only close them in the reply; some never come to an end.
_THOUGHTS_END = re.compile(r"^.*</(?:think|thinking|thought|reasoning)\s*>", re.DOTALL | re.IGNORECASE)
_THOUGHTS_START = re.compile(r"<(?:think|thinking|thought|reasoning)\b[^>]*>.*$", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"```[\w-]*[ \t]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
_REFUSAL = re.compile(
    r"\bI(?:['’]m| am)? (?:sorry|unable|not able)\b"
    r"|\bI (?:can(?:no|['’])?t|won['’]t|will not|must decline|do not feel)\b|\bas an AI\b|^sorry\b",
    re.IGNORECASE,
)
_JSON_START = re.compile(r'\{\s*"|\[\s*[{"]')
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Said:
    """One fact as a model gave it, nothing checked. `quotes` are (number of the observation or None, words)."""

    type: str
    key: str
    value: Any
    text: str
    quotes: tuple[tuple[int | None, str], ...] = ()
    about: str = ""
    use: str = ""
    due: str = ""
    expires_on: str = ""
    state: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, kept: dict[str, Any]) -> Said:
        quotes = tuple((number, words) for number, words in kept["quotes"])
        return cls(**{**kept, "quotes": quotes})


@dataclass(frozen=True, slots=True)
class Parsed:
    """The facts of a reply, how many entries were none, and what was wrong with it as a whole: "" or one of
    `unusable`, `wrong_types`, `truncated`, `refused`. A cut reply may still hold facts that were whole."""

    facts: tuple[Said, ...]
    malformed: int = 0
    fault: str = ""


def parse(text: str, stop: str = "end") -> Parsed:
    """The facts of a reply that ended by `stop` (`end`, `length`, `refusal`). Never raises."""
    text = text[:MOST_CHARACTERS].lstrip("\ufeff")
    if stop == "refusal":
        return Parsed((), fault="refused")
    entries = _likeliest([entries for value in _values(text) if (entries := _entries(value)) is not None])
    if entries is not None and stop != "length":
        return _facts(entries)
    if entries is not None:
        # A provider closes the brackets of what it cut: nobody can tell whether the last one was whole.
        found = _facts(entries[:-1])
        return Parsed(found.facts, found.malformed, "truncated")
    salvaged = _facts(list(_whole_entries(_without_thoughts(text))))
    if stop == "length" or salvaged.facts:
        return Parsed(salvaged.facts, salvaged.malformed, "truncated")
    return Parsed((), fault="refused" if _REFUSAL.search(_without_thoughts(text)[:500]) else "unusable")


def _without_thoughts(text: str) -> str:
    text = _THOUGHTS.sub("", text)
    text = _THOUGHTS_END.sub("", text, count=1)
    return _THOUGHTS_START.sub("", text)


def _likeliest(found: list[list[Any]]) -> list[Any] | None:
    """Of several lists in one reply the first that holds objects, else the first."""
    return next(
        (entries for entries in found if any(isinstance(one, dict) for one in entries)), next(iter(found), None)
    )


def _values(text: str) -> Iterator[Any]:
    """JSON values in the reply, the likeliest first: the whole, what stands in fences, what stands in prose; of
    several the last, for a model corrects itself downwards."""
    whole = _loads(text)
    if whole is not None:
        yield whole
        return
    text = _without_thoughts(text)
    whole = _loads(text)
    if whole is not None:
        yield whole
    for fenced in reversed(_FENCE.findall(text)):
        inside = _loads(fenced)
        if inside is not None:
            yield inside
    yield from reversed(list(_embedded(text)))


def _loads(text: str) -> Any:
    try:
        return _DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        return None


def _embedded(text: str) -> Iterator[Any]:
    place = 0
    for _ in range(_TRIES):
        start = re.compile(r"[\[{]").search(text, place)
        if start is None:
            return
        try:
            value, place = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            if _JSON_START.match(text, start.start()):
                return  # no brace of prose but JSON that was cut: what stands inside it is no reply of its own
            place = start.start() + 1
            continue
        yield value


def _entries(value: Any) -> list[Any] | None:
    """The list of facts in a JSON value, or None when it is not of that form."""
    if isinstance(value, list):
        return value if not value or any(isinstance(one, dict | str) for one in value) else None
    if not isinstance(value, dict):
        return None
    inside = value.get("facts", ...)
    if inside is ... and _is_fact(value):
        return [value]
    if inside is ... and len(value) == 1:
        # A wrapper of another name: {"memories": […]}, {"answer": {"facts": […]}}.
        inner = next(iter(value.values()))
        return _entries(inner) if isinstance(inner, dict | list) else None
    if isinstance(inside, str):
        inside = _loads(inside)  # JSON in JSON: some models write a tool's list as text
    return inside if isinstance(inside, list) else None


def _is_fact(value: dict[str, Any]) -> bool:
    return isinstance(value.get("text") or value.get("key"), str)


def _whole_entries(text: str) -> Iterator[Any]:
    """The objects of a list that was cut: each that is complete, none that is not."""
    start = re.search(r'"facts"\s*:\s*\[|^\s*\[', text)
    place = start.end() if start else len(text)
    while True:
        place = re.compile(r"[\s,]*").match(text, place).end()  # type: ignore[union-attr]
        if place >= len(text) or text[place] != "{":
            return
        try:
            value, place = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            return
        yield value


def _facts(entries: list[Any]) -> Parsed:
    facts = []
    malformed = max(len(entries) - MOST_FACTS, 0)
    for entry in entries[:MOST_FACTS]:
        if isinstance(entry, str) and entry.lstrip().startswith("{"):
            entry = _loads(entry)
        said = _said(entry) if isinstance(entry, dict) else None
        if said is None:
            malformed += 1
        else:
            facts.append(said)
    return Parsed(tuple(facts), malformed, "wrong_types" if entries and not facts else "")


def _said(entry: dict[str, Any]) -> Said | None:
    value = entry.get("value")
    text, key = _word(entry.get("text")), _word(entry.get("key"))
    if not (text or _word(value)) or not (key or text):
        return None
    return Said(
        type=_word(entry.get("type")),
        key=key,
        value=value,
        text=text,
        quotes=tuple(_quotes(entry)),
        # Whoever names a subject of a session speaks of its customer.
        about=_word(entry.get("about")) or ("customer" if _word(entry.get("entity")) else ""),
        use=_word(entry.get("use")),
        due=_word(entry.get("due")),
        expires_on=_word(entry.get("expires_on")),
        state=_word(entry.get("state")),
    )


def _quotes(entry: dict[str, Any]) -> Iterator[tuple[int | None, str]]:
    given = entry.get("quotes", entry.get("quote"))
    for one in given if isinstance(given, list) else [given]:
        if isinstance(one, dict):
            number, words = one.get("observation"), one.get("quote", one.get("text"))
        else:
            number, words = entry.get("observation"), one
        if isinstance(words, str) and words.strip():
            yield _number(number), words


def _number(given: Any) -> int | None:
    if isinstance(given, bool):
        return None
    if isinstance(given, str) and given.strip(" #[]").isascii() and given.strip(" #[]").isdigit():
        given = int(given.strip(" #[]")[:9])
    return given if isinstance(given, int) else None


def _word(given: Any) -> str:
    """A field that should be text: numbers are taken as written, anything else is nothing."""
    if isinstance(given, str):
        return given.strip()
    return str(given) if isinstance(given, int | float) and not isinstance(given, bool) else ""
