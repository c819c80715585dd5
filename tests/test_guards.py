"""Guards over the whole product: every address, every tenant table, every document that must tell the truth."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connections
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from memory import short_ids
from memory.models import BriefServed, Fact, Observation, Payload, Subject
from memory.models.fact_status import TRANSITIONS, as_mermaid
from projects import tenancy
from tests import factories
from tests.factories import Cast

ROOT = Path(__file__).resolve().parent.parent
# What a stranger may open: signing in, being invited, the first visit, and whether the product lives.
OPEN_TO_ALL = {
    "healthz",
    "readyz",
    "sign-in",
    "sign-out",
    "password/reset",
    "password/reset/sent",
    "password/reset/key/done",
    "account/inactive",
    "welcome",
    "api/v1/openapi.json",
}
# They answer a stranger with a page that says the link does not work, the same for every link.
OPEN_BY_TOKEN = ("password/reset/key/", "invitation/")


def addresses() -> list[str]:
    """Every route of the product, as written in its URL configuration."""

    def walk(patterns: list, prefix: str = "") -> Iterator[str]:
        for pattern in patterns:
            route = prefix + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                yield from walk(pattern.url_patterns, route)
            elif isinstance(pattern, URLPattern):
                yield route

    return sorted(set(walk(get_resolver().url_patterns)))


def filled(route: str, cast: Cast) -> str:
    """The route with the real ids of project shop in it."""
    with tenancy.project(cast.project.pk):
        fact = factories.proposal(cast.project)
        session = factories.session(cast.support, f"call-{Fact.objects.count()}-{id(route)}")
        decision = fact.decisions.get()
        brief = BriefServed.objects.create(
            project=cast.project, agent=cast.support, etag="x", tokens=0, budget=0, at=fact.first_seen_at
        )
        key = cast.project.api_keys.all()[0]
        member = cast.project.memberships.all()[0]
    ids = {
        "facts": fact.short_id,
        "sessions": short_ids.encode(session.pk, "s"),
        "briefs": short_ids.encode(brief.pk, "b"),
        "subjects": short_ids.encode(fact.subject_id, "c"),
    }

    def value(found: re.Match[str]) -> str:
        kind, _, name = found.group(1).rpartition(":")
        before = route[: found.start()].rstrip("/").rsplit("/", 1)[-1]
        if name == "slug":
            return "shop"
        if kind == "int" or name == "pk":
            numbers = {"decisions": decision.pk, "keys": key.pk, "people": member.pk, "agents": cast.support.pk}
            return str(numbers.get(before, 1))
        if name == "agent":
            return "support"
        return ids.get(before, "x")

    return "/" + re.sub(r"<([^>]+)>", value, route.strip("^$"))


@pytest.mark.django_db
@pytest.mark.parametrize("route", addresses())
def test_every_address_is_shut_to_a_stranger_and_does_not_exist_for_another_project(cast: Cast, route: str) -> None:
    plain = route.strip("^$")
    if plain in OPEN_TO_ALL or plain.startswith(OPEN_BY_TOKEN):
        return
    address = filled(route, cast)
    for method in ("get", "post"):
        answer = getattr(Client(), method)(address)
        assert answer.status_code in (302, 401, 403, 404, 405), f"{method} {address} → {answer.status_code}"
        if answer.status_code == 302:
            assert answer["Location"].startswith(("/sign-in", "/welcome")), address
    if "<" not in route or plain.startswith("api/"):
        return
    sam = Client()
    sam.force_login(cast.sam, backend="allauth.account.auth_backends.AuthenticationBackend")
    for method in ("get", "post"):
        answer = getattr(sam, method)(address)
        assert answer.status_code in (404, 405), f"{method} {address} → {answer.status_code}"


@pytest.mark.django_db
@pytest.mark.parametrize("route", [one for one in addresses() if not one.strip("^$").startswith(("api/", "sign-in"))])
def test_a_page_that_answers_get_answers_head(cast: Cast, route: str) -> None:
    address = filled(route, cast)
    rita = Client()
    rita.force_login(cast.rita, backend="allauth.account.auth_backends.AuthenticationBackend")
    assert rita.head(address).status_code == rita.get(address).status_code


def test_there_are_addresses_to_guard() -> None:
    assert len(addresses()) > 25


def tenant_tables() -> list[str]:
    """Every table of ours with a project in it, and the table of projects."""
    tables = []
    for model in apps.get_models():
        if model._meta.app_label not in ("projects", "memory", "review"):
            continue
        columns = {field.column for field in model._meta.concrete_fields}
        if "project_id" in columns or model._meta.model_name == "project":
            tables.append(model._meta.db_table)
    return sorted(tables)


@pytest.mark.django_db
@pytest.mark.parametrize("table", tenant_tables())
def test_every_tenant_table_is_under_row_level_security_without_force(table: str) -> None:
    with connections["owner"].cursor() as cursor:
        cursor.execute("SELECT relrowsecurity, relforcerowsecurity FROM pg_class WHERE relname = %s", [table])
        assert cursor.fetchone() == (True, False)
        cursor.execute(
            "SELECT count(*) FROM pg_policies WHERE tablename = %s AND 'countersign_app' = ANY(roles)", [table]
        )
        assert cursor.fetchone() == (1,)


@pytest.mark.django_db(transaction=True)
def test_the_database_itself_hides_another_tenants_rows() -> None:
    cast = factories.cast()
    with tenancy.project(cast.project.pk):
        session = factories.session(cast.support)
        Payload.objects.create(
            project=cast.project,
            observation=factories.observation(session, "Write to me."),
            body={},
            received_at=session.last_seen_at,
        )
        factories.proposal(cast.project)
    models = [Fact, Subject, Observation, Payload]
    assert [model.objects.count() for model in models] == [0, 0, 0, 0], "no context, no rows"
    with tenancy.project(cast.other.pk):
        assert [model.objects.count() for model in models] == [0, 0, 0, 0]
        # Not even a row of another's can be written, or an own one handed over.
        with pytest.raises(Exception, match="row-level security"):
            factories.subject(cast.project, "customer:cust_9")
    with tenancy.project(cast.project.pk):
        assert all(model.objects.count() for model in models)
    with tenancy.system("sweeper"):
        assert all(model.objects.count() for model in models)


@pytest.mark.django_db(transaction=True)
def test_a_context_never_outlives_its_transaction(db: None) -> None:
    cast = factories.cast()
    with tenancy.project(cast.project.pk):
        factories.proposal(cast.project)
        with tenancy.project(cast.other.pk):
            assert not Fact.objects.exists()
        assert Fact.objects.exists(), "the outer context is back"
    assert not Fact.objects.exists()


def test_only_named_reasons_look_across_projects() -> None:
    with pytest.raises(tenancy.UnknownSystemContext), tenancy.system("because I can"):
        pass


@pytest.mark.django_db
def test_no_model_waits_for_a_migration() -> None:
    said = StringIO()
    try:
        call_command("makemigrations", check=True, dry_run=True, stdout=said)
    except SystemExit:
        pytest.fail(said.getvalue())


def test_the_drawn_state_diagram_is_the_table() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text()
    drawn = re.search(r"```mermaid\n(stateDiagram-v2.*?)\n```", text, re.DOTALL)
    assert drawn is not None, "docs/architecture.md draws no state diagram"
    assert drawn.group(1) == as_mermaid()
    assert all(start in drawn.group(1) for start in TRANSITIONS)


def test_the_walls_keep_the_network_out() -> None:
    import socket

    with pytest.raises(AssertionError, match="tried to reach"):
        socket.create_connection(("192.0.2.1", 80), timeout=1)


def tracked_texts() -> Iterator[Path]:
    for folder in ("config", "projects", "memory", "review", "templates", "static", "tests", "docs", "benchmarks"):
        for path in (ROOT / folder).rglob("*"):
            if (
                path.suffix in {".py", ".md", ".html", ".css", ".js", ".toml", ".json", ".jsonl"}
                and "vendor" not in path.parts
            ):
                yield path


def test_no_file_holds_the_address_of_a_package_registry() -> None:
    address = re.compile(r"--(?:extra-)?index-url[ =]\S|\bregistry\s*=\s*http|https?://[\w.-]*(?:registry|pypi)\b")
    mix = (ROOT / "benchmarks").rglob("*.txt")
    for path in [*tracked_texts(), *mix, *ROOT.glob("*.lock"), ROOT / "pyproject.toml", ROOT / "README.md"]:
        found = address.search(path.read_text("utf-8"))
        assert found is None, f"{path.relative_to(ROOT)}: {found.group()}"


def test_agent_text_is_never_marked_safe() -> None:
    for path in tracked_texts():
        if path.suffix == ".py" and "tests" not in path.parts:
            source = path.read_text()
            for word in ("mark_safe", "format_html", "SafeString"):
                assert word not in source, f"{path.relative_to(ROOT)} uses {word}"


@pytest.mark.xdist_group("guard")
def test_tests_that_share_a_server_stay_on_one_worker() -> None:
    """xdist tells by the name that a group is one; where it does not, each worker starts a house of its own."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        pytest.skip("One process: nothing is spread.")
    assert "@guard" in os.environ["PYTEST_CURRENT_TEST"]
