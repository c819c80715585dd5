"""Existing memories in: Markdown bullets, CSV, JSON and JSONL. `docs/existing-memories.md` says what is read."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError
from django.utils import timezone

from memory import memories_in
from memory.existing import LARGEST_BYTES, Unreadable, read
from memory.models import BadSubject
from projects import named, tenancy
from projects.models import Membership, Person, Project, Role
from review import imports

ENDINGS = {".md", ".mdc", ".markdown", ".csv", ".tsv", ".json", ".jsonl", ".ndjson"}


class Command(BaseCommand):
    help = "Bring existing memories in as proposals. A second run changes nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", metavar="PATH", help="a file, or a folder that holds some")
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--about", default="", metavar="SUBJECT", help="of lines that name nobody: repo:orders-api")
        parser.add_argument("--columns", default="", metavar="FIELD=COLUMN,…", help="of a CSV: text=Note,subject=Who")
        parser.add_argument(
            "--approved-by", metavar="EMAIL", help="a reviewer who has read them and stands behind them"
        )
        parser.add_argument("--dry-run", action="store_true", help="read and count, store nothing")
        parser.add_argument("--json", action="store_true", help="one JSON line a file on standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._import(options)
        except OperationalError as error:
            raise CommandError("The database does not answer. See what is wrong with: manage.py doctor") from error

    def _import(self, options: dict[str, Any]) -> None:
        with tenancy.system("command"):
            project = named.project(options["project"])
            approver = _reviewer(options["approved_by"], project) if options["approved_by"] else None
        columns = _columns(options["columns"])
        problems: list[str] = []
        files = list(_files(options["paths"], problems))
        for number, path in enumerate(files, start=1):
            self.stderr.write(f"{number}/{len(files)} {path}", style_func=str)
            try:
                line = self._file(project, path, columns, approver, options)
            except (Unreadable, BadSubject, OSError) as problem:
                reason = problem.strerror if isinstance(problem, OSError) else str(problem)
                problems.append(f"{path}: {reason}")
                continue
            self.stdout.write(json.dumps(line) if options["json"] else f"{path}: {line['words']}")
        if problems:
            raise CommandError("\n".join(problems))

    def _file(
        self, project: Project, path: Path, columns: dict[str, str], approver: Person | None, options: dict[str, Any]
    ) -> dict[str, Any]:
        if path.stat().st_size > LARGEST_BYTES:
            raise Unreadable(f"It is larger than {LARGEST_BYTES // 1_000_000} MB. Split it, and import the parts.")
        found = read(path.name, path.read_bytes(), columns=columns or None)
        if found.format == "csv" and "text" not in found.guessed:
            has = ", ".join(found.columns)[:300]
            raise Unreadable(f"Which column holds the sentence? Say it with --columns text=COLUMN. It has: {has}.")
        line: dict[str, Any] = {
            "path": str(path),
            "format": found.format,
            "records": found.records,
            "skipped": dict(found.skipped),
        }
        if options["dry_run"]:
            counts = memories_in.preview(project, found)
            return line | {"words": f"up to {counts['new']} new, {counts['known']} known word for word", **counts}
        now = timezone.now()
        brought = memories_in.bring_in(project, found, person=approver, about=options["about"].strip(), now=now)
        line |= {"words": brought.words, **brought.outcomes, "dropped": dict(brought.dropped)}
        if approver is not None and brought.session is not None:
            with tenancy.project(project.pk):
                chosen = {fact.pk: fact.revision for fact in brought.facts}
                done = imports.approve_together(brought.session, approver, chosen, now)
            line |= {"words": f"{brought.words}; {done.words}", "approved": done.count, "left": dict(done.left)}
        return line


def _reviewer(email: str, project: Project) -> Person:
    person = named.person(email, project)
    member = Membership.objects.filter(person=person, project=project).first()
    if member is None or not member.has(Role.REVIEWER):
        raise CommandError(f"{email} may not decide in {project.slug}. An owner can make them a reviewer under People.")
    return person


def _columns(written: str) -> dict[str, str]:
    columns = {}
    for part in filter(None, written.split(",")):
        name, equals, column = part.partition("=")
        if not equals or not name.strip() or not column.strip():
            raise CommandError("Write columns as text=Note,subject=Who.")
        columns[name.strip()] = column.strip()
    return columns


def _files(paths: list[str], problems: list[str]) -> Iterator[Path]:
    for written in paths:
        path = Path(written)
        try:
            if path.is_dir():
                found = sorted(one for one in path.rglob("*") if one.suffix.lower() in ENDINGS and one.is_file())
                if not found:
                    problems.append(f"{path} holds no Markdown, CSV, JSON or JSONL.")
                yield from found
            elif path.exists():
                yield path
            else:
                problems.append(f"{path} does not exist.")
        except (OSError, ValueError):
            problems.append(f"{path} cannot be opened.")
