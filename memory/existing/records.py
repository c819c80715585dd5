"""Memories in JSON and JSONL: mem0's `memory`, Zep's `fact`, plain `content` or `text`, and our own exports."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from memory.existing.lines import Found, MemoryLine, Unreadable

# In the order in which a record is asked for its sentence.
_TEXTS = ("text", "memory", "fact", "content", "data")
# Where a service wraps its list.
_LISTS = ("results", "memories", "facts", "edges", "data", "items")
_TYPES = ("type", "fact_type")
_ENDS = ("expires_at", "expiration_date", "invalid_at")
# In a record of ours: the version of the form.
OWN = "countersign"


def read(text: str, file_format: str) -> Found:
    """Raises Unreadable when nothing in it is JSON."""
    found = Found(file_format)
    for number, value in _values(text, file_format, found):
        line = _line(number, value)
        if line is None:
            found.skipped["no_text" if isinstance(value, str | Mapping) else "no_record"] += 1
        elif isinstance(value, Mapping) and value.get("invalid_at") and OWN not in value:
            found.skipped["no_longer_valid"] += 1
        else:
            found.lines.append(line)
    return found


def moment(written: Any) -> datetime | None:
    """A time with its zone, UTC where it has none; of a day alone its end; None for what is no time."""
    if not isinstance(written, str) or not written.strip():
        return None
    try:
        at = datetime.fromisoformat(written.strip())
    except ValueError:
        return None
    if len(written.strip()) == len("2027-01-31"):
        return at.replace(tzinfo=UTC) + timedelta(days=1)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _values(text: str, file_format: str, found: Found) -> Iterator[tuple[int, Any]]:
    if file_format == "json":
        value = _parse(text)
        if value is not None:
            yield from enumerate(_list_in(value), start=1)
            return
        # A .json that is really a line for each record.
    good = 0
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            value = _parse(line)
            if value is None:
                found.skipped["no_json"] += 1
            else:
                good += 1
                yield number, value
    if not good:
        raise Unreadable("This is no JSON. Memories come as a list of objects, or one object a line.")


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _list_in(value: Any) -> list[Any]:
    if isinstance(value, Mapping):
        for name in _LISTS:
            if isinstance(value.get(name), list):
                return list(value[name])
        return [value]
    return value if isinstance(value, list) else [value]


def _line(number: int, value: Any) -> MemoryLine | None:
    if isinstance(value, str):
        return MemoryLine(number, value) if value.strip() else None
    if not isinstance(value, Mapping):
        return None
    if value.get(OWN) is not None:
        return _own(number, value)
    said = next((value[name] for name in _TEXTS if isinstance(value.get(name), str) and value[name].strip()), None)
    if said is None:
        return None
    return MemoryLine(
        number,
        said,
        type=next((value[name] for name in _TYPES if isinstance(value.get(name), str)), ""),
        key=_text_of(value, "key"),
        subject=_subject(value),
        expires_at=next((at for name in _ENDS if (at := moment(value.get(name)))), None),
    )


def _own(number: int, value: Mapping[str, Any]) -> MemoryLine | None:
    text = _text_of(value, "text")
    if not text.strip():
        return None
    agents = value.get("agents")
    return MemoryLine(
        number,
        text,
        type=_text_of(value, "type"),
        key=_text_of(value, "key"),
        value=value.get("value"),
        subject=_text_of(value, "subject"),
        agents=tuple(str(one) for one in agents) if isinstance(agents, list) else None,
        nature=_text_of(value, "nature"),
        use=_text_of(value, "use"),
        standing=value.get("standing") is True,
        expires_at=moment(value.get("expires_at")),
        own_id=_text_of(value, "id"),
    )


def _subject(value: Mapping[str, Any]) -> str:
    """What a record says it is about: `subject`, or the user that other stores keep memories of."""
    if isinstance(value.get("subject"), str):
        return str(value["subject"])
    user = value.get("user_id")
    return f"customer:{user}" if isinstance(user, str) and user.strip() else ""


def _text_of(value: Mapping[str, Any], name: str) -> str:
    return value[name] if isinstance(value.get(name), str) else ""
