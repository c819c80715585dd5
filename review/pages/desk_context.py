"""What the desk shows: the pile line, the last decision, the card and its bar, or why it is empty."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from memory.models import Fact, Status
from memory.types import table
from projects.models import Membership, Project
from review.cards import card
from review.cards.cluster import cluster_of
from review.cards.nearest import nearest
from review.deciding import decisions, undoing
from review.deciding.decisions import DONE_WORDS
from review.insights import own_pace
from review.pages import drafts, forms, impact_pages, planted
from review.pages.done_context import done_context
from review.pages.together import together
from review.piles.pile import Pile
from review.templatetags import desk

# What may stand in place of the bar; the first two only of a proposal, "note" for a tenth reason in words.
OF_PROPOSALS = ("reject", "note", "same")
PANELS = (*OF_PROPOSALS, "edit", "scope", "later", "before")


def desk_context(
    membership: Membership,
    wanted: int | None,
    panel: str = "",
    kept: dict[str, str] | None = None,
    words: str = "",
    opened: bool = False,
    **extra: Any,
) -> dict[str, Any]:
    """What the desk shows: the pile line, the last decision, the card and its bar.

    `panel`: one of PANELS; `kept`: what was typed there before; `words`: what "same" looks for; `opened`: the quote of
    the risky card `wanted` is shown.
    """
    now = timezone.now()
    project, person = membership.project, membership.person
    today = Pile.of(project, person, now, wanted)
    plant, today = planted.on_desk(membership, today, wanted, now)
    last = undoing.last_of(person, project, now)
    shown = plant.fact if plant else today.card
    opened = opened and shown is not None and shown.pk == wanted
    cluster = cluster_of(shown, now) if shown and not panel and not plant else None
    # Of near-duplicates that all wait, the one that is kept is what the card is about.
    front = cluster.kept if cluster and not cluster.is_live else shown
    view = card.build(front, membership, now, is_opened=opened) if front and not plant else None
    if plant:
        view = plant.card(membership, now, opened)
    return {
        "section": "review",
        "pile": today,
        "waiting_count": today.waiting,
        "last": last,
        "last_words": DONE_WORDS.get(last.verb, _("Decided")) if last else "",
        "card": view,
        **(plant.impact(view, now) if plant and view else impact_pages.beside_card(view, now) if view else {}),
        "here": _address(project, front, opened),
        "proposed_when": desk.ago(front.first_seen_at, now) if front else "",
        **({"cluster": cluster, "unticked": (), "reasons": decisions.REASONS} if cluster else {}),
        **({} if view else done_context(membership, today, now)),
        **_panel(membership, shown, panel, kept, words, now, plant),
        **(plant.together(view, membership, panel) if plant and view else together(today.card, membership, panel, now)),
        "plant": plant,
        "at_it": own_pace.minutes_at_it(person, project.pk, now) if view and membership.can_review else 0,
        "can_review": membership.can_review,
        "project": project,
        "membership": membership,
        "now": now,
        **extra,
    }


def _address(project: Project, fact: Fact | None, opened: bool) -> str:
    """This card's address, ready for another parameter; an opened quote stays open in its panels."""
    if fact is None:
        return ""
    return f"{reverse('review:pile', args=[project.slug])}?card={fact.short_id}&{'proof=open&' if opened else ''}"


def _panel(
    membership: Membership,
    fact: Fact | None,
    panel: str,
    kept: dict[str, str] | None,
    words: str,
    now: datetime,
    plant: planted.Planted | None,
) -> dict[str, Any]:
    """What the panel needs; the empty panel is the bar itself."""
    is_proposed = fact is not None and fact.status == Status.PROPOSED
    if fact is None or not membership.can_review or panel not in PANELS or (panel in OF_PROPOSALS and not is_proposed):
        return {"panel": ""}
    needs: dict[str, Any] = {"panel": panel, "kept": kept, "author": drafts.author(membership.person)}
    if panel == "reject":
        needs["reasons"] = decisions.REASONS
    elif panel == "edit":
        needs |= {"typed_in": forms.edit_values(fact, kept), "types": _types(membership.project, fact)}
    elif panel == "later":
        days = forms.later_days(now)
        needs |= {"later": days, "first_day": days[0][3], "last_day": forms.last_day_off(now)}
    elif panel == "same":
        near = nearest(fact, words, now)
        needs |= {"nearest": plant.others(near) if plant else near, "words": words}
    return needs


def _types(project: Project, fact: Fact) -> list[tuple[str, str]]:
    """What a memory may be called, with its words; its own stands there even when the project has no such type."""
    rows = {row.name: row.words for row in table(project.types).values()}
    rows.setdefault(fact.type, fact.type.replace("_", " "))
    return sorted(rows.items(), key=lambda one: one[1])


def is_on_top(context: dict[str, Any], wanted: int) -> bool:
    """Whether the desk shows the card that was asked for: a form must never open on another one in its place."""
    card = context["card"]
    if card is None:
        return False
    # Near-duplicates are one card, whichever of them was asked for.
    return card.fact.pk == wanted or (context.get("cluster") is not None and context["pile"].card.pk == wanted)
