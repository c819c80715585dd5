"""Values of the environment, each read as what it must be.

An empty one counts as not set: so a compose file or an env file says "the default". Nonsense raises
ImproperlyConfigured with a sentence that names the variable and never repeats its value, which may hold a password.
"""

from __future__ import annotations

import os
from typing import Any

import environ
from django.core.exceptions import ImproperlyConfigured

_YES, _NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")


def text(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def names(name: str, default: list[str]) -> list[str]:
    """Names between commas."""
    return [one.strip() for one in text(name).split(",") if one.strip()] or default


def whole(name: str, default: int) -> int:
    """A whole number, 0 or more."""
    written = text(name, str(default))
    if not (written.isascii() and written.isdigit()):
        raise ImproperlyConfigured(f"{name} must be a whole number, 0 or more.")
    return int(written)


def is_on(name: str) -> bool:
    written = text(name, "false").lower()
    if written not in (*_YES, *_NO):
        raise ImproperlyConfigured(f"{name} must be true or false.")
    return written in _YES


def address(name: str) -> str:
    """A web address without the slash at its end, or ""."""
    url = text(name).rstrip("/")
    if url and not url.startswith(("http://", "https://")):
        raise ImproperlyConfigured(f"{name} must be an address that begins with http:// or https://")
    return url


def mail(name: str) -> dict[str, Any]:
    """Django's settings of a mail server, or {} when none is named."""
    url = text(name)
    if not url:
        return {}
    try:
        found: dict[str, Any] = environ.Env.email_url_config(url)
    except (ImproperlyConfigured, ValueError):
        found = {}
    if not found or (url.startswith("smtp") and not found.get("EMAIL_HOST")):
        raise ImproperlyConfigured(f"{name} must name a mail server, such as smtp+tls://user:password@host:587")
    return found
