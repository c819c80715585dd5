"""System memory of an agent, from a file."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from projects import configs, named, tenancy
from projects.models import Membership, Person, Role


class Command(BaseCommand):
    help = "Write a version of an agent's system memory: a JSON object. With --deploy the agent is told it from now on."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="the project's short name")
        parser.add_argument("agent", metavar="AGENT", help="the agent's name")
        parser.add_argument("file", metavar="FILE", help="a file with one JSON object; - reads it from the input")
        parser.add_argument("--deploy", action="store_true", help="tell it to the agent from now on")
        parser.add_argument("--by", metavar="EMAIL", help="the owner who wrote it; without it, nobody is named")
        parser.add_argument("--note", default="", help="what changed, in a line")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            raw = sys.stdin.buffer.read() if options["file"] == "-" else Path(options["file"]).read_bytes()
            content = configs.parse(raw.decode("utf-8-sig"))
        except OSError as wrong:
            raise CommandError(f"The file could not be read: {wrong.strerror}.") from None
        except UnicodeDecodeError:
            raise CommandError("The file is not written in UTF-8.") from None
        except configs.BadConfig as wrong:
            raise CommandError(str(wrong)) from None
        now = timezone.now()
        with tenancy.system("command"):
            project = named.project(options["project"])
            agent = named.agent(project, options["agent"])
            by = self._owner(options["by"], project) if options["by"] else None
            config, is_new = configs.write(agent, content, note=options["note"][:200], by=by, now=now)
            is_deployed = options["deploy"] and configs.deploy(config, by=by, now=now)
        self.stdout.write(
            f"Version {config.version} of {agent.slug} is written."
            if is_new
            else f"Version {config.version} of {agent.slug} says the same already; none was written."
        )
        if options["deploy"]:
            self.stdout.write("It is deployed." if is_deployed else "It was deployed already.")
        else:
            self.stdout.write("It is not deployed. Run this again with --deploy, or deploy it on the agent's page.")

    def _owner(self, email: str, project: Any) -> Person:
        by = named.person(email, project)
        if not Membership.objects.filter(project=project, person=by, role=Role.OWNER).exists():
            raise CommandError(f"{by.email} is no owner of project {project.slug}; an owner writes system memory.")
        return by
