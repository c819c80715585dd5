"""Transcripts as a body: what the importers read, or the messages of a talk as a provider takes them, sent again whole
with every turn. The session of the address counts, whatever the transcript calls its own."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from itertools import islice
from typing import Any

from memory import capture
from memory.api_body import parse_json
from memory.api_errors import ApiError
from memory.api_observations import text_in, texts_in
from memory.capture import BadCapture, Batch, Receipt
from memory.capture_batch import ErrorAt
from memory.importers import AUTO, FORMATS, read_source
from memory.importers.documents import read_values
from memory.importers.exchanges import provider_of
from memory.importers.reading import Allowance, Source, TooManyRecords
from memory.transcript import IncomingSession, ReadResult
from projects.models import Agent, Person

MOST_OBSERVATIONS = 5_000
# A line of a transcript costs time even when nothing comes of it.
MOST_RECORDS = 20_000
_LABEL = "The body"
_PROBE_VALUES = 20


class Transcript:
    """A body that was read, before anything is stored: its batch, and the books of what is in no batch."""

    def __init__(self, body: bytes, agent: Agent, person: Person | None, session: str, now: datetime) -> None:
        """Raises ApiError (413, 422): then nothing of it is stored."""
        self._frame = _frame(body)
        self._result = _read(body, self._frame)
        found = _one_session(self._result, session, self._frame, person)
        if len(found.observations) > MOST_OBSERVATIONS:
            raise _too_large(f"{MOST_OBSERVATIONS} observations")
        try:
            self.batch: Batch = capture.open_transcript(agent, found, person, now)
        except BadCapture as bad:
            raise ApiError(422, bad.code, bad.message, bad.field) from None
        for index, one in enumerate(found.observations):
            self.batch.add(index, one)

    def answer(self, receipt: Receipt) -> Receipt:
        """The receipt of the batch with what became no observation, by its reason, so that the books of the body
        balance: received = accepted + duplicates + dropped. An error's index is that of the message or line."""
        raw = self._result.raw
        left_out = self._result.skipped + Counter(receipt["dropped"])
        left_out.update(bad_line=raw["bad_json_lines"], not_an_object=raw["non_object_lines"])
        # An empty list of messages is nothing that was sent.
        left_out.pop("no_messages", None)
        before = 1 if any(isinstance(self._frame.get(key), str | list) for key in ("system", "instructions")) else 0
        errors = [ErrorAt(index=max(0, index - before), code=code) for index, code in self._result.faults]
        return {
            "accepted": receipt["accepted"],
            "duplicates": receipt["duplicates"],
            "dropped": {reason: count for reason, count in left_out.items() if count},
            "errors": errors + [error for error in receipt["errors"] if error["code"] != "copied"],
        }


def _too_large(what: str) -> ApiError:
    message = (
        f"A call brings at most {what}. Send only the turns since the last call, or bring the file in with:"
        " manage.py import_sessions"
    )
    return ApiError(413, "too_large", message)


def _frame(body: bytes) -> dict[str, Any]:
    """The call's own fields, where the body is one object with messages; {} for a transcript as it lies on a disk."""
    if not body.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
        return {}
    try:
        value = parse_json(body)
    except ApiError:
        # Many lines of JSON are no JSON.
        return {}
    if not isinstance(value, dict) or "messages" not in value:
        return {}
    if not isinstance(value["messages"], list):
        raise ApiError(422, "bad_value", "Messages come as a list.", "messages")
    return value


def _read(body: bytes, frame: dict[str, Any]) -> ReadResult:
    source = Source(_LABEL, "", body, Allowance(MOST_RECORDS))
    try:
        result = read_source(source, provider_of(frame) if frame else AUTO)
    except TooManyRecords:
        raise _too_large(f"{MOST_RECORDS} messages or lines") from None
    if result.raw["records"] or frame:
        return result
    if not any(isinstance(line.value, dict | list) for line in islice(read_values(source), _PROBE_VALUES)):
        raise ApiError(422, "malformed_json", "The body is no JSON, neither as a whole nor line by line.")
    message = f'Send {{"messages": […]}}, or a transcript in a format that is read: {", ".join(FORMATS)}.'
    raise ApiError(422, "not_a_transcript", message)


def _one_session(result: ReadResult, name: str, frame: dict[str, Any], person: Person | None) -> IncomingSession:
    """All that was read, as the session of the address. What the call says of folder and zone goes before the file."""
    first = result.sessions[0] if result.sessions else IncomingSession(name, result.format)
    cwd, subjects = text_in(frame, "cwd") or first.cwd, texts_in(frame, "subjects")
    return IncomingSession(
        name,
        result.format,
        cwd=cwd,
        git_remote=first.git_remote,
        timezone=text_in(frame, "timezone") or first.timezone,
        subjects=[*subjects, *capture.coding_subjects(cwd, person, first.git_remote)],
        observations=[one for session in result.sessions for one in session.observations],
    )


SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["messages"],
    "properties": {
        "messages": {
            "type": "array",
            "items": {"type": "object"},
            "description": "As OpenAI, Anthropic or LangChain write them; the whole talk, again with every turn.",
        },
        "system": {"description": "Instructions, as Anthropic takes them. Kept for reading, never evidence."},
        "subjects": {"type": ["array", "null"], "items": {"type": "string"}, "example": ["customer:cust_123"]},
        "timezone": {"type": ["string", "null"], "example": "Europe/Berlin"},
        "cwd": {"type": ["string", "null"], "description": "The folder of a coding session."},
    },
}
CONTENT: dict[str, Any] = {
    "application/json": {"schema": SCHEMA},
    "application/x-ndjson": {
        "schema": {"type": "string", "description": "A transcript as Claude Code or Codex wrote it, a record a line."}
    },
}
