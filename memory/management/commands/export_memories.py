"""Memories out: JSONL that an import reads again, CSV, or Markdown for an AGENTS.md."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError
from django.utils import timezone

from memory import memories_out
from memory.models import Fact, Status
from projects import audit, named, tenancy
from projects.models import Project

STATES = (*Status.values, "all")


class Command(BaseCommand):
    help = "Write the memories of a project to standard output, or to a file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--format", choices=tuple(memories_out.FORMATS), default="jsonl")
        parser.add_argument("--status", choices=STATES, default=Status.APPROVED.value, help="default: approved")
        parser.add_argument("--output", type=Path, metavar="FILE", help="default: standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            with tenancy.system("command"):
                project = named.project(options["project"])
            with tenancy.project(project.pk):
                self._export(project, options)
        except OperationalError as error:
            raise CommandError("The database does not answer. See what is wrong with: manage.py doctor") from error

    def _export(self, project: Project, options: dict[str, Any]) -> None:
        facts = Fact.objects.filter(project=project).order_by("pk")
        if options["status"] != "all":
            facts = facts.filter(status=options["status"])
        pieces = memories_out.lines(project, facts, options["format"])
        try:
            if options["output"] is None:
                count = _write(pieces, lambda piece: self.stdout.write(piece, ending=""))
            else:
                with options["output"].open("w", encoding="utf-8", newline="") as file:
                    count = _write(pieces, file.write)
        except OSError as problem:
            raise CommandError(f"{options['output']} cannot be written: {problem.strerror}.") from None
        audit.record(
            "memories.export", None, project_id=project.pk, object_kind="fact", count=facts.count(), now=timezone.now()
        )
        self.stderr.write(f"{count} lines.", style_func=str)


def _write(pieces: Iterable[str], write: Callable[[str], Any]) -> int:
    count = 0
    for piece in pieces:
        write(piece)
        count += 1
    return count
