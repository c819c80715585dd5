"""Transcripts in: `manage.py import_sessions` for a file, `POST /sessions/{id}/transcript` for messages."""

from __future__ import annotations

import json
import locale
import os
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from memory.importers import AUTO, FORMATS
from tests.cases.ops.capture import address
from tests.cases.ops.registry import op
from tests.cases.result import NotBuilt, Result
from tests.cases.script import Step, encode
from tests.cases.stage import USUAL_AGENT, Stage
from tests.conftest import SHARED

# What a case calls a format, and what it is called here.
FORMAT_NAMES = {
    "openai": "openai_chat",
    "openai_messages": "openai_chat",
    "anthropic": "anthropic_messages",
    "codex_rollout": "codex",
    "plain_jsonl": "jsonl",
}


@op("import_file", "format env bytes_hex text messages path agent session")
def import_file(stage: Stage, step: Step) -> Result:
    file_format = _format(step["format"])
    with tempfile.TemporaryDirectory() as folder, _locale(step.get("env", {})):
        path = _file(step, Path(folder))
        code, said = stage.command(
            "import_sessions",
            str(path),
            project=stage.slug,
            agent=step.get("agent", USUAL_AGENT),
            format=file_format,
            json=True,
        )
        records = _records(path)
    lines = [json.loads(line) for line in said.split("\n") if line.startswith("{")]
    stage.captured += [row.session.external_id for row in stage.observations()]
    book = lines[-1] if lines else {}
    return Result(
        "import_file", step, 200 if code == 0 else 422, book, rows=book.get("observations"), notes={"records": records}
    )


@op("send_transcript", "session messages format agent")
def send_transcript(stage: Stage, step: Step) -> Result:
    """The history of a session as an agent holds it, all of it each time."""
    stage.needs("/sessions/{external_id}/transcript")
    session = step["session"]
    body = {"messages": step["messages"]}
    said = stage.call(step.get("agent", USUAL_AGENT), "POST", f"sessions/{address(session)}/transcript", body)
    stage.captured.append(session)
    accepted = said.body.get("accepted") if isinstance(said.body, dict) else None
    return Result("import_file", step, said.status, said.body, rows=accepted)


def _format(asked: str) -> str:
    name = FORMAT_NAMES.get(asked, asked)
    if name not in (*FORMATS, AUTO):
        raise NotBuilt(f"import format {asked}")
    return name


def _file(step: Step, folder: Path) -> Path:
    if "path" in step:
        path = SHARED / step["path"]
        if not path.is_file():
            pytest.skip(f"NOT RUN: {step['path']} is not beside this checkout.")
        return path
    path = folder / "session.jsonl"
    if "bytes_hex" in step:
        path.write_bytes(bytes.fromhex(step["bytes_hex"]))
    elif "messages" in step:
        path.write_bytes(encode({"messages": step["messages"]}))
    else:
        path.write_bytes(step["text"].encode("utf-8", "surrogatepass"))
    return path


def _records(path: Path) -> list[dict[str, Any]]:
    """The records of the file that are JSON objects, as an expectation may ask what became of them."""
    found = []
    for line in path.read_bytes().split(b"\n"):
        try:
            one = json.loads(line.decode("utf-8", "replace"))
        except ValueError:
            continue
        if isinstance(one, dict):
            found.append(one)
    return found


@contextmanager
def _locale(env: Mapping[str, str]) -> Iterator[None]:
    """The environment of another machine: what `open()` without an encoding would read the file with."""
    before = dict(os.environ)
    spoken = locale.setlocale(locale.LC_ALL)
    os.environ.update(env)
    try:
        if "LC_ALL" in env:
            locale.setlocale(locale.LC_ALL, env["LC_ALL"])
        yield
    finally:
        locale.setlocale(locale.LC_ALL, spoken)
        os.environ.clear()
        os.environ.update(before)
