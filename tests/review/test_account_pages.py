"""The pages at the door: signing in, and a new password by the link in the mail."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.core.mail import EmailMessage
from django.test import Client

from tests.factories import PASSWORD, Cast

pytestmark = pytest.mark.django_db(databases="__all__")
NEW_PASSWORD = "another line to sign"


def words(response: Any) -> str:
    return response.content.decode()


def test_a_wrong_password_is_said_on_the_sheet_and_the_address_stays(client: Client, cast: Cast) -> None:
    page = words(client.post("/sign-in", {"login": cast.rita.email, "password": "wrong"}))
    assert 'role="alert"' in page
    assert f'value="{cast.rita.email}"' in page
    assert 'value="wrong"' not in page


def test_the_right_password_leads_in(client: Client, cast: Cast) -> None:
    answer = client.post("/sign-in", {"login": cast.rita.email, "password": PASSWORD, "next": "/p/shop/memory"})
    assert (answer.status_code, answer["Location"]) == (302, "/p/shop/memory")


def test_a_forgotten_password_is_set_anew_by_the_link_in_the_mail(
    client: Client, cast: Cast, mailoutbox: list[EmailMessage]
) -> None:
    assert client.post("/password/reset", {"email": cast.rita.email})["Location"] == "/password/reset/sent"
    assert "on its way" in words(client.get("/password/reset/sent"))
    link = re.search(r"https?://[^/]+(/password/reset/key/\S+)", str(mailoutbox[0].body))
    assert link
    sheet = client.get(link[1], follow=True)
    place = sheet.request["PATH_INFO"]
    assert "too short" in words(client.post(place, {"password1": "short", "password2": "short"}))
    done = client.post(place, {"password1": NEW_PASSWORD, "password2": NEW_PASSWORD}, follow=True)
    assert "The password is set" in words(done)
    assert client.post("/sign-in", {"login": cast.rita.email, "password": NEW_PASSWORD}).status_code == 302


def test_an_unknown_address_gets_the_same_answer_and_no_mail(
    client: Client, cast: Cast, mailoutbox: list[EmailMessage]
) -> None:
    assert client.post("/password/reset", {"email": "nobody@example.com"})["Location"] == "/password/reset/sent"
    assert mailoutbox == []


def test_a_used_or_invented_link_says_that_nothing_changed(client: Client) -> None:
    assert "Nothing was changed" in words(client.get("/password/reset/key/1-bad-key", follow=True))


def test_every_field_on_a_sheet_is_described_by_something_that_is_there(client: Client) -> None:
    page = words(client.get("/sign-in"))
    described = set(re.findall(r'aria-describedby="([^"]+)"', page))
    assert described <= set(re.findall(r'\bid="([^"]+)"', page))
