"""JSON from outside, made fit for jsonb: no NaN, no halves of characters, no secrets, no bottomless nesting."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

from memory.privacy import secrets
from memory.privacy.assignments import is_secret_field
from memory.privacy.cleaning import TEXT_LIMIT, cut, readable

DEPTH_LIMIT = 64  # levels; json.loads itself gives up near 1,000
NODE_LIMIT = 20_000  # values in one payload
SIZE_LIMIT = 400_000  # code points of all strings in one payload
KEY_LIMIT = 200  # code points
_NUMBER_BITS = 13_000  # about 3,900 digits: Python refuses to write more than 4,300

# A long string of nothing but base64 is a picture or a file. Long enough to be no key.
_BASE64 = re.compile(r"[A-Za-z0-9+/\r\n]{1024,}={0,2}\s*", re.ASCII)
_IMAGE_STARTS = ("iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR", "PHN2Zy", "Qk0")


@dataclass(frozen=True, slots=True)
class CleanJson:
    """A value as jsonb takes it. `rules` names the secret rule of each placeholder, in order."""

    value: Any
    rules: tuple[str, ...]
    changed: bool


@dataclass(slots=True)
class _Run:
    string_limit: int
    nodes: int = NODE_LIMIT
    room: int = SIZE_LIMIT
    rules: list[str] = field(default_factory=list)
    changed: bool = False

    def replaced(self, value: Any) -> Any:
        self.changed = True
        return value


def clean_json(value: Any, string_limit: int = TEXT_LIMIT) -> CleanJson:
    """A JSON-like value with every key and string cleaned as `clean_text` does, whatever its shape.

    NaN and infinity become null; base64 images become their size; what lies deeper than 64 levels, past 20,000 values
    or past 400,000 characters becomes a note that says so. Keys that clean to the same name are numbered, both kept.
    The value of a field called password, token and the like is replaced when it looks like one. Not recursive in
    the input's depth beyond the limit, so no input can exhaust the stack.
    """
    run = _Run(string_limit)
    return CleanJson(_value(value, run, 0), tuple(run.rules), run.changed)


def _value(value: Any, run: _Run, depth: int) -> Any:
    run.nodes -= 1
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _string(value, run, run.string_limit)
    if isinstance(value, int):
        if value.bit_length() > _NUMBER_BITS:
            return run.replaced(f"[number of {value.bit_length():,} bits]")
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else run.replaced(None)
    if isinstance(value, dict | list | tuple):
        if depth >= DEPTH_LIMIT:
            return run.replaced(f"[cut: deeper than {DEPTH_LIMIT} levels]")
        if isinstance(value, dict):
            return _object(value, run, depth)
        return _array(value, run, depth)
    return run.replaced(f"[not JSON: {type(value).__name__}]")


def _array(values: list[Any] | tuple[Any, ...], run: _Run, depth: int) -> list[Any]:
    cleaned: list[Any] = []
    for index, value in enumerate(values):
        if run.nodes <= 0:
            cleaned.append(run.replaced(f"[cut: {len(values) - index:,} more values]"))
            break
        cleaned.append(_value(value, run, depth + 1))
    return cleaned


def _object(values: dict[Any, Any], run: _Run, depth: int) -> dict[str, Any]:
    cleaned: dict[str, Any] = {}
    repeats: dict[str, int] = {}
    for index, (raw_key, value) in enumerate(values.items()):
        if run.nodes <= 0:
            cleaned[_free("[cut]", cleaned, repeats)] = run.replaced(f"{len(values) - index:,} more fields")
            break
        key = _free(_key(raw_key, run), cleaned, repeats)
        if isinstance(value, str) and is_secret_field(key, value):
            run.nodes -= 1
            run.rules.append("secret-field")
            cleaned[key] = run.replaced(secrets.placeholder("secret-field"))
        else:
            cleaned[key] = _value(value, run, depth + 1)
    return cleaned


def _key(raw: Any, run: _Run) -> str:
    if not isinstance(raw, str):
        raw = run.replaced(str(raw) if isinstance(raw, int | float | bool | None) else type(raw).__name__)
    return _string(raw, run, KEY_LIMIT)


def _free(key: str, taken: dict[str, Any], repeats: dict[str, int]) -> str:
    """The key itself, or with a number behind it when another key became the same."""
    name = key
    while name in taken:
        repeats[key] = repeats.get(key, 1) + 1
        name = f"{key} ({repeats[key]})"
    return name


def _string(raw: str, run: _Run, limit: int) -> str:
    if run.room <= 0 and raw:
        return str(run.replaced(f"[cut: {len(raw):,} characters]"))
    if len(raw) >= 1024 and _BASE64.fullmatch(raw):
        kind = "image" if raw.startswith(_IMAGE_STARTS) else "base64"
        return str(run.replaced(f"[{kind}: {len(raw.rstrip().rstrip('=')) * 3 // 4} bytes]"))
    text, spans = secrets.replace(readable(raw))
    text, _ = cut(text, spans, min(limit, max(run.room, 100)))
    run.rules += [span.rule for span in spans]
    run.room -= len(text)
    run.changed = run.changed or text != raw
    return text
