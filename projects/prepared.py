"""Statements of the hot paths, prepared on the connection: written once, planned once, run many times.

Django writes the SQL of each query anew and Postgres plans it anew: together that took longer than to run it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

import psycopg
import psycopg.sql
from django.db import connections
from django.db.models import Model, QuerySet
from django.db.models.query import ModelIterable

Row = TypeVar("Row", bound=Model)
Rows = Sequence[tuple[Any, ...]]
# A statement with its named parameters.
Statement = tuple[str, Mapping[str, Any]]

# A number that no row has; the ones below it each stand for a named parameter.
_STAND_IN = -4_019_100


def run(alias: str, sql: str, parameters: Mapping[str, Any]) -> Rows:
    """The rows of a statement with named parameters, in the transaction that Django has open on `alias`."""
    ahead = _asked_ahead(alias)
    answered = ahead.pop(_key(sql, parameters), None) if ahead else None
    return run_all(alias, [(sql, parameters)])[0] if answered is None else answered


@contextmanager
def asked_ahead(alias: str, statements: Sequence[Statement]) -> Iterator[None]:
    """Asks these now, all at once; whoever asks for one of them inside gets what came, one time.

    Only for what nothing inside writes before it is asked for.
    """
    ahead = _asked_ahead(alias)
    # Nothing to ask is nothing to wait for.
    keys = [_key(*one) for one in statements]
    ahead.update(zip(keys, run_all(alias, statements) if statements else [], strict=True))
    try:
        yield
    finally:
        for key in keys:
            ahead.pop(key, None)


def _asked_ahead(alias: str) -> dict[str, Rows]:
    """What was asked ahead on this connection; each thread has its own."""
    ahead: dict[str, Rows] = connections[alias].__dict__.setdefault("asked_ahead", {})
    return ahead


def _key(sql: str, parameters: Mapping[str, Any]) -> str:
    return f"{sql}{sorted(parameters.items())!r}"


def run_all(alias: str, statements: Sequence[Statement]) -> list[Rows]:
    """The rows of each of these, which do not depend on each other: sent together, waited for once."""
    connection = connections[alias]
    connection.ensure_connection()
    if connection.queries_logged:
        connection.queries_log.extend({"sql": sql, "time": ""} for sql, _parameters in statements)
    wire = connection.connection
    with connection.wrap_database_errors:
        if wire.prepare_threshold is None:
            # Django turns preparing off, and its own cursors, which bind on the client's side, never do it. The plan of
            # each statement is made once: to weigh a new one for its parameters took longer than to run it.
            psycopg.Cursor(wire).execute("SET plan_cache_mode = force_generic_plan")
            wire.prepare_threshold = 0
        if len(statements) == 1:
            return [_sent(wire, *statements[0]).fetchall()]
        with wire.pipeline():
            return [cursor.fetchall() for cursor in [_sent(wire, *one) for one in statements]]


def _sent(wire: psycopg.Connection[Any], sql: str, parameters: Mapping[str, Any]) -> psycopg.Cursor[tuple[Any, ...]]:
    return psycopg.Cursor(wire).execute(sql, parameters, prepare=True)


class Kept(Generic[Row]):
    """A query set that is compiled once for each connection and then run prepared, with what it joins.

    `build` is given what stands for a named parameter, a row's number: `lambda at: Fact.objects.filter(pk=at("fact"))`.
    """

    def __init__(self, build: Callable[[Callable[[str], int]], QuerySet[Row]]) -> None:
        self._build = build
        self._alias = ""

    def asked(self, **numbers: int) -> Statement:
        """The statement for these numbers, to be asked ahead of `all` with others."""
        return self._compiled().sql, numbers

    def all(self, **numbers: int) -> list[Row]:
        """The rows for these numbers."""
        compiled = self._compiled()
        return compiled.made(run(compiled.db, compiled.sql, numbers))

    def first(self, **numbers: int) -> Row | None:
        """The first of them, or None."""
        return next(iter(self.all(**numbers)), None)

    def _compiled(self) -> _Compiled:
        connection = connections[self._alias] if self._alias else None
        found: _Compiled | None = _of(connection).get(self) if connection is not None else None
        if found is None:
            names: list[str] = []

            def at(name: str) -> int:
                names.append(name)
                return _STAND_IN - len(names)

            query_set = self._build(at)
            self._alias = query_set.db
            found = _of(connections[self._alias])[self] = _Compiled(query_set, names)
        return found


def _of(connection: Any) -> dict[Kept[Any], _Compiled]:
    """What is compiled for a connection; each thread has its own."""
    kept: dict[Kept[Any], _Compiled] = connection.__dict__.setdefault("kept_statements", {})
    return kept


class _Compiled:
    """One query set as SQL, and how Django makes its rows of what comes back: it is asked for its own compiler."""

    def __init__(self, query_set: QuerySet[Any], names: Sequence[str]) -> None:
        self.db = query_set.db
        self.model = query_set.model
        self.compiler = query_set.query.get_compiler(using=self.db)
        sql, values = self.compiler.as_sql()
        standing = {_STAND_IN - number: f"%({name})s::bigint" for number, name in enumerate(names, 1)}
        parts = sql.replace("%%", "%").split("%s")
        written = [standing.get(value) or literal(value) for value in values]
        self.sql = "".join(part + value for part, value in zip(parts, [*written, ""], strict=True))

    def made(self, rows: Rows) -> list[Any]:
        return list(ModelIterable(_Answered(self, rows)))  # type: ignore[arg-type]


class _Answered:
    """A query set whose answer is there: what ModelIterable reads of one."""

    def __init__(self, compiled: _Compiled, rows: Rows) -> None:
        self.db, self.model = compiled.db, compiled.model
        self.query = self
        self._known_related_objects: dict[Any, Any] = {}
        self._compiler, self._rows = compiled.compiler, rows
        self.select, self.klass_info = self._compiler.select, self._compiler.klass_info
        self.annotation_col_map = self._compiler.annotation_col_map

    def get_compiler(self, **_using: Any) -> _Answered:
        return self

    def execute_sql(self, **_how: Any) -> list[Rows]:
        return [self._rows]

    def results_iter(self, results: list[Rows]) -> Any:
        return self._compiler.results_iter(results)


def literal(value: Any) -> str:
    """A constant of our own code (a status, a type), written into the statement."""
    return psycopg.sql.Literal(value).as_string().replace("%", "%%")
