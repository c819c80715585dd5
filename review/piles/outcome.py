"""What a day's decisions were, and what came of those of the day before: in how many briefs, and how often of use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memory.models import Decision, Fact, Feedback, Verb, Verdict
from projects.models import Agent, Person, Project
from review.deciding.pace import gaps
from review.piles import day
from review.piles.reading import rows

# Looked through for yesterday's: the last briefs of the project.
BRIEFS_LOOKED_AT = 20_000
MOST_DECISIONS = 1_000
NAMED = 3

# Joined by value: to hold each brief's list against that of the day took a second for a day of many.
_BRIEFS = """
WITH latest AS MATERIALIZED (
    SELECT id, at, unchanged, fact_ids FROM memory_briefserved WHERE project_id = %(project)s::bigint
    ORDER BY id DESC LIMIT %(most)s::int
), wanted AS MATERIALIZED (SELECT unnest(%(facts)s::bigint[]) AS fact)
SELECT (
    SELECT count(DISTINCT l.id) FROM latest l CROSS JOIN LATERAL unnest(l.fact_ids) told(fact) JOIN wanted USING (fact)
    WHERE l.at >= %(since)s::timestamptz AND NOT l.unchanged
), (SELECT min(at) > %(since)s::timestamptz AND count(*) >= %(most)s::int FROM latest)
"""


@dataclass(frozen=True)
class Today:
    """One person's day: what they decided in words, who has it at hand, how long it took, when it ended."""

    words: str
    approved: int
    agents: tuple[str, ...]
    everyone: bool
    minutes: int
    ended_at: datetime | None


@dataclass(frozen=True)
class Before:
    """The last day on which they approved something: how many, in how many briefs since, how often of use."""

    on: date
    days_ago: int
    approved: int
    briefs: int
    more_briefs: bool
    helped: int


def today(project: Project, person: Person, now: datetime) -> Today:
    """Three queries."""
    decided = day.decided_today(project, person, now).only("verb", "before", "at", "fact_id")
    ended = list(decided[:MOST_DECISIONS])
    counts = Counter(_kind(one) for one in ended)
    approved = [one.fact_id for one in ended if one.verb == Verb.APPROVE]
    goes_to = Fact.objects.filter(pk__in=approved).values_list("everyone", "agent_ids")
    everyone = False
    ids: set[int] = set()
    for to_all, agent_ids in goes_to:
        everyone, ids = everyone or to_all, ids | set(agent_ids)
    agents = Agent.objects.filter(project=project, pk__in=ids, archived_at__isnull=True).order_by("slug", "pk")
    seconds = sum(gaps([one.at.timestamp() for one in ended]))
    return Today(
        words=_words(counts),
        approved=len(approved),
        agents=tuple(agents.values_list("slug", flat=True)) if ids else (),
        everyone=everyone,
        minutes=max(1, round(seconds / 60)) if seconds else 0,
        ended_at=max((one.at for one in ended), default=None),
    )


def before(project: Project, person: Person, now: datetime) -> Before | None:
    """What came of the last day before today with an approval by this person. At most four queries."""
    start, _end = day.bounds(project, now)
    approvals = Decision.objects.filter(project=project, person=person, verb=Verb.APPROVE, undone_by__isnull=True)
    last = approvals.filter(at__lt=start).order_by("-at").values_list("at", flat=True).first()
    if last is None:
        return None
    since, until = day.bounds(project, last)
    those = approvals.filter(at__gte=since, at__lt=until).order_by("at")
    facts = list(those.values_list("fact_id", flat=True).distinct()[:MOST_DECISIONS])
    named = {"project": project.pk, "since": since, "facts": facts, "most": BRIEFS_LOOKED_AT}
    briefs, is_more = rows(_BRIEFS, named)[0]
    helped = Feedback.objects.filter(fact__in=facts, verdict=Verdict.HELPED, at__gte=since).count()
    local = last.astimezone(ZoneInfo(project.timezone)).date()
    days_ago = (start.date() - local) // timedelta(days=1)
    return Before(local, days_ago, len(facts), briefs, bool(is_more), helped)


def _kind(one: Decision) -> str:
    """What the end screen counts it as: approved with other words is edited."""
    return Verb.EDIT if one.verb == Verb.APPROVE and "text" in one.before else one.verb


def _words(counts: Counter[str]) -> str:
    """`14 approved, 2 edited, 2 rejected.`"""
    said = (
        (Verb.APPROVE, ngettext("%(count)d approved", "%(count)d approved", counts[Verb.APPROVE])),
        (Verb.EDIT, ngettext("%(count)d edited", "%(count)d edited", counts[Verb.EDIT])),
        (Verb.FIRST_YES, ngettext("%(count)d first yes", "%(count)d first yes", counts[Verb.FIRST_YES])),
        (Verb.RECONFIRM, ngettext("%(count)d confirmed", "%(count)d confirmed", counts[Verb.RECONFIRM])),
        (Verb.MERGE, ngettext("%(count)d merged", "%(count)d merged", counts[Verb.MERGE])),
        (Verb.REJECT, ngettext("%(count)d rejected", "%(count)d rejected", counts[Verb.REJECT])),
        (Verb.REMOVE, ngettext("%(count)d withdrawn", "%(count)d withdrawn", counts[Verb.REMOVE])),
        (Verb.PUT_OFF, ngettext("%(count)d put off", "%(count)d put off", counts[Verb.PUT_OFF])),
    )
    parts = [words % {"count": counts[verb]} for verb, words in said if counts[verb]]
    return f"{', '.join(parts)}." if parts else ""


def who_starts(one: Today) -> str:
    """`Support and sales have them at hand from their next brief on.` Subjects, task and room decide what is in it."""
    if not one.approved:
        return _("No brief changes: nothing was approved.")
    if one.everyone:
        return ngettext(
            "Every agent has it at hand from its next brief on.",
            "Every agent has them at hand from its next brief on.",
            one.approved,
        )
    names = _joined(one.agents)
    if not names:
        return _("No agent that is connected receives them.")
    template = (
        ngettext(
            "%(names)s has it at hand from its next brief on.",
            "%(names)s has them at hand from its next brief on.",
            one.approved,
        )
        if len(one.agents) == 1
        else ngettext(
            "%(names)s have it at hand from their next brief on.",
            "%(names)s have them at hand from their next brief on.",
            one.approved,
        )
    )
    return template % {"names": names[:1].upper() + names[1:]}


def _joined(names: Sequence[str]) -> str:
    if len(names) > NAMED:
        return _("%(count)d agents") % {"count": len(names)}
    if len(names) < 2:
        return "".join(names)
    return _("%(first)s and %(last)s") % {"first": ", ".join(names[:-1]), "last": names[-1]}
