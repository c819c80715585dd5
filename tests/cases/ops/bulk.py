"""Many memories at once. Those with vectors are written as rows: twenty thousand through the doors take an hour."""

from __future__ import annotations

import hashlib
from typing import Any

from memory import embeddings, rendering
from memory.models import Fact, FactEmbedding, Status, Subject
from projects import tenancy
from tests.cases import embedder
from tests.cases.ops.facts import propose
from tests.cases.ops.registry import op
from tests.cases.result import Result
from tests.cases.script import Step
from tests.cases.stage import REVIEWER, Stage

BULK_TYPE = "fix"
ROWS_AT_ONCE = 2_000
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
    made: list[int] = []
    with tenancy.project(stage.project.pk):
        subject = Subject.objects.of_project(stage.project)
        for start in range(0, step["n"], ROWS_AT_ONCE):
            part = vectors[start : start + ROWS_AT_ONCE]
            names = [f"{'-'.join(scope)}.{len(stage.results)}.{start + place}" for place in range(len(part))]
            facts = Fact.objects.bulk_create([_row(stage, subject, name, agent_ids, person.pk) for name in names])
            FactEmbedding.objects.bulk_create([_vector(fact, vector) for fact, vector in zip(facts, part, strict=True)])
            made += [fact.pk for fact in facts]
    return Result("bulk_vectors", step, 200, facts=made, notes={"vectors": dict(zip(made, vectors, strict=True))})


def _row(stage: Stage, subject: Subject, name: str, agent_ids: list[int], person: int) -> Fact:
    key, text, now = f"{BULK_TYPE}:{name}", f"Memory {name}.", stage.clock.at
    fields: dict[str, Any] = {
        "type": BULK_TYPE,
        "key": key,
        "value": text,
        "text": text,
        "served_sha256": rendering.served_sha256(BULK_TYPE, key, text, text),
        "fingerprint": rendering.fingerprint(BULK_TYPE, key, text, text),
    }
    return Fact(
        project=stage.project,
        subject=subject,
        status=Status.APPROVED,
        everyone=False,
        agent_ids=agent_ids,
        source="manual",
        first_seen_at=now,
        last_seen_at=now,
        approved_at=now,
        approved_by_id=person,
        confirmed_at=now,
        **fields,
    )


def _vector(fact: Fact, vector: list[float]) -> FactEmbedding:
    return FactEmbedding(
        project_id=fact.project_id,
        fact=fact,
        model=embeddings.MODEL_ID,
        precision=embeddings.PRECISION,
        text_sha256=hashlib.sha256(fact.text.encode()).hexdigest(),
        vector=vector,
    )
