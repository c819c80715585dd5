"""Bytes kept out: what a screenshot or a recording is made of says nothing and fills the table."""

from __future__ import annotations

import json
import re
from typing import Any

_EMBEDDED = re.compile(r"data:[\w.+-]{1,40}/[\w.+-]{1,60};base64,[A-Za-z0-9+/=]{64,}")
_BASE64 = re.compile(r"[A-Za-z0-9+/=_\r\n-]+\Z")
_BASE64_CHARACTERS = 256
_MAX_DEPTH = 60

IMAGE = "[image]"


def without_embedded(text: str) -> str:
    return _EMBEDDED.sub(IMAGE, text) if ";base64," in text else text


def without_bytes(value: Any, depth: int = 0) -> Any:
    """`value` with base64 bodies replaced by their length: a screenshot's bytes say nothing and fill the table."""
    if depth > _MAX_DEPTH:
        return "[nested too deeply]"
    if isinstance(value, dict):
        body = value.get("data")
        if isinstance(body, str) and (value.get("type") == "base64" or "media_type" in value):
            value = {**value, "data": f"[{len(body)} characters of base64]"}
        return {key: without_bytes(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [without_bytes(item, depth + 1) for item in value]
    if isinstance(value, str):
        is_body = len(value) >= _BASE64_CHARACTERS and _BASE64.match(value)
        return f"[{len(value)} characters of base64]" if is_body else without_embedded(value)
    return value


def compact(value: Any) -> str:
    """JSON on one line, without bytes."""
    return json.dumps(without_bytes(value), ensure_ascii=False, separators=(",", ":"), default=str)
