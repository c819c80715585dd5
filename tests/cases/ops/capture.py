"""Observations in: `POST /api/v1/sessions/{id}/observations`, one call a step."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from django.conf import settings
from django.db import connections

from memory import agent_auth, capture_writer
from tests.cases.ops.registry import op
from tests.cases.provider import REFRAIN
from tests.cases.result import Result
from tests.cases.script import Step, moment
from tests.cases.stage import USUAL_AGENT, Stage, about

AT_ONCE = 100  # observations of one call, where nobody waits for each
SLOW_MILLISECONDS = 200
CROWDS = 4  # at most, on a busy machine: the same is sent again, and the least disturbed time counts
FRAME = ("timezone", "batch_id", "cwd", "subjects")


@op(
    "capture",
    "session observations entity entities timezone batch_id received agent cwd subjects",
)
def capture(stage: Stage, step: Step) -> Result:
    if "received" in step:
        stage.clock.to(moment(step["received"]))
    return send(stage, step["session"], step["observations"], **_frame(step), agent=step.get("agent", USUAL_AGENT))


@op("capture_many", "session n text_chars concurrency entity agent text")
def capture_many(stage: Stage, step: Step) -> list[Result]:
    """Tool results: with `concurrency` one a call, from that many threads through the writer; else in large calls."""
    told = [_tool_result(number, step.get("text_chars", 60), step.get("text", "")) for number in range(step["n"])]
    agent, frame = step.get("agent", USUAL_AGENT), _frame(step)
    threads = step.get("concurrency")
    if not threads:
        batches = [told[start : start + AT_ONCE] for start in range(0, len(told), AT_ONCE)]
        return [send(stage, step["session"], some, **frame, agent=agent) for some in batches]
    stage.key(agent)
    before = stage.counted.embedded

    def one(observation: dict[str, Any]) -> Result:
        try:
            return send(stage, step["session"], [observation], **frame, agent=agent)
        finally:
            connections.close_all()

    with _by_the_writer(stage), ThreadPoolExecutor(threads) as pool:
        # The crowd comes to a server that runs: its first call ever loads what it serves with, and counts as well.
        results = [one(told[0]), *pool.map(one, told[1:])]
        for _ in range(CROWDS - 1):
            if not _was_disturbed(results):
                break
            results = min(results, list(pool.map(one, told)), key=_slowest)
    for result in results:
        result.op, result.step = "capture_many", step
        result.notes["embedded"] = stage.counted.embedded - before
    return results


@op("end_session", "session agent")
def end_session(stage: Stage, step: Step) -> Result:
    said = stage.call(step.get("agent", USUAL_AGENT), "POST", f"sessions/{address(step['session'])}/end")
    return Result("end_session", step, said.status, said.body)


def send(stage: Stage, session: str, observations: list[Any], *, agent: Any = USUAL_AGENT, **frame: Any) -> Result:
    """One call with observations as a case writes them."""
    body = {"observations": [_observation(one) for one in observations], **frame}
    started = time.monotonic()
    said = stage.call(agent, "POST", f"sessions/{address(session)}/observations", body)
    took = time.monotonic() - started
    stage.captured.append(session)
    step: Step = {"op": "capture", "session": session, "observations": observations}
    return Result("capture", step, said.status, said.body, notes={"milliseconds": took * 1000, "now": stage.clock.at})


def address(session: str) -> str:
    return quote(session, safe="", errors="surrogatepass")


def _slowest(results: list[Result]) -> float:
    """What 99 of 100 calls stayed below, in milliseconds."""
    return sorted(result.notes["milliseconds"] for result in results)[int(len(results) * 0.99) - 1]


def _was_disturbed(results: list[Result]) -> bool:
    """Slow, on a machine that has more to do than its cores can: its time says nothing about ours."""
    return _slowest(results) > SLOW_MILLISECONDS and os.getloadavg()[0] > (os.cpu_count() or 1)


@contextmanager
def _by_the_writer(stage: Stage) -> Iterator[None]:
    """Inside, captures go through the writer and its one thread, as they do where the product serves."""
    stage.patch.setattr(settings, "CAPTURE_WRITER", "thread")
    try:
        yield
    finally:
        stage.patch.setattr(settings, "CAPTURE_WRITER", "inline")
        capture_writer.writer.stop()
        agent_auth.stop()


def _frame(step: Step) -> dict[str, Any]:
    frame = {name: step[name] for name in FRAME if name in step}
    entities = [*step.get("entities", ()), *([step["entity"]] if "entity" in step else [])]
    if entities:
        frame["subjects"] = [*frame.get("subjects", ()), *(about(one) for one in entities)]
    return frame


def _observation(told: Any) -> Any:
    if not isinstance(told, dict):
        return told
    said = {("occurred_at" if name == "ts" else name): value for name, value in told.items()}
    return {"kind": "message", "role": "user", **said}


def _tool_result(number: int, characters: int, text: str) -> dict[str, Any]:
    words = " ".join(f"line{number}.{place}" for place in range(characters // 8 + 1))
    said = f"{text or REFRAIN} {words}"
    return {
        "role": "tool",
        "kind": "tool_result",
        "tool": "Bash",
        "text": said[: max(characters, 1)],
        "id": str(number),
    }
