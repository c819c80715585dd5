"""The text of a brief, line by line (values): one renderer for the API, the card and the pages.

A fact is one line and cannot open a heading, a list or a fence: its own line breaks are folded away before it gets here
and its first characters are always `- [`.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from typing import Any

# Moves when the rendered text of an unchanged fact would change: stored token counts of older versions are stale.
TEMPLATE_VERSION = 1
_SPACE = re.compile(r"\s+")


def one_line(text: str) -> str:
    """`text` on one line, white space folded, trimmed, NFC."""
    return _SPACE.sub(" ", unicodedata.normalize("NFC", text)).strip()


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
        return {str(name): _folded(item) for name, item in value.items()}
    return value


def fingerprint(type_: str, key: str, value: Any, text: str) -> str:
    """What makes two statements about one subject the same: type, key and value (without one, the sentence).

    Case, spacing and a final full stop do not count; every digit, name and negation does. 64 hex characters.
    """
    said = _folded(text) if value in (None, "", {}, []) else _folded(value)
    return hashlib.sha256(
        json.dumps([type_, key, said], sort_keys=True, ensure_ascii=False, allow_nan=False).encode()
    ).hexdigest()
