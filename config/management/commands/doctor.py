"""What runs, which versions, what is missing, and the command that mends it."""

from __future__ import annotations

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from config import health


class Command(BaseCommand):
    help = "Say what runs, which versions, what is missing, and the command that mends it. Ends with 1 when broken."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--json", action="store_true", help="one JSON object instead of sentences")
        parser.add_argument("--data", help="the data folder (else COUNTERSIGN_DATA)")

    def handle(self, *args: Any, **options: Any) -> None:
        findings = health.report()
        if options["json"]:
            self.stdout.write(json.dumps(health.as_json(findings), indent=2))
        else:
            for finding in findings:
                self.stdout.write(f"{'ok     ' if finding.ok else 'BROKEN '} {finding.name}: {finding.sentence}")
                if finding.mend:
                    self.stdout.write(f"          {'hint' if finding.ok else 'mend'}: {finding.mend}")
        if not all(finding.ok for finding in findings):
            sys.exit(1)
