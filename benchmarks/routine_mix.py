"""A realistic mix of sessions: mostly routine, some that teach something, and long days of many small tasks.

Written as lines in `benchmarks/mix/*.txt`: `## title` begins a session; `user:` and `agent:` speak; `$` runs a command,
`>` and `!` are what came back when it succeeded or failed; `read:`, `edit:`, `write:`, `fetch:`, `task:`, `tool:` are
other calls, `=` is their result. Any other line goes on with the one before it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "mix"
START = datetime(2026, 11, 4, 8, 0, tzinfo=UTC)
LONG_DAYS = 30
_MARK = re.compile(r"^(user:|agent:|read:|edit:|write:|fetch:|task:|tool:|\$|>|!|=)(?: (.*))?$")
_CALLS = {"read:": "Read", "edit:": "Edit", "write:": "Write", "fetch:": "WebFetch", "task:": "Task", "$": "Bash"}
_CODING = ("Read", "Edit", "Write", "Bash")


@dataclass(slots=True)
class Written:
    """One session as it was written; `teaches` says whether anything in it is worth a memory."""

    title: str
    teaches: bool
    lines: list[dict[str, Any]] = field(default_factory=list)

    @property
    def is_coding(self) -> bool:
        return any(line["tool"] in _CODING for line in self.lines)

    def gold(self, number: int) -> dict[str, Any]:
        """As a session of a gold file, with ids, places and times."""
        start = START + timedelta(hours=number)
        seen = [
            {**line, "i": index, "ts": (start + timedelta(minutes=index)).isoformat()}
            for index, line in enumerate(self.lines)
        ]
        about = {"repo": f"repo-{number % 12}"} if self.is_coding else {"entity": f"cust_{number}"}
        return {"id": f"mix-{number}", "session": seen, "teaches": self.teaches, "title": self.title, **about}


def written(name: str) -> list[Written]:
    """The sessions of one file, in order."""
    sessions: list[Written] = []
    last_tool = ""
    for raw in (FOLDER / f"{name}.txt").read_text("utf-8").split("\n"):
        if raw.startswith("## "):
            sessions.append(Written(raw[3:], teaches=name == "lessons"))
            continue
        mark = _MARK.match(raw)
        lines = sessions[-1].lines
        spoke_last = bool(lines) and lines[-1]["kind"] == "message"
        if mark is None or (spoke_last and mark[1] == ">"):
            if raw and lines:
                lines[-1]["text"] += f"\n{raw}"
            continue
        line = _line(mark[1], mark[2] or "", last_tool)
        last_tool = line["tool"] or last_tool
        lines.append(line)
    return sessions


def mix(seed: int = 7) -> list[dict[str, Any]]:
    """All of it, shuffled: the same order for the same seed."""
    chance = random.Random(seed)
    routine = written("routine")
    sessions = [*routine, *written("lessons"), *_long_days(routine, chance)]
    chance.shuffle(sessions)
    return [session.gold(number) for number, session in enumerate(sessions)]


def _long_days(routine: list[Written], chance: random.Random) -> Iterator[Written]:
    """Several small tasks one after another in one session, as a long day at the keyboard is."""
    coding = [session for session in routine if session.is_coding]
    for day in range(LONG_DAYS):
        tasks = chance.sample(coding, chance.randint(3, 8))
        yield Written(f"a long day {day}", teaches=False, lines=[dict(line) for task in tasks for line in task.lines])


def _line(mark: str, text: str, last_tool: str) -> dict[str, Any]:
    line: dict[str, Any] = {"role": "assistant", "kind": "message", "text": text, "tool": None, "exit_code": None}
    if mark == "user:":
        line["role"] = "user"
    elif mark == "tool:":
        name, _, arguments = text.partition(" ")
        line |= {"kind": "tool_call", "tool": name, "text": arguments}
    elif mark in _CALLS:
        line |= {"kind": "tool_call", "tool": _CALLS[mark], "text": _call(mark, text)}
    elif mark in (">", "!", "="):
        line |= {"role": "tool", "kind": "tool_result", "tool": last_tool, "exit_code": int(mark == "!")}
    return line


def _call(mark: str, text: str) -> str:
    """A read or an edit as a call writes it; `edit: FILE: {json}` holds the edit's own arguments."""
    path, _, what = text.partition(": ")
    if mark == "read:":
        return f'{{"file_path": "{text}"}}'
    if what.startswith("{"):
        return f'{{"file_path": "{path}", {what[1:]}'
    return f"edit {path}: {what}" if mark == "edit:" else text
