"""How a new statement stands to a known one about the same subject: their types, keys and values beside their words.

Plain values. The words are compared by `memory/likeness.py`; a differing key or value blocks what they would merge.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memory import likeness, rendering
from memory.likeness import CONFLICTS, DIFFERENT, SAME, SAME_THING, Cosine, Likeness

CHANGES = "changes"
# A value of so few words is compared word for word; of a longer one, paraphrases agree.
FEW_WORDS = 4
MOST_LEAVES = 40


@dataclass(frozen=True, slots=True)
class Statement:
    """What a fact, or what was learned, says. `key` is whole, its type included."""

    type: str
    key: str
    value: Any
    text: str


def relate(known: Statement, said: Statement, *, is_one_value: bool, cosine: Cosine | None = None) -> Likeness:
    """How `said` stands to `known`: same, same_thing, changes, conflicts or different.

    `is_one_value` says that the type of `said` holds one value per key: then another value of one key `changes` it.
    `same` needs the same type and key, and values that do not differ.
    """
    told = likeness.compare(known.text, said.text, cosine)
    has_key = (known.type, known.key) == (said.type, said.key)
    # Under two keys, two values are no contradiction: they answer different questions.
    if has_key and values_differ(known, said):
        if is_one_value:
            return _as(told, CHANGES, "value")
        return _as(told, CONFLICTS if told.verdict in (SAME, CONFLICTS) else told.verdict, "value")
    if has_key and is_one_value and (told.verdict in (CONFLICTS, DIFFERENT) or told.has_specifics):
        return _as(told, CHANGES, told.why)
    if told.verdict == SAME and not has_key:
        return _as(told, SAME_THING, "key")
    return told


def values_differ(known: Statement, said: Statement) -> bool:
    """Whether the values contradict each other, as far as both have one beside their sentence.

    Values of different shapes are two ways to write it down: they say nothing.
    """
    leaves, others = (dict(_leaves(one.value, "")) for one in (known, said))
    for name in list(leaves.keys() & others.keys())[:MOST_LEAVES]:
        if _leaf_differs(leaves[name], others[name], known.text, said.text):
            return True
    return False


def _leaf_differs(one: Any, two: Any, text: str, other: str) -> bool:
    if one == two or one is None or two is None:
        return False
    if not (isinstance(one, str) and isinstance(two, str)):
        return not (isinstance(one, str) or isinstance(two, str)) or str(one).casefold() != str(two).casefold()
    folded = [rendering.one_line(side).casefold().rstrip(".") for side in (one, two)]
    sentences = [rendering.one_line(side).casefold().rstrip(".") for side in (text, other)]
    # A value that repeats its sentence is no value beside it.
    if folded[0] == folded[1] or folded == sentences or not all(folded):
        return False
    verdict = likeness.compare(one, two).verdict
    if min(len(side.split()) for side in folded) <= FEW_WORDS:
        return verdict != SAME
    return verdict not in (SAME, SAME_THING)


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """What a JSON value holds, each under its place; a list as one, in any order."""
    if isinstance(value, dict):
        for key in sorted(value, key=str):
            yield from _leaves(value[key], f"{name}.{key}")
    elif isinstance(value, list):
        yield name, json.dumps(sorted(json.dumps(item, sort_keys=True) for item in value), ensure_ascii=False)
    else:
        yield name, value


def _as(told: Likeness, verdict: str, why: str) -> Likeness:
    return Likeness(verdict, told.score, why, told.adds, told.has_specifics)
