"""Django's migrate, on the alias that owns the tables unless told otherwise."""

from __future__ import annotations

from django.core.management.base import CommandParser
from django.core.management.commands import migrate


class Command(migrate.Command):
    def add_arguments(self, parser: CommandParser) -> None:
        super().add_arguments(parser)
        parser.set_defaults(database="owner")
