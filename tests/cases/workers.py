"""The worker of a stage: what the queue would start, in this process, or in one that is killed on the way."""

from __future__ import annotations

import importlib
import os
import signal
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.db import connections

from config.schedules import JOBS
from memory import distillation, embedding_store
from memory.distillers.local import LocalDistiller
from memory.models import DistillJob
from memory.transcript import Candidate, Seen
from projects import tenancy
from tests.cases.stage import Stage

SWEEP = "memory.tasks.sweep_sessions"
# A retry comes after a pause and a lease; a worker that starts again finds both over.
BETWEEN_STARTS = timedelta(minutes=30)
ONCE, ALWAYS = "once", "every time"


def distil(stage: Stage, session: str | None = None) -> int:
    """Reads one session now, or every one that is due. Gives the signal that killed the worker, else 0."""
    options = {} if session is None else {"session": session}
    if not stage.kills:
        stage.command("distill", **options)
        return 0
    return _in_a_doomed_process(stage, options)


def restart(stage: Stage) -> None:
    """A worker comes back after a while and takes what was left."""
    stage.clock.on(BETWEEN_STARTS)
    distil(stage)


def sweeps(stage: Stage) -> list[str]:
    """Runs every periodic job but the reading of sessions, once; their names."""
    names = [job.task for job in JOBS if job.task != SWEEP]
    for name in names:
        module, _, task = name.rpartition(".")
        getattr(importlib.import_module(module), task)()
    return names


def watch_readings(stage: Stage) -> None:
    """Notes which observations each reading of the local reader had before it."""
    real = LocalDistiller.read

    def watched(self: LocalDistiller, observations: Sequence[Seen], **kwargs: Any) -> list[Candidate]:
        stage.counted.readings.append(tuple(seen.text for seen in observations))
        return real(self, observations, **kwargs)

    stage.patch.setattr(LocalDistiller, "read", watched)


def _in_a_doomed_process(stage: Stage, options: dict[str, Any]) -> int:
    connections.close_all()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            _arm(stage.kills)
            stage.command("distill", **options)
            code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code == -signal.SIGKILL:
        stage.kills = {session: when for session, when in stage.kills.items() if when != ONCE}
    return -code if code < 0 else 0


def _arm(kills: dict[str, str]) -> None:
    """In the child: the reading of such a session ends with a kill, right after the reader has answered."""
    real_run, real_read = distillation.run, LocalDistiller.read
    doomed: list[bool] = []

    def run(job_id: int, *args: Any, **kwargs: Any) -> DistillJob | None:
        with tenancy.system("worker"):
            session = DistillJob.objects.values_list("session__external_id", flat=True).get(pk=job_id)
        doomed[:] = [True] if session in kills else []
        return real_run(job_id, *args, **kwargs)

    def read(self: LocalDistiller, *args: Any, **kwargs: Any) -> list[Candidate]:
        found = real_read(self, *args, **kwargs)
        if doomed:
            os.kill(os.getpid(), signal.SIGKILL)
        return found

    distillation.run = run
    LocalDistiller.read = read  # type: ignore[method-assign]
    # The model's threads do not survive a fork; a sweep makes up for the vectors.
    embedding_store.embed_facts = lambda facts: 0
