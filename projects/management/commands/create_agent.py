"""An agent of a project, from the command line."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from projects import audit, named, tenancy
from projects.models import Agent


class Command(BaseCommand):
    help = "Make an agent in a project. One that exists already stays as it is."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="the project's short name")
        parser.add_argument("agent", metavar="AGENT", help="the agent's name: lower-case letters, digits, hyphens")

    def handle(self, *args: Any, **options: Any) -> None:
        slug = options["agent"]
        with tenancy.system("command"):
            project = named.project(options["project"])
            agent = Agent(project=project, slug=slug)
            named.refuse_unfit(agent, "slug")
            known = Agent.objects.filter(project=project, slug=slug).first()
            if known is not None or not named.added(agent):
                if known is not None and known.archived_at is not None:
                    raise CommandError(
                        f"Project {project.slug} had an agent {slug}; it is archived. Bring it back in its settings."
                    )
                self.stdout.write(f"Agent {slug} exists already in project {project.slug}.")
                return
            audit.record(
                "agent.create",
                None,
                project_id=project.pk,
                object_kind="agent",
                object_ids=[agent.pk],
                now=timezone.now(),
            )
        self.stdout.write(f"Agent {slug} made in project {project.slug}. Give it a key with: ")
        self.stdout.write(f"  manage.py issue_key {project.slug} {slug}")
