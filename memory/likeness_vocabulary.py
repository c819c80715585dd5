"""What words mean when two statements are compared (plain values): `memory/data/likeness.toml`, read once.

A word is looked up as it stands and by its Snowball stem, in its own language and then in English, in which much of a
team's jargon is said everywhere.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import snowballstemmer

FILE = Path(__file__).parent / "data" / "likeness.toml"
STEMMERS = {"en": "english", "es": "spanish", "de": "german", "fr": "french"}


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """One language: what is dropped, what weighs little, and what stands for what."""

    fillers: frozenset[str]
    weak: frozenset[str]
    light: frozenset[str]
    verbs: frozenset[str]
    denials: frozenset[str]
    marks: Mapping[str, str]
    parties: Mapping[str, str]
    phrases: Mapping[tuple[str, ...], tuple[str, ...]]
    longest_phrase: int
    meanings: Mapping[str, str]
    opposites: Mapping[str, str]


@cache
def vocabulary(language: str) -> Vocabulary:
    """The words of a language that is written with spaces; English for one that we have none of."""
    language = language if language in STEMMERS else "en"
    table, shared = _tables()[language], _tables()["en"]
    sources = list(dict.fromkeys((language, "en")))
    meanings: dict[str, str] = {}
    opposites: dict[str, str] = {}
    for source in sources:
        for line in _lines(_tables()[source]["synonyms"]):
            for word in line:
                # The first line that has a word wins.
                meanings.setdefault(word, line[0])
                meanings.setdefault(stem(word, source), line[0])
    for source in sources:
        for left, right in _pairs(_tables()[source]["opposites"]):
            name = meanings.get(left, stem(left, source))
            for word in right.split():
                opposites.setdefault(word, name)
                opposites.setdefault(stem(word, source), name)
    phrases = {tuple(left.split()): tuple(right.split()) for left, right in _pairs(table["phrases"])}
    weak = f"{table['weak']} {shared['weak']}".split()
    return Vocabulary(
        fillers=frozenset(table["fillers"].split()),
        weak=frozenset([*weak, *(meanings.get(word, stem(word, language)) for word in weak)]),
        light=frozenset(shared["light"].split()),
        verbs=frozenset(table.get("verbs", "").split()),
        denials=frozenset(table["not"].split()),
        marks={word: line[0] for line in _lines(table["marks"]) for word in line},
        parties={word: line[0] for line in _lines(table["parties"]) for word in line},
        phrases=phrases,
        longest_phrase=max(len(words) for words in phrases),
        meanings=meanings,
        opposites=opposites,
    )


@cache
def exclusive(language: str) -> Mapping[str, frozenset[tuple[str, ...]]]:
    """The groups a meaning stands in. Two different ones of a group exclude each other: monday and tuesday."""
    groups: dict[str, set[tuple[str, ...]]] = {}
    for source in dict.fromkeys((language, "en")):
        for line in _lines(_tables().get(source, {}).get("exclusive", "")):
            for word in line:
                spaced = source in STEMMERS
                value = vocabulary(source).meanings.get(word, stem(word, source)) if spaced else word
                groups.setdefault(value, set()).add(line)
    return {value: frozenset(lines) for value, lines in groups.items()}


@cache
def _words(language: str) -> Mapping[str, tuple[str, ...]]:
    known = vocabulary(language)
    words: dict[str, list[str]] = {}
    for table in (known.meanings, known.opposites):
        for word, name in table.items():
            words.setdefault(name, []).append(word)
    return {name: tuple(found) for name, found in words.items()}


def words_for(meaning: str, language: str) -> tuple[str, ...]:
    """The words that mean this, and those that mean its opposite: whatever speaks of it."""
    return _words(language if language in STEMMERS else "en").get(meaning, (meaning,))


@cache
def unspaced(language: str) -> Mapping[str, str]:
    """For Chinese and Japanese, what a piece of a run is: filler, deny, or a word of its own."""
    table = _tables()[language]
    kinds = {word: "whole" for line in _lines(table["exclusive"]) for word in line}
    kinds |= dict.fromkeys(table["fillers"].split(), "filler") | dict.fromkeys(table["not"].split(), "deny")
    return kinds | dict.fromkeys(table["order"].split(), "word")


# Single words, never a sentence: what an erased person's memories said does not stay here.
@lru_cache(maxsize=16_384)
def stem(word: str, language: str) -> str:
    return str(_stemmer(STEMMERS.get(language, "english")).stemWord(word))


@cache
def _stemmer(name: str) -> Any:
    return snowballstemmer.stemmer(name)


def _lines(text: str) -> list[tuple[str, ...]]:
    return [tuple(line.split()) for line in text.strip().splitlines()]


def _pairs(text: str) -> list[tuple[str, str]]:
    cut = (line.partition("=") for line in text.strip().splitlines())
    return [(left.strip(), right.strip()) for left, _, right in cut]


@cache
def _tables() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads(FILE.read_text("utf-8"))
