"""Job `brief`: a brief without a task over HTTP, with key, row security, record and audit, against a bare answer."""

from __future__ import annotations

import json
from datetime import timedelta

from benchmarks.calls import Call, Compared, Connection, compare
from benchmarks.server import web

MUST, STRETCH = 8.0, 5.0
FACTS_OF_THE_SUBJECT = 20
KINDS = ("fix", "user_preference", "customer_fact", "commitment")
LONGEST_SPREAD = 0.25
ATTEMPTS = 3


def run(*, quick: bool) -> dict[str, object]:
    """p50 of one client, in milliseconds. A run whose floor spread by more than a quarter is repeated."""
    key = seed(2_000 if quick else 20_000)
    with web() as port:
        connection = Connection(port)
        brief = Call.post("/api/v1/briefs", {"subjects": ["customer:c1"], "max_tokens": 2000}, key)
        told = json.loads(connection.send(brief))
        if len(told["items"]) != FACTS_OF_THE_SUBJECT:
            raise RuntimeError(f"The brief holds {len(told['items'])} facts, not {FACTS_OF_THE_SUBJECT}.")
        measured = _steady(connection, brief, times=150 if quick else 500)
    return {
        "job": "brief",
        "ours": round(measured.ours, 3),
        "floor": round(measured.floor, 3),
        "ratio": round(measured.ratio, 2),
        "must": MUST,
        "stretch": STRETCH,
        "ok": measured.ratio <= MUST,
    }


def _steady(connection: Connection, brief: Call, times: int) -> Compared:
    for _ in range(ATTEMPTS):
        measured = compare(connection, brief, Call.get("/api/v1/bench/ping"), runs=5, times=times)
        if measured.spread <= LONGEST_SPREAD:
            break
    return measured


def seed(count: int) -> str:
    """A project with `count` countersigned facts, 20 a subject; gives the key of its agent."""
    from django.utils import timezone

    from memory import rendering
    from memory.models import Fact, Subject
    from memory.models.subject import lookup_hmac
    from projects import tenancy
    from projects.models import Agent, ApiKey, Project

    now = timezone.now()
    with tenancy.system("command", using="owner"):
        project = Project.objects.using("owner").create(slug="bench", name="Bench")
        agent = Agent.objects.using("owner").create(project=project, slug="support")
        _, key = ApiKey.objects.db_manager("owner").issue(agent, None)
        subjects = Subject.objects.using("owner").bulk_create(
            Subject(
                project=project,
                entity_type="customer",
                entity_id=f"c{number}",
                lookup_hmac=lookup_hmac(project.pk, "customer", f"c{number}"),
            )
            for number in range(1, count // FACTS_OF_THE_SUBJECT + 1)
        )
        facts = []
        for number in range(count):
            text = f"Order {number} was delivered late because the address of branch {number % 97} was out of date."
            about = subjects[number // FACTS_OF_THE_SUBJECT]
            kind = KINDS[number % len(KINDS)]
            key_ = f"{kind}:order.{number}"
            facts.append(
                Fact(
                    project=project,
                    subject=about,
                    type=kind,
                    key=key_,
                    value=text,
                    text=text,
                    status="approved",
                    source="extraction",
                    times_seen=1 + number % 4,
                    first_seen_at=now - timedelta(days=number % 60),
                    last_seen_at=now - timedelta(days=number % 60),
                    approved_at=now,
                    confirmed_at=now,
                    served_sha256=rendering.served_sha256(kind, key_, text, text),
                    fingerprint=rendering.fingerprint(kind, key_, text, text),
                )
            )
        Fact.objects.using("owner").bulk_create(facts, batch_size=2_000)
    from django.db import connections

    with connections["owner"].cursor() as cursor:
        cursor.execute("ANALYZE")
    return key
