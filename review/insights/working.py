"""Which memories work? In how many briefs each was, and how often an agent said that it helped: two numbers."""

from __future__ import annotations

from datetime import datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memory import served
from memory.models import Fact
from projects.models import Project
from review.insights.answers import Answer, Bar, Bars, Said, Table
from review.templatetags.desk import day

SHOWN = 5
LISTED = 20


def of(project: Project, since: datetime, now: datetime) -> Answer:
    """Live memories by use, each since it was approved: both numbers are about the same time. Three queries."""
    live = Fact.objects.filter(project=project).live(now)
    numbers = dict(live.order_by().values_list("pk", "helped_count"))
    question = _("Which memories work?")
    if not numbers:
        return Answer(question, _("No memory is live yet."))
    used = sum(1 for helped in numbers.values() if helped)
    briefs = {pk: count for pk, count in served.briefs_of(project.pk, numbers).items() if count}
    never = sorted(pk for pk in numbers if pk not in briefs)
    sentence = _("%(of)s %(used)s; %(never)s.") % {
        "of": _counted(ngettext("Of %(count)s live memory", "Of %(count)s live memories", len(numbers)), len(numbers)),
        "used": _counted(ngettext("%(count)s was used at least once", "%(count)s were used at least once", used), used),
        "never": _counted(ngettext("%(count)s was in no brief", "%(count)s were in no brief", len(never)), len(never)),
    }
    ranked = sorted(briefs, key=lambda pk: (-numbers[pk], -briefs[pk], pk))
    # The most used, and the one that is told most often for nothing.
    top = ranked[:SHOWN]
    idle = max((pk for pk in ranked[SHOWN:] if not numbers[pk]), key=lambda pk: briefs[pk], default=None)
    if idle is not None:
        top = [*top[: SHOWN - 1], idle]
    facts = Fact.objects.in_bulk([*top, *never[:LISTED]])
    longest = max((briefs[pk] for pk in top), default=1)
    figure = Bars(
        tuple(
            Bar(
                Said.of(facts[pk].text),
                _("%(used)s of %(briefs)s") % {"used": min(numbers[pk], briefs[pk]), "briefs": f"{briefs[pk]:,}"},
                100 * briefs[pk] / longest,
                100 * min(numbers[pk], briefs[pk]) / longest,
            )
            for pk in top
        ),
        is_long=True,
    )
    table = Table(
        _counted(ngettext("The one in no brief", "The %(count)s in no brief", len(never)), len(never)),
        (_("Memory"), _("Since")),
        tuple((Said.of(facts[pk].text), day(facts[pk].approved_at)) for pk in never[:LISTED]),
    )
    doubt = _("Used means that an agent said so, out of the briefs it was in; most agents say nothing.")
    return Answer(question, sentence, doubt, figure if top else None, table if never else None)


def _counted(words: str, count: int) -> str:
    return words % {"count": f"{count:,}"}
