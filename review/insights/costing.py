"""What does it cost? Reading, tokens at the start of a session, and people's time."""

from __future__ import annotations

from collections import defaultdict
from datetime import date, datetime
from decimal import Decimal
from statistics import median
from zoneinfo import ZoneInfo

from django.db.models import Count, Sum
from django.db.models.aggregates import Aggregate
from django.db.models.fields import FloatField
from django.db.models.functions import TruncMonth
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memory import spending
from memory.models import BriefServed, Decision, ModelCall, Verb
from projects.models import Project
from review.deciding.pace import gaps
from review.insights.answers import Answer, Table, bars

DECIDING = (Verb.APPROVE, Verb.REJECT, Verb.MERGE, Verb.PUT_OFF, Verb.RECONFIRM, Verb.REMOVE, Verb.EDIT)


class _Median(Aggregate):
    """The middle value, counted by Postgres."""

    function = "percentile_cont"
    template = "%(function)s(0.5) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()


def of(project: Project, since: datetime, now: datetime) -> Answer:
    """Five queries, however many briefs and decisions there are."""
    spent = spending.in_all(project.pk, since)
    told = [
        (slug, round(tokens))
        for slug, tokens in BriefServed.objects.filter(project=project, at__gte=since, unchanged=False, paused=False)
        .order_by()
        .values_list("agent__slug")
        .annotate(middle=_Median("tokens"))
        .values_list("agent__slug", "middle")
    ]
    told.sort(key=lambda one: (-one[1], one[0]))
    question = _("What does it cost?")
    gaps, decided = _gaps(project, since)
    if not spent.calls and not told and not decided:
        return Answer(question, _("Nothing yet: nothing was read by a hosted model, told to an agent or decided."))
    parts = [_reading(spent)]
    if told:
        least, most = told[-1][1], told[0][1]
        parts.append(
            _("%(most)s tokens at the start of a session") % {"most": f"{most:,}"}
            if least == most
            else _("between %(least)s and %(most)s tokens at the start of a session")
            % {"least": f"{least:,}", "most": f"{most:,}"}
        )
    sentence = _("%(first)s, and %(second)s.") % dict(zip(("first", "second"), parts, strict=False)) if told else None
    figure = bars([(_("%(agent)s, tokens a brief") % {"agent": slug}, n, f"{n:,}") for slug, n in told])
    return Answer(
        question,
        sentence or f"{parts[0]}.",
        _pace(gaps, decided),
        figure if told else None,
        _by_month(project, since),
    )


def _reading(spent: spending.Spent) -> str:
    if not spent.calls:
        return _("Nothing for reading: the local reader did it")
    cost = f"${spent.cost:,.2f}"
    return _("%(cost)s for reading") % {"cost": cost}


def _gaps(project: Project, since: datetime) -> tuple[list[float], int]:
    """Seconds that decisions took, each person by themselves, and how many acts there were."""
    made = (
        Decision.objects.filter(project=project, at__gte=since, person__isnull=False, verb__in=DECIDING)
        .order_by()
        .values_list("person", "at", "batch")
    )
    moments: dict[int, set[float]] = defaultdict(set)
    acts = set()
    for person, at, batch in made.iterator():
        moments[person].add(at.timestamp())
        acts.add(batch)
    return [gap for at in moments.values() for gap in gaps(at)], len(acts)


def _pace(gaps: list[float], decided: int) -> str:
    if not decided:
        return _("Nobody has decided anything in this time.")
    if not gaps:
        return _("Too few decisions in a row to say how long one takes.")
    spent = decided * median(gaps) / 60
    seconds, minutes = round(median(gaps)), round(spent)
    takes = ngettext("%(count)s second", "%(count)s seconds", seconds) % {"count": seconds}
    if minutes >= 60:
        people = _("%(hours)s h %(minutes)s min") % {"hours": minutes // 60, "minutes": minutes % 60}
    else:
        people = ngettext("%(count)s minute", "%(count)s minutes", minutes) % {"count": minutes}
    return _("A decision takes %(takes)s in the middle; people spent %(time)s.") % {"takes": takes, "time": people}


def _by_month(project: Project, since: datetime) -> Table:
    zone = ZoneInfo(project.timezone)
    months: dict[date, list[Decimal | int]] = defaultdict(lambda: [Decimal(0), 0])
    calls = ModelCall.objects.filter(project=project, at__gte=since).order_by()
    for month, cost in calls.values_list(TruncMonth("at", tzinfo=zone)).annotate(Sum("cost_usd")):
        months[month.date()][0] = cost or Decimal(0)
    made = Decision.objects.filter(project=project, at__gte=since, person__isnull=False, verb__in=DECIDING).order_by()
    for month, count in made.values_list(TruncMonth("at", tzinfo=zone)).annotate(Count("pk")):
        months[month.date()][1] = count
    rows = tuple((f"{month:%B %Y}", f"${cost:,.2f}", f"{count:,}") for month, (cost, count) in sorted(months.items()))
    return Table(_("By month"), (_("Month"), _("Reading"), _("Decisions")), rows)
