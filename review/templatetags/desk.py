"""Words for times and states, as people say them. Agent text is never touched here."""

from __future__ import annotations

from datetime import datetime, timedelta

from django import template
from django.utils import timezone
from django.utils.translation import gettext as _

from memory import short_ids
from memory.models import Fact, Status

register = template.Library()


@register.filter
def ago(moment: datetime | None, now: datetime | None = None) -> str:
    """`just now`, `40 s ago`, `12 min ago`, `3 h ago`, `2 days ago`, else the day."""
    if moment is None:
        return ""
    passed = (now or timezone.now()) - moment
    if passed < timedelta(seconds=5):
        return "just now"
    if passed < timedelta(minutes=1):
        return f"{int(passed.total_seconds())} s ago"
    if passed < timedelta(hours=1):
        return _("%(what)s min ago") % {"what": int(passed.total_seconds() // 60)}
    if passed < timedelta(days=1):
        return f"{int(passed.total_seconds() // 3600)} h ago"
    if passed < timedelta(days=7):
        return "yesterday" if passed < timedelta(days=2) else (_("%(days)s days ago") % {"days": passed.days})
    return day(moment)


@register.filter
def day(moment: datetime | None) -> str:
    """`16 Nov`, with the year when it is another one than this, in the reader's zone."""
    if moment is None:
        return ""
    local = timezone.localtime(moment)
    same = local.year == timezone.localtime().year
    return f"{local.day} {local:%b}" if same else f"{local.day} {local:%b %Y}"


@register.filter
def clock(moment: datetime | None) -> str:
    """`14 Nov, 08:52`, in the reader's zone; only the time today."""
    if moment is None:
        return ""
    local = timezone.localtime(moment)
    return f"today, {local:%H:%M}" if local.date() == timezone.localtime().date() else f"{day(moment)}, {local:%H:%M}"


@register.filter
def hour(moment: datetime | None) -> str:
    return f"{timezone.localtime(moment):%H:%M}" if moment else ""


@register.filter
def until(since: datetime | None, end: datetime | None) -> str:
    """`14 Nov, 08:44 to 08:53`; only the start where both fall into the same minute."""
    if since is None or end is None:
        return clock(since or end)
    if f"{since:%Y%m%d%H%M}" == f"{end:%Y%m%d%H%M}":
        return clock(since)
    same_day = timezone.localtime(since).date() == timezone.localtime(end).date()
    return _("%(since)s to %(same_day)s") % {"since": clock(since), "same_day": hour(end) if same_day else clock(end)}


@register.filter
def seen(fact: Fact) -> str:
    """`seen once`, `seen in 3 sessions`: a memory is counted once a session."""
    return (
        "seen once"
        if fact.times_seen == 1
        else (_("seen in %(times_seen)s sessions") % {"times_seen": fact.times_seen})
    )


@register.filter
def state_words(fact: Fact) -> str:
    """`Approved`, `Replaced`, … as people say it: a live memory that was taken out is withdrawn."""
    return "Withdrawn" if fact.status == Status.REMOVED and fact.approved_at else str(fact.get_status_display())


@register.filter
def type_words(fact: Fact) -> str:
    row = fact.type_row
    return row.words if row.name == fact.type else fact.type.replace("_", " ")


@register.filter
def subject_words(fact: Fact) -> str:
    """The subject as people say it: `Repository orders-api`, `the project`, else its own name."""
    subject = fact.subject
    return (_("Repository %(words)s") % {"words": subject.words}) if subject.entity_type == "repo" else subject.words


@register.filter
def lives_until(fact: Fact) -> str:
    """On a card: the last day it is served, or `you withdraw it`."""
    if fact.expires_at is None:
        return "you withdraw it"
    return day(fact.expires_at - timedelta(seconds=1))


@register.filter
def ends(fact: Fact) -> str:
    """In a table: the last day, or `no end`."""
    return "no end" if fact.expires_at is None else day(fact.expires_at - timedelta(seconds=1))


@register.filter
def last_day(fact: Fact) -> str:
    """The last day as a date field wants it."""
    return "" if fact.expires_at is None else f"{timezone.localtime(fact.expires_at - timedelta(seconds=1)):%Y-%m-%d}"


@register.filter
def short(row: object, prefix: str) -> str:
    """The short id of a row: `session|short:"s"`."""
    return short_ids.encode(row.pk, prefix)  # type: ignore[attr-defined]
