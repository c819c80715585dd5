"""The error pages hold when what they stand on does not."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import cache
from django.db import InterfaceError, OperationalError
from django.test import Client

from projects import first_visitor, tenancy
from tests import factories
from tests.factories import Cast

pytestmark = pytest.mark.django_db(databases="__all__")
FORM = "application/x-www-form-urlencoded"
SECRET = "host=10.0.0.7 user=postgres"


@pytest.fixture
def client() -> Client:
    return Client(raise_request_exception=False)


def broken(monkeypatch: pytest.MonkeyPatch, problem: Exception) -> None:
    """The page at / meets this problem."""

    def fail() -> bool:
        raise problem

    monkeypatch.setattr(first_visitor, "is_empty", fail)


def words(response: Any) -> str:
    return response.content.decode()


@pytest.mark.parametrize("kind", [OperationalError, InterfaceError])
def test_a_database_that_is_down_is_said_with_a_time_to_try_again(
    client: Client, monkeypatch: pytest.MonkeyPatch, kind: type[Exception]
) -> None:
    broken(monkeypatch, kind(SECRET))
    answer = client.get("/")
    assert (answer.status_code, answer["Retry-After"]) == (503, "5")
    assert "The database does not answer" in words(answer)
    assert SECRET not in words(answer)


def test_a_fault_of_ours_shows_no_traceback_even_where_the_frame_is_what_broke(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("review.pages.frame.frame", lambda request: 1 / 0)
    broken(monkeypatch, RuntimeError(SECRET))
    answer = client.get("/")
    assert answer.status_code == 500
    assert "Something broke on the server" in words(answer)
    assert SECRET not in words(answer)
    assert "Traceback" not in words(answer)


def test_who_signs_in_too_often_is_told_to_wait(client: Client, cast: Cast, settings) -> None:  # type: ignore[no-untyped-def]
    settings.ACCOUNT_RATE_LIMITS = {**settings.ACCOUNT_RATE_LIMITS, "login": "1/m/ip"}
    cache.clear()
    form = {"login": "rita@example.com", "password": "wrong"}
    client.post("/sign-in", form)
    answer = client.post("/sign-in", form)
    cache.clear()
    assert (answer.status_code, answer["Retry-After"]) == (429, "60")
    assert "Wait a minute, then try again." in words(answer)
    assert "default-src" in answer["Content-Security-Policy"]


def test_a_form_that_is_too_large_says_so(client: Client, cast: Cast, settings) -> None:  # type: ignore[no-untyped-def]
    settings.DATA_UPLOAD_MAX_MEMORY_SIZE = 100_000
    client.force_login(cast.rita)
    answer = client.post("/p/shop/memory/new", "type=fix&text=" + "long+" * 100_000, content_type=FORM)
    assert answer.status_code == 413
    assert "97.7\xa0KB" in words(answer)
    assert "This is too large." in words(answer)


def test_the_bar_of_an_error_page_still_counts_what_waits(client: Client, cast: Cast) -> None:
    with tenancy.project(cast.project.pk):
        factories.proposal(cast.project)
    client.force_login(cast.vera)
    answer = client.get("/p/shop/settings")
    assert answer.status_code == 403
    assert '<span class="n" data-waiting-count>1</span>' in words(answer)
