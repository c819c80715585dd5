#!/usr/bin/env python
"""The commands of Countersign. Says in a sentence what keeps one from running."""

from __future__ import annotations

import os
import sys

MINIMUM = (3, 11)


def main() -> None:
    if sys.version_info < MINIMUM:
        sys.exit(f"Countersign needs Python {MINIMUM[0]}.{MINIMUM[1]} or newer; this is {sys.version.split()[0]}.")
    try:
        from django.core.exceptions import ImproperlyConfigured
        from django.core.management import execute_from_command_line
        from django.db import DatabaseError, OperationalError

        from config import launch
    except ModuleNotFoundError as missing:
        if missing.name and missing.name.split(".")[0] == "config":
            raise
        sys.exit(f"{missing.name} is not installed here. Run `make setup`, then `.venv/bin/python manage.py …`.")
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    arguments = launch.take_data_folder(sys.argv)
    launch.follow_supervisor()
    try:
        execute_from_command_line(arguments)
    except ImproperlyConfigured as problem:
        sys.exit(str(problem))
    except OperationalError as problem:
        sys.exit(launch.database_is_down(problem))
    except DatabaseError as problem:
        if (sentence := launch.database_refused(problem)) is None:
            raise
        sys.exit(sentence)


if __name__ == "__main__":
    main()
