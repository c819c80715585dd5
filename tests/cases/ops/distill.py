"""A session is read: by the local reader, or by a hosted one whose provider is ours and says what the case says."""

from __future__ import annotations

import json
import re
from typing import Any

from django.db.models import Sum

from memory.models import DistillJob, Evidence, Fact
from tests.cases import provider, workers
from tests.cases.ops.capture import send
from tests.cases.ops.registry import op
from tests.cases.result import Result
from tests.cases.script import Step
from tests.cases.stage import Stage, about

HOSTED = ("llm_reply", "llm_replies", "llm_error")
# These are about what is sent to a provider and what it costs: no local reader has it.
HOSTED_KINDS = frozenset({"context_overflow", "rate_limit"})
# What somebody said in a session that a case lets be read without saying what happened in it.
USUAL_WISH = "From now on, always write dates as year, month, day."


def _ready(stage: Stage, step: Step) -> Step:
    """The provider knows what to say, and something was said in the session."""
    if any(name in step for name in HOSTED) or stage.case.kind in HOSTED_KINDS:
        _hosted(stage, step)
    if step["session"] not in stage.captured:
        send(stage, step["session"], [{"role": "user", "text": _said(step)}], **_subjects(step))
    return step


@op(
    "distill",
    "session entity llm_reply llm_replies stop_reason repeat_for_every_call llm_error times retry_after"
    " kill_worker_after_llm_call kill_worker_every_time",
    prepare=_ready,
)
def distill(stage: Stage, step: Step) -> Result:
    session = step["session"]
    if step.get("kill_worker_after_llm_call"):
        stage.kills[session] = workers.ONCE
    if step.get("kill_worker_every_time"):
        stage.kills[session] = workers.ALWAYS
    before = _known(stage)
    killed = workers.distil(stage, session) if stage.workers_run else 0
    if isinstance(stage.provider, provider.Provider) and stage.workers_run and not stage.provider.asked:
        _refuse_silence(stage, session)
    return Result("distill", step, notes={"before": before, "after": _known(stage), "killed": killed})


@op("llm_ok")
def llm_ok(stage: Stage, step: Step) -> Result:
    _hosted(stage, step)
    return Result("llm_ok", step)


def _hosted(stage: Stage, step: Step) -> None:
    provider.plan(stage, step)


def _refuse_silence(stage: Stage, session: str) -> None:
    """A provider that was chosen and never asked is a fault, unless the job says why the local reader stood in."""
    with stage.looking():
        job = DistillJob.objects.filter(session__external_id=session, project=stage.project).order_by("pk").last()
    assert job is not None, f"nothing asked for a reading of {session}"
    assert job.fell_back, f"the provider was chosen for {session} and never asked"


_VALUE = re.compile(r'"value"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false)')


def _as_text(written: str) -> str:
    value = json.loads(written)
    return value if isinstance(value, str) else str(value)


def values_in(reply: str) -> list[str]:
    """The values of the facts in a reply, whole or cut, and facts that are nothing but a text."""
    values = [_as_text(found) for found in _VALUE.findall(reply)]
    bare = re.search(r'"facts"\s*:\s*\[\s*((?:"(?:[^"\\]|\\.)*"\s*,?\s*)+)', reply)
    return values + (re.findall(r'"((?:[^"\\]|\\.)*)"', bare[1]) if bare else [])


def _said(step: Step) -> str:
    values = [value for reply in _replies(step) for value in values_in(reply)]
    return ". ".join(values) if values else USUAL_WISH


def _replies(step: Step) -> list[str]:
    found = [*step.get("llm_replies", ()), *([step["llm_reply"]] if "llm_reply" in step else [])]
    return [one if isinstance(one, str) else json.dumps(one) for one in found]


def _subjects(step: Step) -> dict[str, Any]:
    named = re.findall(r'"entity"\s*:\s*"([^"]+)"', " ".join(_replies(step)))
    entities = list(dict.fromkeys([*([step["entity"]] if "entity" in step else []), *named]))
    return {"subjects": [about(one) for one in entities]} if entities else {}


def _known(stage: Stage) -> tuple[int, int]:
    """How much evidence there is, and how often all that is known was seen."""
    with stage.looking():
        seen = Fact.objects.filter(project=stage.project).aggregate(seen=Sum("times_seen"))["seen"] or 0
        return Evidence.objects.filter(project=stage.project).count(), seen
