"""Subjects: the list, and one with what each agent would be told about it now."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import pytest
from django.test import Client

from memory import short_ids
from memory.models import SessionSubject, Subject
from projects import tenancy
from projects.models import AuditEvent, Person
from review.pages.subject_pages import safe_link
from tests import factories
from tests.factories import Cast, approved, proposal, subject

pytestmark = pytest.mark.django_db


def signed_in(person: Person) -> Client:
    client = Client()
    client.force_login(person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


def address(row: Subject) -> str:
    return f"/p/shop/subjects/{short_ids.encode(row.pk, 'c')}"


def text(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page))


def test_each_agent_has_a_tab_with_what_it_would_be_told(cast: Cast) -> None:
    with tenancy.project(cast.project.pk):
        approved(cast.project, cast.rita, "Prefers e-mail.", everyone=False, agent_ids=[cast.support.pk])
        row = subject(cast.project)
    client = signed_in(cast.vera)
    assert "Prefers e-mail." in client.get(f"{address(row)}?agent=support").content.decode().split("Its memories")[0]
    sales = client.get(f"{address(row)}?agent=sales").content.decode()
    assert "Prefers e-mail." not in sales.split("Its memories")[0]
    assert "no approved memory about it is visible" in sales
    with tenancy.project(cast.project.pk):
        assert AuditEvent.objects.filter(action="subject.open", object_ids=[row.pk]).count() == 2


def test_no_address_on_the_pages_holds_who_it_is(cast: Cast) -> None:
    with tenancy.project(cast.project.pk):
        approved(cast.project, cast.rita)
        row = subject(cast.project)
    client = signed_in(cast.rita)
    pages = [client.get(one).content.decode() for one in ("/p/shop/subjects", address(row))]
    pages.append(client.post("/p/shop/subjects", {"q": "cust_123"}).content.decode())
    for page in pages:
        assert "cust_123" in text(page)
        assert not [one for one in re.findall(r'(?:href|action)="([^"]*)"', page) if "cust_123" in one]


def test_commitments_come_by_their_day_and_problems_until_they_are_solved(cast: Cast, now: datetime) -> None:
    late, soon = (now - timedelta(days=3)).date().isoformat(), (now + timedelta(days=3)).date().isoformat()
    with tenancy.project(cast.project.pk):
        for key, value in (("b", {"due_on": soon}), ("a", {"due_on": late}), ("c", {"what": "some day"})):
            approved(cast.project, cast.rita, f"Promise {key}.", key=f"commitment:{key}", value=value)
        for state in ("open", "solved"):
            approved(cast.project, cast.rita, f"It is {state}.", key=f"problem:{state}", value={"state": state})
        row = subject(cast.project)
    aside = text(signed_in(cast.vera).get(address(row)).content.decode()).split("Open commitments")[1]
    assert re.search(r"Promise a\. was due .*Promise b\. .*Promise c\. no day", aside)
    assert "It is open." in aside
    assert "It is solved." not in aside


def test_its_memories_are_listed_by_state(cast: Cast) -> None:
    with tenancy.project(cast.project.pk):
        approved(cast.project, cast.rita, "Prefers e-mail.")
        waits = proposal(cast.project, "Likes blue.", key="note:blue")
        row = subject(cast.project)
    client = signed_in(cast.vera)
    assert waits.short_id not in client.get(address(row)).content.decode()
    assert waits.short_id in client.get(f"{address(row)}?state=proposed").content.decode()
    assert client.get(f"{address(row)}?state=nonsense").status_code == 200


@pytest.mark.parametrize(
    ("link", "is_safe"),
    [
        ("https://crm.example/c/1?x=2", True),
        ("http://crm.example", True),
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("//crm.example", False),
        ("https:///x", False),
        (" https://crm.example", False),
        ("https://crm.example/\u202ex", False),
        ("java\nscript:alert(1)", False),
        ("", False),
    ],
)
def test_only_an_address_of_the_web_can_be_clicked(cast: Cast, link: str, is_safe: bool) -> None:
    assert bool(safe_link(link)) is is_safe
    with tenancy.project(cast.project.pk):
        row = subject(cast.project)
        Subject.objects.filter(pk=row.pk).update(link=link)
    page = signed_in(cast.vera).get(address(row)).content.decode()
    assert ("Open it where it comes from" in page) is is_safe
    assert 'href="javascript' not in page


def test_the_list_finds_by_name_or_id_and_counts(cast: Cast, now: datetime) -> None:
    with tenancy.project(cast.project.pk):
        row = subject(cast.project)
        Subject.objects.filter(pk=row.pk).update(label="Sarah Chen")
        subject(cast.project, "customer:cust_9")
        approved(cast.project, cast.rita)
        proposal(cast.project, "Likes blue.", key="note:blue")
        run = factories.session(cast.support, now=now)
        SessionSubject.objects.create(project=cast.project, session=run, subject=row)
    client = signed_in(cast.vera)
    found = text(client.post("/p/shop/subjects", {"q": "sarah"}).content.decode())
    assert "1 memory" in found
    assert "1 waiting" in found
    assert "1 open" in found
    assert "cust_9" not in found
    assert "Nobody here has that name" in client.post("/p/shop/subjects", {"q": "zebra"}).content.decode()


def test_the_list_pages_by_key_and_asks_the_same_number_of_queries(  # type: ignore[no-untyped-def]
    cast: Cast, django_assert_max_num_queries
) -> None:
    with tenancy.project(cast.project.pk):
        rows = [subject(cast.project, f"customer:c{number}") for number in range(60)]
    client = signed_in(cast.vera)
    with django_assert_max_num_queries(20):
        first = client.get("/p/shop/subjects").content.decode()
    later = re.search(r'href="(\?before=c-[0-9a-z]+)"', first)
    assert later is not None
    second = client.get(f"/p/shop/subjects{later[1]}").content.decode()
    shown = [[address(row) in page for row in rows] for page in (first, second)]
    assert [sum(page) for page in shown] == [50, 10]
    assert not any(one and other for one, other in zip(*shown, strict=True))


def test_a_page_of_a_subject_with_much_asks_the_same_number_of_queries(  # type: ignore[no-untyped-def]
    cast: Cast, now: datetime, django_assert_max_num_queries
) -> None:
    with tenancy.project(cast.project.pk):
        row = subject(cast.project)
        for number in range(60):
            approved(cast.project, cast.rita, f"Promise {number}.", key=f"commitment:{number}", value={"n": number})
            run = factories.session(cast.support, f"call-{number}", now=now)
            SessionSubject.objects.create(project=cast.project, session=run, subject=row)
    client = signed_in(cast.vera)
    with django_assert_max_num_queries(30):
        page = client.get(address(row)).content.decode()
    assert "Next 50" in page


def test_another_projects_subject_does_not_exist(cast: Cast) -> None:
    with tenancy.project(cast.other.pk):
        foreign = subject(cast.other, "customer:secret")
    client = signed_in(cast.rita)
    assert client.get(address(foreign)).status_code == 404
    assert client.get("/p/shop/subjects/c-000000").status_code == 404
    assert "secret" not in client.get("/p/shop/subjects").content.decode()


def test_a_new_memory_begins_with_the_subject(cast: Cast) -> None:
    with tenancy.project(cast.project.pk):
        row = subject(cast.project)
    client = signed_in(cast.rita)
    link = re.search(r'href="(/p/shop/memory/new\?about=c-[0-9a-z]+)"', client.get(address(row)).content.decode())
    assert link is not None
    assert 'value="customer:cust_123"' in client.get(link[1]).content.decode()
