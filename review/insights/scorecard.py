"""How good each reader's proposals were, in what people decided: by reader and prompt version, by type, by week.

Approved "as it stood" means that no decision changed its words before or when it was first approved. What an undo took
back does not count.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from django.db.models import BooleanField, Count, Exists, ExpressionWrapper, OuterRef, Q
from django.db.models.functions import TruncWeek
from django.utils.translation import gettext as _

from memory.models import Decision, Fact, Status, Verb
from memory.types import type_of
from projects.models import Project
from review.deciding.decisions import REASON_WORDS

WEEKS = 8
# Fewer decisions than this say nothing about a reader.
ENOUGH = 50
# By a person: what came in on arrival says nothing yet of what people think.
WAS_APPROVED = ExpressionWrapper(Q(approved_at__isnull=False, approved_by__isnull=False), output_field=BooleanField())


@dataclass
class Score:
    """What became of some proposals. `waiting` are not decided; `other` lapsed, were merged, or came in on arrival."""

    as_it_stood: int = 0
    edited: int = 0
    rejected: int = 0
    other: int = 0
    waiting: int = 0
    reasons: Counter[str] = field(default_factory=Counter)

    @property
    def approved(self) -> int:
        return self.as_it_stood + self.edited

    @property
    def decided(self) -> int:
        return self.approved + self.rejected

    @property
    def share(self) -> str:
        """Approved as they stood, of those decided; "" while there are none."""
        return f"{100 * self.as_it_stood / self.decided:.0f} %" if self.decided else ""

    @property
    def is_enough(self) -> bool:
        return self.decided >= ENOUGH

    @property
    def why(self) -> str:
        """The reasons of the rejected ones, the most frequent first: `Too vague 4, Not true 2`."""
        return ", ".join(f"{REASON_WORDS.get(code, code)} {count}" for code, count in self.reasons.most_common())

    def add(self, status: str, was_approved: bool, is_edited: bool, count: int) -> None:
        if was_approved:
            self.edited += count if is_edited else 0
            self.as_it_stood += 0 if is_edited else count
        elif status == Status.REJECTED:
            self.rejected += count
        elif status == Status.PROPOSED:
            self.waiting += count
        else:
            self.other += count


@dataclass(frozen=True)
class Scorecard:
    """The scores of one project; readers are (name, version) in words, weeks begin on Monday in the project's zone."""

    total: Score
    readers: tuple[tuple[str, Score], ...]
    types: tuple[tuple[str, Score], ...]
    weeks: tuple[tuple[date, Score], ...]


def of(project: Project, now: datetime) -> Scorecard:
    """The whole scorecard: two queries, however many proposals there are."""
    zone = ZoneInfo(project.timezone)
    changed_words = Decision.objects.filter(
        fact=OuterRef("pk"), verb__in=[Verb.APPROVE, Verb.EDIT], before__has_key="text", undone_by__isnull=True
    ).filter(Q(at__lte=OuterRef("approved_at")))
    read = Fact.objects.filter(project=project).exclude(distiller="")
    groups = (
        read.annotate(
            week=TruncWeek("first_seen_at", tzinfo=zone), is_edited=Exists(changed_words), was_approved=WAS_APPROVED
        )
        .order_by()
        .values_list("distiller", "prompt_version", "type", "week", "status", "was_approved", "is_edited")
        .annotate(Count("pk"))
    )
    total = Score()
    readers: dict[str, Score] = defaultdict(Score)
    types: dict[str, Score] = defaultdict(Score)
    weeks: dict[date, Score] = defaultdict(Score)
    since = (now.astimezone(zone) - timedelta(weeks=WEEKS)).date()
    for distiller, version, kind, week, status, was_approved, is_edited, count in groups:
        scores = [
            total,
            readers[(_("%(distiller)s reader %(version)s") % {"distiller": distiller, "version": version}).strip()],
            types[_type_words(kind, project)],
        ]
        if week.date() >= since:
            scores.append(weeks[week.date()])
        for score in scores:
            score.add(status, was_approved, is_edited, count)
    for distiller, version, kind, reason, count in _reasons(project):
        for score in (
            total,
            readers[(_("%(distiller)s reader %(version)s") % {"distiller": distiller, "version": version}).strip()],
            types[_type_words(kind, project)],
        ):
            score.reasons[reason] += count
    by_size = sorted(types.items(), key=lambda one: (-one[1].decided, one[0]))
    return Scorecard(total, tuple(sorted(readers.items(), reverse=True)), tuple(by_size), tuple(sorted(weeks.items())))


def _reasons(project: Project):  # type: ignore[no-untyped-def]
    return (
        Decision.objects.filter(project=project, verb=Verb.REJECT, undone_by__isnull=True)
        .filter(fact__status=Status.REJECTED)
        .exclude(fact__distiller="")
        .order_by()
        .values_list("fact__distiller", "fact__prompt_version", "fact__type", "reason")
        .annotate(Count("pk"))
    )


def _type_words(name: str, project: Project) -> str:
    row = type_of(name, project.types)
    return row.words if row.name == name else name.replace("_", " ")
