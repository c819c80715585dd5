"""The web part alone, for process managers and compose."""

from __future__ import annotations

import multiprocessing
import os
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import connections

from config import checks, embedded, launch, ports, running
from projects import first_visitor

WORKERS = 2
# Each thread keeps a connection: 2 workers of 16 stay far below the 100 that Postgres takes.
THREADS = 16


class Command(BaseCommand):
    help = "Serve the browser pages and the API."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--workers", type=int, default=WORKERS)
        parser.add_argument("--threads", type=int, default=THREADS, help="per worker")
        parser.add_argument("--data", help="the data folder (else COUNTERSIGN_DATA)")

    def handle(self, *args: Any, **options: Any) -> None:
        from granian import Granian
        from granian.constants import Interfaces
        from granian.log import LogLevels

        try:
            ports.refuse_taken(options["host"], options["port"])
            checks.refuse_to_start()
        except (ports.PortTaken, checks.RefusedToStart) as refusal:
            raise CommandError(str(refusal)) from None
        # Under `up`, that command prints it.
        if embedded.SUPERVISED not in os.environ and (code := first_visitor.code()):
            self.stdout.write(f"first visit: the one-time code is {code}")
            self.stdout.flush()
        connections.close_all()
        launch.forks_die_with_this_process()
        multiprocessing.set_start_method("fork", force=True)
        running.announce("web", settings.DATA_DIR)
        Granian(
            "config.wsgi:application",
            address=options["host"],
            port=options["port"],
            interface=Interfaces.WSGI,
            workers=options["workers"],
            blocking_threads=options["threads"],
            respawn_failed_workers=True,
            workers_kill_timeout=5,
            websockets=False,
            log_level=LogLevels.error,
        ).serve()
