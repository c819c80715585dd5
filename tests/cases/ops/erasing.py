"""A person is forgotten: a request over the office API, planned, signed by a second person, carried out, certified."""

from __future__ import annotations

from typing import Any

from django.db import connections

from projects.models import Role
from tests.cases.ops.registry import op
from tests.cases.result import Result
from tests.cases.script import Step
from tests.cases.stage import Stage, about

ASKS, SIGNS = "carl", "cora"
REQUESTS = "/api/office/requests"


@op("erase", "entity by", door=REQUESTS)
def erase(stage: Stage, step: Step) -> Result:
    for name in (ASKS, SIGNS):
        person = stage.person(name, Role.OWNER)
        with stage.looking():
            type(person).objects.filter(pk=person.pk).update(is_compliance=True)
    asked = _post(stage, ASKS, REQUESTS, {"kind": "erasure", "subjects": [about(step["entity"])]})
    result = Result("erase", step, asked.status_code, asked.json(), by=ASKS)
    if asked.status_code >= 400:
        return result
    request = f"{REQUESTS}/{asked.json()['id']}"
    for person, move in ((ASKS, "plan"), (SIGNS, "approve"), (ASKS, "execute")):
        answer = _post(stage, person, f"{request}/{move}", {})
        result.http, result.body = answer.status_code, answer.json()
        if answer.status_code >= 400:
            return result
    certificate = stage.browser(ASKS).get(f"{request}/certificate").json()
    result.notes["receipt_count"] = certificate.get("count")
    return result


@op("sql_grep_all_tables", "needle")
def sql_grep_all_tables(stage: Stage, step: Step) -> Result:
    return Result("sql_grep_all_tables", step, notes={"tables": tables_with(step["needle"])})


def tables_with(needle: str) -> list[str]:
    """Every table of the database in which a row holds these words, as the role that owns the tables reads them."""
    found = []
    with connections["default"].cursor() as cursor:
        cursor.execute("RESET ROLE")
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY tablename")
        for (table,) in cursor.fetchall():
            cursor.execute(
                f'SELECT EXISTS (SELECT 1 FROM "{table}" AS t WHERE strpos(lower(t::text), lower(%s)) > 0)', [needle]
            )
            if cursor.fetchone()[0]:
                found.append(table)
        cursor.execute("SET ROLE countersign_app")
    return found


def _post(stage: Stage, person: str, path: str, body: dict[str, Any]) -> Any:
    answer = stage.browser(person).post(path, body, content_type="application/json")
    stage.statuses.append(answer.status_code)
    return answer
