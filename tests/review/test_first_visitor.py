"""An empty installation: who may be first, and what the door looks like afterwards."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from projects import first_visitor
from projects.models import AuditEvent, Membership, Person, Project, Role

pytestmark = [pytest.mark.django_db(databases="__all__"), pytest.mark.usefixtures("sight")]
LINE = "a line of my own to sign"


@pytest.fixture(autouse=True)
def _no_earlier_tries() -> None:
    cache.clear()


def form(**fields: str) -> dict[str, str]:
    return {
        "code": "",
        "email": "Ada@Example.com",
        "name": "Ada",
        "password1": LINE,
        "password2": LINE,
        **fields,
    }


def words(response: Any) -> str:
    return response.content.decode()


def test_an_empty_installation_sends_its_first_visitor_to_the_code(client: Client) -> None:
    assert client.get("/")["Location"] == "/welcome"
    assert client.get("/sign-in?next=/p/shop/review")["Location"] == "/welcome"
    assert "one-time code" in words(client.get("/welcome"))


def test_the_right_code_makes_an_operator_who_is_signed_in_and_names_the_first_project(client: Client) -> None:
    code = first_visitor.code()
    assert code
    answer = client.post("/welcome", form(code=f" {code.upper()} "))
    assert (answer.status_code, answer["Location"]) == (302, "/projects/new")
    ada = Person.objects.get()
    assert (ada.email, ada.name, ada.is_operator) == ("ada@example.com", "Ada", True)
    assert AuditEvent.objects.get(action="person.first").object_ids == [ada.pk]

    page = words(client.get("/projects/new"))
    assert "The first project" in page
    assert 'value="ada@example.com"' in page
    made = client.post(
        "/projects/new", {"name": "Shop", "slug": "shop", "timezone": "Europe/Berlin", "owner": ada.email}
    )
    assert made["Location"] == "/p/shop/start"
    assert Membership.objects.get().role == Role.OWNER
    assert Project.objects.get().timezone == "Europe/Berlin"
    assert "Get started" in words(client.get("/p/shop/start"))


def test_a_wrong_code_is_said_beside_the_field_and_what_was_typed_stays(client: Client) -> None:
    first_visitor.code()
    answer = client.post("/welcome", form(code="aaaa-bbbb-cccc"))
    assert answer.status_code == 422
    assert "not the code that was printed last" in words(answer)
    assert 'value="Ada@Example.com"' in words(answer)
    assert LINE not in words(answer)
    assert not Person.objects.exists()


def test_only_the_code_printed_last_counts_and_only_once(client: Client) -> None:
    old, new = first_visitor.code(), first_visitor.code()
    assert old
    assert new
    assert client.post("/welcome", form(code=old)).status_code == 422
    assert client.post("/welcome", form(code=new)).status_code == 302
    assert Client().post("/welcome", form(code=new, email="eve@example.com"))["Location"] == "/"
    assert Person.objects.count() == 1
    assert first_visitor.code() is None


def test_without_a_printed_code_nobody_comes_in(client: Client) -> None:
    assert client.post("/welcome", form(code="")).status_code == 422
    assert client.post("/welcome", form(code="-")).status_code == 422
    assert not Person.objects.exists()


@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        ("short", "short", "too short"),
        (LINE, "another line", "not the same"),
        ("ada@example.com", "ada@example.com", "similar"),
    ],
)
def test_a_weak_or_mistyped_password_is_refused_before_the_code_is_used(
    client: Client, first: str, second: str, sentence: str
) -> None:
    code = first_visitor.code()
    assert code
    answer = client.post("/welcome", form(code=code, password1=first, password2=second))
    assert answer.status_code == 422
    assert sentence in words(answer)
    assert client.post("/welcome", form(code=code)).status_code == 302


def test_the_eleventh_try_in_a_minute_is_refused(client: Client) -> None:
    code = first_visitor.code()
    assert code
    assert {client.post("/welcome", form(code="wrong")).status_code for _ in range(10)} == {422}
    answer = client.post("/welcome", form(code=code))
    assert answer.status_code == 429
    assert "Wait a minute" in words(answer)
    assert not Person.objects.exists()


def test_the_welcome_is_over_once_somebody_is_there(client: Client) -> None:
    Person.objects.create_person("ada@example.com", password=LINE)
    assert client.get("/welcome")["Location"] == "/"
    assert client.get("/")["Location"] == "/sign-in?next=/"
