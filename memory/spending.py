"""What the calls to providers cost: written after each call, summed per run, project and day (UTC)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, Exists, F, OuterRef, Q, Sum
from django.db.models.functions import TruncDate

from memory.distillers.hosted.calls import Reply
from memory.distillers.hosted.prices import cost_usd
from memory.models import DistillJob, ModelCall
from projects import tenancy
from projects.models import Project
from projects.models.project import DistillerName


def record(
    project_id: int,
    *,
    purpose: str,
    provider: str,
    model: str,
    outcome: str,
    reply: Reply | None,
    milliseconds: int,
    at: datetime,
    job_id: int | None = None,
) -> ModelCall:
    """Notes one call, in a transaction of its own where none is open: spent is spent, whatever happens next."""
    into, out = (reply.input_tokens, reply.output_tokens) if reply is not None else (0, 0)
    with tenancy.project(project_id):
        return ModelCall.objects.create(
            project_id=project_id,
            # Its session may have been erased while the model read.
            job=DistillJob.objects.filter(pk=job_id).first() if job_id is not None else None,
            purpose=purpose,
            provider=provider,
            model=model[:100],
            outcome=outcome,
            input_tokens=into,
            output_tokens=out,
            cost_usd=cost_usd(model, into, out) if reply is not None else Decimal(0),
            milliseconds=milliseconds,
            at=at,
        )


def spent_today(project_id: int, now: datetime) -> int:
    """Tokens to and from providers since the day began (UTC)."""
    calls = ModelCall.objects.filter(project_id=project_id, at__gte=_midnight(now))
    return calls.aggregate(spent=Sum(F("input_tokens") + F("output_tokens")))["spent"] or 0


def capped_since(project: Project, now: datetime) -> datetime | None:
    """When the local reader took over today because the day's limit was used up; None where it did not, or where the
    provider was called again since. No query for a project that chose no provider."""
    if project.distiller == DistillerName.LOCAL or project.local_only:
        return None
    capped = DistillJob.objects.filter(project=project, fell_back="daily_cap", finished_at__gte=_midnight(now))
    moments = list(capped.order_by("finished_at").values_list("finished_at", flat=True))
    if not moments or ModelCall.objects.filter(project=project, at__gt=moments[-1]).exists():
        return None
    return moments[0]


def _midnight(now: datetime) -> datetime:
    return now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)


@dataclass(frozen=True, slots=True)
class Spent:
    """Calls and their sums. `cost` leaves out the `unpriced` calls, whose model has no known price."""

    calls: int
    input_tokens: int
    output_tokens: int
    cost: Decimal
    unpriced: int
    troubles: int

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True, slots=True)
class Day:
    """What one model cost on one day."""

    on: date
    provider: str
    model: str
    spent: Spent


@dataclass(frozen=True, slots=True)
class Run:
    """What one reading of a session cost, newest first."""

    job: DistillJob
    model: str
    spent: Spent


_SUMS = {
    "calls": Count("pk"),
    "into": Sum("input_tokens"),
    "out": Sum("output_tokens"),
    "cost": Sum("cost_usd"),
    "unpriced": Count("pk", filter=Q(cost_usd=None)),
    "troubles": Count("pk", filter=~Q(outcome="ok")),
}


def today(project_id: int, now: datetime) -> Spent:
    """Everything since the day began (UTC)."""
    return in_all(project_id, _midnight(now))


def in_all(project_id: int, since: datetime) -> Spent:
    """Everything since a moment."""
    return _spent(ModelCall.objects.filter(project_id=project_id, at__gte=since).aggregate(**_SUMS))


def by_day(project_id: int, now: datetime, days: int = 30) -> list[Day]:
    """The last days with a call, newest first, a line for each model."""
    calls = ModelCall.objects.filter(project_id=project_id, at__gte=now - timedelta(days=days))
    rows = (
        calls.annotate(on=TruncDate("at", tzinfo=UTC))
        .values("on", "provider", "model")
        .annotate(**_SUMS)
        .order_by("-on", "provider", "model")
    )
    return [Day(row["on"], row["provider"], row["model"], _spent(row)) for row in rows]


def by_run(project_id: int, limit: int = 50) -> list[Run]:
    """The last readings that called a provider."""
    jobs = list(
        DistillJob.objects.filter(Exists(ModelCall.objects.filter(job=OuterRef("pk"))), project_id=project_id)
        .select_related("session__agent")
        .order_by("-pk")[:limit]
    )
    rows = ModelCall.objects.filter(job__in=jobs).values("job", "model").annotate(**_SUMS).order_by("job", "model")
    found = {job.pk: job for job in jobs}
    runs = [Run(found[row["job"]], row["model"], _spent(row)) for row in rows]
    return sorted(runs, key=lambda run: -run.job.pk)


def of_jobs(jobs: Sequence[DistillJob]) -> dict[int, Spent]:
    """What each of these readings cost so far; one that called nobody is left out."""
    rows = ModelCall.objects.filter(job__in=jobs).values("job").annotate(**_SUMS).order_by("job")
    return {row["job"]: _spent(row) for row in rows}


def _spent(row: Mapping[str, Any]) -> Spent:
    return Spent(
        calls=row["calls"],
        input_tokens=row["into"] or 0,
        output_tokens=row["out"] or 0,
        cost=row["cost"] or Decimal(0),
        unpriced=row["unpriced"],
        troubles=row["troubles"],
    )
