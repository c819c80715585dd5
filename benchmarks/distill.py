"""Job `distill`: sessions read per minute by the local reader with two workers, and the share of each step.

The sessions are those of `benchmarks/routine_mix.py`, written into a scratch project beforehand. Two processes read
half of them each, through the real distillation: rows in, candidates, grounding, reconciliation, facts, evidence,
vectors. The floor is the same without a word heard: what jobs, rows and audit cost alone.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks import routine_mix

MUST, STRETCH = 500, 1_500  # sessions per minute
LONG_SESSION_SECONDS = 5.0
LONG_SESSION = 2_000
WORKERS = 2
STEPS = ("read", "ground", "reconcile", "embed")
ROOT = Path(__file__).resolve().parent.parent


def run(*, quick: bool) -> dict[str, object]:
    """Sessions per minute, both workers together; how long one session of 2,000 observations takes alone."""
    from memory import trial

    sessions = routine_mix.mix()[: 80 if quick else None]
    floor, _ = _rate(trial.captured(sessions, Silent()), "floor")
    ours, shares = _rate(trial.captured(sessions, Silent()), "ours")
    long_session = _long_session_seconds()
    return {
        "job": "distill",
        "ours": round(ours),
        "floor": round(floor),
        "ratio": round(floor / ours, 2),
        "must": MUST,
        "stretch": STRETCH,
        "unit": "sessions per minute",
        "shares": shares,
        "long_session_s": round(long_session, 2),
        "ok": ours >= MUST and long_session <= LONG_SESSION_SECONDS,
    }


class Silent:
    """A reader that hears nothing."""

    NAME = "silent"
    VERSION = "0"

    def read(self, observations: Sequence[object], *, timezone: str, now: datetime) -> list[Any]:
        return []


def _rate(jobs: Sequence[int], kind: str) -> tuple[float, dict[str, float]]:
    """Sessions per minute of the slower worker's time, and the share of each step in the work of both."""
    command = [sys.executable, "-m", "benchmarks.distill", kind]
    workers = [
        subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8")
        for _ in range(WORKERS)
    ]
    for number, worker in enumerate(workers):
        if worker.stdin is None:
            raise RuntimeError("A worker has no input.")
        worker.stdin.write(json.dumps(jobs[number::WORKERS]))
        worker.stdin.close()
    told = []
    for worker in workers:
        out = worker.stdout.read() if worker.stdout else ""
        if worker.wait(600):
            raise RuntimeError(f"A worker ended with code {worker.returncode}.")
        told.append(json.loads(out))
    seconds = max(one["ended"] for one in told) - min(one["began"] for one in told)
    spent = sum((Counter(one["steps"]) for one in told), Counter[str]())
    whole = sum(one["ended"] - one["began"] for one in told)
    shares = {step: round(spent[step] / whole, 3) for step in STEPS}
    shares["write"] = round(1 - sum(shares.values()), 3)
    return 60 * len(jobs) / seconds, shares


def work(kind: str, jobs: Sequence[int]) -> dict[str, Any]:
    """One worker: reads its jobs and says how long each step took."""
    from memory import distillation, embeddings
    from memory.distillers.local import LocalDistiller

    reader = Silent() if kind == "floor" else LocalDistiller()
    embeddings.embed(["warm"])
    steps: Counter[str] = Counter()
    now = routine_mix.START + timedelta(days=30)
    with _timed(steps, reader):
        began = time.time()
        for job in jobs:
            ended = distillation.run(job, now, reader)
            if ended is None or ended.status != "done":
                raise RuntimeError(f"Job {job} was not done.")
        ended_at = time.time()
    return {"began": began, "ended": ended_at, "steps": steps}


@contextmanager
def _timed(steps: Counter[str], reader: Any) -> Iterator[None]:
    """Counts the seconds of each step; what a fact's own rows cost is left to "write"."""
    from memory import embedding_store, readings, reconciliation
    from memory.models import Fact

    places: tuple[tuple[Any, str, str, str], ...] = (
        (reader, "read", "read", ""),
        (readings, "ground", "ground", ""),
        (readings, "place", "reconcile", ""),
        (Fact, "propose", "", "reconcile"),
        (reconciliation, "_cite", "", "reconcile"),
        (embedding_store, "embed_facts", "embed", ""),
    )
    whole = [(owner, name, owner.__dict__.get(name, getattr(owner, name))) for owner, name, _, _ in places]
    for owner, name, adds, takes in places:
        setattr(owner, name, _counting(getattr(owner, name), steps, adds, takes))
    try:
        yield
    finally:
        for owner, name, before in whole:
            setattr(owner, name, before)


def _counting(call: Callable[..., Any], steps: Counter[str], adds: str, takes: str) -> Callable[..., Any]:
    def counted(*args: Any, **kwargs: Any) -> Any:
        began = time.perf_counter()
        try:
            return call(*args, **kwargs)
        finally:
            spent = time.perf_counter() - began
            if adds:
                steps[adds] += spent  # type: ignore[assignment]
            if takes:
                steps[takes] -= spent  # type: ignore[assignment]

    return counted


def _long_session_seconds() -> float:
    """A session of 2,000 observations, every fifth a command that fails in its own way, read alone."""
    from memory.distillers.local import LocalDistiller
    from memory.transcript import Seen

    seen: list[Seen] = []
    while len(seen) < LONG_SESSION:
        at = len(seen)
        number = at // 10
        module = number % 60
        failing = (
            f"E   ConnectionError: Error 111 connecting to localhost:{6300 + module}. Connection refused.\n" + "x" * 300
        )
        seen += [
            Seen(
                at,
                "message",
                "user",
                f"Why does mod_{module} fail? The server is called box-{module}, not old-{module}.",
            ),
            Seen(at + 1, "tool_call", "assistant", f"pytest tests/mod_{module} -q", "Bash"),
            Seen(at + 2, "tool_result", "tool", failing, "Bash", exit_code=1),
            Seen(
                at + 3,
                "message",
                "assistant",
                f"`mod_{module}()` expects a list, so the call in src/mod_{module}.py is wrong.",
            ),
            Seen(at + 4, "tool_call", "assistant", f"edit src/mod_{module}.py: pass a list", "Edit"),
            Seen(at + 5, "tool_result", "tool", "ok", "Edit", exit_code=0),
            Seen(at + 6, "tool_call", "assistant", f"pytest tests/mod_{module} -q --tb=short", "Bash"),
            Seen(at + 7, "tool_result", "tool", failing, "Bash", exit_code=number % 2),
            Seen(at + 8, "tool_call", "assistant", f"PORT={6300 + module} pytest tests/mod_{module} -q", "Bash"),
            Seen(at + 9, "tool_result", "tool", "3 passed\n" * 20, "Bash", exit_code=0),
        ]
    began = time.perf_counter()
    LocalDistiller().read(seen, timezone="UTC", now=datetime(2026, 11, 30, tzinfo=UTC))
    return time.perf_counter() - began


if __name__ == "__main__":
    import django

    django.setup()
    print(json.dumps(work(sys.argv[1], json.load(sys.stdin))))
