"""Bodies that are no JSON, or more than JSON: sent to the agents' API as they are."""

from __future__ import annotations

from typing import Any

from tests.cases.ops.capture import send
from tests.cases.ops.registry import op
from tests.cases.result import Result
from tests.cases.script import Step, encode
from tests.cases.stage import USUAL_AGENT, Stage

PATHS = {
    "search": "facts/search",
    "lookup": "facts/lookup",
    "brief": "briefs",
    "capture": "sessions/raw/observations",
    "observations": "sessions/raw/observations",
    "transcript": "sessions/raw/transcript",
}


@op("raw_post", "path body bytes_hex agent session")
def raw_post(stage: Stage, step: Step) -> Result:
    if "bytes_hex" in step:
        raw = bytes.fromhex(step["bytes_hex"])
    else:
        body = step["body"]
        raw = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else encode(body)
    path = PATHS.get(step["path"], step["path"])
    said = stage.call(step.get("agent", USUAL_AGENT), "POST", path, raw)
    return Result("raw_post", step, said.status, said.body, notes={"text": said.text})


@op("classify", "text")
def classify(stage: Stage, step: Step) -> Result:
    """What the classifier sees in a text that was captured."""
    session = f"classified-{len(stage.captured)}"
    result = send(stage, session, [{"kind": "tool_result", "role": "tool", "text": step["text"]}])
    row = stage.observations(session)[-1]
    notes = {"labels": _named(row.findings, "category"), "rules": _named(row.findings, "rule")}
    return Result("classify", step, result.http, result.body, notes=notes)


def _named(findings: list[dict[str, Any]], by: str) -> list[str]:
    return sorted({finding[by] for finding in findings})
