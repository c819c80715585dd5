"""Many memories at once. Those with vectors are written as rows: twenty thousand through the doors take an hour."""

from __future__ import annotations

import hashlib
from typing import Any

from django.db import connections

from memory import embeddings, rendering
from memory.models import Fact, Status, Subject
from projects import tenancy
from tests.cases import embedder
from tests.cases.ops.facts import propose
from tests.cases.ops.registry import op
from tests.cases.result import Result
from tests.cases.script import Step
from tests.cases.stage import REVIEWER, Stage

BULK_TYPE = "fix"
_THINGS = (
    "parcel",
    "invoice",
    "ladder",
    "kettle",
    "ticket",
    "engine",
    "window",
    "basket",
    "lantern",
    "marker",
    "pulley",
)


@op("bulk_propose", "n entity same_created_at type scope agent")
def bulk_propose(stage: Stage, step: Step) -> Result:
    """So many proposals with nothing in common; the clock stands still, so all are of the same moment."""
    results = []
    for number in range(step["n"]):
        thing = _THINGS[number % len(_THINGS)]
        one = {name: step[name] for name in ("entity", "scope", "agent") if name in step}
        one |= {"op": "propose", "type": step.get("type", BULK_TYPE), "key": f"{thing}.{number}"}
        results.append(propose(stage, one | {"value": f"The {thing} numbered {number} stands in row {number * 7}."}))
    worst = max((result.http or 0 for result in results), default=200)
    return Result("bulk_propose", step, worst, facts=[pk for result in results for pk in result.facts])


@op("bulk_vectors", "n scope near")
def bulk_vectors(stage: Stage, step: Step) -> Result:
    """Approved memories of one agent whose vectors lie near a named one."""
    if stage.embedder is None:
        stage.use_embedder(embedder.FakeEmbedder())
    scope = [step["scope"]] if isinstance(step["scope"], str) else step["scope"]
    agent_ids, person = stage.agent_ids(scope), stage.person(REVIEWER)
    vectors = embedder.near(step["near"], step["n"])
    with tenancy.project(stage.project.pk):
        subject = Subject.objects.of_project(stage.project)
        names = [f"{'-'.join(scope)}.{len(stage.results)}.{number}" for number in range(step["n"])]
        first = _row(stage, subject, names[0], agent_ids, person.pk)
        first.save(force_insert=True)
        made = [first.pk, *_copies(first, names[1:])]
        _embed(first, made, names, vectors)
    return Result("bulk_vectors", step, 200, facts=made, notes={"vectors": dict(zip(made, vectors, strict=True))})


def _copies(first: Fact, names: list[str]) -> list[int]:
    """Rows like the first one under other names, in one statement; their ids in the order of the names."""
    said = [_said(name) for name in names]
    own = [*_said("")]
    shared = [str(one.column) for one in Fact._meta.concrete_fields if not (one.generated or one.primary_key)]
    shared = [column for column in shared if column not in own]
    with connections["default"].cursor() as cursor:
        cursor.execute(
            f"INSERT INTO memory_fact ({', '.join([*own, *shared])})"
            f" SELECT {', '.join('to_jsonb(n.value)' if one == 'value' else f'n.{one}' for one in own)},"
            f" {', '.join(f'f.{one}' for one in shared)}"
            f" FROM memory_fact f, unnest({', '.join(['%s::text[]'] * len(own))})"
            f" WITH ORDINALITY AS n({', '.join(own)}, place) WHERE f.id = %s ORDER BY n.place RETURNING id",
            [*([one[column] for one in said] for column in own), first.pk],
        )
        return [int(row[0]) for row in cursor.fetchall()]


def _embed(first: Fact, made: list[int], names: list[str], vectors: list[list[float]]) -> None:
    hashes = [hashlib.sha256(_said(name)["text"].encode()).hexdigest() for name in names]
    written = ["[" + ",".join(map("{:.6g}".format, vector)) + "]" for vector in vectors]
    with connections["default"].cursor() as cursor:
        cursor.execute(
            "INSERT INTO memory_factembedding (project_id, fact_id, model, precision, text_sha256, vector)"
            " SELECT %s, id, %s, %s, sha256, vector::halfvec"
            " FROM unnest(%s::bigint[], %s::text[], %s::text[]) AS n(id, sha256, vector)",
            [first.project_id, embeddings.MODEL_ID, embeddings.PRECISION, made, hashes, written],
        )


def _said(name: str) -> dict[str, Any]:
    key, text = f"{BULK_TYPE}:{name}", f"Memory {name}."
    return {
        "key": key,
        "value": text,
        "text": text,
        "served_sha256": rendering.served_sha256(BULK_TYPE, key, text, text),
        "fingerprint": rendering.fingerprint(BULK_TYPE, key, text, text),
    }


def _row(stage: Stage, subject: Subject, name: str, agent_ids: list[int], person: int) -> Fact:
    now = stage.clock.at
    return Fact(
        project=stage.project,
        subject=subject,
        type=BULK_TYPE,
        status=Status.APPROVED,
        everyone=False,
        agent_ids=agent_ids,
        source="manual",
        first_seen_at=now,
        last_seen_at=now,
        approved_at=now,
        approved_by_id=person,
        confirmed_at=now,
        **_said(name),
    )
