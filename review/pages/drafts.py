"""Words that somebody typed and that could not be counted: kept on the server for an hour, and given back to them.

They lie in the browser's session, so that they outlive being signed out in the middle of an edit; a page keeps nothing
in the browser itself, where the next person at the desk would find it. Who typed them is told by a signed name in the
form: nobody else is shown them, and nobody can make another keep words.
"""

from __future__ import annotations

import time
from typing import Any

from django.conf import settings
from django.core import signing
from django.http import HttpRequest

from memory import short_ids
from projects.models import Person

KEPT_SECONDS = 3600
# In one session; the oldest goes first.
MOST = 5
SALT = "review.draft"
SESSION_KEY = "drafts"
FIELDS = ("text", "lives", "expires_on", "no_end", "type", "nature", "use", "note", "back")
LONGEST = 4000


def author(person: Person) -> str:
    """The signed name that a form carries, good for as long as a sign-in lasts."""
    return signing.dumps(person.pk, salt=SALT)


def typed(request: HttpRequest) -> dict[str, str]:
    """The words of this form that are worth keeping; empty where nothing was typed."""
    found = {name: str(request.POST[name])[:LONGEST] for name in FIELDS if name in request.POST}
    return found if found.keys() & {"text", "note"} else {}


def keep(request: HttpRequest, short_id: str) -> bool:
    """Keeps what was typed about a memory. False where nothing was, or the form does not say who typed it."""
    pk, fields = short_ids.decode(short_id), typed(request)
    try:
        by = signing.loads(request.POST.get("author", ""), salt=SALT, max_age=settings.SESSION_COOKIE_AGE)
    except signing.BadSignature:
        return False
    if pk is None or not fields:
        return False
    kept = _fresh(request)
    kept.pop(str(pk), None)
    kept[str(pk)] = {"by": by, "at": int(time.time()), "fields": fields}
    request.session[SESSION_KEY] = dict(list(kept.items())[-MOST:])
    if not request.user.is_authenticated:
        request.session.set_expiry(KEPT_SECONDS)
    return True


def of(request: HttpRequest, pk: int) -> dict[str, str] | None:
    """What this person typed about the memory of that id, or None."""
    found = _fresh(request).get(str(pk))
    return found["fields"] if found and found["by"] == request.user.pk else None


def drop(request: HttpRequest, pk: int) -> None:
    """They were counted."""
    kept = request.session.get(SESSION_KEY, {})
    if str(pk) in kept:
        request.session[SESSION_KEY] = {name: one for name, one in kept.items() if name != str(pk)}


def waits(request: HttpRequest) -> bool:
    """Whether anything is kept in this browser, for whomever: what the sign-in sheet says."""
    return bool(_fresh(request))


def _fresh(request: HttpRequest) -> dict[str, Any]:
    since = int(time.time()) - KEPT_SECONDS
    return {name: one for name, one in request.session.get(SESSION_KEY, {}).items() if one["at"] >= since}
