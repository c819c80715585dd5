"""The web application: a short way in for agents, the full one for browsers.

Django's full list of middleware costs about 1 ms a call; sessions, cookies, CSRF and messages are nothing to an agent
with a key. So calls under /api/v1/ go through `AGENT_MIDDLEWARE`, everything else through `MIDDLEWARE`.
"""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Callable, Iterable
from typing import Any

import django
from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler

AGENT_PREFIX = "/api/v1/"

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup(set_prefix=False)


class AgentHandler(WSGIHandler):
    """Django's handler with the middleware of `AGENT_MIDDLEWARE`."""

    def load_middleware(self, is_async: bool = False) -> None:
        # Django reads the one name. Swapped for the time of the load, which happens once, before the first request.
        full = settings.MIDDLEWARE
        settings.MIDDLEWARE = settings.AGENT_MIDDLEWARE
        try:
            super().load_middleware(is_async)
        finally:
            settings.MIDDLEWARE = full


# Static files are served from their source folders; STATIC_ROOT exists only where somebody collected them.
warnings.filterwarnings("ignore", message="No directory at")
_browser = WSGIHandler()
_agent = AgentHandler()


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    handler = _agent if environ["PATH_INFO"].startswith(AGENT_PREFIX) else _browser
    return handler(environ, start_response)


def _warm() -> None:
    """Load the embedding model before the first request: a cold one waits 200 ms or more for it."""
    from memory import embeddings

    try:
        embeddings.warm()
    except embeddings.EmbedderUnavailable as missing:
        logging.getLogger(__name__).warning("%s Search by meaning is off; `manage.py doctor` says more.", missing)


if getattr(settings, "WARM_EMBEDDINGS", True):
    _warm()
