"""Row-level security: which projects the current transaction may see, and the SQL that makes tables obey.

One function sets the context, inside a transaction, so that it can never outlive it or reach the next user of the
connection. Without a context nothing is visible: forgetting it shows an empty page, never another tenant's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import connections, migrations, transaction

PROJECTS_SETTING = "countersign.projects"
SYSTEM_SETTING = "countersign.system"
APP_ROLE = "countersign_app"

# The only names a sweeper or a sign-in may use to look across projects: each is a reason somebody can audit.
SYSTEM_CONTEXTS = frozenset(
    {"sign-in", "key lookup", "sweeper", "worker", "command", "operator", "compliance", "first visitor", "invitation"}
)


class UnknownSystemContext(ValueError):
    """A system context that is not in the written list."""


@contextmanager
def _context(projects: str, system: str, alias: str) -> Iterator[None]:
    outermost = not connections[alias].in_atomic_block
    with transaction.atomic(using=alias):
        connection = connections[alias]
        before: tuple[str | None, str | None] | None = None
        if not outermost:
            with connection.cursor() as cursor:
                cursor.execute(
                    "SELECT current_setting(%s, true), current_setting(%s, true)", [PROJECTS_SETTING, SYSTEM_SETTING]
                )
                before = cursor.fetchone()
        _see(connection, projects, system)
        yield
        # A released savepoint keeps its settings: put back what the enclosing transaction had. (After an error the
        # rollback does that, and the end of the outermost transaction by itself.)
        if before is not None:
            _see(connection, before[0] or "", before[1] or "")


def _see(connection: Any, projects: str, system: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT set_config(%s, %s, true), set_config(%s, %s, true)",
            [PROJECTS_SETTING, projects, SYSTEM_SETTING, system],
        )


def projects(ids: Iterable[int], *, using: str = "default"):  # type: ignore[no-untyped-def]
    """A transaction that sees these projects and no other."""
    return _context(_written(ids), "", using)


def project(pk: int, *, using: str = "default"):  # type: ignore[no-untyped-def]
    """A transaction that sees one project and no other."""
    return projects([pk], using=using)


def system(name: str, *, using: str = "default"):  # type: ignore[no-untyped-def]
    """A transaction that sees every project, for a named reason. Raises UnknownSystemContext for another name."""
    if name not in SYSTEM_CONTEXTS:
        raise UnknownSystemContext(name)
    return _context("", name, using)


@contextmanager
def reader(find: Callable[[], Iterable[int]], *, using: str = "default") -> Iterator[None]:
    """A transaction that sees the projects whose ids `find` gives, and no other. Only `find` itself, which asks whose
    projects they are, is run in the context "sign-in"."""
    with system("sign-in", using=using):
        _see(connections[using], _written(find()), "")
        yield


def _written(ids: Iterable[int]) -> str:
    return ",".join(str(int(pk)) for pk in ids)


def policy(table: str, column: str = "project_id") -> migrations.RunSQL:
    """Row-level security for one tenant table (ENABLE, not FORCE: the owner must see its rows to back them up)."""
    visible = (
        f"{column} = ANY ((SELECT string_to_array(coalesce(nullif(current_setting('{PROJECTS_SETTING}', true), ''),"
        f" '-1'), ','))::bigint[])"
        f" OR (SELECT coalesce(current_setting('{SYSTEM_SETTING}', true), '') <> '')"
    )
    return migrations.RunSQL(
        sql=[
            f'ALTER TABLE "{table}" ENABLE ROW LEVEL SECURITY',
            f'CREATE POLICY tenant ON "{table}" TO {APP_ROLE} USING ({visible}) WITH CHECK ({visible})',
        ],
        reverse_sql=[f'DROP POLICY tenant ON "{table}"', f'ALTER TABLE "{table}" DISABLE ROW LEVEL SECURITY'],
    )


def append_only(table: str) -> migrations.RunSQL:
    """The app's role may add rows to this table and read them, nothing else."""
    return migrations.RunSQL(
        sql=[f'REVOKE UPDATE, DELETE, TRUNCATE ON "{table}" FROM {APP_ROLE}'],
        reverse_sql=[f'GRANT UPDATE, DELETE ON "{table}" TO {APP_ROLE}'],
    )
