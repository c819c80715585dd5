"""What would be so: facts as a decision would leave them, laid over the tables that every statement of a brief reads.

The statements themselves stay as they are: a name that is given in front of a statement hides the table of that name
within it. So a brief that is only supposed is built, filtered, scored and cut by the very same code as a real one.
Nothing is written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connections
from django.db.models import QuerySet

from memory import embedding_store, embeddings
from memory.models import Fact, FactEmbedding, Status

# Quotes that would join others come behind them, as new rows do.
_LATER = 2**61

_COLUMNS = [str(column.column) for column in Fact._meta.concrete_fields]
_MADE = [
    "countersign_search_vector(text, key)" if column.generated else str(column.column)
    for column in Fact._meta.concrete_fields
]
# Not materialized: the conditions of the statement must reach the index of the table.
_NAMES = """memory_fact AS NOT MATERIALIZED (
    SELECT {columns} FROM memory_fact WHERE id <> ALL (%(supposed_ids)s::bigint[])
    UNION ALL
    SELECT {made} FROM jsonb_populate_recordset(NULL::memory_fact, %(supposed)s::jsonb)
), memory_evidence AS NOT MATERIALIZED (
    SELECT id, fact_id, observation_id FROM memory_evidence
    UNION ALL
    SELECT e.id + {later}, m.into_id, e.observation_id FROM memory_evidence e
    JOIN unnest(%(supposed_from)s::bigint[], %(supposed_into)s::bigint[]) m(from_id, into_id) ON m.from_id = e.fact_id
), memory_factembedding AS NOT MATERIALIZED (
    SELECT fact_id, model, precision, text_sha256, vector FROM memory_factembedding
    WHERE fact_id <> ALL (%(supposed_vectors_of)s::bigint[])
    UNION ALL
    SELECT (v->>'fact')::bigint, v->>'model', v->>'precision', v->>'sha256', (v->>'vector')::halfvec
    FROM jsonb_array_elements(%(supposed_vectors)s::jsonb) v
)"""
_OVER = _NAMES.format(columns=", ".join(_COLUMNS), made=", ".join(_MADE), later=_LATER)


@dataclass(frozen=True)
class Suppose:
    """Facts as they would be. `merged` holds (from, into): whose quotes would stand behind another fact as well.

    `retracted` holds, for each agent by id, what a decision would note as no longer holding for it, the latest first.
    `counted` are those of the facts of which only the count would change: nothing is decided about them.
    """

    facts: tuple[Fact, ...] = ()
    merged: tuple[tuple[int, int], ...] = ()
    retracted: Mapping[int, Sequence[int]] = field(default_factory=dict)
    counted: tuple[int, ...] = ()

    @property
    def fact_ids(self) -> list[int]:
        return [fact.pk for fact in self.facts]

    def over(self, sql: str) -> str:
        """The statement, reading what would be so. It may begin with names of its own."""
        begun = sql.lstrip()
        return f"WITH {_OVER}, {begun[5:]}" if begun.upper().startswith("WITH ") else f"WITH {_OVER} {begun}"

    def parameters(self, sql: str) -> dict[str, Any]:
        """What the names in front of the statement stand for. Vectors are made only for a statement that reads them."""
        vectors = self._vectors if "memory_factembedding" in sql else []
        return {
            "supposed_ids": self.fact_ids,
            "supposed": self._rows,
            "supposed_from": [pair[0] for pair in self.merged],
            "supposed_into": [pair[1] for pair in self.merged],
            "supposed_vectors_of": [vector["fact"] for vector in vectors],
            "supposed_vectors": json.dumps(vectors),
        }

    @cached_property
    def _rows(self) -> str:
        return json.dumps([_row(fact) for fact in self.facts])

    @cached_property
    def _vectors(self) -> list[dict[str, Any]]:
        """The vectors that deciding would make: of texts that have none yet, as `embedding_store.refresh_all` does."""
        decided = (fact for fact in self.facts if fact.pk not in self.counted)
        wanted = {fact.pk: fact for fact in decided if fact.status == Status.APPROVED}
        kept = FactEmbedding.objects.filter(
            fact__in=wanted, model=embeddings.MODEL_ID, precision=embeddings.PRECISION
        ).values_list("fact_id", "text_sha256")
        made = []
        for fact_id, sha256 in kept:
            if sha256 == embedding_store.text_sha256(wanted[fact_id].text):
                wanted.pop(fact_id)
        for fact in wanted.values():
            vector = _vector(fact.text)
            if vector is not None:
                made.append(
                    {
                        "fact": fact.pk,
                        "model": embeddings.MODEL_ID,
                        "precision": embeddings.PRECISION,
                        "sha256": embedding_store.text_sha256(fact.text),
                        "vector": FactEmbedding._meta.get_field("vector").get_prep_value(vector),
                    }
                )
        return made


def ids(found: QuerySet[Fact], suppose: Suppose | None) -> list[int]:
    """The ids of these facts, in their order, as it is or as it would be."""
    if suppose is None:
        return list(found.values_list("pk", flat=True))
    try:
        sql, values = found.values("pk").query.sql_with_params()
    except EmptyResultSet:
        return []
    named = {f"value_{number}": value for number, value in enumerate(values)}
    names = iter(named)
    sql = re.sub(r"%%|%s", lambda mark: mark[0] if mark[0] == "%%" else f"%({next(names)})s", sql)
    with connections[found.db].cursor() as cursor:
        cursor.execute(suppose.over(sql), suppose.parameters(sql) | named)
        return [int(row[0]) for row in cursor.fetchall()]


def _row(fact: Fact) -> dict[str, Any]:
    """The columns of a fact as jsonb_populate_recordset reads them."""
    columns = [column for column in fact._meta.concrete_fields if not column.generated]
    return {str(column.column): _cell(getattr(fact, column.attname)) for column in columns}


def _cell(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value


def _vector(text: str) -> list[float] | None:
    try:
        return embeddings.embed([text])[0]
    except (embeddings.EmbedderUnavailable, embeddings.BadVector):
        return None
