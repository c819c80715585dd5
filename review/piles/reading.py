"""How the pile reads: statements of our own, each planned for the numbers it is asked with.

The order is read off an index up to a limit. A plan made once for any limit would sort the whole pile.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import connections

from memory.models import Fact


def rows(sql: str, named: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """The rows of one statement, with its named parameters."""
    with connections[Fact.objects.db].cursor() as cursor:
        cursor.execute(sql, named)
        return cursor.fetchall()
