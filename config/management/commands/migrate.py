"""Django's migrate, on the alias that owns the tables unless told otherwise."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser
from django.core.management.commands import migrate
from django.db import connections

OLDEST_POSTGRES = 15
OLDEST_PGVECTOR = (0, 8)


class Command(migrate.Command):
    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.set_defaults(database="owner")

    def handle(self, *args: Any, **options: Any) -> None:
        alias = options["database"]
        refuse_old_server(alias)
        super().handle(*args, **options)
        if "projects_installation" in connections[alias].introspection.table_names():
            claim(alias)


def refuse_old_server(alias: str) -> None:
    """Raises CommandError when the server is older than Countersign works on: before anything is changed on it."""
    with connections[alias].cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version_num')::int / 10000")
        major = cursor.fetchone()[0]
        cursor.execute(
            "SELECT coalesce((SELECT extversion FROM pg_extension WHERE extname = 'vector'),"
            " (SELECT default_version FROM pg_available_extensions WHERE name = 'vector'))"
        )
        pgvector = cursor.fetchone()[0]
    if major < OLDEST_POSTGRES:
        raise CommandError(f"This is Postgres {major}; Countersign needs {OLDEST_POSTGRES} or newer.")
    if pgvector is None:
        raise CommandError(
            "This Postgres has no pgvector. Install pgvector 0.8 or newer on its server, then try again."
        )
    if tuple(int(part) for part in pgvector.split(".")[:2]) < OLDEST_PGVECTOR:
        raise CommandError(
            f"pgvector {pgvector} is too old; Countersign needs 0.8 or newer. Update it on the server, then run"
            " ALTER EXTENSION vector UPDATE in the product's database."
        )


def claim(alias: str) -> None:
    """Notes in a new database whose data folder set it up: a process with another one then refuses to start."""
    from projects.models import Installation

    Installation.objects.using(alias).get_or_create(pk=1, defaults={"data_fingerprint": settings.DATA_FINGERPRINT})
