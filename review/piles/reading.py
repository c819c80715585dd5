"""How the pile reads: statements of our own, prepared once on the connection and planned once.

To plan them anew for each card took longer than to run them. Limits are written into the statement: the order is read
off an index up to a limit, and a plan made for any limit would sort the whole pile.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from memory.models import Fact
from projects.prepared import Rows, Statement, run_all


def rows_of(statements: Sequence[Statement]) -> list[Rows]:
    """The rows of statements that do not depend on each other, waited for once."""
    return run_all(Fact.objects.db, statements)


def rows(sql: str, named: Mapping[str, Any]) -> Rows:
    """The rows of one statement, with its named parameters, each cast to its type."""
    return rows_of([(sql, named)])[0]
