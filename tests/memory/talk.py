"""Sessions written as a few short lines, for tests of distillers: `talk(user("…"), run("make"), fail("…"))`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from memory.distillers.local import LocalDistiller
from memory.transcript import Candidate, Seen

THURSDAY = datetime(2026, 11, 12, 15, 0, tzinfo=UTC)
Line = Callable[[int, datetime], Seen]


def user(text: str, *, sidechain: bool = False) -> Line:
    return lambda ref, at: Seen(ref, "message", "user", text, sidechain=sidechain, occurred_at=at)


def say(text: str) -> Line:
    return lambda ref, at: Seen(ref, "message", "assistant", text, occurred_at=at)


def run(command: str, tool: str = "Bash") -> Line:
    return lambda ref, at: Seen(ref, "tool_call", "assistant", command, tool, occurred_at=at)


def ok(text: str = "", tool: str = "Bash") -> Line:
    return lambda ref, at: Seen(ref, "tool_result", "tool", text, tool, exit_code=0, occurred_at=at)


def fail(text: str, tool: str = "Bash", exit_code: int = 1) -> Line:
    return lambda ref, at: Seen(
        ref, "tool_result", "tool", text, tool, exit_code=exit_code, is_error=True, occurred_at=at
    )


def note(kind: str, role: str, text: str) -> Line:
    return lambda ref, at: Seen(ref, kind, role, text, occurred_at=at)


def talk(*lines: Line, start: datetime = THURSDAY) -> list[Seen]:
    return [line(ref, start + timedelta(minutes=ref)) for ref, line in enumerate(lines)]


def read(*lines: Line, timezone: str = "UTC", start: datetime = THURSDAY) -> list[Candidate]:
    return LocalDistiller().read(talk(*lines, start=start), timezone=timezone, now=start)


def texts(*lines: Line, timezone: str = "UTC", start: datetime = THURSDAY) -> list[str]:
    return [candidate.text for candidate in read(*lines, timezone=timezone, start=start)]
