"""Everything in the foreground, from one command: Postgres, migrations, web and worker."""

from __future__ import annotations

import os
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandParser

from config.supervisor import Supervisor


class Command(BaseCommand):
    help = "Run all parts in the foreground and print the address once it answers. Ctrl-C ends everything."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="0.0.0.0 serves the network")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument("--data", help="the data folder (else COUNTERSIGN_DATA, else ./.data)")
        parser.add_argument("--demo", action="store_true", help="with a sample project")

    def handle(self, *args: Any, **options: Any) -> None:
        supervisor = Supervisor(
            settings.DATA_DIR,
            options["host"],
            options["port"],
            demo=options["demo"],
            bundled=not os.environ.get("DATABASE_URL"),
        )
        sys.exit(supervisor.run())
