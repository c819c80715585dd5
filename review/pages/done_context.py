"""What the desk shows when no card is left: why, what the day was, what came of the last one, and what comes next."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memory.models import Fact, SessionStatus
from projects.models import Membership, Project
from review.insights import own_pace
from review.piles import held, outcome
from review.piles.pile import Pile


def done_context(membership: Membership, today: Pile, now: datetime) -> dict[str, Any]:
    """`state` says which of the empty desks it is; the rest is for the end of a day, and for what waits beyond it."""
    project, person = membership.project, membership.person
    context: dict[str, Any] = {"state": _state(project, today), "due_soon": held.due_soon(project, now)}
    if context["state"] == "done":
        day = outcome.today(project, person, now)
        context |= {
            "day": day,
            "who_starts": outcome.who_starts(day),
            "last_decided": day.ended_at,
            "pace": own_pace.of(person, [project.pk], now),
            "before": _before(outcome.before(project, person, now)),
        }
    return context


def _state(project: Project, today: Pile) -> str:
    """Why the desk is empty: the first of these that is so."""
    if today.done:
        return "done"
    if today.looked_at and today.open.total:
        return "looked_at"
    if today.open.total:
        return "with_others"
    if not project.agents.exists():
        return "nothing_connected"
    if not project.sessions.exists():
        return "not_heard"
    if project.sessions.exclude(status__in=[SessionStatus.DISTILLED, SessionStatus.FAILED]).exists():
        return "talking"
    return "all_decided" if Fact.objects.filter(project=project).exists() else "nothing_kept"


def _before(one: outcome.Before | None) -> str:
    """`Friday’s 16 were in 37 briefs and used in 9.`, two numbers; "" where there was no such day."""
    if one is None:
        return ""
    number = f"{one.briefs:,}+" if one.more_briefs else f"{one.briefs:,}"
    briefs = ngettext("%(number)s brief", "%(number)s briefs", one.briefs + one.more_briefs) % {"number": number}
    given = {"day": date_format(one.on, "l"), "date": date_format(one.on, "j F"), "count": one.approved}
    given |= {"briefs": briefs, "helped": one.helped}
    if one.days_ago == 1:
        template = ngettext(
            "Yesterday’s one was in %(briefs)s and used in %(helped)d.",
            "Yesterday’s %(count)d were in %(briefs)s and used in %(helped)d.",
            one.approved,
        )
    elif one.days_ago < 7:
        template = ngettext(
            "%(day)s’s one was in %(briefs)s and used in %(helped)d.",
            "%(day)s’s %(count)d were in %(briefs)s and used in %(helped)d.",
            one.approved,
        )
    else:
        template = _("The %(count)d of %(date)s were in %(briefs)s and used in %(helped)d.")
    return template % given
