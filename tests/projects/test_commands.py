"""Projects, agents, keys and people from the command line: once made, made; nonsense is one sentence."""

from __future__ import annotations

import io
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Model
from django.utils import timezone

from projects import named, tenancy
from projects.models import Agent, ApiKey, AuditEvent, Membership, Person, Project, hash_key

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def looking() -> Any:
    """The test looks at every project; the commands set their own context inside."""
    with tenancy.system("command"):
        yield


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def refusal(*arguments: str) -> str:
    with pytest.raises(CommandError) as refused:
        run(*arguments)
    message = str(refused.value)
    assert "\n" not in message
    return message


@pytest.fixture
def shop() -> Project:
    run("create_project", "shop")
    run("create_agent", "shop", "support")
    return Project.objects.get(slug="shop")


def test_a_project_is_made_once(shop: Project) -> None:
    assert shop.name == "Shop"
    assert "exists already" in run("create_project", "shop", "--name", "Another")
    shop.refresh_from_db()
    assert shop.name == "Shop"
    assert AuditEvent.objects.filter(action="project.create", project_id=shop.pk).count() == 1


def test_an_agent_is_made_once(shop: Project) -> None:
    assert "exists already" in run("create_agent", "shop", "support")
    assert Agent.objects.filter(project=shop).count() == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("create_project", "Big Shop"), "lower-case"),
        (("create_project", "shop2", "--timezone", "Mars/Base"), "time zone"),
        (("create_agent", "nowhere", "support"), "create_project nowhere"),
        (("create_agent", "shop", "Support Bot"), "lower-case"),
        (("issue_key", "nowhere", "support"), "create_project nowhere"),
        (("issue_key", "shop", "nobody"), "create_agent shop nobody"),
        (("issue_key", "shop", "support", "--allow", "fly"), "capture, brief, propose"),
        (("issue_key", "shop", "support", "--allow", ""), "capture, brief, propose"),
        (("issue_key", "shop", "support", "--expires-in", "soon"), "90d"),
        (("issue_key", "shop", "support", "--expires-in", "0d"), "90d"),
        (("issue_key", "shop", "support", "--expires-in", "99999w"), "ten years"),
        (("issue_key", "shop", "support", "--person", "nobody@example.com"), "create_person"),
        (("create_person", "nobody", "--operator"), "no e-mail address"),
        (("create_person", "ann@example.com"), "Say what they do"),
        (("create_person", "ann@example.com", "--role", "owner"), "go together"),
        (("create_person", "ann@example.com", "--role", "owner", "--project", "nowhere"), "create_project"),
    ],
)
def test_nonsense_is_refused_in_one_sentence_that_says_what_to_do(
    shop: Project, arguments: tuple[str, ...], says: str
) -> None:
    assert says in refusal(*arguments)
    assert not ApiKey.objects.exists()
    assert not Person.objects.exists()


def test_an_archived_agent_gets_no_key_and_no_twin(shop: Project) -> None:
    Agent.objects.update(archived_at=timezone.now())
    assert "archived" in refusal("issue_key", "shop", "support")
    assert "archived" in refusal("create_agent", "shop", "support")


def test_a_key_stands_alone_on_the_last_line_and_works(shop: Project) -> None:
    printed = run("issue_key", "shop", "support", "--allow", "brief,capture", "--expires-in", "90d")
    secret = printed.splitlines()[-1]
    key = ApiKey.objects.get(key_hash=hash_key(secret))
    assert printed.count(secret) == 1
    assert key.permissions == ["brief", "capture"]
    assert key.expires_at is not None
    assert timedelta(days=89) < key.expires_at - timezone.now() < timedelta(days=91)
    assert secret not in repr(list(AuditEvent.objects.values_list()))


def test_a_key_is_held_by_the_person_named(shop: Project) -> None:
    run("create_person", "ann@example.com", "--role", "viewer", "--project", "shop")
    run("issue_key", "shop", "support", "--person", "Ann@example.com")
    assert ApiKey.objects.get().person == Person.objects.get(email="ann@example.com")


def test_a_new_person_can_sign_in_with_the_password_on_the_last_line(shop: Project) -> None:
    printed = run("create_person", "Ann@Example.com", "--role", "reviewer", "--project", "shop", "--name", "Ann")
    person = Person.objects.get(email="ann@example.com")
    assert person.name == "Ann"
    assert person.check_password(printed.splitlines()[-1])
    assert Membership.objects.get(person=person).role == "reviewer"


def test_a_person_who_exists_keeps_the_password_and_gets_the_role(shop: Project) -> None:
    first = run("create_person", "ann@example.com", "--role", "reviewer", "--project", "shop").splitlines()[-1]
    again = run("create_person", "ann@example.com", "--role", "owner", "--project", "shop")
    run("create_person", "ann@example.com", "--compliance", "--operator")
    person = Person.objects.get()
    assert "password" not in again
    assert person.check_password(first)
    assert (person.is_compliance, person.is_operator) == (True, True)
    assert Membership.objects.get().role == "owner"


def test_the_last_owner_stays_owner(shop: Project) -> None:
    run("create_person", "ann@example.com", "--role", "owner", "--project", "shop")
    assert "only owner" in refusal("create_person", "ann@example.com", "--role", "viewer", "--project", "shop")
    assert Membership.objects.get().role == "owner"


def test_a_password_comes_from_standard_input(shop: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("a ruled line to sign\n"))
    printed = run("create_person", "ann@example.com", "--compliance", "--password-stdin")
    assert Person.objects.get().check_password("a ruled line to sign")
    assert "ruled" not in printed


@pytest.fixture
def overtaken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look whether a row is there and its making, somebody else makes it."""
    added = named.added

    def late(row: Model) -> bool:
        twin = {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields}
        type(row)._default_manager.bulk_create([type(row)(**{**twin, "id": None})])
        return added(row)

    monkeypatch.setattr(named, "added", late)


def test_who_is_second_by_a_moment_finds_it_made(shop: Project, overtaken: None) -> None:
    assert run("create_project", "depot") == "Project depot exists already.\n"
    assert run("create_agent", "shop", "night-shift") == "Agent night-shift exists already in project shop.\n"
    assert Project.objects.filter(slug="depot").count() == 1
    assert Agent.objects.filter(slug="night-shift").count() == 1
    assert "Run the same again." in refusal("create_person", "rita@example.com", "--operator")


@pytest.mark.parametrize("password", ["", "short\n", "password1234\n"])
def test_a_weak_password_makes_nobody(shop: Project, monkeypatch: pytest.MonkeyPatch, password: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(password))
    assert "password" in refusal("create_person", "ann@example.com", "--compliance", "--password-stdin").lower()
    assert not Person.objects.exists()
