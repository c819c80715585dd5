"""Memories as other programs, and an import of ours, read them: JSONL (whole), CSV (flat), Markdown (sentences)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

from django.db.models import Prefetch, QuerySet

from memory.existing.records import OWN
from memory.existing.tables import guarded
from memory.models import Decision, Fact, Verb
from memory.types import type_of
from projects.models import Project

FORMATS = {
    "jsonl": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
    "markdown": "text/markdown; charset=utf-8",
}
ENDINGS = {"jsonl": "jsonl", "csv": "csv", "markdown": "md"}
# The form of a record: a reader that knows another one says so.
VERSION = 1
COLUMNS = (
    "id",
    "status",
    "type",
    "key",
    "text",
    "subject",
    "agents",
    "expires_at",
    "times_seen",
    "approved_at",
    "approved_by",
)
_ROWS_AT_ONCE = 500


def lines(project: Project, facts: QuerySet[Fact], file_format: str) -> Iterator[str]:
    """The file in pieces that end with a newline, in the order of `facts`, a few hundred read at once."""
    agents = dict(project.agents.values_list("pk", "slug"))
    # What a rule let in names its rule where a person's name would stand.
    by_rule = Decision.objects.filter(verb=Verb.APPROVE, person__isnull=True).order_by("pk")
    whole = facts.select_related("subject", "approved_by").prefetch_related(
        Prefetch("decisions", by_rule, to_attr="by_rule")
    )
    rows = whole.iterator(chunk_size=_ROWS_AT_ONCE)
    if file_format == "jsonl":
        for fact in rows:
            yield json.dumps(record(fact, agents), ensure_ascii=False, allow_nan=False) + "\n"
    elif file_format == "csv":
        yield _row(COLUMNS)
        for fact in rows:
            said = record(fact, agents)
            said["agents"] = "everyone" if said["agents"] is None else " ".join(said["agents"])
            yield _row(guarded("" if said[name] is None else str(said[name])) for name in COLUMNS)
    else:
        yield from _markdown(project, rows)


def record(fact: Fact, agents: dict[int, str]) -> dict[str, Any]:
    """Everything of one memory that an import can use, and who stands behind it. `agents` None means everyone."""
    return {
        OWN: VERSION,
        "id": fact.short_id,
        "status": fact.status,
        "type": fact.type,
        "key": fact.key,
        "value": fact.value,
        "text": fact.text,
        "subject": str(fact.subject),
        "agents": None if fact.everyone else [agents[pk] for pk in fact.agent_ids if pk in agents],
        "nature": fact.nature,
        "use": fact.use,
        "standing": fact.standing,
        "expires_at": fact.expires_at.isoformat() if fact.expires_at else None,
        "times_seen": fact.times_seen,
        "approved_at": fact.approved_at.isoformat() if fact.approved_at else None,
        "approved_by": _stands_behind(fact),
    }


def _stands_behind(fact: Fact) -> str | None:
    if fact.approved_by is not None:
        return fact.approved_by.name or fact.approved_by.email
    if fact.approved_at is None:
        return None
    notes = [decision.note for decision in getattr(fact, "by_rule", ())]
    return notes[-1] if notes else None


def _row(cells: Any) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()


def _markdown(project: Project, rows: Iterator[Fact]) -> Iterator[str]:
    """For an AGENTS.md: a heading a type, a bullet a memory. A sentence is one line, so it opens nothing of its own."""
    by_type: dict[str, list[Fact]] = {}
    for fact in rows:
        by_type.setdefault(fact.type, []).append(fact)
    yield f"# What is known · {project.slug}\n"
    for name, facts in sorted(by_type.items()):
        row = type_of(name, project.types)
        words = row.words if row.name == name else name.replace("_", " ")
        yield f"\n## {words[:1].upper()}{words[1:]}\n\n"
        for fact in facts:
            yield f"- {fact.text}\n"
