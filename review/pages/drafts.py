"""Words that somebody typed and that could not be counted: kept on the server for an hour, and given back to them.

They lie in the browser's session, so that they outlive being signed out in the middle of an edit; a page keeps nothing
in the browser itself, where the next person at the desk would find it. Who typed them is told by a signed name in the
form: nobody else is shown them, and nobody can make another keep words.
"""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.sessions.models import Session
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
# Forms that are a page by themselves, by the name of their address: what is kept of each, what somebody wrote first.
FORMS = {
    "review:new_fact": ("text", "subject", "type", "key", "agent"),
    "review:remember": ("text", "quote", "subject", "type", "key", "agent", "o"),
    "review:config": ("content", "note", "after"),
}
LONGEST_IN_FORM = 20_000
MOST_CHOICES = 100


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
    return pk is not None and bool(fields) and _keep(request, str(pk), fields)


def keep_form(request: HttpRequest) -> str:
    """Keeps what was typed in a form of FORMS; the address where it comes back, or "" where nothing is kept."""
    names = FORMS.get(request.resolver_match.view_name if request.resolver_match else "", ())
    lists = {name: request.POST.getlist(name)[:MOST_CHOICES] for name in names if name in request.POST}
    fields = {name: [str(value)[:LONGEST_IN_FORM] for value in values] for name, values in lists.items()}
    if not names or not "".join(fields.get(names[0], ())).strip() or not _keep(request, request.path, fields):
        return ""
    place = fields.get("o", [""])[0]
    return f"{request.path}?{urlencode({'o': place})}" if place else request.path


def form_of(request: HttpRequest) -> dict[str, list[str]] | None:
    """What this person typed in the form of this address (and of the same turn), or None."""
    found = _own(request, request.path)
    return found if found is not None and found.get("o", [""])[0] == request.GET.get("o", "") else None


def drop_form(request: HttpRequest) -> None:
    """It was counted."""
    _drop(request, request.path)


def _keep(request: HttpRequest, name: str, fields: dict[str, Any]) -> bool:
    try:
        by = signing.loads(request.POST.get("author", ""), salt=SALT, max_age=settings.SESSION_COOKIE_AGE)
    except signing.BadSignature:
        return False
    kept = _fresh(request)
    kept.pop(name, None)
    kept[name] = {"by": by, "at": int(time.time()), "fields": fields}
    request.session[SESSION_KEY] = dict(list(kept.items())[-MOST:])
    if not request.user.is_authenticated:
        request.session.set_expiry(KEPT_SECONDS)
    return True


def of(request: HttpRequest, pk: int) -> dict[str, str] | None:
    """What this person typed about the memory of that id, or None."""
    return _own(request, str(pk))


def drop(request: HttpRequest, pk: int) -> None:
    """They were counted."""
    _drop(request, str(pk))


def _own(request: HttpRequest, name: str) -> dict[str, Any] | None:
    found = _fresh(request).get(name)
    return found["fields"] if found and found["by"] == request.user.pk else None


def _drop(request: HttpRequest, name: str) -> None:
    kept = request.session.get(SESSION_KEY, {})
    if name in kept:
        request.session[SESSION_KEY] = {other: one for other, one in kept.items() if other != name}


def waits(request: HttpRequest) -> bool:
    """Whether anything is kept in this browser, for whomever: what the sign-in sheet says."""
    return bool(_fresh(request))


def forget(now: datetime) -> int:
    """Deletes what nobody came back for within its hour, from sessions that go on; in how many there was any.

    A session that is saved at this moment is left to the next time."""
    changed = 0
    for row in Session.objects.filter(expire_date__gte=now).order_by("pk").iterator():
        data = row.get_decoded()
        kept = data.get(SESSION_KEY)
        fresh = _within_its_hour(kept or {}, now.timestamp())
        if kept is None or fresh == kept:
            continue
        left = {name: value for name, value in data.items() if name != SESSION_KEY} | (
            {SESSION_KEY: fresh} if fresh else {}
        )
        same = Session.objects.filter(pk=row.pk, session_data=row.session_data)
        changed += same.update(session_data=Session.objects.encode(left))
    return changed


def _fresh(request: HttpRequest) -> dict[str, Any]:
    return _within_its_hour(request.session.get(SESSION_KEY, {}), time.time())


def _within_its_hour(kept: dict[str, Any], now: float) -> dict[str, Any]:
    return {name: one for name, one in kept.items() if one["at"] >= int(now) - KEPT_SECONDS}
