"""What a case breaks behind the doors: the database's next write, the embedder, the workers, the provider."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.db import OperationalError, connections

from memory import embeddings
from tests.cases.embedder import FakeEmbedder
from tests.cases.ops.registry import op
from tests.cases.result import Result
from tests.cases.script import Step
from tests.cases.stage import USUAL_AGENT, Stage

_WRITES = ("insert", "update", "delete")


@op("fail_next_db_write", "times")
def fail_next_db_write(stage: Stage, step: Step) -> Result:
    """The next statement that writes fails as a lost connection does, once (or so many times)."""
    failed: list[bool] = []
    # A key that is issued now would be what fails.
    for agent in {USUAL_AGENT, *(one["agent"] for one in stage.case.every_step() if isinstance(one.get("agent"), str))}:
        stage.key(agent)

    def failing(execute: Callable[..., Any], sql: Any, params: Any, many: bool, context: Any) -> Any:
        if len(failed) < step.get("times", 1) and any(word in str(sql).casefold() for word in _WRITES):
            failed.append(True)
            raise OperationalError("the connection was lost")
        return execute(sql, params, many, context)

    stage.seams.enter_context(connections["default"].execute_wrapper(failing))
    return Result("fail_next_db_write", step)


@op("set_embedder", "name dim returns")
def set_embedder(stage: Stage, step: Step) -> Result:
    """Another model in the place of ours. `fake` is ours with made-up vectors, another name is a model called so."""
    stage.use_embedder(FakeEmbedder(step.get("dim", embeddings.DIMENSIONS), step.get("returns", "normal")))
    if step["name"] != "fake":
        stage.patch.setattr(embeddings, "MODEL_ID", step["name"][:40])
    return Result("set_embedder", step)


@op("stop_workers")
def stop_workers(stage: Stage, step: Step) -> Result:
    stage.workers_run = False
    return Result("stop_workers", step)
