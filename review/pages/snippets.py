"""Lines to copy into a terminal, so that a first call to the agents' API needs no reading."""

from __future__ import annotations

import json
import os
from shlex import quote
from typing import Any

from django.conf import settings
from django.http import HttpRequest

# Stands where the key would, once it is not shown any more; a shell fills it in.
NO_KEY = "$COUNTERSIGN_KEY"
FIRST_SESSION = "first-try"
FIRST_WORDS: list[dict[str, Any]] = [
    {"id": "1", "kind": "message", "role": "user", "text": "From now on, always run the tests before you commit."},
    {"id": "2", "kind": "message", "role": "assistant", "text": "Understood, I will."},
]
FIRST_BUDGET = 800


def address(request: HttpRequest) -> str:
    """Where agents reach this installation: COUNTERSIGN_PUBLIC_URL, else the address the page was asked at."""
    return settings.PUBLIC_URL or f"{request.scheme}://{request.get_host()}"


def who_am_i(at: str, key: str) -> str:
    return f"curl {at}/api/v1/me{_authorized(key)}"


def send(at: str, key: str) -> str:
    """A first conversation, and its end: it is read at once instead of after the idle time."""
    place = f"{at}/api/v1/sessions/{FIRST_SESSION}"
    return f"{_post(f'{place}/observations', key, {'observations': FIRST_WORDS})}\n{_post(f'{place}/end', key)}"


def brief(at: str, key: str) -> str:
    return _post(f"{at}/api/v1/briefs", key, {"max_tokens": FIRST_BUDGET})


def import_transcripts(project: str, agent: str) -> str:
    """A command goes to the usual data folder, where it is not told of another one."""
    is_usual = settings.DATA_DIR == settings.BASE_DIR / ".data" or bool(os.environ.get("DATABASE_URL"))
    where = "" if is_usual else f"COUNTERSIGN_DATA={quote(str(settings.DATA_DIR))} "
    line = f".venv/bin/python manage.py import_sessions ~/.claude/projects --project {project} --agent {agent}"
    return f"{where}{line}"


def _authorized(key: str) -> str:
    return f' \\\n  -H "Authorization: Bearer {key}"'


def _post(url: str, key: str, body: dict[str, Any] | None = None) -> str:
    line = f"curl -X POST {url}{_authorized(key)}"
    if body is None:
        return line
    return f"{line} \\\n  -H 'Content-Type: application/json' \\\n  -d '{json.dumps(body)}'"
