"""One question to a provider's model, its answer, and the troubles a provider makes (values).

A trouble is a word and perhaps a time to wait: what a provider writes into an error may quote what it was sent.
"""

from __future__ import annotations

import email.utils
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

from memory import tokens

# Connecting is quick or dead; an answer of 8,000 tokens takes a minute or two.
CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 120.0
# Far more than one call takes of any model; the books hold no number of any size.
MOST_TOKENS = 100_000_000

# Troubles that say nothing about the session: the same question may be asked again later, as often as need be.
WAITS = frozenset({"rate_limited", "unavailable", "timeout", "bad_key", "no_model", "no_credit"})


@dataclass(frozen=True, slots=True)
class Ask:
    """A question: the standing instructions, then turns of ("user" | "assistant", text), the last one the user's.

    With a `schema` (JSON Schema, every field required) the answer is to be JSON of that shape, called `schema_name`.
    """

    system: str
    turns: tuple[tuple[str, str], ...]
    max_tokens: int
    schema: Mapping[str, Any] | None = None
    schema_name: str = "answer"


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer: its text (JSON or not), and why it ended: `end`, `length` (cut) or `refusal`."""

    text: str
    stop: str
    input_tokens: int
    output_tokens: int
    milliseconds: int


class Trouble(Exception):
    """No answer. `outcome` is one word: of WAITS, or `too_long`, `bad_request`. The message holds nothing else."""

    def __init__(self, outcome: str, retry_after: timedelta | None = None, milliseconds: int = 0) -> None:
        super().__init__(outcome)
        self.outcome, self.retry_after, self.milliseconds = outcome, retry_after, milliseconds


class Model(Protocol):
    """A provider's model behind its SDK."""

    provider: str
    model: str

    def ask(self, ask: Ask) -> Reply: ...


def outcome_of(status: int, said: str) -> str:
    """The word for an HTTP status. `said` is the provider's own text, looked at here and kept nowhere."""
    words = said.casefold()
    if status in (400, 413, 422) and any(sign in words for sign in _TOO_LONG):
        return "too_long"
    if status in (400, 402, 403, 429) and any(sign in words for sign in _NO_CREDIT):
        return "no_credit"
    known = {401: "bad_key", 402: "no_credit", 403: "bad_key", 404: "no_model", 408: "timeout", 413: "too_long"}
    if status in known:
        return known[status]
    if status == 429:
        return "rate_limited"
    return "bad_request" if 400 <= status < 500 and status != 409 else "unavailable"


_DATE_LENGTH = len("Mon, 30 Nov 2026 12:00:00 GMT")  # a gateway may add a second one behind a comma
_TOO_LONG = ("prompt is too long", "context length", "context_length", "context window", "maximum context", "too large")
_NO_CREDIT = ("insufficient_quota", "credit balance", "billing")


def retry_after(headers: Mapping[str, str]) -> timedelta | None:
    """How long a provider wants to be left alone: milliseconds, seconds or a date, counted from its own clock."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) * unit
        except ValueError:
            continue
        return timedelta(seconds=min(seconds, 10.0**6)) if seconds >= 0 else None  # NaN compares false
    until = _moment(headers.get("retry-after", ""))
    if until is None:
        return None
    return max(until - (_moment(headers.get("date", "")) or datetime.now(UTC)), timedelta())


def _moment(written: str) -> datetime | None:
    try:
        moment = email.utils.parsedate_to_datetime(written[:_DATE_LENGTH])
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def counted(told: Any, *texts: str) -> int:
    """Tokens as the provider counted them, else our own count: a call must not look free, nor pay another one back."""
    return told if is_count(told) and told > 0 else sum(tokens.count(text) for text in texts)


def is_count(told: Any) -> bool:
    """Whether a provider's number can be a count of tokens."""
    return type(told) is int and 0 <= told <= MOST_TOKENS


def ended(told: Any, words: Mapping[str, str]) -> str:
    """Why a reply ended, by the provider's own words for it; a reason nobody knows is `end`."""
    return words.get(told, "end") if isinstance(told, str) else "end"


def since(started: float) -> int:
    """Milliseconds since `time.monotonic()` said `started`."""
    return round((time.monotonic() - started) * 1000)
