"""The text of a brief, line by line (values): one renderer for the API, the card and the pages.

A fact is one line and cannot open a heading, a list or a fence: its own line breaks are folded away before it gets here
and its first characters are always `- [`.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from dataclasses import dataclass
from typing import Any

from memory import privacy

# Moves when the rendered text of an unchanged fact would change: stored token counts of older versions are stale.
TEMPLATE_VERSION = 3
_SPACE = re.compile(r"\s+")
_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")

# Said by a person about themselves: who said it and when it was last confirmed is what a reader weighs it by.
_PERSONAL = frozenset({"user_preference", "account_detail", "customer_fact", "problem", "sentiment"})
# Behind the sentence of a memory that a rule approved and no person has confirmed or rewritten since.
UNREAD = "unread"
# Types whose lines say who said or promised it.
SAYS_WHO = (*sorted(_PERSONAL), "commitment")
# Holds until somebody changes it: the reader wants to know when it was last looked at.
_STATE = frozenset({"environment", "owning_file", "choice"})


def one_line(text: str) -> str:
    """`text` on one line, white space folded, trimmed, NFC, without characters a reviewer cannot see.

    Those would reach the model and not the person who signed: zero width, direction marks, tags, fillers.
    """
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()
    text = _SPACE.sub(" ", unicodedata.normalize("NFC", text))
    return _SPACE.sub(" ", privacy.without_invisible(text)).strip()


def seen_value(value: Any) -> Any:
    """A JSON value without characters a reviewer cannot see, in its names too; its line ends are \\n."""
    if isinstance(value, str):
        return privacy.without_invisible(_BREAKS.sub("\n", value))
    if isinstance(value, list):
        return [seen_value(item) for item in value]
    if isinstance(value, dict):
        return {one_line(str(name)): seen_value(item) for name, item in value.items()}
    return value


def clean_line(raw: str) -> str:
    """A sentence, a note, a task as it is kept: without secrets, on one line.

    Looked at twice: a secret may stand whole only once the line ends within it are folded.
    """
    return one_line(privacy.clean_text(one_line(privacy.clean_text(raw).text)).text)


@dataclass(frozen=True, slots=True)
class Known:
    """What a line says beside its sentence; days as ISO dates. `confirmed_on` is None where no person has read it:
    approved by a rule. `said_by` is the role whose words are its first evidence, "" if unknown; `agent` the slug of
    the agent that proposed it."""

    type: str
    entity_type: str
    standing: bool
    times_seen: int
    first_seen_on: str
    confirmed_on: str | None
    said_by: str = ""
    agent: str = ""
    use: str = "actionable"


def note(known: Known) -> str:
    """What stands in brackets behind a sentence: that nobody read it, that it is past, how often it was seen, who said
    it, when it was confirmed. Or ""."""
    unread = "" if known.confirmed_on else UNREAD
    past = "in the past" if known.use == "historical" else ""
    return "; ".join(part for part in (unread, past, _weighed(known)) if part)


def _weighed(known: Known) -> str:
    speaker = "customer" if known.entity_type == "customer" else "user"
    confirmed = f"confirmed {known.confirmed_on}" if known.confirmed_on else ""
    seen = f"seen in {known.times_seen} sessions" if known.times_seen > 1 else ""
    if known.standing:
        return f"{known.times_seen} sessions" if known.times_seen > 1 else confirmed
    if known.type == "commitment":
        who = f"the {speaker}" if known.said_by == "user" else known.agent
        return f"promised by {who}, {known.first_seen_on}" if who else confirmed
    if known.type in _PERSONAL:
        said = f"said by the {speaker}" if known.said_by == "user" else ""
        return "; ".join(part for part in (said, confirmed) if part)
    if known.type in _STATE:
        return "; ".join(part for part in (seen, confirmed) if part)
    return seen


def fact_line(short_id: str, text: str, note: str = "") -> str:
    """One fact as an agent reads it, with its newline: `- [f-9k2m4x] Prefers e-mail. (said by the customer)`."""
    return f"- [{short_id}] {one_line(text)}{f' ({one_line(note)})' if note else ''}\n"


def canonical(type_: str, key: str, value: Any, text: str) -> bytes:
    """The bytes a reviewer saw and an agent gets: sorted JSON, UTF-8."""
    return json.dumps(
        {"key": key, "text": text, "type": type_, "value": value},
        sort_keys=True,
        ensure_ascii=False,
        separators=(",", ":"),
        allow_nan=False,
    ).encode()


def served_sha256(type_: str, key: str, value: Any, text: str) -> str:
    return hashlib.sha256(canonical(type_, key, value, text)).hexdigest()


def _folded(value: Any) -> Any:
    if isinstance(value, str):
        return one_line(value).casefold().rstrip(".")
    if isinstance(value, list):
        return [_folded(item) for item in value]
    if isinstance(value, dict):
        return {one_line(str(name)): _folded(item) for name, item in value.items()}
    return value


def fingerprint(type_: str, key: str, value: Any, text: str) -> str:
    """What makes two statements about one subject the same: type, key and value (without one, the sentence).

    Case, spacing and a final full stop do not count; every digit, name and negation does. 64 hex characters.
    """
    said = _folded(text) if value in (None, "", {}, []) else _folded(value)
    return hashlib.sha256(
        json.dumps([type_, key, said], sort_keys=True, ensure_ascii=False, allow_nan=False).encode()
    ).hexdigest()
