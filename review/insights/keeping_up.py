"""Can we keep up? What came in, what was decided, and how old the oldest is."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from django.db.models import Count, Min, Q
from django.db.models.functions import TruncDate
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memory.models import Decision, Fact, Status, Verb
from projects.models import Project
from review.insights.answers import Answer, Lines, Table

# What takes a proposal out of the pile for good, by a person's hand.
DECIDED = (Verb.APPROVE, Verb.REJECT, Verb.MERGE)
# A pile that shrinks, or grows by less than one in ten, is kept up with.
SLACK = 0.1
MOST_DAYS = 45


def of(project: Project, since: datetime, now: datetime) -> Answer:
    """By day or week in the project's zone. Five queries."""
    zone = ZoneInfo(project.timezone)
    came = Fact.objects.filter(project=project, first_seen_at__gte=since).exclude(source="manual")
    gone = Decision.objects.filter(
        project=project, at__gte=since, verb__in=DECIDED, person__isnull=False, undone_by__isnull=True
    ).exclude(fact__source="manual")
    per_day = dict(came.order_by().values_list(TruncDate("first_seen_at", tzinfo=zone)).annotate(Count("pk")))
    decided_per_day = dict(
        gone.order_by().values_list(TruncDate("at", tzinfo=zone)).annotate(n=Count("fact", distinct=True))
    )
    came_in, decided = sum(per_day.values()), sum(decided_per_day.values())
    question = _("Can we keep up?")
    rows = _by_agent(project, since)
    open_now = sum(row.waiting for row in rows)
    if not came_in and not decided and not open_now:
        return Answer(question, _("Nothing came in, and nothing waits."))
    oldest = min((row.oldest for row in rows if row.oldest is not None), default=None)
    days = _days(since.astimezone(zone).date(), now.astimezone(zone).date())
    # Over months a day is noise: a point a week then, the last one up to today.
    width = 1 if len(days) <= MOST_DAYS else 7
    starts = days[len(days) % width :: width]
    table = Table(
        _("By agent"),
        (_("Agent"), _("In"), _("Decided"), _("Waiting"), _("Oldest")),
        tuple(
            (row.name, f"{row.came:,}", f"{row.decided:,}", f"{row.waiting:,}", _age(row.oldest, now)) for row in rows
        ),
    )
    figure = Lines(
        days=tuple(starts),
        first=tuple(_sum(decided_per_day, start, width) for start in starts),
        second=tuple(_sum(per_day, start, width) for start in starts),
        first_words=_("decided"),
        second_words=_("came in"),
        label=_("Proposals that came in and were decided, over time"),
        is_weekly=width == 7,
    )
    return Answer(question, _sentence(came_in, decided, open_now, oldest, now), _doubt(gone), figure, table)


def _sentence(came_in: int, decided: int, open_now: int, oldest: datetime | None, now: datetime) -> str:
    were = ngettext("%(count)s was decided", "%(count)s were decided", decided) % {"count": f"{decided:,}"}
    terms = {"came": f"{came_in:,}", "decided": were, "open": f"{open_now:,}", "age": _age(oldest, now)}
    if not open_now:
        return _("Yes. %(came)s came in, %(decided)s; nothing waits.") % terms
    if decided >= came_in * (1 - SLACK):
        return (
            ngettext(
                "Yes. %(came)s came in, %(decided)s; the one that waits is %(age)s old.",
                "Yes. %(came)s came in, %(decided)s; the oldest of %(open)s is %(age)s old.",
                open_now,
            )
            % terms
        )
    return (
        ngettext(
            "No. %(came)s came in and %(decided)s; %(open)s waits, for %(age)s.",
            "No. %(came)s came in and %(decided)s; %(open)s wait, the oldest for %(age)s.",
            open_now,
        )
        % terms
    )


def _doubt(gone) -> str:  # type: ignore[no-untyped-def]
    people = Counter(gone.order_by().values_list("person__name", flat=True))
    if not people:
        return _("Nobody has decided anything in this time.")
    if len(people) == 1:
        return _("%(name)s decided all of it. When they are away, nothing moves.") % {"name": next(iter(people))}
    return ngettext("%(count)s person decided.", "%(count)s people decided.", len(people)) % {"count": len(people)}


class _Row:
    def __init__(self, name: str) -> None:
        self.name = name
        self.came = self.decided = self.waiting = 0
        self.oldest: datetime | None = None


def _by_agent(project: Project, since: datetime) -> list[_Row]:
    """Agents by what waits, then by what came."""
    rows: dict[str, _Row] = {}
    groups = (
        Fact.objects.filter(project=project)
        .exclude(source="manual")
        .order_by()
        .values_list("proposed_by_agent__slug")
        .annotate(
            came=Count("pk", filter=Q(first_seen_at__gte=since)),
            waiting=Count("pk", filter=Q(status=Status.PROPOSED)),
            oldest=Min("first_seen_at", filter=Q(status=Status.PROPOSED)),
        )
    )
    for slug, came, waiting, oldest in groups:
        row = rows.setdefault(slug or "", _Row(slug or _("imported")))
        row.came, row.waiting, row.oldest = came, waiting, oldest
    decided = (
        Decision.objects.filter(project=project, at__gte=since, verb__in=DECIDED, person__isnull=False)
        .filter(undone_by__isnull=True)
        .exclude(fact__source="manual")
        .order_by()
        .values_list("fact__proposed_by_agent__slug")
        .annotate(n=Count("fact", distinct=True))
    )
    for slug, count in decided:
        rows.setdefault(slug or "", _Row(slug or _("imported"))).decided = count
    return sorted(
        (row for row in rows.values() if row.came or row.decided or row.waiting),
        key=lambda row: (-row.waiting, -row.came, row.name),
    )


def _days(first: date, last: date) -> list[date]:
    return [first + timedelta(days=place) for place in range((last - first).days + 1)]


def _sum(counts: dict[date, int], start: date, width: int) -> int:
    return sum(counts.get(start + timedelta(days=place), 0) for place in range(width))


def _age(moment: datetime | None, now: datetime) -> str:
    if moment is None:
        return ""
    passed = now - moment
    if passed >= timedelta(days=1):
        return ngettext("%(count)s day", "%(count)s days", passed.days) % {"count": passed.days}
    hours = int(passed.total_seconds() // 3600)
    if hours:
        return ngettext("%(count)s hour", "%(count)s hours", hours) % {"count": hours}
    minutes = max(1, int(passed.total_seconds() // 60))
    return ngettext("%(count)s minute", "%(count)s minutes", minutes) % {"count": minutes}
