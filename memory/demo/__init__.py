"""Sample talks for the demo project: coding sessions as Claude Code writes them, and support and sales talks in the
shape of the capture API, one observation a line. `demo.toml` lists them."""

from __future__ import annotations

import json
import re
import tomllib
from dataclasses import dataclass, replace
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any

from memory.importers import claude_code
from memory.importers.reading import Source
from memory.transcript import Incoming, IncomingSession

FOLDER = Path(__file__).parent
TRANSCRIPTS = FOLDER / "transcripts"
# `{{date:+4}}`: so many days from the day of the talk, so that a promise is never years overdue.
_MOVING = re.compile(r"\{\{date:([+-]\d{1,3})\}\}")


@dataclass(frozen=True, slots=True)
class DemoSession:
    """One sample session. `person` is the e-mail address of whoever worked with the agent, "" for customers' talks."""

    agent: str
    external_id: str
    person: str
    subjects: tuple[str, ...]
    incoming: IncomingSession


def sessions(now: datetime) -> list[DemoSession]:
    """All sample sessions, oldest first, as if the last had ended yesterday. `now` is timezone-aware.
    Ids do not depend on it: loaded twice, nothing is added."""
    return [_session(row, now) for row in tomllib.loads((FOLDER / "demo.toml").read_text("utf-8"))["session"]]


def _session(row: dict[str, Any], now: datetime) -> DemoSession:
    path = TRANSCRIPTS / row["file"]
    day = (now - timedelta(days=row["days_ago"])).date()
    start = datetime.combine(day, time.fromisoformat(row["at"]), now.tzinfo)
    read = _coding if row["agent"] == "claude-code" else _talk
    incoming = read(path, start)
    incoming.observations = [_on_its_day(one, start) for one in incoming.observations]
    return DemoSession(row["agent"], incoming.external_id, row.get("person", ""), tuple(row["subjects"]), incoming)


def _coding(path: Path, start: datetime) -> IncomingSession:
    """A Claude Code transcript, its clock moved so that the first line happens at `start`."""
    (session,) = claude_code.read(Source.of(path)).sessions
    times = [one.occurred_at for one in session.observations if one.occurred_at]
    shift = start - times[0]
    session.observations = [
        replace(one, occurred_at=one.occurred_at + shift if one.occurred_at else None) for one in session.observations
    ]
    return session


def _talk(path: Path, start: datetime) -> IncomingSession:
    """A talk of observations as the API takes them; `minute` counts from the start."""
    session = IncomingSession(external_id=path.stem, source_format="api")
    for number, line in enumerate(path.read_text("utf-8").split("\n")):
        if line:
            fields = json.loads(line)
            at = start + timedelta(minutes=fields.pop("minute"), seconds=number)
            session.observations.append(Incoming(id=f"{path.stem}-{number}", occurred_at=at, **fields))
    return session


def _on_its_day(one: Incoming, start: datetime) -> Incoming:
    payload = one.payload
    if payload is not None:
        payload = json.loads(_dated(json.dumps(payload, ensure_ascii=False), start))
    return replace(one, text=_dated(one.text, start), payload=payload)


def _dated(text: str, start: datetime) -> str:
    return _MOVING.sub(lambda match: (start.date() + timedelta(days=int(match.group(1)))).isoformat(), text)
