"""Does memory help? Until sessions are held out nothing can be compared, and the answer says so."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Count, Q
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memory.models import BriefServed, Feedback, Verdict
from projects.models import Project
from review.insights.answers import Answer, Table, bars


def of(project: Project, since: datetime, now: datetime) -> Answer:
    """What agents said of what they were told, and how many sessions began with a memory. Two queries."""
    served = BriefServed.objects.filter(project=project, at__gte=since, session__isnull=False, paused=False)
    sessions = served.aggregate(
        told=Count("session", distinct=True, filter=~Q(fact_ids=[])), all=Count("session", distinct=True)
    )
    said = dict(
        Feedback.objects.filter(project=project, at__gte=since).order_by().values_list("verdict").annotate(Count("pk"))
    )
    helped, against = said.get(Verdict.HELPED, 0), said.get(Verdict.MISLED, 0) + said.get(Verdict.STALE, 0)
    question = _("Does memory help?")
    doubt = _(
        "No session is held out without memory, so nothing can be compared. What an agent says of itself is no proof."
    )
    if not sessions["all"] and not helped + against:
        early = _("Too early to tell: no brief has named its session yet, and no agent said what came of one.")
        return Answer(question, early, doubt)
    if not helped + against:
        sentence = ngettext(
            "%(told)s session began with memories; no agent has said what came of them.",
            "%(told)s sessions began with memories; no agent has said what came of them.",
            sessions["told"],
        ) % {"told": f"{sessions['told']:,}"}
        return Answer(question, sentence, doubt)
    terms = {"helped": _times(helped), "against": _times(against)}
    if not helped:
        sentence = _("Agents said %(against)s that a memory did not hold, and never that one helped.") % terms
    elif not against:
        sentence = _("Agents said %(helped)s that a memory helped, and never that one did not hold.") % terms
    else:
        sentence = _("Agents said %(helped)s that a memory helped, %(against)s that one did not.") % terms
    rows = [
        (_("helped"), helped),
        (_("misled"), said.get(Verdict.MISLED, 0)),
        (_("out of date"), said.get(Verdict.STALE, 0)),
    ]
    table = Table(
        _("The numbers"),
        (_("What"), _("Count")),
        (
            *((words, f"{count:,}") for words, count in rows),
            (_("sessions that began with memories"), f"{sessions['told']:,}"),
            (_("sessions whose brief was empty"), f"{sessions['all'] - sessions['told']:,}"),
        ),
    )
    return Answer(question, sentence, doubt, bars([(words, count, f"{count:,}") for words, count in rows]), table)


def _times(count: int) -> str:
    return ngettext("once", "%(count)s times", count) % {"count": f"{count:,}"}
