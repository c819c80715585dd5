"""Get started, the project's settings, and health."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from projects.models import Agent, ApiKey, AuditEvent, Membership, Project, Role
from review.pages import health_pages
from tests import factories
from tests.factories import Cast

pytestmark = [pytest.mark.django_db(databases="__all__"), pytest.mark.usefixtures("sight")]


def words(response: Any) -> str:
    return response.content.decode()


def ticked(page: str) -> list[bool]:
    """Of the five steps, which are done."""
    todo = page[page.index('<ol class="sheet todo">') : page.index("</ol>")]
    return [item == ' class="done"' for item in re.findall(r"^<li( class=\"done\")?>", todo, re.M)]


@pytest.fixture
def annex(cast: Cast) -> Project:
    """A project of Olga's where nothing has happened."""
    project = Project.objects.create(slug="annex", name="Annex", idle_minutes=7)
    Membership.objects.create(project=project, person=cast.olga, role=Role.OWNER)
    Membership.objects.create(project=project, person=cast.vera, role=Role.VIEWER)
    return project


def test_nothing_is_ticked_where_nothing_happened(client: Client, cast: Cast, annex: Project) -> None:
    client.force_login(cast.olga)
    page = words(client.get("/p/annex/start"))
    assert ticked(page) == [False] * 5
    assert "Connect it and issue a key" in page
    assert "7 minutes after its last word" in page
    client.force_login(cast.vera)
    page = words(client.get("/p/annex/start"))
    assert "Connect it and issue a key" not in page
    assert client.post("/p/annex/start", {"slug": "support"}).status_code == 403


def test_one_form_names_the_first_agent_and_shows_its_key_inside_the_lines(
    client: Client, cast: Cast, annex: Project
) -> None:
    client.force_login(cast.olga)
    answer = client.post("/p/annex/start", {"slug": "support"})
    page = words(answer)
    secret = re.search(r"cs_[0-9a-f]{8}_[0-9a-f]{40}", page)
    assert secret
    assert page.count(f"Bearer {secret[0]}") == 4
    assert "http://testserver/api/v1/sessions/first-try/observations" in page
    assert ticked(page) == [True, False, False, False, False]
    key = ApiKey.objects.get(project=annex)
    assert (key.person, key.agent.slug) == (cast.olga, "support")

    again = client.post("/p/annex/start", {"slug": "support"})
    assert again.status_code == 422
    assert ApiKey.objects.filter(project=annex).count() == 1
    page = words(client.get("/p/annex/start"))
    assert secret[0] not in page
    assert "$COUNTERSIGN_KEY" in page
    assert "listening, nothing heard yet" in page
    assert "import_sessions ~/.claude/projects --project annex --agent support" in page


def test_the_steps_tick_themselves_by_what_the_server_has_seen(
    client: Client, cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    now = timezone.now()
    client.force_login(cast.olga)
    assert ticked(words(client.get("/p/shop/start"))) == [True, False, False, False, False]
    Agent.objects.filter(pk=cast.support.pk).update(last_heard_at=now - timedelta(minutes=2))
    talk = factories.session(cast.support)
    page = words(client.get("/p/shop/start"))
    assert ticked(page) == [True, True, False, False, False]
    assert "last heard 2 min ago" in page
    assert "1 session is open" in page
    talk.mark("distilled")
    factories.proposal(cast.project)
    page = words(client.get("/p/shop/start"))
    assert ticked(page) == [True, True, True, False, False]
    assert "1 waits under" in page
    factories.approved(cast.project, cast.rita, "Prefers tea.", key="user_preference:tea")
    Agent.objects.filter(pk=cast.sales.pk).update(last_brief_at=now)
    with django_assert_max_num_queries(22):
        page = words(client.get("/p/shop/start"))
    assert ticked(page) == [True] * 5
    assert "sales fetched the last one" in page


def test_a_name_that_will_not_do_is_said_beside_the_field(client: Client, cast: Cast, annex: Project) -> None:
    client.force_login(cast.olga)
    answer = client.post("/p/annex/start", {"slug": "No Slug"})
    assert answer.status_code == 422
    assert "lower-case" in words(answer)


@pytest.mark.parametrize("page", ["start", "settings", "health"])
def test_strangers_sign_in_and_members_of_another_project_find_nothing(client: Client, cast: Cast, page: str) -> None:
    assert client.get(f"/p/shop/{page}")["Location"].startswith("/sign-in")
    client.force_login(cast.sam)
    assert client.get(f"/p/shop/{page}").status_code == 404


def test_an_owner_changes_the_settings_of_the_project(client: Client, cast: Cast) -> None:
    client.force_login(cast.olga)
    assert "Keep these" in words(client.get("/p/shop/settings"))
    fields = {"name": "The shop", "timezone": "Europe/Berlin", "idle_minutes": 9, "brief_budget_tokens": 900}
    assert client.post("/p/shop/settings", fields).status_code == 302
    project = Project.objects.get(slug="shop")
    assert (project.name, project.timezone, project.idle_minutes, project.brief_budget_tokens) == tuple(fields.values())
    assert AuditEvent.objects.get(project_id=project.pk).action == "project.change"
    client.force_login(cast.rita)
    assert client.get("/p/shop/settings").status_code == 403


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", ""),
        ("timezone", "Mars"),
        ("idle_minutes", 0),
        ("brief_budget_tokens", 1),
        ("brief_budget_tokens", 10**9),
    ],
)
def test_settings_that_make_no_sense_are_refused_and_nothing_changes(
    client: Client, cast: Cast, field: str, value: Any
) -> None:
    client.force_login(cast.olga)
    fields = {"name": "X", "timezone": "UTC", "idle_minutes": 9, "brief_budget_tokens": 900, field: value}
    answer = client.post("/p/shop/settings", fields)
    assert answer.status_code == 422
    assert f"id_{field}_error" in words(answer)
    assert Project.objects.get(slug="shop").name == "Shop"


@dataclass(frozen=True)
class Fault:
    name: str
    ok: bool
    sentence: str
    mend: str = ""


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [Fault("postgres", True, "Postgres 18 answers."), Fault("worker", False, "No worker.", "manage.py worker")]
    monkeypatch.setattr(health_pages, "_report", lambda: found)


@pytest.mark.usefixtures("report")
def test_health_says_a_sentence_per_fault_and_the_command_that_mends_it(client: Client, cast: Cast) -> None:
    cast.support.dropped_count = 3
    cast.support.save()
    factories.session(cast.sales, "broken", status="failed")
    client.force_login(cast.olga)
    page = words(client.get("/p/shop/health"))
    assert "Postgres 18 answers." in page
    assert "manage.py worker" in page
    assert "3 records were left out" in page
    assert "1 session could not be read" in page


@pytest.mark.usefixtures("report")
def test_the_health_of_the_installation_is_for_owners_and_operators(client: Client, cast: Cast) -> None:
    client.force_login(cast.rita)
    page = words(client.get("/p/shop/health"))
    assert "Postgres 18" not in page
    assert "Owners and operators also see" in page
    assert client.get("/health").status_code == 403
    client.force_login(factories.person("otto@example.com", is_operator=True))
    assert "Postgres 18 answers." in words(client.get("/health"))
    client.logout()
    assert client.get("/health")["Location"].startswith("/sign-in")
