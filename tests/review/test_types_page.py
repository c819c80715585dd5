"""The settings of the kinds of memories: all may read them, owners change them, and nobody is surprised."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from memory.models import Fact
from memory.types import TYPES
from projects.models import AuditEvent, Project
from tests.factories import Cast, approved

pytestmark = [pytest.mark.django_db(databases="__all__"), pytest.mark.usefixtures("sight")]


def words(response: Any) -> str:
    return response.content.decode()


@pytest.fixture
def olga(client: Client, cast: Cast) -> Client:
    client.force_login(cast.olga)
    return client


def sent(client: Client, name: str = "fix", **changes: str) -> dict[str, str]:
    """What the form of a type holds as the page shows it, with some fields changed; an empty tick is not sent."""
    page = words(client.get(f"/p/shop/types/{name}"))
    fields = dict(re.findall(r'<input type="(?:text|number|hidden)" name="(\w+)"(?: value="([^"]*)")?', page))
    fields = {key: value.replace("&#x27;", "'").replace("&quot;", '"') for key, value in fields.items()}
    fields |= dict.fromkeys(re.findall(r'<input type="checkbox" name="(\w+)"[^>]* checked', page), "on")
    (chosen,) = re.findall(r'<option value="(\w+)" selected', page)
    fields |= {"counts_from": chosen, **changes}
    return {key: value for key, value in fields.items() if value != "off"}


def types(cast: Cast) -> dict[str, Any]:
    return Project.objects.get(pk=cast.project.pk).types


def actions(cast: Cast) -> list[str]:
    return list(
        AuditEvent.objects.filter(project_id=cast.project.pk, action__startswith="types").values_list(
            "action", flat=True
        )
    )


def test_everybody_in_the_project_reads_the_table_in_words(
    client: Client, cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    cast.project.types = {"fix": {"lifetime_days": 1}, "visit": {"words": "shop visit", "half_life_days": 7}}
    cast.project.save()
    approved(cast.project, cast.rita, key="error:a")
    client.force_login(cast.vera)
    with django_assert_max_num_queries(20):
        page = words(client.get("/p/shop/types"))
    text = re.sub(r"<[^>]+>", " ", page)
    for said in (
        *("1 day after it was last seen or in a brief", "90 days after it was last seen", "no end"),
        *("14 days after it is due, else 90 days", "after 180 days", "by half in 7 days", "Shop visit", "1 memory"),
        *("not looked for", "changed ·", "added ·", "An owner of Shop changes them."),
    ):
        assert said in text, said
    assert "Add a type" not in page
    assert "types/fix" not in page


@pytest.mark.parametrize("path", ["types", "types/fix", "types/fix/reset"])
def test_strangers_sign_in_and_members_of_another_project_find_nothing(client: Client, cast: Cast, path: str) -> None:
    assert client.post(f"/p/shop/{path}")["Location"].startswith("/sign-in")
    client.force_login(cast.sam)
    assert client.post(f"/p/shop/{path}").status_code == 404


@pytest.mark.parametrize("who", ["rita", "vera"])
def test_only_an_owner_changes_the_table(client: Client, cast: Cast, who: str) -> None:
    client.force_login(getattr(cast, who))
    for path, fields in (("types", {"name": "visit"}), ("types/fix", {"lifetime_days": "3"}), ("types/fix/reset", {})):
        assert client.post(f"/p/shop/{path}", fields).status_code == 403
    assert client.get("/p/shop/types/fix").status_code == 403
    assert types(cast) == {}


def test_an_owner_changes_cells_and_it_is_on_record(olga: Client, cast: Cast) -> None:
    changes = {"words": "mend", "lifetime_days": "120", "half_life_days": "", "one_by_one": "on", "is_sought": "off"}
    answer = olga.post("/p/shop/types/fix", sent(olga, **changes))
    assert answer["Location"] == "/p/shop/types"
    assert types(cast) == {
        "fix": {"words": "mend", "lifetime_days": 120, "half_life_days": None, "one_by_one": True, "is_sought": False}
    }
    assert actions(cast) == ["types.change"]
    assert "Kept." in words(olga.get("/p/shop/types"))


def test_a_form_sent_as_it_stands_changes_nothing(olga: Client, cast: Cast) -> None:
    for name in TYPES:
        assert olga.post(f"/p/shop/types/{name}", sent(olga, name)).status_code == 302
    assert types(cast) == {}


def test_what_would_end_is_told_before_it_is_done(olga: Client, cast: Cast) -> None:
    now = timezone.now()
    for number in range(12):
        approved(
            cast.project, cast.rita, f"Lesson {number}.", key=f"fix:{number}", now=now - timedelta(days=4 * number)
        )
    before = dict(Fact.objects.values_list("pk", "expires_at"))
    fields = sent(olga, lifetime_days="30")
    page = words(olga.post("/p/shop/types/fix", fields))
    assert "12 memories would end earlier, 4 of them at once." in page
    assert "Nothing is changed yet." in page
    assert 'value="30"' in page
    assert (types(cast), dict(Fact.objects.values_list("pk", "expires_at"))) == ({}, before)
    agreed = re.search(r'name="agreed" value="([^"]+)"', page)
    assert agreed
    # Somebody approves one more meanwhile: told again, with the new number.
    approved(cast.project, cast.rita, "Another.", key="fix:another")
    page = words(olga.post("/p/shop/types/fix", {**fields, "agreed": agreed[1]}))
    assert "13 memories would end earlier" in page
    agreed = re.search(r'name="agreed" value="([^"]+)"', page)
    assert agreed
    answer = olga.post("/p/shop/types/fix", {**fields, "agreed": agreed[1]}, follow=True)
    assert "Kept. 13 memories end on another day now." in words(answer)
    assert types(cast) == {"fix": {"lifetime_days": 30}}


def test_going_back_to_what_is_shipped_tells_too(olga: Client, cast: Cast) -> None:
    olga.post("/p/shop/types/fix", sent(olga, lifetime_days="400"))
    cast.project.refresh_from_db()
    approved(Project.objects.get(pk=cast.project.pk), cast.rita, key="fix:a")
    page = words(olga.post("/p/shop/types/fix/reset"))
    assert "1 memory would end earlier." in page
    agreed = re.search(r'name="agreed" value="([^"]+)"', page)
    assert agreed
    assert olga.post("/p/shop/types/fix/reset", {"agreed": agreed[1]}).status_code == 302
    assert types(cast) == {}


def test_a_type_is_added_edited_and_taken_away(olga: Client, cast: Cast) -> None:
    assert olga.post("/p/shop/types", {"name": "visit"})["Location"] == "/p/shop/types/visit"
    assert types(cast) == {"visit": {}}
    assert "added by this project" in words(olga.get("/p/shop/types/visit"))
    olga.post("/p/shop/types/visit", sent(olga, "visit", words="shop visit", single_valued="on"))
    assert types(cast)["visit"]["words"] == "shop visit"
    assert types(cast)["visit"]["single_valued"] is True
    assert "shop visit" in words(olga.get("/p/shop/memory/new"))
    assert olga.post("/p/shop/types/visit/reset").status_code == 302
    assert types(cast) == {}


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("fix", "There is a type of this name."),
        ("Bad Name", "small letters"),
        ("a:b", "small letters"),
        ("", "This field is required."),
        ("x" * 41, "at most 40"),
    ],
)
def test_a_name_that_does_not_fit_is_said_beside_the_field(olga: Client, cast: Cast, name: str, sentence: str) -> None:
    answer = olga.post("/p/shop/types", {"name": name})
    assert answer.status_code == 422
    assert sentence in words(answer)
    assert types(cast) == {}


@pytest.mark.parametrize(
    ("name", "changes", "sentence"),
    [
        ("fix", {"lifetime_days": "0"}, "greater than or equal to 1"),
        ("fix", {"lifetime_days": "99999999"}, "less than or equal to 36500"),
        ("fix", {"lifetime_days": "soon"}, "whole number"),
        ("fix", {"words": ""}, "required"),
        ("fix", {"words": "a\u200bb"}, "in one line"),
        ("fix", {"counts_from": "birth"}, "not one of the available choices"),
        ("choice", {"lifetime_days": "100"}, "It ends after 100 days"),
    ],
)
def test_what_is_wrong_is_said_beside_the_field(
    olga: Client, cast: Cast, name: str, changes: dict[str, str], sentence: str
) -> None:
    answer = olga.post(f"/p/shop/types/{name}", sent(olga, name, **changes))
    assert answer.status_code == 422
    assert sentence in words(answer)
    assert types(cast) == {}


def test_a_shipped_type_of_one_value_stays_one(olga: Client, cast: Cast) -> None:
    fields = sent(olga, "choice")
    fields.pop("single_valued", None)
    assert olga.post("/p/shop/types/choice", fields).status_code == 302
    assert types(cast) == {}


def test_of_two_owners_the_second_is_told(olga: Client, cast: Cast) -> None:
    fields = sent(olga, words="mend")
    olga.post("/p/shop/types/fix", sent(olga, words="repair"))
    answer = olga.post("/p/shop/types/fix", fields)
    assert answer.status_code == 409
    assert "Somebody changed this type" in words(answer)
    assert 'value="repair"' in words(answer)
    assert types(cast) == {"fix": {"words": "repair"}}


def test_a_type_nobody_added_is_no_page(olga: Client) -> None:
    for path in ("types/nothing", "types/nothing/reset", "types/%00"):
        assert olga.post(f"/p/shop/{path}").status_code == 404
