"""Ids that stay the same when a line is read again: from this file, a longer version of it, or a copy of it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from memory import privacy
from memory.importers.embedded import without_bytes
from memory.transcript import Incoming

# Longer ones are hashed: an id is a key in a btree.
_ID_CHARACTERS = 120
# A line without id and time can only be told apart inside its own session.
UNTIMED = "untimed-"


def plain_id(value: Any) -> str:
    """An id as given, or a hash of it where it is long or holds what no id should; "" for none."""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)[:_ID_CHARACTERS]
    if not isinstance(value, str) or not value.strip():
        return ""
    value = value.strip()
    return value if len(value) <= _ID_CHARACTERS and value.isprintable() else f"hashed-{digest(value)}"


def session_id(value: Any) -> str:
    """The id of a session as `plain_id` gives it, hashed too where capture would refuse it: it looks like a secret, or
    holds a mark nobody sees."""
    found = plain_id(value)
    if not found:
        return ""
    try:
        return privacy.clean_id(found)
    except privacy.BadIdentifier:
        return f"hashed-{digest(found)}"


def record_of(observation_id: str) -> str:
    """The part of an observation's id that all observations of one line share."""
    return observation_id.rpartition("#")[0]


@dataclass(slots=True)
class Ids:
    """Gives the observations of one session their ids, and knows which it gave."""

    uuids: set[str] = field(default_factory=set)
    _given: dict[str, str] = field(default_factory=dict)
    _alike: Counter[str] = field(default_factory=Counter)

    def stamp(self, record: dict[str, Any], drafts: list[Incoming], base: str = "") -> list[Incoming]:
        """`drafts` with ids, the first with the record as payload; none when this very line was read before.

        `base` names the line where its reader knows a better name than the line's own.
        """
        base, content = base or self._base(record, drafts), _content(drafts)
        if self._given.get(base, content) != content:
            # Two lines under one uuid: both are kept, the second under a name of its own.
            base = f"{base}~{content[:12]}"
        if base in self._given:
            return []
        self._given[base] = content
        payload = without_bytes(record)
        return [
            replace(draft, id=f"{base}#{index}", payload=payload if index == 0 else None)
            for index, draft in enumerate(drafts)
        ]

    def _base(self, record: dict[str, Any], drafts: list[Incoming]) -> str:
        if uuid := plain_id(record.get("uuid")):
            self.uuids.add(uuid)
            return uuid
        at = drafts[0].occurred_at
        second = "" if at is None else at.isoformat(timespec="seconds")
        key = digest("\x1f".join([second, plain_id(record.get("leafUuid")), _content(drafts)]))
        self._alike[key] += 1
        return f"{'line-' if at else UNTIMED}{key}-{self._alike[key]}"


def _content(drafts: Iterable[Incoming]) -> str:
    return digest("\x1f".join(f"{one.kind}\x1f{one.role}\x1f{one.call_id}\x1f{one.text}" for one in drafts))


def digest(text: str) -> str:
    """32 hexadecimal characters that stand for `text`."""
    # Lone surrogates are legal in JSON and must not stop the reader.
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
