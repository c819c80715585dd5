"""Where a person is signed in: the browsers that hold a session of theirs, and signing them out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from allauth.usersessions.models import UserSession
from django.contrib.auth import HASH_SESSION_KEY
from django.contrib.sessions.models import Session
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare

from projects.models import Person

_BROWSERS = (("Edg", "Edge"), ("OPR", "Opera"), ("Firefox", "Firefox"), ("Chrome", "Chrome"), ("Safari", "Safari"))
_SYSTEMS = (
    ("iPhone", "iPhone"),
    ("iPad", "iPad"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "Mac"),
    ("Linux", "Linux"),
)


@dataclass(frozen=True)
class SignIn:
    """One browser that somebody is signed in with. `pk` is None for one that was never noted, the present one."""

    pk: int | None
    since: datetime | None
    browser: str
    address: str
    is_here: bool


def note(request: HttpRequest) -> None:
    """Notes a sign-in that did not come through the sign-in sheet (an invitation, the first visit)."""
    UserSession.objects.create_from_request(request)


def of(person: Person, request: HttpRequest, now: datetime) -> list[SignIn]:
    """Where this person is signed in now, here first, then the newest: two queries."""
    rows = list(UserSession.objects.filter(user=person).order_by("-created_at", "-pk"))
    alive = _alive(person, [row.session_key for row in rows], now)
    here = request.session.session_key
    found = [
        SignIn(row.pk, row.created_at, browser_words(row.user_agent), row.ip, row.session_key == here)
        for row in rows
        if row.session_key in alive
    ]
    if not any(one.is_here for one in found):
        agent = request.META.get("HTTP_USER_AGENT", "")
        found.append(SignIn(None, None, browser_words(agent), request.META.get("REMOTE_ADDR", ""), True))
    return sorted(found, key=lambda one: not one.is_here)


def end(person: Person, pk: int) -> bool:
    """Signs one browser out. False when it is not this person's."""
    row = UserSession.objects.filter(user=person, pk=pk).first()
    if row is None:
        return False
    row.end()
    return True


def end_others(person: Person, request: HttpRequest) -> int:
    """Signs this person out everywhere but here; how many browsers that were."""
    others = list(UserSession.objects.filter(user=person).exclude(session_key=request.session.session_key))
    for row in others:
        row.end()
    return len(others)


def forget_ended(now: datetime) -> int:
    """Sessions that are over, with whatever lay in them, and the notes of where they were; how many they were."""
    count, _ = Session.objects.filter(expire_date__lt=now).delete()
    UserSession.objects.exclude(session_key__in=Session.objects.values("session_key")).delete()
    return count


def browser_words(agent: str) -> str:
    """`Firefox on Linux`, from what a browser says of itself; what nobody knows is given as it stands, shortened."""
    browser = next((words for sign, words in _BROWSERS if re.search(rf"\b{sign}\w*/", agent)), "")
    system = next((words for sign, words in _SYSTEMS if sign in agent), "")
    return f"{browser} on {system}" if browser and system else browser or agent[:60]


def _alive(person: Person, keys: list[str], now: datetime) -> set[str]:
    """Those of the sessions that still open a page: neither over nor from before the password was changed."""
    own = person.get_session_auth_hash()
    return {
        row.session_key
        for row in Session.objects.filter(session_key__in=keys, expire_date__gt=now)
        if constant_time_compare(str(row.get_decoded().get(HASH_SESSION_KEY, "")), own)
    }
