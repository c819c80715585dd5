"""The clock, and what runs by it."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils import timezone
from django_q.models import Schedule

from config.schedules import JOBS, PREFIX, ensure_schedules
from projects import tenancy
from tests.cases import workers
from tests.cases.ops.registry import op
from tests.cases.result import NotBuilt, Result
from tests.cases.script import Step, moment
from tests.cases.stage import Stage

# A sweep is due each minute; after two hours of them every tenth shows as much.
FINE, COARSE = timedelta(minutes=1), timedelta(minutes=10)
FINE_FOR = timedelta(hours=2)


@op("advance", "seconds minutes hours days")
def advance(stage: Stage, step: Step) -> Result:
    """Time passes, and the workers work meanwhile."""
    length = timedelta(**{name: step[name] for name in ("seconds", "minutes", "hours", "days") if name in step})
    start, end = stage.clock.at, stage.clock.at + length
    while stage.clock.at < end:
        tick = FINE if stage.clock.at - start < FINE_FOR else COARSE
        stage.clock.to(min(end, stage.clock.at + tick))
        if stage.workers_run:
            workers.distil(stage)
    return Result("advance", step)


@op("clock", "to")
def clock(stage: Stage, step: Step) -> Result:
    stage.clock.to(moment(step["to"]))
    return Result("clock", step)


@op("run_idle_sweep")
def run_idle_sweep(stage: Stage, step: Step) -> Result:
    workers.distil(stage)
    return Result("run_idle_sweep", step)


@op("run_sweep")
def run_sweep(stage: Stage, step: Step) -> Result:
    return Result("run_sweep", step, notes={"ran": workers.sweeps(stage)})


@op("restart_workers", "times")
def restart_workers(stage: Stage, step: Step) -> Result:
    stage.workers_run = True
    for _ in range(step.get("times", 1)):
        workers.restart(stage)
    return Result("restart_workers", step)


@op("schedule", "name at")
def schedule(stage: Stage, step: Step) -> Result:
    """The periodic jobs as they are set up. Ours are the table of config/schedules.py, each every so many minutes."""
    with tenancy.system("command"):
        ensure_schedules()
        kinds = set(Schedule.objects.filter(name__startswith=PREFIX).values_list("schedule_type", flat=True))
    return Result("schedule", step, notes={"kinds": kinds})


@op("next_runs", "n")
def next_runs(stage: Stage, step: Step) -> Result:
    """The next `n` runs of each job from now on, as the queue works them out."""
    with tenancy.system("command"):
        jobs = list(Schedule.objects.filter(name__startswith=PREFIX))
    if len(jobs) != len(JOBS):
        raise NotBuilt("op next_runs before a schedule")
    runs: dict[str, list[datetime]] = {}
    for job in jobs:
        job.next_run = stage.clock.at
        runs[job.func] = []
        for _ in range(step["n"]):
            job.next_run = job.calculate_next_run(job.next_run)
            at = job.next_run if job.next_run.tzinfo else timezone.make_aware(job.next_run)
            runs[job.func].append(at)
    minutes = {job.func: job.minutes for job in jobs}
    return Result("next_runs", step, notes={"runs": runs, "minutes": minutes, "from": stage.clock.at})
