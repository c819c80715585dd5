"""What web and worker make sure of before they serve: that row-level security really holds them."""

from __future__ import annotations

from django.db import connections, utils

from config import launch

ROLE = """
SELECT current_user, rolsuper, rolbypassrls,
       (SELECT count(*) FROM pg_class WHERE relowner = pg_roles.oid AND relkind IN ('r', 'p'))
FROM pg_roles WHERE rolname = current_user
"""


class RefusedToStart(Exception):
    """Serving would be unsafe or impossible. The message says what to do."""


def refuse_unsafe_role(alias: str = "default") -> None:
    """Raises RefusedToStart when the role that serves could look past row-level security.

    A superuser and a role with BYPASSRLS ignore it always, the owner of a table ignores it on that table.
    """
    with connections[alias].cursor() as cursor:
        cursor.execute(ROLE)
        role, is_superuser, bypasses, owned = cursor.fetchone()
    reasons = []
    if is_superuser:
        reasons.append("is a superuser")
    if bypasses:
        reasons.append("has BYPASSRLS")
    if owned:
        reasons.append(f"owns {owned} table{'' if owned == 1 else 's'}")
    if reasons:
        raise RefusedToStart(
            f"The database role {role} {' and '.join(reasons)}, so row-level security would not hold it. "
            "Countersign serves as a role that owns nothing: give `countersign_app` to the login role and take "
            f"these rights from {role}."
        )


def refuse_to_start() -> None:
    """All of it, with connections closed again: the caller is about to fork. Raises RefusedToStart."""
    from projects import first_visitor, tenancy

    try:
        refuse_unsafe_role()
        with tenancy.system("command"):
            first_visitor.installation()
    except first_visitor.ForeignDataFolder as foreign:
        raise RefusedToStart(str(foreign)) from None
    except utils.OperationalError as problem:
        if "does not exist" in str(problem):
            raise RefusedToStart(f"The database is not set up. Run `{launch.MANAGE} migrate`.") from None
        raise RefusedToStart(launch.database_is_down(problem)) from None
    except utils.ProgrammingError:
        raise RefusedToStart(f"The database is not up to date. Run `{launch.MANAGE} migrate`.") from None
    finally:
        connections.close_all()
