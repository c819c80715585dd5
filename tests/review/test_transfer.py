"""Import and export in the browser and by command: one list, one named person, one undo."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from memory.models import Fact, Session, SessionKind, Status
from projects import tenancy
from projects.models import AuditEvent, Person
from tests import factories
from tests.factories import Cast

pytestmark = pytest.mark.django_db
NOTES = "- Postgres runs on 5434\n- Write to nils@example.com about refunds\n- " + "long " * 60 + "\n"


def signed_in(person: Person) -> Client:
    client = Client()
    client.force_login(person, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


def upload(client: Client, name: str, text: str, **data: str):  # type: ignore[no-untyped-def]
    file = SimpleUploadedFile(name, text.encode())
    return client.post("/p/shop/transfer", {"file": file, **data}, follow=True)


def ticks(facts: Iterable[Fact]) -> list[str]:
    """What the boxes of the page send: each memory at the revision that was seen."""
    return [f"{fact.short_id}.{fact.revision}" for fact in facts]


def statuses(cast: Cast) -> list[str]:
    with tenancy.project(cast.project.pk):
        return list(Fact.objects.order_by("pk").values_list("status", flat=True))


def test_a_file_becomes_one_list_that_a_person_approves(cast: Cast) -> None:
    client = signed_in(cast.rita)
    page = upload(client, "CLAUDE.md", NOTES)
    words = page.content.decode()
    assert "CLAUDE.md: 3 new." in words
    assert "3 proposed" in words
    assert "holds personal data" in words
    assert "is longer than a sentence" in words
    address = page.redirect_chain[-1][0]
    with tenancy.project(cast.project.pk):
        ids = ticks(Fact.objects.order_by("pk"))
    done = client.post(address, {"fact": ids}, follow=True).content.decode()
    assert "1 approved. 2 left: holds personal data 1, is longer than a sentence 1." in done
    assert statuses(cast) == [Status.APPROVED, Status.PROPOSED, Status.PROPOSED]
    client.post("/p/shop/review/undo", headers={"HX-Request": "true"})
    assert statuses(cast) == [Status.PROPOSED] * 3


def test_what_is_not_ticked_waits(cast: Cast) -> None:
    client = signed_in(cast.rita)
    address = upload(client, "CLAUDE.md", "- One\n- Two\n").redirect_chain[-1][0]
    with tenancy.project(cast.project.pk):
        second = ticks(Fact.objects.order_by("-pk"))[0]
    client.post(address, {"fact": [second, "f-000000", "f-000000.1", "'"]})
    assert statuses(cast) == [Status.PROPOSED, Status.APPROVED]


def test_a_table_is_asked_about_before_anything_is_stored(cast: Cast) -> None:
    client = signed_in(cast.rita)
    page = upload(client, "notes.csv", "Bemerkung,Kunde\nMag <b>Tee</b>,c-17\n").content.decode()
    assert "What are the columns?" in page
    assert "Mag &lt;b&gt;Tee&lt;/b&gt;" in page
    assert statuses(cast) == []
    told = {"name": "notes.csv", "content": "\nBemerkung,Kunde\nMag Tee,c-17\n".lstrip(), "about": ""}
    columns = {"column_text": "Bemerkung", "column_subject": "Kunde"}
    answer = client.post("/p/shop/transfer", told | columns, follow=True)
    assert "notes.csv: 1 new." in answer.content.decode()
    with tenancy.project(cast.project.pk):
        assert str(Fact.objects.get().subject) == "customer:c-17"


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.md", "", "empty"),
        ("a.md", "no bullets here", "No memory was found"),
        ("a.json", "neither", "no JSON"),
        ("a.md", "x" * 2_000_001, "2 MB"),
        ("a.md", "a\x00b", "binary"),
    ],
)
def test_a_file_that_cannot_be_taken_says_why(cast: Cast, name: str, text: str, says: str) -> None:
    answer = upload(signed_in(cast.rita), name, text)
    assert answer.status_code == 422
    assert says in answer.content.decode()
    assert statuses(cast) == []


def test_a_subject_that_is_none_is_named(cast: Cast) -> None:
    answer = upload(signed_in(cast.rita), "a.md", "- One\n", about="customer:")
    assert answer.status_code == 422
    assert "A subject needs a type and an id" in answer.content.decode()


def test_a_viewer_neither_imports_nor_approves(cast: Cast) -> None:
    address = upload(signed_in(cast.rita), "CLAUDE.md", "- One\n").redirect_chain[-1][0]
    viewer = signed_in(cast.vera)
    assert viewer.get("/p/shop/transfer").status_code == 403
    with tenancy.project(cast.project.pk):
        one = ticks(Fact.objects.all())
    viewer.post(address, {"fact": one})
    assert statuses(cast) == [Status.PROPOSED]
    assert "Approve what is ticked" not in viewer.get(address).content.decode()


def test_somebody_elses_session_is_no_import(cast: Cast) -> None:
    with tenancy.project(cast.project.pk):
        factories.session(cast.support)
        from memory import short_ids

        run = short_ids.encode(Session.objects.get().pk, "s")
    assert signed_in(cast.rita).get(f"/imports/{run}").status_code == 404


@pytest.mark.parametrize(
    ("wanted", "starts"), [("jsonl", '{"countersign": 1'), ("csv", "id,status"), ("markdown", "# ")]
)
def test_a_view_is_exported_as_it_is_filtered(cast: Cast, wanted: str, starts: str) -> None:
    with tenancy.project(cast.project.pk):
        factories.approved(cast.project, cast.rita, "Prefers letters.")
        factories.approved(cast.project, cast.rita, "Runs on 5434.", key="environment:port")
        factories.proposal(cast.project, "Waits.", key="note:waits")
    client = signed_in(cast.vera)
    answer = client.get(f"/p/shop/memory/export?format={wanted}&type=environment")
    said = answer.content.decode()
    assert said.startswith(starts)
    assert "Runs on 5434." in said
    assert "Prefers letters." not in said
    assert "Waits." not in said
    assert answer["Content-Disposition"].startswith('attachment; filename="shop-memories.')
    with tenancy.project(cast.project.pk):
        assert AuditEvent.objects.filter(action="memories.export").get().count == 1
    assert client.get("/p/shop/memory/export?format=exe").status_code == 404


# By command -----------------------------------------------------------------------------------------------------------


def run(name: str, *words: str) -> str:
    out = io.StringIO()
    call_command(name, *words, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def test_the_command_brings_a_folder_in_and_a_reviewer_stands_behind_it(cast: Cast, tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "CLAUDE.md").write_text("- One\n- Two\n")
    (tmp_path / "sub" / "m.jsonl").write_text('{"text": "Three"}\n{"text": "Fo')
    (tmp_path / "other.png").write_bytes(b"\x89PNG")
    dry = run("import_memories", str(tmp_path), "--project", "shop", "--dry-run", "--json")
    assert [json.loads(line)["new"] for line in dry.splitlines()] == [2, 1]
    assert statuses(cast) == []
    said = run("import_memories", str(tmp_path), "--project", "shop", "--approved-by", cast.rita.email, "--json")
    lines = [json.loads(line) for line in said.splitlines()]
    assert [(line["new"], line["approved"], line["skipped"]) for line in lines] == [(2, 2, {}), (1, 1, {"no_json": 1})]
    assert statuses(cast) == [Status.APPROVED] * 3
    with tenancy.project(cast.project.pk):
        assert set(Fact.objects.values_list("approved_by", flat=True)) == {cast.rita.pk}
        assert Session.objects.filter(kind=SessionKind.IMPORT).count() == 2
    again = run("import_memories", str(tmp_path), "--project", "shop", "--json")
    assert [json.loads(line)["same"] for line in again.splitlines()] == [2, 1]


def test_an_export_by_command_comes_back_unchanged(cast: Cast, tmp_path: Path) -> None:
    with tenancy.project(cast.project.pk):
        factories.approved(cast.project, cast.rita, "Prefers letters.", value={"channel": "letter"})
    file = tmp_path / "out.jsonl"
    run("export_memories", "--project", "shop", "--output", str(file))
    assert "1 known" in run("import_memories", str(file), "--project", "shop")
    assert run("export_memories", "--project", "shop") == file.read_text()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("nowhere.md", "--project", "shop"), "does not exist"),
        (("FILE", "--project", "none"), "There is no project"),
        (("FILE", "--project", "shop", "--approved-by", "vera@example.com"), "may not decide"),
        (("FILE", "--project", "shop", "--columns", "text"), "Write columns as"),
        (("FILE", "--project", "shop", "--about", "customer:"), "A subject needs"),
        (("TABLE", "--project", "shop"), "--columns text="),
    ],
)
def test_what_the_command_refuses(cast: Cast, tmp_path: Path, words: tuple[str, ...], says: str) -> None:
    file, table = tmp_path / "a.md", tmp_path / "t.csv"
    file.write_text("- One\n")
    table.write_text("Bemerkung\nMag Tee\n")
    given = [str({"FILE": file, "TABLE": table}.get(word, word)) for word in words]
    with pytest.raises(CommandError, match=says):
        run("import_memories", *given)
    assert statuses(cast) == []
