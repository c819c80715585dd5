"""Transcripts in. `docs/importers.md` says what becomes of each line, and what the command answers."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import OperationalError
from django.utils import timezone

from memory import capture
from memory.importers import AUTO, FORMATS, read_file
from memory.importers.copies import Copies, take_out
from memory.importers.reading import WHERE_TRANSCRIPTS_LIVE, NoTranscripts, in_order_of_time, walk
from memory.transcript import ReadResult
from projects import named, tenancy
from projects.models import Agent, ApiKey, Person
from projects.terminal import plain

_DISK_FULL = "53100"


@dataclass(slots=True)
class Added:
    """What one file brought into the store."""

    accepted: int = 0
    duplicates: int = 0
    dropped: Counter[str] = field(default_factory=Counter)


class Command(BaseCommand):
    help = "Bring transcripts of agents and logs of their talks in. A second run adds nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", metavar="PATH", help="a transcript, or a folder that holds some")
        parser.add_argument("--project", required=True, metavar="SLUG")
        parser.add_argument("--agent", required=True, metavar="SLUG")
        parser.add_argument("--person", metavar="EMAIL", help="who worked with the agent (default: the key's holder)")
        parser.add_argument("--format", choices=(AUTO, *FORMATS), default=AUTO)
        parser.add_argument("--dry-run", action="store_true", help="read and count, store nothing")
        parser.add_argument("--json", action="store_true", help="one JSON line a file on standard output")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._import(options)
        except OperationalError as error:
            raise CommandError(_why_not_stored(error)) from error

    def _import(self, options: dict[str, Any]) -> None:
        self.agent = _agent(options["project"], options["agent"])
        self.person = _person(options["person"], self.agent)
        self.is_dry, self.as_json = options["dry_run"], options["json"]
        files, problems = _files(options["paths"])
        asked_for = {Path(path) for path in options["paths"]}
        copies = Copies()
        read_count, total = 0, 0
        for number, path in enumerate(files, start=1):
            result = read_file(path, options["format"])
            if result.error and path in asked_for:
                problems.append(result.error)
            read_count += not result.error
            copies.leave_out(result)
            added = self._store(result)
            total += added.accepted
            self._tell(result, added, f"{number}/{len(files)}")
        if not read_count and not problems:
            problems.append("None of these files is a transcript that can be read.")
        if not self.as_json:
            self.stdout.write(
                f"Observations {'that would be ' if self.is_dry else ''}added: {total}. Files read: {read_count}."
            )
        if problems:
            raise CommandError("\n".join(dict.fromkeys(map(plain, problems))))

    def _store(self, result: ReadResult) -> Added:
        added = Added()
        store = capture.rehearse_import if self.is_dry else capture.import_session
        for session in result.sessions:
            answer = store(self.agent, session, self.person)
            # A copy is nothing that was refused: its line is left out, and told so.
            answer["dropped"].pop("copied", None)
            take_out(result, session, {one["index"] for one in answer["errors"] if one["code"] == "copied"})
            added.accepted += answer["accepted"]
            added.duplicates += answer["duplicates"]
            added.dropped.update(answer["dropped"])
        result.sessions = [session for session in result.sessions if session.observations]
        return added

    def _tell(self, result: ReadResult, added: Added, progress: str) -> None:
        # Progress is no error: not in red.
        self.stderr.write(plain(f"{progress} {result.path}"), style_func=str)
        errors = [*([result.error] if result.error else []), *result.errors]
        if self.as_json:
            self.stdout.write(json.dumps(_line(result, added, errors)))
            return
        self.stdout.write(
            f"{plain(result.path)}: sessions {len(result.sessions)}, observations added {added.accepted}, "
            f"known {added.duplicates}, refused {added.dropped.total()}, "
            f"records left out {result.skipped.total()}, broken lines {result.bad}"
        )
        for error in errors:
            self.stdout.write(f"  {plain(error)}")


def _line(result: ReadResult, added: Added, errors: list[str]) -> dict[str, Any]:
    return {
        "path": result.path,
        "format": result.format,
        "sessions": len(result.sessions),
        "observations": added.accepted,
        "duplicates": added.duplicates,
        "dropped": dict(added.dropped),
        "mapped": result.mapped,
        "skipped": dict(result.skipped),
        "bad": result.bad,
        "errors": errors,
        "raw": dict(result.raw),
        "books": result.books(),
    }


def _files(paths: Iterable[str]) -> tuple[list[Path], list[str]]:
    files: dict[Path, None] = {}
    problems: list[str] = []
    for path in paths:
        if not path.strip():
            # What a shell makes of an unset variable; Path would take it for the folder one stands in.
            problems.append(f"A path is empty. {WHERE_TRANSCRIPTS_LIVE}")
            continue
        try:
            files.update(dict.fromkeys(walk(Path(path))))
        except NoTranscripts as problem:
            problems.append(str(problem))
    return in_order_of_time(list(files)), problems


def _why_not_stored(error: OperationalError) -> str:
    if getattr(error.__cause__, "sqlstate", None) == _DISK_FULL:
        return "The disk of the database is full. Free some space and import again: what is stored is not added twice."
    return "The database does not answer. See what is wrong with: manage.py doctor"


def _agent(project_slug: str, agent_slug: str) -> Agent:
    with tenancy.system("command"):
        return named.agent(named.project(project_slug), agent_slug)


def _person(email: str | None, agent: Agent) -> Person | None:
    """Who worked with the agent: the one named, else the holder of its newest usable key, else nobody."""
    with tenancy.system("command"):
        if email is not None:
            return named.person(email, agent.project)
        keys = ApiKey.objects.usable(timezone.now()).filter(agent=agent, person__isnull=False)
        key = keys.select_related("person").order_by("-created_at", "-pk").first()
        return key.person if key else None
