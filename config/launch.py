"""What a process settles before Django reads its settings, and the sentence for a database that is down."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from config.embedded import SUPERVISED, EmbeddedPostgresError, die_with_parent

# How a hint writes our commands: as the README does, or as they are typed where there is no .venv (a container).
MANAGE = ".venv/bin/python manage.py" if Path(sys.prefix).name == ".venv" else "python manage.py"


def take_data_folder(arguments: list[str]) -> list[str]:
    """`--data DIR`, on any command, is COUNTERSIGN_DATA: it has to be known before the settings are read.

    Returns the other arguments (Django's own commands would take it for the start of `--database`).
    """
    others: list[str] = []
    remaining = iter(arguments)
    for argument in remaining:
        name, equals, value = argument.partition("=")
        if name != "--data":
            others.append(argument)
        elif value := value if equals else next(remaining, ""):
            os.environ["COUNTERSIGN_DATA"] = str(Path(value).expanduser().absolute())
        else:
            sys.exit("--data needs a folder, for example --data ./.data")
    return others


def follow_supervisor() -> None:
    """A child of `up` dies with it, however it dies. Asked for first, then checked: it may be dead already."""
    supervisor = os.environ.get(SUPERVISED)
    if supervisor:
        die_with_parent()
        if os.getppid() != int(supervisor):
            sys.exit(1)


def forks_die_with_this_process() -> None:
    """Every process forked from this one is ended by the kernel when this one dies: no orphan workers, no held port."""
    os.register_at_fork(after_in_child=die_with_parent)


def database_is_down(problem: Exception) -> str:
    """What to do about `problem`, for people. Postgres's own first line names host and reason, never a password."""
    cause: BaseException | None = problem
    while cause is not None:
        if isinstance(cause, EmbeddedPostgresError):
            return str(cause)
        if getattr(cause, "sqlstate", None) == "53100":  # disk_full
            return "The disk of the database is full. Free some space, then try again; nothing was half-written."
        cause = cause.__cause__
    reason = str(problem).strip().splitlines()[:1] or ["no answer"]
    if os.environ.get("DATABASE_URL"):
        return f"The database of DATABASE_URL does not answer ({reason[0]}). Start it, or correct DATABASE_URL."
    return f"The bundled Postgres refused ({reason[0]}). `manage.py doctor` says more."


SET_UP_BY_HAND = """CREATE ROLE countersign_app NOLOGIN;
  GRANT countersign_app TO {login};
  CREATE EXTENSION IF NOT EXISTS vector;   -- in the product's database"""


def database_refused(problem: Exception) -> str | None:
    """What to do when the database answers and refuses, for people; None when it is a fault of ours."""
    state = getattr(problem.__cause__, "sqlstate", None)
    if state == "42501":  # insufficient_privilege
        named = os.environ.get("DATABASE_URL", "").partition("//")[2].partition("@")[0]
        login = named.partition(":")[0] or "the login role"
        refusal = str(problem).strip().splitlines()[0]
        return (
            f"The database's login role may not do this ({refusal}). As a superuser, run:\n"
            f"  {SET_UP_BY_HAND.format(login=login)}\nthen try again."
        )
    if state == "23505":  # unique_violation
        return "Another command made the same at this very moment. Run this one again: it then finds it."
    # An undefined table or column: this code is newer than the database, or older.
    if state in ("42P01", "42703") or 'role "countersign_app" does not exist' in str(problem):
        return f"The database is not set up, or not up to date. Run `{MANAGE} migrate`."
    if state == "0A000" and "vector" in str(problem):
        return "This Postgres has no pgvector. Install pgvector 0.8 or newer on its server, then try again."
    return None
