"""Lines of a transcript as tests write them, with defaults a test may override."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from memory.importers import read_file
from memory.transcript import Incoming, ReadResult

SESSION = "5f0c1d2e-0000-4000-8000-000000000001"


def line(kind: str, content: Any = None, **fields: Any) -> dict[str, Any]:
    """One record; `content` becomes the message's content."""
    record = {"type": kind, "sessionId": SESSION, "cwd": "/srv/orders", "timestamp": "2026-11-03T09:00:00Z"}
    if content is not None:
        record["message"] = {"role": kind, "content": content}
    return {**record, **fields}


def user(content: Any, **fields: Any) -> dict[str, Any]:
    return line("user", content, **fields)


def assistant(*blocks: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return line("assistant", list(blocks), **fields)


def call(call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def result(call_id: str, content: Any, is_error: bool = False, beside: Any = None, **fields: Any) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call_id, "content": content, "is_error": is_error}
    return user([block], toolUseResult=beside, **fields)


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def write(path: Path, *records: Any) -> Path:
    """A file of these records; a `bytes` record is written as it is."""
    raw = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in records]
    path.write_bytes(b"\n".join(raw) + b"\n")
    return path


def read(tmp_path: Path, *records: Any) -> ReadResult:
    return read_file(write(tmp_path / "talk.jsonl", *records), "claude_code")


def observations(outcome: ReadResult) -> list[Incoming]:
    return [one for session in outcome.sessions for one in session.observations]


def user_words(outcome: ReadResult) -> list[str]:
    return [one.text for one in observations(outcome) if (one.kind, one.role) == ("message", "user")]
