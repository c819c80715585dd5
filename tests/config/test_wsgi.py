"""Two ways in: agents past the browser's middleware, browsers through all of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from django.conf import settings
from django.test import RequestFactory

from config import wsgi


def headers_of(path: str) -> dict[str, str]:
    got: dict[str, str] = {}

    def start_response(status: str, headers: Iterable[tuple[str, str]], *rest: Any) -> None:
        got.update({name.lower(): value for name, value in headers}, status=status)

    body = wsgi.application(RequestFactory().get(path).environ, start_response)
    b"".join(body)
    return got


@pytest.mark.django_db
def test_agents_call_passes_only_the_short_list() -> None:
    headers = headers_of("/api/v1/no-such-thing")
    assert headers["status"].startswith("404")
    assert headers["cache-control"] == "no-store"
    assert "content-security-policy" not in headers


@pytest.mark.django_db
def test_browsers_page_passes_the_full_list() -> None:
    assert "content-security-policy" in headers_of("/healthz")


def test_loading_the_short_list_leaves_the_full_one_in_place() -> None:
    assert "django.middleware.csrf.CsrfViewMiddleware" in settings.MIDDLEWARE
    assert settings.MIDDLEWARE != settings.AGENT_MIDDLEWARE
