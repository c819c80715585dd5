"""Plain values that travel from a door (API, importer, command) to capture, and from capture to a distiller.

No ORM here: an importer can be tested, and a distiller scored, without a database.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

# Every kind an observation may have. An unknown kind is stored as "meta" and counted.
KINDS = (
    "message",
    "tool_call",
    "tool_result",
    "action",
    "error",
    "edit",
    "usage",
    "context_lookup",
    "brief",
    "summary",
    "meta",
)
ROLES = ("user", "assistant", "tool", "system")

# Formats whose sessions begin with a copy of an earlier one when they are resumed or forked.
COPYING = frozenset({"claude_code", "codex"})

# Machine-made or our own words: kept for the reader, never quoted as evidence.
NEVER_EVIDENCE = frozenset({"brief", "summary", "meta", "usage", "context_lookup"})


@dataclass(frozen=True, slots=True)
class Incoming:
    """One observation as a door hands it to capture, before cleaning.

    `id` makes it idempotent inside its session; `occurred_at` is timezone-aware or None
    (capture then takes the server's clock and says so). `payload` is the raw record, JSON-able.
    """

    kind: str
    role: str
    text: str
    id: str | None = None
    seq: int | None = None
    tool: str = ""
    call_id: str = ""
    exit_code: int | None = None
    is_error: bool = False
    paths: tuple[str, ...] = ()
    sidechain: bool = False
    occurred_at: datetime | None = None
    payload: Any = None


@dataclass(slots=True)
class IncomingSession:
    """One run of an agent as an importer read it: the external id, where it ran, what happened."""

    external_id: str
    source_format: str
    cwd: str = ""
    git_remote: str = ""
    timezone: str = ""
    branch: str = ""
    title: str = ""
    # Whom and what it is about, written `repo:orders-api`. Empty: told from where it ran and who holds the key.
    subjects: list[str] = field(default_factory=list)
    # Tokens as the provider reported them, each reply once: input_tokens, output_tokens, cache_…_input_tokens.
    usage: Counter[str] = field(default_factory=Counter)
    observations: list[Incoming] = field(default_factory=list)


@dataclass(slots=True)
class ReadResult:
    """What a reader made of one file. `raw` holds the counts of what stood in the file, by the names of
    `docs/importers.md`; records = mapped + skipped by reason + bad, so that the books balance.

    `mapped` counts the records that became at least one observation. `skipped` counts the others by reason.
    `bad` counts the lines that hold no record: broken JSON, and JSON that is no object. `errors` says it in sentences,
    `faults` as (place from 0, code), both of the first few only.
    `error` is a sentence for a person when the file as a whole could not be read, else "".
    """

    path: str
    format: str
    sessions: list[IncomingSession] = field(default_factory=list)
    mapped: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    raw: Counter[str] = field(default_factory=Counter)
    bad: int = 0
    errors: list[str] = field(default_factory=list)
    faults: list[tuple[int, str]] = field(default_factory=list)
    error: str = ""

    def books(self) -> dict[str, int | bool]:
        """The balance of one file. `records` is every line that is not blank, `readable` those that hold an object."""
        readable = self.raw["records"]
        records = readable + self.raw["bad_json_lines"] + self.raw["non_object_lines"]
        skipped = self.skipped.total()
        return {
            "records": records,
            "readable": readable,
            "mapped": self.mapped,
            "skipped": skipped,
            "bad": self.bad,
            "balanced": records == self.mapped + skipped + self.bad,
        }


@dataclass(frozen=True, slots=True)
class Seen:
    """One stored observation as a distiller reads it. `ref` is whatever the caller needs to find it again."""

    ref: int
    kind: str
    role: str
    text: str
    tool: str = ""
    call_id: str = ""
    exit_code: int | None = None
    is_error: bool = False
    paths: tuple[str, ...] = ()
    sidechain: bool = False
    occurred_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Quote:
    """A verbatim slice of one observation's text: `text[start:end]`, in code points."""

    ref: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Candidate:
    """A fact a distiller proposes, before grounding and reconciliation.

    `about` says which subject it belongs to: "person", "repo", "customer" (the session's other subject) or "project".
    `expires_at` is only set when the talk itself named an end; otherwise the type's lifetime applies.
    """

    type: str
    key: str
    value: Any
    text: str
    quotes: tuple[Quote, ...]
    about: str = "repo"
    nature: str = "factual"
    use: str = "actionable"
    expires_at: datetime | None = None
