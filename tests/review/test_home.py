"""Home: the projects of whoever looks, what waits in each, and what an operator may do beside."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.mail import EmailMessage
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from projects.models import AuditEvent, Invitation, Membership, Person, Project, Role
from projects.people import invite
from tests import factories
from tests.factories import Cast

pytestmark = [pytest.mark.django_db(databases="__all__"), pytest.mark.usefixtures("sight")]


def words(response: Any) -> str:
    return response.content.decode()


@pytest.fixture
def operator(cast: Cast) -> Person:
    return factories.person("otto@example.com", is_operator=True)


def test_a_reviewer_sees_her_projects_and_what_waits(
    client: Client, cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    factories.proposal(cast.project)
    factories.session(cast.support, "broken", status="failed")
    cast.sales.pause(factories.timezone.now())
    client.force_login(cast.rita)
    with django_assert_max_num_queries(20):
        page = words(client.get("/"))
    assert "1 to decide" in page
    assert "1 could not be read" in page
    assert "1 agent paused" in page
    assert "Depot" not in page
    assert "New project" not in page


def test_somebody_in_no_project_is_told_what_to_do(client: Client, cast: Cast) -> None:
    client.force_login(cast.carl)
    assert "You are in no project" in words(client.get("/"))


def test_an_operator_sees_that_projects_are_there_and_nothing_that_is_in_them(
    client: Client, cast: Cast, operator: Person
) -> None:
    factories.proposal(cast.project, "Prefers tea.")
    client.force_login(operator)
    page = words(client.get("/"))
    assert "No project is yours yet" in page
    assert "olga@example.com" in page
    assert "Prefers tea" not in page
    assert " to decide</a>" not in page
    assert client.get("/p/shop/review").status_code == 404


def test_only_an_operator_makes_projects(client: Client, cast: Cast) -> None:
    assert client.get("/projects/new")["Location"] == "/sign-in?next=/projects/new"
    client.force_login(cast.olga)
    answer = client.post("/projects/new", {"name": "New", "slug": "new", "timezone": "UTC", "owner": cast.olga.email})
    assert answer.status_code == 403
    assert "Only an operator" in words(answer)
    assert Project.objects.count() == 2


def test_another_owner_gets_a_link_that_is_shown_once(client: Client, operator: Person) -> None:
    client.force_login(operator)
    fields = {"name": "Annex", "slug": "annex", "timezone": "UTC", "owner": "Nina@example.com"}
    answer = client.post("/projects/new", fields)
    assert answer.status_code == 200
    assert "http://testserver/invitation/" in words(answer)
    project = Project.objects.get(slug="annex")
    assert not Membership.objects.filter(project=project).exists()
    invitation = Invitation.objects.get(project=project)
    assert (invitation.email, invitation.role) == ("nina@example.com", Role.OWNER)
    actions = AuditEvent.objects.filter(project_id=project.pk).values_list("action", flat=True)
    assert set(actions) == {"project.create", "invitation.create"}
    assert "/invitation/" not in words(client.get("/"))


def test_a_link_is_mailed_where_a_mail_server_is_set(
    client: Client, operator: Person, settings: Any, mailoutbox: list[EmailMessage]
) -> None:
    settings.MAIL_IS_SENT = True
    client.force_login(operator)
    fields = {"name": "Annex", "slug": "annex", "timezone": "UTC", "owner": "nina@example.com"}
    page = words(client.post("/projects/new", fields))
    assert "on its way by mail" in page
    assert mailoutbox[0].to == ["nina@example.com"]
    assert mailoutbox[0].subject == "An invitation to Countersign"
    assert "http://testserver/invitation/" in str(mailoutbox[0].body)


@pytest.mark.parametrize(
    ("field", "value", "sentence"),
    [
        ("slug", "shop", "Another project has this short name"),
        ("slug", "Not A Slug", "lower-case letters"),
        ("timezone", "Mars/Olympus", "not one of the available choices"),
        ("owner", "nobody", "valid email address"),
        ("name", "", "required"),
    ],
)
def test_what_is_wrong_with_a_project_is_said_beside_the_field(
    client: Client, operator: Person, field: str, value: str, sentence: str
) -> None:
    client.force_login(operator)
    fields = {"name": "Annex", "slug": "annex", "timezone": "UTC", "owner": operator.email, field: value}
    answer = client.post("/projects/new", fields)
    assert answer.status_code == 422
    assert sentence in words(answer)
    assert Project.objects.count() == 2


def test_an_open_invitation_of_the_owner_shows_as_nobody_yet(client: Client, cast: Cast, operator: Person) -> None:
    project = Project.objects.create(slug="annex", name="Annex")
    invite(project, "nina@example.com", Role.OWNER, by=operator, now=factories.timezone.now())
    client.force_login(operator)
    assert "the invitation is open" in words(client.get("/"))


def test_the_theme_is_kept_in_a_cookie_and_leads_back(client: Client, cast: Cast) -> None:
    client.force_login(cast.rita)
    answer = client.post("/theme", {"theme": "dark", "next": "/p/shop/memory?q=a"})
    assert answer["Location"] == "/p/shop/memory?q=a"
    assert client.cookies["theme"].value == "dark"
    assert '<html lang="en" class="dark"' in words(client.get("/"))


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", "x", ""]
)
def test_the_theme_never_leads_out_of_the_house(client: Client, cast: Cast, target: str) -> None:
    client.force_login(cast.rita)
    assert client.post("/theme", {"theme": "light", "next": target})["Location"] == "/"


def test_an_invented_theme_changes_nothing(client: Client, cast: Cast) -> None:
    client.force_login(cast.rita)
    client.post("/theme", {"theme": "neon", "next": "/"})
    assert "theme" not in client.cookies
