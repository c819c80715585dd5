"""The worker part alone, for process managers and compose: schedules, distillation, everything slow."""

from __future__ import annotations

import logging
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections

from config import checks, launch, running, schedules


def warm(**kwargs: Any) -> None:
    """In each forked worker, not before the fork: the model's threads do not survive one."""
    from memory import embeddings

    try:
        embeddings.warm()
    except embeddings.EmbedderUnavailable as missing:
        logging.getLogger(__name__).warning("%s `manage.py doctor` says more.", missing)


class Command(BaseCommand):
    help = "Run the schedules and the queue."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--data", help="the data folder (else COUNTERSIGN_DATA)")

    def handle(self, *args: Any, **options: Any) -> None:
        from django_q.signals import post_spawn

        try:
            checks.refuse_to_start()
        except checks.RefusedToStart as refusal:
            raise CommandError(str(refusal)) from None
        schedules.ensure_schedules()
        connections.close_all()  # before the queue forks: two processes must not share one
        launch.forks_die_with_this_process()
        running.announce("worker", settings.DATA_DIR)
        # The queue reports each start and stop of its processes as news.
        logging.getLogger("django-q").setLevel(logging.INFO if settings.DEBUG else logging.WARNING)
        post_spawn.connect(warm, dispatch_uid="warm embeddings")
        call_command("qcluster")
