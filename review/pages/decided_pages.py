"""What one decided last, each act with its undo."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from memory.models import Decision
from projects.models import Membership, Role
from review.deciding import undoing
from review.deciding.decisions import REASON_WORDS, VERB_WORDS
from review.pages.access import project_page
from review.templatetags import desk

SHOWN = 3


@dataclass(frozen=True)
class Act:
    """One act: when, what in words, the first memories of it, and whether it stands."""

    pk: int
    at: datetime
    words: str
    shown: tuple[Decision, ...]
    more: int
    undone: str
    moved: str


@require_safe
@project_page(Role.VIEWER)
def decided(request: HttpRequest, membership: Membership) -> HttpResponse:
    acts = [_act(steps) for steps in undoing.last_acts(membership.person, membership.project)]
    context = {"section": "review", "acts": acts, "can_review": membership.can_review, "project": membership.project}
    return render(request, "review/decided.html", context)


def _act(steps: Sequence[Decision]) -> Act:
    first = steps[0]
    words = VERB_WORDS.get(first.verb, first.verb)
    if first.reason in REASON_WORDS:
        words = _("%(verb)s: %(reason)s") % {"verb": words, "reason": REASON_WORDS[first.reason].lower()}
    if len(steps) > 1:
        words = _("%(words)s, %(count)d memories") % {"words": words, "count": len(steps)}
    back = [step.undone_by for step in steps if hasattr(step, "undone_by")]
    undone = ""
    if len(back) == len(steps):
        undone = _("Undone %(when)s") % {"when": desk.clock(max(step.at for step in back))}
    standing = next((step for step in steps if not hasattr(step, "undone_by")), first)
    moved = "" if undone or not _all_moved(steps) else undoing.changed_words(standing.fact)
    return Act(standing.pk, first.at, words, tuple(steps[:SHOWN]), max(0, len(steps) - SHOWN), undone, moved)


def _all_moved(steps: Sequence[Decision]) -> bool:
    """Whether a short act cannot be undone any more: its memories moved since, and were not moved back. Of a long one
    the undo itself says what stands."""
    return len(steps) <= SHOWN and all(
        hasattr(step, "undone_by") or (step.fact.revision != step.revision_after and not step.fact.is_back_at(step))
        for step in steps
    )
