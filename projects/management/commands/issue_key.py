"""A key for an agent, from the command line: shown once, alone on the last line."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from projects import audit, named, tenancy
from projects.models import PERMISSIONS, ApiKey

_UNITS = {"d": timedelta(days=1), "w": timedelta(weeks=1), "h": timedelta(hours=1)}
LONGEST = timedelta(days=3650)


class Command(BaseCommand):
    help = "Issue a key to an agent and print it once, alone on the last line. It is not stored and not shown again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", metavar="PROJECT")
        parser.add_argument("agent", metavar="AGENT")
        parser.add_argument(
            "--allow", default=",".join(PERMISSIONS), help="some of capture,brief,propose (default: all)"
        )
        parser.add_argument("--expires-in", metavar="90d", help="days, weeks or hours: 90d, 12w, 8h (default: never)")
        parser.add_argument("--person", metavar="EMAIL", help="who holds it: their preferences are learned with it")

    def handle(self, *args: Any, **options: Any) -> None:
        permissions, lifetime, now = _allowed(options["allow"]), _lifetime(options["expires_in"]), timezone.now()
        with tenancy.system("command"):
            project = named.project(options["project"])
            agent = named.agent(project, options["agent"])
            holder = named.person(options["person"], project) if options["person"] else None
            key, secret = ApiKey.objects.issue(agent, holder, permissions, lifetime, now)
            audit.record("key.issue", None, project_id=project.pk, object_kind="key", object_ids=[key.pk], now=now)
        until = f" until {key.expires_at:%d %b %Y %H:%M} UTC" if key.expires_at else ""
        self.stdout.write(
            f"A key of agent {agent.slug} in project {project.slug}, for {', '.join(key.permissions)}{until}. "
            "Keep it now; it is not shown again."
        )
        self.stdout.write(secret)


def _allowed(written: str) -> tuple[str, ...]:
    wanted = tuple(dict.fromkeys(name.strip() for name in written.split(",") if name.strip()))
    if not wanted or set(wanted) - set(PERMISSIONS):
        raise CommandError(f"--allow takes some of {', '.join(PERMISSIONS)}, with commas between them.")
    return wanted


def _lifetime(written: str | None) -> timedelta | None:
    if written is None:
        return None
    match = re.fullmatch(r"([1-9]\d{0,4})([dwh])", written.strip())
    if match is None:
        raise CommandError("--expires-in takes a number and d, w or h for days, weeks or hours, such as 90d.")
    lifetime = int(match[1]) * _UNITS[match[2]]
    if lifetime > LONGEST:
        raise CommandError("--expires-in takes ten years at most.")
    return lifetime
