"""How long a memory lives, as its card says it (values): a day, or the rule that moves the day."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memory.models import Fact
from memory.types import SEEN, USED
from review.cards.kinds import Kind


def rule(fact: Fact) -> str:
    """`it goes unused for 90 days`, where its end moves with its use; else ""."""
    row = fact.type_row
    if not fact.ends_by_type or fact.expires_at is None or row.lifetime_days is None:
        return ""
    if row.counts_from == USED:
        words = ngettext("it goes unused for %(days)d day", "it goes unused for %(days)d days", row.lifetime_days)
    elif row.counts_from == SEEN:
        words = ngettext("nobody says it for %(days)d day", "nobody says it for %(days)d days", row.lifetime_days)
    else:
        return ""
    return words % {"days": row.lifetime_days}


def after_due(fact: Fact) -> str:
    """`two weeks after it is due`, where its end is told from that day; else ""."""
    days = fact.type_row.after_due_days
    is_due = isinstance(fact.value, dict) and isinstance(fact.value.get("due_on"), str)
    if days is None or not is_due or fact.expires_at is None:
        return ""
    if days == 14:
        return _("two weeks after it is due")
    return ngettext("%(days)d day after it is due", "%(days)d days after it is due", days) % {"days": days}


def heard(fact: Fact, kind: Kind, complaints: int, now: datetime) -> str:
    """What stands behind the type: how often it was seen, how long nobody said it, or how many complained."""
    if kind == Kind.COMPLAINT:
        return ngettext("%(count)d complaint", "%(count)d complaints", complaints) % {"count": complaints}
    silent = now - fact.last_seen_at
    if kind == Kind.STILL_TRUE and silent >= timedelta(days=60):
        months = silent.days // 30
        return ngettext("no word for %(count)d month", "no word for %(count)d months", months) % {"count": months}
    if fact.times_seen == 1:
        return _("seen once")
    return ngettext("seen in %(count)d session", "seen in %(count)d sessions", fact.times_seen) % {
        "count": fact.times_seen
    }
