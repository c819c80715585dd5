"""The import page against files, names and forms that no browser would send, and against two people at once."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from memory.models import Evidence, Fact, Status
from projects import tenancy
from projects.models import Person
from tests import factories
from tests.factories import Cast

pytestmark = pytest.mark.django_db
SECRET = "AKIA" + "IOSFODNN7EXAMPLE"


def signed_in(person: Person) -> Client:
    client = Client()
    client.force_login(person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


def upload(client: Client, name: str, data: bytes, **fields: Any) -> Any:
    return client.post("/p/shop/transfer", {"file": SimpleUploadedFile(name, data), **fields}, follow=True)


@pytest.mark.parametrize(
    "name",
    ["../../etc/passwd.md", "a\u202edm.md", "<b>x</b>.md", "=1+1.csv.md", "x" * 250 + ".md", f"{SECRET}.md", " .md"],
)
def test_a_file_name_is_words(cast: Cast, name: str) -> None:
    page = upload(signed_in(cast.rita), name, b"- Postgres runs on 5434\n")
    words = page.content.decode()
    assert page.status_code in (200, 422)
    assert "<b>x</b>" not in words
    assert "\u202e" not in words
    assert SECRET not in words


@pytest.mark.parametrize(
    "about",
    [
        "customer:\x00",
        "customer:\u202e",
        f"customer:{SECRET}",
        "x" * 340,
        ":",
        "project:other",
        "a:b:c",
        "<b>",
    ],
)
def test_a_subject_in_the_form_is_a_subject_or_named(cast: Cast, about: str) -> None:
    page = upload(signed_in(cast.rita), "a.md", b"- Postgres runs on 5434\n", about=about)
    assert page.status_code in (200, 422)
    assert "<b>" not in page.content.decode().replace("<b>Countersigned", "")


@pytest.mark.parametrize(
    "content",
    ["a,b\n\x00,1\n", "a,b\n\ud800,1\n", "a,a\n1,2\n", "a\n", '"', "a,b\n=1+1,@x\n", "a,b\n" + "1,2\n" * 9_000],
)
@pytest.mark.parametrize("column", ["a", "b", "", "\x00", "zz", "\ud800", "<b>"])
def test_a_forged_table_is_read_or_refused(cast: Cast, content: str, column: str) -> None:
    if content.count("\n") > 100 and column != "zz":
        content = content[:400]
    told = {"name": "n.csv", "content": content, "about": "", "column_text": column, "column_zz": "a"}
    body = "&".join(f"{key}={_quoted(value)}" for key, value in told.items())
    answer = signed_in(cast.rita).post(
        "/p/shop/transfer", body, content_type="application/x-www-form-urlencoded", follow=True
    )
    assert answer.status_code in (200, 400, 422)


def _quoted(value: str) -> str:
    from urllib.parse import quote

    return quote(value.encode("utf-8", "surrogatepass"))


def test_the_same_file_twice_and_two_people_approve_each_line_once(cast: Cast) -> None:
    first, second = signed_in(cast.rita), signed_in(cast.olga)
    data = b"- Postgres runs on 5434\n- The queue is called green\n"
    address = upload(first, "a.md", data).redirect_chain[-1][0]
    again = upload(second, "b.md", data)
    assert "2 known" in again.content.decode()
    with tenancy.project(cast.project.pk):
        ids = [f"{fact.short_id}.{fact.revision}" for fact in Fact.objects.order_by("pk")]
        assert len(ids) == 2
    assert "2 approved" in first.post(address, {"fact": ids}, follow=True).content.decode()
    assert "0 approved" in second.post(address, {"fact": ids}, follow=True).content.decode()
    with tenancy.project(cast.project.pk):
        facts = list(Fact.objects.order_by("pk"))
        assert [fact.status for fact in facts] == [Status.APPROVED] * 2
        assert {fact.approved_by_id for fact in facts} == {cast.rita.pk}
        assert Evidence.objects.count() == 2


def test_no_import_touches_what_another_project_knows(cast: Cast) -> None:
    with tenancy.project(cast.other.pk):
        theirs = factories.proposal(cast.other, "Opens at seven.", key="customer_fact:open", value="seven")
    row = {"countersign": 1, "id": theirs.short_id, "type": "customer_fact", "key": "customer_fact:open"}
    row |= {"value": "seven", "text": "Opens at seven.", "subject": "customer:cust_123"}
    client = signed_in(cast.rita)
    page = upload(client, "a.jsonl", json.dumps(row).encode())
    assert "1 new" in page.content.decode()
    client.post(page.redirect_chain[-1][0], {"fact": [f"{theirs.short_id}.{theirs.revision}"]})
    with tenancy.project(cast.other.pk):
        assert Fact.objects.get().status == Status.PROPOSED
        assert Fact.objects.get().times_seen == 1
