"""Reads quiet sessions in this process, without the queue."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from memory import distillation
from memory.distillers.hosted.calls import WAITS
from memory.models import DistillJob, JobStatus, Session
from projects import tenancy


class Command(BaseCommand):
    help = "Read the sessions that went quiet and propose what they taught. Ends with 1 when one could not be read."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--session", metavar="ID", help="this one alone, by the id its agent gave it, quiet or not")
        parser.add_argument("--now", action="store_true", help="every session with something unread, quiet or not")

    def handle(self, *args: Any, **options: Any) -> None:
        read = failed = waits = proposed = 0
        for job_id in self._jobs(options["session"], options["now"]):
            # No queue ends this process: a long session is read to its end.
            job = distillation.run(job_id, timezone.now(), seconds=None)
            if job is not None:
                read += 1
                is_waiting = job.status == JobStatus.RETRY and job.error in WAITS
                waits += is_waiting
                failed += job.status not in distillation.READ and not is_waiting
                proposed += job.counts.get("proposed", 0) if job.status in distillation.READ else 0
                self._tell(job)
        told = f" {waits} {'waits' if waits == 1 else 'wait'} for the provider." if waits else ""
        self.stdout.write(f"Read {read - waits}, proposed {proposed}.{told}" if read else "Nothing new to read.")
        if failed:
            raise CommandError(f"{failed} of {read} sessions could not be read; each gets three tries in all.")

    def _jobs(self, external_id: str | None, everything: bool) -> list[int]:
        now = timezone.now()
        if external_id is None:
            jobs: list[int] = []
            # A sweep takes so many sessions at once; what it took is not taken again.
            while swept := distillation.sweep(now, ring=False, everything=everything):
                jobs += swept
            return jobs
        with tenancy.system("command"):
            sessions = list(Session.objects.filter(external_id=external_id).order_by("pk"))
            if not sessions:
                raise CommandError("No agent has a session with this id. The sessions page and the importer name them.")
            asked = [distillation.request(session, now, ring=False) for session in sessions]
            return [
                distillation.retry(job, now, ring=False).pk if job.status == JobStatus.FAILED else job.pk
                for job in asked
                if job is not None
            ]

    def _tell(self, job: DistillJob) -> None:
        with tenancy.project(job.project_id):
            session = Session.objects.select_related("agent", "project").get(pk=job.session_id)
        where = f"{session.project.slug} · {session.agent.slug} · {session.external_id}"
        if job.status == JobStatus.RETRY and job.error in WAITS:
            self.stdout.write(f"{where}: waits for the provider ({job.error}); the worker asks again by itself")
            return
        if job.status not in distillation.READ:
            self.stdout.write(f"{where}: {job.error} at try {job.attempts}")
            return
        counts = job.counts
        dropped = counts["dropped"]
        why = f" ({', '.join(f'{reason} {count}' for reason, count in sorted(dropped.items()))})" if dropped else ""
        self.stdout.write(
            f"{where}: {counts['proposed']} proposed, {counts['same']} known already, "
            f"{counts['suppressed']} refused before, {sum(dropped.values())} left out{why}"
        )
