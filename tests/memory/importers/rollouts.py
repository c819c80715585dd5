"""Lines of a Codex rollout as tests write them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from memory.importers import read_file
from memory.transcript import ReadResult
from tests.memory.importers.lines import write

THREAD = "0199aaaa-0000-7000-8000-0000000000aa"


def at(second: int) -> str:
    """A time of the talk; its first line is at second 0."""
    return f"2026-11-04T08:{second // 60:02}:{second % 60:02}.000Z"


def row(second: int, kind: str, payload: Any, **fields: Any) -> dict[str, Any]:
    return {"timestamp": at(second), "type": kind, "payload": payload, **fields}


def meta(second: int = 0, **fields: Any) -> dict[str, Any]:
    payload = {"id": THREAD, "timestamp": at(second), "cwd": "/srv/orders", "originator": "codex_cli_rs", **fields}
    return row(second, "session_meta", payload)


def item(second: int, kind: str, **fields: Any) -> dict[str, Any]:
    return row(second, "response_item", {"type": kind, **fields})


def event(second: int, kind: str, **fields: Any) -> dict[str, Any]:
    return row(second, "event_msg", {"type": kind, **fields})


def asked(second: int, text: str) -> dict[str, Any]:
    return item(second, "message", role="user", content=[{"type": "input_text", "text": text}])


def told(second: int, text: str) -> dict[str, Any]:
    return item(second, "message", role="assistant", content=[{"type": "output_text", "text": text}])


def call(second: int, call_id: str, name: str, **arguments: Any) -> dict[str, Any]:
    return item(second, "function_call", name=name, arguments=json.dumps(arguments), call_id=call_id)


def output(second: int, call_id: str, text: str, exit_code: int | None = None) -> dict[str, Any]:
    wrapped = json.dumps({"output": text, "metadata": {"exit_code": exit_code, "duration_seconds": 0.4}})
    return item(second, "function_call_output", call_id=call_id, output=text if exit_code is None else wrapped)


def read(tmp_path: Path, *records: Any, name: str = "rollout.jsonl") -> ReadResult:
    outcome = read_file(write(tmp_path / name, *records), "codex")
    assert outcome.books()["balanced"]
    return outcome
