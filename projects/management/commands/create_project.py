"""A project, from the command line."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from projects import audit, named, tenancy
from projects.models import Project


class Command(BaseCommand):
    help = "Make a project. One that exists already stays as it is."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("slug", metavar="SLUG", help="its short name: lower-case letters, digits, hyphens")
        parser.add_argument("--name", help="its name for people (default: made from SLUG)")
        parser.add_argument("--timezone", default="UTC", help="such as Europe/Berlin")

    def handle(self, *args: Any, **options: Any) -> None:
        slug = options["slug"]
        name = options["name"] or slug.replace("-", " ").capitalize()
        project = Project(slug=slug, name=name, timezone=options["timezone"])
        named.refuse_unfit(project, "slug", "name", "timezone")
        with tenancy.system("command"):
            if Project.objects.filter(slug=slug).exists() or not named.added(project):
                self.stdout.write(f"Project {slug} exists already.")
                return
            audit.record(
                "project.create",
                None,
                project_id=project.pk,
                object_kind="project",
                object_ids=[project.pk],
                now=timezone.now(),
            )
        self.stdout.write(f"Project {slug} made.")
