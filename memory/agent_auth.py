"""Who calls the agents' API: a bearer key and what it may do. A browser's session never counts here.

A key is looked up in the database at most once in two seconds per process; in between the answer is remembered, so a
revoked key ends within two seconds. The request thread never waits long for Postgres: the look-up runs beside it.
"""

from __future__ import annotations

import re
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as TookTooLong
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, connections, transaction
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone
from ninja.security.base import AuthBase

from memory import api_body
from memory.api_errors import ApiError, Unavailable
from projects import tenancy
from projects.models import Agent, ApiKey, Person, Project, hash_key

REMEMBERED_SECONDS = 2.0
REMEMBERED_KEYS = 10_000
LOOKUP_PATIENCE_SECONDS = 1.0
USE_IS_NOTED_EVERY = timedelta(minutes=1)
_SHAPE = re.compile(r"cs_[0-9a-f]{8}_[0-9a-f]{40}", re.ASCII)

monotonic = time.monotonic


@dataclass(frozen=True, slots=True)
class Caller:
    """An agent with a key. Rows are at most two seconds old and shared between threads: read them, never save them.

    Whether it is paused is not to be read here: memory/pauses.py asks for it in the transaction that answers."""

    key_id: int
    prefix: str
    permissions: frozenset[str]
    expires_at: datetime | None
    agent: Agent
    project: Project
    person: Person | None


_remembered: dict[str, tuple[float, Caller | None]] = {}
_lock = threading.Lock()
_lookups: ThreadPoolExecutor | None = None
_stuck: Future[Caller | None] | None = None


class Bearer(AuthBase):
    """ninja's `auth=`: sets `request.auth` to the Caller. With a permission, its key must hold it (else 403)."""

    openapi_type = "http"
    openapi_scheme = "bearer"

    def __init__(self, permission: str = "") -> None:
        self.permission = permission
        super().__init__()

    def __call__(self, request: HttpRequest) -> Caller:
        found = caller_of(request.META.get("HTTP_AUTHORIZATION", ""), timezone.now())
        if self.permission and self.permission not in found.permissions:
            raise ApiError(403, "not_permitted", f"This key does not have the permission '{self.permission}'.")
        # Not before: the body of somebody unknown is not read at all.
        api_body.bound(request)
        return found


def caller_of(header: str, now: datetime) -> Caller:
    """The caller an Authorization header stands for. Raises ApiError (401) or Unavailable (503)."""
    scheme, _, key = header.partition(" ")
    key = key.strip()
    if not header:
        raise _unknown("Send a key: Authorization: Bearer cs_…")
    if scheme.lower() != "bearer" or not _SHAPE.fullmatch(key):
        raise _unknown("This is no key. Send it as: Authorization: Bearer cs_…")
    found = _find(hash_key(key), now)
    if found is None or (found.expires_at and found.expires_at <= now):
        raise _unknown("This key is unknown, revoked or expired. Ask an owner of the project for another.")
    return found


def forget() -> None:
    """Drops what is remembered, so that the next call of every key asks the database."""
    _remembered.clear()


def _unknown(message: str) -> ApiError:
    return ApiError(401, "bad_key", message, headers={"WWW-Authenticate": "Bearer"})


def _find(key_hash: str, now: datetime) -> Caller | None:
    known = _remembered.get(key_hash)
    if known is not None and monotonic() - known[0] < REMEMBERED_SECONDS:
        return known[1]
    found = _look_up_beside(key_hash, now)
    if len(_remembered) >= REMEMBERED_KEYS:
        _remembered.clear()
    _remembered[key_hash] = (monotonic(), found)
    return found


def _look_up_beside(key_hash: str, now: datetime) -> Caller | None:
    """The look-up on a thread of its own. A database that is down must not hold the request for longer than this."""
    global _stuck
    if getattr(settings, "CAPTURE_WRITER", "thread") == "inline":
        return look_up(key_hash, now)
    if _stuck is not None and not _stuck.done():
        raise Unavailable("The database does not answer. Send the same again.")
    future = _thread().submit(_look_up_on_thread, key_hash, now)
    try:
        return future.result(LOOKUP_PATIENCE_SECONDS)
    except (TookTooLong, OperationalError, InterfaceError):
        # While this one hangs, the next are refused at once.
        if not future.cancel():
            _stuck = future
        raise Unavailable("The database does not answer. Send the same again.") from None


def _thread() -> ThreadPoolExecutor:
    global _lookups
    with _lock:
        if _lookups is None:
            _lookups = ThreadPoolExecutor(max_workers=1, thread_name_prefix="key-lookup")
        return _lookups


def stop() -> None:
    """Ends the thread of the look-ups and closes its connection."""
    global _lookups
    with _lock:
        thread, _lookups = _lookups, None
    if thread is not None:
        thread.submit(lambda: connections["default"].close()).result()
        thread.shutdown()


def _look_up_on_thread(key_hash: str, now: datetime) -> Caller | None:
    connection = connections["default"]
    # What Django does at the start of a request; this thread sees none.
    connection.close_if_unusable_or_obsolete()
    try:
        return look_up(key_hash, now)
    except (OperationalError, InterfaceError):
        connection.close()
        raise


def look_up(key_hash: str, now: datetime) -> Caller | None:
    """The caller of a usable key, from the database; notes its use, once a minute at most."""
    with tenancy.system("key lookup"):
        key = (
            ApiKey.objects.usable(now)
            .filter(key_hash=key_hash)
            .select_related("agent__project", "person")
            .order_by("pk")
            .first()
        )
        if key is None:
            return None
        _note_use(key, now)
    return Caller(
        key_id=key.pk,
        prefix=key.prefix,
        permissions=frozenset(key.permissions),
        expires_at=key.expires_at,
        agent=key.agent,
        project=key.agent.project,
        person=key.person,
    )


def _note_use(key: ApiKey, now: datetime) -> None:
    if key.last_used_at and key.last_used_at > now - USE_IS_NOTED_EVERY:
        return
    with transaction.atomic():
        ApiKey.objects.filter(
            Q(last_used_at__isnull=True) | Q(last_used_at__lte=now - USE_IS_NOTED_EVERY), pk=key.pk
        ).update(last_used_at=now)


def caller(request: HttpRequest) -> Caller:
    """Who called, inside an operation."""
    found: Any = getattr(request, "auth", None)
    if not isinstance(found, Caller):
        raise _unknown("Send a key: Authorization: Bearer cs_…")
    return found
