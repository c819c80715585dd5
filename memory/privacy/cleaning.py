"""The one door a text passes before it is stored: what Postgres and a reader's eye can bear, without secrets."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, replace

from memory.privacy import contact, health, payment, secrets
from memory.privacy.findings import CATEGORIES, Finding
from memory.privacy.invisible import holds_invisible, seen_through
from memory.privacy.secrets import Span

TEXT_LIMIT = 16_000  # code points of one observation's text
ID_LIMIT = 512  # bytes; a btree key ends at 2,704
_NON_STARTERS = 30  # combining marks in a row: UAX #15's stream-safe limit; NFC is quadratic in them (16,000: 1.2 s)

_ANSI = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)?|[PX^_][^\x1b\n]*(?:\x1b\\)?|[ -/]+[0-~]|[0-~])"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_MARKS = re.compile(r"[^\w\s\x00-\x7f]{31,}")
_IMAGE = re.compile(r"data:([a-z]{1,20})/[\w.+-]{1,40};base64,([A-Za-z0-9+/=]{200,})", re.ASCII)


class BadIdentifier(ValueError):
    """An id or key that cannot be stored. The message never repeats it."""


@dataclass(frozen=True, slots=True)
class CleanText:
    """A text as it is stored. `original_length` counts the code points that came in."""

    text: str
    findings: tuple[Finding, ...]
    original_length: int
    changed: bool


def clean_text(raw: str, limit: int = TEXT_LIMIT) -> CleanText:
    """The storable form of a text, and what the classifier sees in it.

    Removed: NUL and other control characters, terminal colours, halves of surrogate pairs (U+FFFD stands in), secrets
    (a placeholder that names the rule), base64 images (their size stays). Line ends become \\n, the rest is NFC.
    A text longer than `limit` code points keeps its head and tail around a line that says how much was cut.
    Cleaning the result again changes nothing and finds the same.
    """
    text, spans = secrets.replace(readable(raw))
    text, spans = cut(text, spans, limit)
    found = [Finding(span.start, span.end, "secret", span.rule, 0.95) for span in spans]
    return CleanText(text, classify(text, found), len(raw), text != raw)


def readable(raw: str) -> str:
    """The text without what cannot be stored or read; secrets and length are not looked at."""
    text = raw
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.replace("\n", "").replace("\t", "").isprintable():  # ten times as quick as the pattern
        text = _CONTROLS.sub("", text)
    if not text.isascii():
        if _SURROGATE.search(text):
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        text = unicodedata.normalize("NFC", _MARKS.sub(_thinned, text))
    if ";base64," in text:
        text = _IMAGE.sub(lambda image: f"[{image[1]}: {len(image[2].rstrip('=')) * 3 // 4} bytes]", text)
    return text


def classify(text: str, known: list[Finding] | None = None) -> tuple[Finding, ...]:
    """Contact, payment and health findings of a clean text, with the secrets `known` so far, in order of the text.

    Where two findings meet, the graver category stays. Characters that nobody sees hide nothing.
    """
    found = [*(known or []), *_seen(text)]
    if len(found) < 2:
        return tuple(found)
    kept: list[Finding] = []
    for finding in sorted(found, key=lambda one: (CATEGORIES.index(one.category), one.start, -one.end)):
        if all(finding.end <= other.start or other.end <= finding.start for other in kept):
            kept.append(finding)
    return tuple(sorted(kept))


def _seen(text: str) -> list[Finding]:
    seen, places = seen_through(text)
    lowered = secrets.lower(seen)
    runs = payment.digit_runs(seen)
    found = [*health.find(seen, lowered), *payment.find(seen, lowered, runs), *contact.find(seen, runs)]
    if len(seen) == len(text):
        return found
    return [replace(one, start=places[one.start], end=places[one.end - 1] + 1) for one in found]


def cut(text: str, spans: list[Span], limit: int) -> tuple[str, list[Span]]:
    """Head and tail of a long text with a line between them, and the placeholders' spans in it.

    No placeholder is cut in two. The end of a tool's output says more than its middle, so both halves are equal.
    """
    if len(text) <= limit:
        return text, spans
    half = (limit - 60) // 2
    if half <= 0:
        raise ValueError("A text keeps at least 62 characters.")
    head, tail = half, len(text) - half
    for span in spans:
        if span.start < head < span.end:
            head = span.start
        if span.start < tail < span.end:
            tail = span.end
    note = f"\n[… {tail - head:,} characters cut …]\n"
    shift = head + len(note) - tail
    kept = [span for span in spans if span.end <= head]
    kept += [Span(span.start + shift, span.end + shift, span.rule) for span in spans if span.start >= tail]
    return text[:head] + note + text[tail:], kept


def clean_id(raw: str, max_bytes: int = ID_LIMIT) -> str:
    """An external id or key as it is stored: NFC, trimmed. Raises BadIdentifier, whose message does not repeat it.

    Refused: empty, longer than `max_bytes` of UTF-8, control or invisible characters (two ids that look alike must not
    differ), and anything that looks like a secret, because ids appear in addresses and logs.
    """
    if len(raw) > 4 * max_bytes:
        raise BadIdentifier(f"An id has at most {max_bytes} bytes.")
    text = raw.strip()
    if not text:
        raise BadIdentifier("An id cannot be empty.")
    if not text.isascii() or not text.isprintable():
        if holds_invisible(text) or "\n" in text or "\t" in text:
            raise BadIdentifier("An id cannot hold control or invisible characters.")
        text = unicodedata.normalize("NFC", _MARKS.sub(_thinned, text))
    if len(text.encode()) > max_bytes:
        raise BadIdentifier(f"An id has at most {max_bytes} bytes.")
    if secrets.find(text):
        raise BadIdentifier("An id cannot hold a secret.")
    return text


def _thinned(marks: re.Match[str]) -> str:
    kept = []
    run = 0
    for letter in marks[0]:
        run = run + 1 if unicodedata.combining(letter) else 0
        if run <= _NON_STARTERS:
            kept.append(letter)
    return "".join(kept)
