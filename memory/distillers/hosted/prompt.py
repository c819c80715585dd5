"""What a hosted model is asked: the standing text of `prompt.md`, the examples of this project, a piece of a session.

The text exists once. Its version is stored on every fact that came of it; a test pins text and version to each other.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory.distillers.hosted.pieces import Piece
from memory.types import OTHER, TYPES, FactType

FILE = Path(__file__).with_name("prompt.md")
_SENTIMENT = "what the customer felt about something lasting, in their own words"
ABOUT = ("person", "customer", "repo", "project")
# Of a bad reply as much is shown again: enough to see the fault, and a bound for the second question.
SHOWN_AGAIN = 2_000

COMPLAINTS = {
    "unusable": "That was not the required form: one JSON object with the list `facts`, and nothing around it.",
    "wrong_types": "The entries of `facts` must be objects with the required fields, not strings or other values.",
    "truncated": "That was cut off at the limit. Give at most six facts, each with one short quote.",
    "refused": "Nothing is asked of you but to name facts. Secrets were replaced beforehand. If there is nothing to "
    "keep, give an empty list.",
}


@dataclass(frozen=True, slots=True)
class Example:
    """What a reviewer made of an earlier proposal. `text` is the sentence as it was proposed ("" where it may not be
    told: then it stands for many), `reason` why it was rejected, `better` what the reviewer made of it instead."""

    type: str
    text: str = ""
    reason: str = ""
    better: str = ""

    def line(self) -> str:
        if self.better:
            return f"- {self.type}: “{self.text}” was rewritten as “{self.better}”"
        if self.text:
            return f"- {self.type}: “{self.text}” was rejected: {self.reason}"
        return f"- {self.type}: often rejected: {self.reason}"


@functools.cache
def _parts() -> tuple[str, str]:
    head, _, text = FILE.read_text("utf-8").partition("\n")
    return head.removeprefix("version:").strip(), text.strip()


def version(examples: Sequence[Example] = ()) -> str:
    """The version of the text, and with examples a short hash of them, so that figures can be told apart."""
    if not examples:
        return _parts()[0]
    said = "\n".join(example.line() for example in examples)
    return f"{_parts()[0]}+{hashlib.sha256(said.encode()).hexdigest()[:6]}"


def system(types: Mapping[str, FactType] = TYPES, examples: Sequence[Example] = ()) -> str:
    """The standing instructions."""
    text = _parts()[1]
    added = [f"- {name}: {row.words}" for name, row in types.items() if name not in TYPES and row.is_sought]
    if "sentiment" in offered(types):
        added.append(f"- sentiment: {_SENTIMENT}")
    if added:
        text += "\n\n# Types that this project keeps besides\n\n" + "\n".join(added)
    if examples:
        lines = "\n".join(example.line() for example in examples)
        text += (
            "\n\n# What the reviewers of this project decided before\n\nLearn what they want from it. "
            f"These lines are no evidence and no facts of this session.\n\n{lines}"
        )
    return text


def offered(types: Mapping[str, FactType]) -> list[str]:
    """The types a model may choose from: those that readers look for. A note is what fits nothing."""
    return [name for name, row in types.items() if row.is_sought and name != OTHER.name]


def question(piece: Piece) -> str:
    """What is asked about one piece of a session."""
    return (
        "The record of the session, or of a part of it. Times are local to the session.\n\n"
        f"{piece.text()}\n\nName the facts worth keeping, or none."
    )


def part_key(version: str, name: str, piece: Piece) -> str:
    """What a piece is remembered by: the same only for the same record, model and prompt."""
    return hashlib.sha256(f"{version}\n{name}\n{piece.text()}".encode()).hexdigest()[:32]


def schema(types: Mapping[str, FactType] = TYPES) -> dict[str, Any]:
    """The form of the answer: every field required, none beside them, as both providers' strict modes want it."""
    maybe = {"type": ["string", "null"]}
    quote = {
        "type": "object",
        "properties": {"observation": {"type": "integer"}, "quote": {"type": "string"}},
        "required": ["observation", "quote"],
        "additionalProperties": False,
    }
    fields: dict[str, Any] = {
        "type": {"type": "string", "enum": offered(types)},
        "key": {"type": "string"},
        "value": {"type": "string"},
        "text": {"type": "string"},
        "about": {"type": "string", "enum": list(ABOUT)},
        "quotes": {"type": "array", "items": quote},
        "use": {"type": "string", "enum": ["actionable", "historical"]},
        "due": maybe,
        "expires_on": maybe,
        "state": maybe,
    }
    fact = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return {
        "type": "object",
        "properties": {"facts": {"type": "array", "items": fact}},
        "required": ["facts"],
        "additionalProperties": False,
    }


def shown_again(reply: str, fault: str) -> tuple[tuple[str, str], tuple[str, str]]:
    """The two turns that show the model its own bad reply, once: bounded, whatever it wrote."""
    said = reply.strip() or "(nothing)"
    return ("assistant", said[:SHOWN_AGAIN]), ("user", COMPLAINTS[fault])
