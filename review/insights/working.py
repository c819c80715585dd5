"""Which memories work? In how many briefs each was, and how often an agent said that it helped: two numbers."""

from __future__ import annotations

from datetime import datetime

from django.db import connections
from django.utils.translation import gettext as _

from memory.models import Fact
from projects.models import Project
from review.insights.answers import Answer, Bar, Bars, Said, Table
from review.templatetags.desk import day

SHOWN = 5
LISTED = 20

# One row per memory that was in a brief: how many briefs. Postgres unpacks the arrays; no row of them comes over.
_BRIEFS = """
SELECT fact_id, count(*) FROM memory_briefserved b CROSS JOIN LATERAL unnest(b.fact_ids) AS fact_id
WHERE b.project_id = %s AND b.at >= %s AND NOT b.unchanged GROUP BY fact_id
"""


def of(project: Project, since: datetime, now: datetime) -> Answer:
    """Live memories by use. Three queries."""
    live = Fact.objects.filter(project=project).live(now)
    with connections[Fact.objects.db].cursor() as cursor:
        cursor.execute(_BRIEFS, [project.pk, since])
        briefs: dict[int, int] = dict(cursor.fetchall())
    numbers = dict(live.order_by().values_list("pk", "helped_count"))
    question = _("Which memories work?")
    if not numbers:
        return Answer(question, _("No memory is live yet."))
    used = sum(1 for helped in numbers.values() if helped)
    never = sorted(pk for pk in numbers if pk not in briefs)
    terms = {"live": f"{len(numbers):,}", "used": f"{used:,}", "never": f"{len(never):,}"}
    sentence = _("Of %(live)s live memories %(used)s were used at least once; %(never)s were in no brief.") % terms
    ranked = sorted(briefs.keys() & numbers.keys(), key=lambda pk: (-numbers[pk], -briefs[pk], pk))
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
        _("The %(count)s in no brief") % {"count": f"{len(never):,}"},
        (_("Memory"), _("Since")),
        tuple((Said.of(facts[pk].text), day(facts[pk].approved_at)) for pk in never[:LISTED]),
    )
    doubt = _("Used means that an agent said so, out of the briefs it was in; most agents say nothing.")
    return Answer(question, sentence, doubt, figure if top else None, table if never else None)
