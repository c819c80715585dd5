"""A person's own page: zone, theme, keys, digest, and where they are signed in."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from projects import sign_ins
from projects.models import Person
from tests.factories import PASSWORD, Cast

pytestmark = [pytest.mark.django_db(databases="__all__"), pytest.mark.usefixtures("sight")]
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
SAFARI = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 Version/18.0 Mobile/15E148 Safari/604.1"
)


@pytest.fixture(autouse=True)
def no_sign_in_was_counted() -> None:
    """So many sign-ins in a minute are refused otherwise."""
    cache.clear()


def html(answer: Any) -> str:
    return answer.content.decode()


def sign_in(cast: Cast, browser: str, person: str = "rita") -> Client:
    client = Client(headers={"user-agent": browser})
    client.post("/sign-in", {"login": f"{person}@example.com", "password": PASSWORD})
    return client


def test_what_is_chosen_is_kept_and_holds_in_another_browser(cast: Cast) -> None:
    client = sign_in(cast, FIREFOX)
    chosen = {"name": "Rita R.", "timezone": "Asia/Tokyo", "theme": "dark"}
    answer = client.post("/profile", chosen)
    assert answer.status_code == 302
    assert (answer.cookies["theme"].value, answer.cookies["keys"].value) == ("dark", "off")
    rita = Person.objects.get(pk=cast.rita.pk)
    assert (rita.name, rita.timezone, rita.theme, rita.keys_off, rita.wants_digest, rita.wants_alerts) == (
        "Rita R.",
        "Asia/Tokyo",
        "dark",
        True,
        False,
        False,
    )
    page = html(sign_in(cast, SAFARI).get("/p/shop/review"))
    assert '<html lang="en" class="dark keys-off" data-theme="dark">' in page
    client.post("/profile", {"theme": "light", "timezone": "project", "keys_on": "on", "wants_digest": "on"})
    rita.refresh_from_db()
    assert (rita.timezone, rita.keys_off, rita.wants_digest, rita.wants_alerts) == ("", False, True, False)
    assert client.get("/p/shop/review").status_code == 200
    assert client.get("/").status_code == 200


@pytest.mark.parametrize("wrong", [{"timezone": "Mars/Olympus"}, {"theme": "pink"}, {"name": "n" * 200}])
def test_what_cannot_be_is_said_beside_its_field_and_nothing_is_kept(cast: Cast, wrong: dict[str, str]) -> None:
    client = sign_in(cast, FIREFOX)
    answer = client.post("/profile", {"name": "Rita R.", "theme": "dark", "timezone": "project", **wrong})
    assert answer.status_code == 422
    assert 'class="wrong"' in html(answer)
    assert Person.objects.get(pk=cast.rita.pk).theme == "system"


def test_the_theme_chosen_in_the_bar_is_kept_with_the_person(cast: Cast) -> None:
    sign_in(cast, FIREFOX).post("/theme", {"theme": "dark", "next": "/"})
    assert Person.objects.get(pk=cast.rita.pk).theme == "dark"
    assert 'data-theme="dark"' in html(sign_in(cast, SAFARI).get("/"))


def test_keys_are_turned_off_for_the_person(cast: Cast) -> None:
    client = sign_in(cast, FIREFOX)
    assert client.post("/profile/keys", {"keys": "off"}).status_code == 204
    assert Person.objects.get(pk=cast.rita.pk).keys_off
    assert client.post("/profile/keys", {"keys": "perhaps"}).status_code == 422
    assert client.post("/profile/keys", {"keys": "on"}).status_code == 204
    assert not Person.objects.get(pk=cast.rita.pk).keys_off


def test_every_browser_is_listed_and_signed_out_by_itself(cast: Cast) -> None:
    here, there = sign_in(cast, FIREFOX), sign_in(cast, SAFARI)
    sign_in(cast, "curl/8.5.0", "olga")
    page = html(here.get("/profile"))
    assert page.index("Firefox on Linux") < page.index("Safari on iPhone")
    assert "this one" in page
    assert "curl" not in page
    other = UserSession.objects.get(session_key=there.session.session_key)
    olgas = UserSession.objects.get(user=cast.olga)
    assert here.post(f"/profile/sign-ins/{olgas.pk}").status_code == 404
    assert here.post(f"/profile/sign-ins/{other.pk}").status_code == 302
    assert there.get("/profile").status_code == 302
    assert here.get("/profile").status_code == 200


def test_everywhere_else_is_signed_out_at_once_and_nobody_else(cast: Cast) -> None:
    here, there, third = (sign_in(cast, browser) for browser in (FIREFOX, SAFARI, FIREFOX))
    olga = sign_in(cast, FIREFOX, "olga")
    assert "Signed out in 2 other browsers." in html(here.post("/profile/sign-ins/others", follow=True))
    assert [client.get("/profile").status_code for client in (here, there, third, olga)] == [200, 302, 302, 200]


def test_a_browser_from_before_a_new_password_is_not_listed(cast: Cast) -> None:
    here, _there = sign_in(cast, FIREFOX), sign_in(cast, SAFARI)
    new = "another line to sign"
    form = {"oldpassword": PASSWORD, "password1": new, "password2": new}
    assert here.post("/password", form).status_code == 302
    page = html(here.get("/profile"))
    assert "Firefox on Linux" in page
    assert "Safari" not in page


def test_the_list_costs_the_same_for_many_browsers(cast: Cast) -> None:
    here = sign_in(cast, FIREFOX)
    here.get("/profile")
    with CaptureQueriesContext(connection) as for_one:
        here.get("/profile")
    for _ in range(12):
        cache.clear()
        sign_in(cast, SAFARI)
    with CaptureQueriesContext(connection) as for_many:
        assert html(here.get("/profile")).count("Safari on iPhone") == 12
    assert len(for_many) == len(for_one)


def test_what_is_over_is_forgotten_with_all_that_lay_in_it(cast: Cast) -> None:
    sign_in(cast, FIREFOX)
    kept = sign_in(cast, SAFARI)
    now = timezone.now()
    over = Session.objects.exclude(session_key=kept.session.session_key)
    over.update(expire_date=now - timedelta(seconds=1))
    assert sign_ins.forget_ended(now) == 1
    assert [row.session_key for row in UserSession.objects.all()] == [kept.session.session_key]


@pytest.mark.parametrize(
    ("agent", "words"),
    [
        (FIREFOX, "Firefox on Linux"),
        (SAFARI, "Safari on iPhone"),
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537 Chrome/140.0 Safari/537 Edg/140.0", "Edge on Windows"),
        ("Mozilla/5.0 (Linux; Android 15) AppleWebKit/537 Chrome/140.0 Mobile Safari/537", "Chrome on Android"),
        ("curl/8.5.0", "curl/8.5.0"),
        ("", ""),
    ],
)
def test_a_browser_is_named_in_words(agent: str, words: str) -> None:
    assert sign_ins.browser_words(agent) == words
