"""The Notices page: an owner sets, tries, renews and takes away the webhook; the secret is shown once."""

from __future__ import annotations

from typing import Any

import pytest
from pytest_httpserver import HTTPServer

from projects import tenancy
from projects.models import AuditEvent
from review.models import Webhook
from review.notices import webhook
from tests.factories import Cast
from tests.review.test_desk import signed_in

pytestmark = pytest.mark.django_db

URL = "https://hooks.example.com/in"


def hook() -> Webhook | None:
    with tenancy.system("command"):
        return Webhook.objects.first()


def test_the_secret_is_shown_once(cast: Cast) -> None:
    olga = signed_in(cast.olga)
    answer = olga.post("/p/shop/notices", {"url": URL})
    made = hook()
    assert made is not None
    assert made.secret in answer.content.decode()
    assert answer["Cache-Control"] == "no-store"
    assert made.secret not in olga.get("/p/shop/notices").content.decode()
    answer = olga.post("/p/shop/notices/secret")
    renewed = hook()
    assert renewed is not None
    assert renewed.secret != made.secret
    assert renewed.secret in answer.content.decode()


def test_another_address_keeps_the_secret(cast: Cast) -> None:
    olga = signed_in(cast.olga)
    olga.post("/p/shop/notices", {"url": URL})
    made = hook()
    assert "Its secret is the same" in olga.post("/p/shop/notices", {"url": URL + "2"}, follow=True).content.decode()
    now = hook()
    assert made is not None
    assert now is not None
    assert (now.url, now.secret) == (URL + "2", made.secret)


@pytest.mark.parametrize("who", ["rita", "vera"])
@pytest.mark.parametrize("what", ["", "/secret", "/test", "/end"])
def test_only_an_owner_changes_it(cast: Cast, who: str, what: str) -> None:
    signed_in(cast.olga).post("/p/shop/notices", {"url": URL})
    made = hook()
    person = signed_in(getattr(cast, who))
    answer = person.post(f"/p/shop/notices{what}", {"url": "https://elsewhere.example.com/"})
    assert answer.status_code == 403
    assert URL not in answer.content.decode()
    assert URL not in person.get("/p/shop/notices").content.decode()
    now = hook()
    assert made is not None
    assert now is not None
    assert (now.url, now.secret) == (made.url, made.secret)


@pytest.mark.parametrize("url", ["http://hooks.example.com/", "https://10.0.0.1/", "hooks"])
def test_a_bad_address_is_kept_in_the_field_and_said(cast: Cast, url: str) -> None:
    answer = signed_in(cast.olga).post("/p/shop/notices", {"url": url})
    assert answer.status_code == 422
    assert f'value="{url}"' in answer.content.decode()
    assert hook() is None


def test_a_test_says_whether_it_arrived(cast: Cast, httpserver: HTTPServer, settings: Any) -> None:
    settings.PRIVATE_WEBHOOKS = True
    olga = signed_in(cast.olga)
    olga.post("/p/shop/notices", {"url": httpserver.url_for("/in")})
    httpserver.expect_oneshot_request("/in", method="POST").respond_with_data(status=500)
    assert "did not arrive: the address answered 500" in olga.post("/p/shop/notices/test", follow=True).content.decode()
    httpserver.expect_oneshot_request("/in", method="POST").respond_with_data(status=204)
    page = olga.post("/p/shop/notices/test", follow=True).content.decode()
    assert "The test arrived." in page
    assert "The last one arrived just now." in page


def test_who_tries_it_waits_a_few_seconds_at_most(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    olga = signed_in(cast.olga)
    olga.post("/p/shop/notices", {"url": URL})
    asked: list[float] = []

    def slow(*given: Any) -> None:
        asked.append(given[5])
        raise webhook.NotSent("timed out")

    monkeypatch.setattr(webhook, "send", slow)
    assert "did not arrive: the address timed out" in olga.post("/p/shop/notices/test", follow=True).content.decode()
    assert asked == [webhook.TEST_SECONDS]
    assert webhook.TEST_SECONDS <= 5


def test_it_is_taken_away_and_every_step_is_in_the_trail(cast: Cast) -> None:
    olga = signed_in(cast.olga)
    olga.post("/p/shop/notices", {"url": URL})
    olga.post("/p/shop/notices/secret")
    olga.post("/p/shop/notices/end")
    assert hook() is None
    with tenancy.system("command"):
        found = AuditEvent.objects.filter(object_kind="webhook").order_by("pk").values_list("action", flat=True)
        assert list(found) == ["webhook.create", "webhook.rotate", "webhook.remove"]


@pytest.mark.parametrize("what", ["/secret", "/test", "/end"])
def test_a_link_does_none_of_it(cast: Cast, what: str) -> None:
    olga = signed_in(cast.olga)
    olga.post("/p/shop/notices", {"url": URL})
    assert olga.get(f"/p/shop/notices{what}").status_code == 405
    assert hook() is not None
