"""What misled? Complaints of agents by week, and how long one waits for an answer."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from statistics import median
from zoneinfo import ZoneInfo

from django.db.models import Min, OuterRef, Subquery
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memory.models import Decision, Feedback, Verb, Verdict
from projects.models import Project
from review.insights.answers import Answer, Columns, Said, Table
from review.templatetags.desk import state_words

WEEKS = 12
LISTED = 20
# What answers a complaint: it was changed, taken out, replaced, or a person stood behind it again.
ANSWERS = (Verb.EDIT, Verb.REMOVE, Verb.SUPERSEDE, Verb.RECONFIRM, Verb.EXPIRE)


def of(project: Project, since: datetime, now: datetime) -> Answer:
    """The last twelve weeks, whatever the period of the page. One query."""
    first_answer = (
        Decision.objects.filter(fact=OuterRef("fact"), at__gte=OuterRef("at"), verb__in=ANSWERS, undone_by__isnull=True)
        .order_by()
        .values("fact")
        .annotate(first=Min("at"))
        .values("first")
    )
    begun = now - timedelta(weeks=WEEKS)
    said = list(
        Feedback.objects.filter(
            project=project, at__gte=begun, at__lte=now, verdict__in=[Verdict.MISLED, Verdict.STALE]
        )
        .select_related("fact")
        .annotate(answered_at=Subquery(first_answer))
        .order_by("-at", "-pk")
    )
    question = _("What misled?")
    if not said:
        return Answer(question, _("Nothing that an agent complained about, in twelve weeks."))
    zone = ZoneInfo(project.timezone)
    first = _monday(now.astimezone(zone)) - timedelta(weeks=WEEKS - 1)
    weeks = [(first + timedelta(weeks=place)).date() for place in range(WEEKS)]
    by_week = Counter(_monday(one.at.astimezone(zone)).date() for one in said)
    per_fact = Counter(one.fact_id for one in said)
    newest = said[0]
    terms = {"count": f"{len(said):,}", "facts": f"{len(per_fact):,}"}
    sentence = (
        ngettext("%(count)s complaint in 12 weeks, ", "%(count)s complaints in 12 weeks, ", len(said))
        + ngettext("about %(facts)s memory.", "about %(facts)s memories.", len(per_fact))
    ) % terms
    waits = [one.answered_at - one.at for one in said if one.answered_at is not None]
    open_ones = sum(1 for one in said if one.answered_at is None)
    doubt = ""
    if waits:
        doubt = _("From complaint to answer: %(time)s, in the middle.") % {"time": _span(median(waits))}
    if open_ones:
        doubt += " " + ngettext("%(count)s is open.", "%(count)s are open.", open_ones) % {"count": open_ones}
    facts = list({one.fact_id: one.fact for one in said}.values())
    unanswered = {one.fact_id for one in said if one.answered_at is None}
    table = Table(
        _("All complaints"),
        (_("Memory"), _("Complaints"), _("Then")),
        tuple(
            (Said.of(fact.text), str(per_fact[fact.pk]), _("open") if fact.pk in unanswered else state_words(fact))
            for fact in facts[:LISTED]
        ),
    )
    figure = Columns(
        tuple(weeks),
        tuple(by_week.get(week, 0) for week in weeks),
        _("Complaints by week, twelve weeks"),
        note=str(by_week[weeks[-1]]) if _monday(newest.at.astimezone(zone)).date() == weeks[-1] else "",
    )
    return Answer(question, sentence, doubt.strip(), figure, table)


def _monday(moment: datetime) -> datetime:
    return (moment - timedelta(days=moment.weekday())).replace(hour=0, minute=0, second=0, microsecond=0)


def _span(passed: timedelta) -> str:
    minutes = max(1, round(passed.total_seconds() / 60))
    if minutes < 120:
        return ngettext("%(count)s minute", "%(count)s minutes", minutes) % {"count": minutes}
    if minutes < 48 * 60:
        return _("%(count)s hours") % {"count": round(minutes / 60)}
    return _("%(count)s days") % {"count": round(minutes / 1440)}
