"""Observations as JSON: a call's body becomes a batch. What is wrong with one observation never costs the others."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from memory.api_errors import ApiError
from memory.capture import BadCapture, Batch, BrokenObservation, coding_subjects, open_batch
from memory.transcript import KINDS, ROLES, Incoming
from projects.models import Agent, Person

MOST_OBSERVATIONS = 5_000
FRAME = frozenset({"subjects", "timezone", "batch_id", "cwd", "observations"})


def batch_of(body: dict[str, Any], agent: Agent, person: Person | None, session: str, now: datetime) -> Batch:
    """The batch of a call. Raises ApiError (413, 422) when its frame is broken: then nothing of it is stored."""
    observations = _observations(body)
    cwd = text_in(body, "cwd")
    zone = text_in(body, "timezone")
    try:
        batch = open_batch(
            agent,
            session,
            now,
            subjects=[*texts_in(body, "subjects"), *coding_subjects(cwd, person)],
            timezone=zone,
            cwd=cwd,
            batch_id=text_in(body, "batch_id") if body.get("batch_id") is not None else None,
        )
    except BadCapture as bad:
        raise ApiError(422, bad.code, bad.message, bad.field) from None
    unknown = {name: value for name, value in body.items() if name not in FRAME}
    for index, raw in enumerate(observations):
        try:
            one = observation_of(raw, zone, unknown if index == 0 else {})
        except BrokenObservation as broken:
            batch.refuse(index, broken.code)
        else:
            batch.add(index, one)
    return batch


def observation_of(raw: Any, zone: str, of_the_call: dict[str, Any]) -> Incoming:
    """One observation. Fields that are not known go into its payload, and so do those `of_the_call` as `call`.

    Raises BrokenObservation.
    """
    if not isinstance(raw, dict):
        raise BrokenObservation("not_an_object")
    for name in ("kind", "role", "text"):
        if raw.get(name) is None:
            raise BrokenObservation(f"missing_{name}")
    values = {name: read(raw[name]) for name, read in FIELDS.items() if raw.get(name) is not None}
    if "occurred_at" in values:
        values["occurred_at"] = _time(values["occurred_at"], zone)
    unknown = {name: value for name, value in raw.items() if name not in FIELDS and name != "payload"}
    if values["kind"] not in KINDS:
        unknown["kind"] = values["kind"]
    if of_the_call:
        unknown["call"] = of_the_call
    payload = raw.get("payload")
    if unknown:
        payload = unknown if payload is None else {"payload": payload, **unknown}
    return Incoming(**values, payload=payload)


def _checked(name: str, *kinds: type) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        # To JSON true is no number, to Python it is.
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise BrokenObservation(f"bad_{name}")
        return value

    return read


def _id(value: Any) -> str:
    # A number of more digits than this is no counter, and Python refuses to write the very long ones.
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**63:
        return str(value)
    if not isinstance(value, str):
        raise BrokenObservation("bad_id")
    return value


def _paths(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(path, str) for path in value):
        raise BrokenObservation("bad_paths")
    return tuple(value)


FIELDS: dict[str, Callable[[Any], Any]] = {
    "id": _id,
    "seq": _checked("seq", int),
    "kind": _checked("kind", str),
    "role": _checked("role", str),
    "text": _checked("text", str),
    "tool": _checked("tool", str),
    "call_id": _checked("call_id", str),
    "exit_code": _checked("exit_code", int),
    "is_error": _checked("is_error", bool),
    "paths": _paths,
    "sidechain": _checked("sidechain", bool),
    "occurred_at": _checked("occurred_at", str),
}


def _time(written: str, zone: str) -> datetime | None:
    """A time as sent, in the session's time zone when it names none; None for what is no time."""
    try:
        at = datetime.fromisoformat(written)
        return at if at.tzinfo else at.replace(tzinfo=ZoneInfo(zone or "UTC"))
    except (ValueError, OverflowError):
        return None


def _observations(body: dict[str, Any]) -> list[Any]:
    found = body.get("observations")
    if found is None:
        raise ApiError(422, "missing_field", "A batch needs a list of observations.", "observations")
    if not isinstance(found, list):
        raise ApiError(422, "bad_value", "Observations come as a list.", "observations")
    if len(found) > MOST_OBSERVATIONS:
        message = f"A call holds at most {MOST_OBSERVATIONS} observations. Send them in several calls."
        raise ApiError(413, "too_large", message, "observations")
    return found


def text_in(body: dict[str, Any], name: str) -> str:
    value = body.get(name)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ApiError(422, "bad_value", "This must be a text.", name)
    return value


def texts_in(body: dict[str, Any], name: str) -> list[str]:
    value = body.get(name)
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ApiError(422, "bad_value", "This must be a list of texts.", name)
    return value


_OPTIONAL_TEXT = {"type": ["string", "null"]}
# Read by hand, because one broken observation must not cost the others; so the document is written by hand too.
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["observations"],
    "properties": {
        "subjects": {"type": ["array", "null"], "items": {"type": "string"}, "example": ["customer:cust_123"]},
        "timezone": {**_OPTIONAL_TEXT, "example": "Europe/Berlin"},
        "batch_id": {**_OPTIONAL_TEXT, "description": "Sent again, the batch gets the same answer."},
        "cwd": {**_OPTIONAL_TEXT, "description": "The folder of a coding session."},
        "observations": {
            "type": "array",
            "maxItems": MOST_OBSERVATIONS,
            "items": {
                "type": "object",
                "required": ["kind", "role", "text"],
                "properties": {
                    "id": {"type": ["string", "integer", "null"], "description": "Makes it idempotent."},
                    "seq": {"type": ["integer", "null"]},
                    "kind": {"type": "string", "description": f"{', '.join(KINDS)}; another is stored as meta."},
                    "role": {"type": "string", "enum": list(ROLES)},
                    "text": {"type": "string"},
                    "tool": _OPTIONAL_TEXT,
                    "call_id": _OPTIONAL_TEXT,
                    "exit_code": {"type": ["integer", "null"]},
                    "is_error": {"type": ["boolean", "null"]},
                    "paths": {"type": ["array", "null"], "items": {"type": "string"}},
                    "sidechain": {"type": ["boolean", "null"]},
                    "occurred_at": {"type": ["string", "null"], "format": "date-time"},
                    "payload": {"description": "The raw record, any JSON."},
                },
            },
        },
    },
}
