"""What do we reject? How often, why, and whether the reader in use makes the same mistake less."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from django.db.models import Count
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from memory.models import Decision, Status, Verb
from projects.models import Project
from review.deciding.decisions import REASON_WORDS
from review.insights.answers import Answer, Table, bars

SHOWN = 5
# Fewer decisions than this on either side say nothing about a change.
ENOUGH = 20


def of(project: Project, since: datetime, now: datetime) -> Answer:
    """Rejected and approved by people; what an undo took back does not count. Two queries."""
    made = Decision.objects.filter(project=project, at__gte=since, undone_by__isnull=True, person__isnull=False)
    rejected = made.filter(verb=Verb.REJECT, fact__status=Status.REJECTED)
    reasons: Counter[str] = Counter()
    halves: dict[bool, Counter[str]] = {False: Counter(), True: Counter()}
    middle = since + (now - since) / 2
    for reason, at in rejected.order_by().values_list("reason", "at"):
        reasons[reason] += 1
        halves[at >= middle][reason] += 1
    approved = made.filter(verb=Verb.APPROVE).exclude(fact__source="manual").aggregate(n=Count("fact", distinct=True))
    decided = sum(reasons.values()) + approved["n"]
    question = _("What do we reject?")
    if not decided:
        return Answer(question, _("Nothing was decided in this time."))
    if not reasons:
        words = ngettext("Nothing. The one was approved.", "Nothing. All %(count)s were approved.", decided)
        return Answer(question, words % {"count": f"{decided:,}"}, _doubt_none())
    ranked = reasons.most_common()
    terms = {"share": _share(sum(reasons.values()), decided), "reason": _words(ranked[0][0]).lower()}
    if len(ranked) > 1 and ranked[0][1] == ranked[1][1]:
        sentence = _("%(share)s, no reason more often than another.") % terms
    else:
        sentence = _("%(share)s, most often because: %(reason)s.") % terms
    rest = sum(number for _code, number in ranked[SHOWN:])
    figure = bars(
        [(_words(code), number, f"{number:,}") for code, number in ranked[:SHOWN]],
        (_("Other reasons"), rest) if rest else None,
    )
    total = sum(reasons.values())
    table = Table(
        _("All reasons"),
        (_("Reason"), _("Count"), _("Share")),
        tuple((_words(code), f"{number:,}", f"{100 * number / total:.0f} %") for code, number in ranked),
    )
    return Answer(question, sentence, _doubt(ranked[0][0], halves), figure, table)


def _words(code: str) -> str:
    return REASON_WORDS.get(code, _("No reason given")) if code != "not_true" else REASON_WORDS["not_true"]


def _share(part: int, whole: int) -> str:
    """`One in nine`, `All of them`, `37 of 52`."""
    if part == whole:
        return _("All of them")
    one_in = round(whole / part)
    names = {
        2: _("One in two"),
        3: _("One in three"),
        4: _("One in four"),
        5: _("One in five"),
        6: _("One in six"),
        7: _("One in seven"),
        8: _("One in eight"),
        9: _("One in nine"),
        10: _("One in ten"),
    }
    if abs(whole / part - one_in) <= 0.25 and one_in in names:
        return names[one_in]
    return _("%(part)s of %(whole)s") % {"part": f"{part:,}", "whole": f"{whole:,}"}


def _doubt(top: str, halves: dict[bool, Counter[str]]) -> str:
    before, after = halves[False], halves[True]
    if min(before.total(), after.total()) < ENOUGH:
        return _("Too few to say whether it gets better.")
    earlier, later = 100 * before[top] / before.total(), 100 * after[top] / after.total()
    return _("“%(reason)s” was %(earlier).0f %% of what was rejected in the first half, and %(later).0f %% since.") % {
        "reason": _words(top),
        "earlier": earlier,
        "later": later,
    }


def _doubt_none() -> str:
    return _("Either the readers are very good, or the cards are approved too fast: look at a few again.")
