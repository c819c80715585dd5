"""What the desk shows: the pile line, the last decision, the card and its bar, or why it is empty."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from memory import reads
from memory.models import Fact, Status
from memory.types import table
from projects.models import Membership, Project
from projects.prepared import Statement, asked_ahead
from review.cards import card, cluster
from review.cards.card import Card
from review.cards.cluster import Cluster, cluster_of
from review.cards.nearest import nearest
from review.deciding import assigning, decisions, leases, undoing
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
    at_once: bool = True,
    **extra: Any,
) -> dict[str, Any]:
    """What the desk shows: the pile line, the last decision, the card and its bar.

    `panel`: one of PANELS; `kept`: what was typed there before; `words`: what "same" looks for; `opened`: the quote of
    the risky card `wanted` is shown. `at_once`: what each answer does to briefs comes with a card where that is cheap;
    else the page asks for it when the card is there (an answer to htmx, which brings a card in place of another one).
    """
    now = timezone.now()
    project, person = membership.project, membership.person
    today = Pile.of(project, person, now, wanted)
    plant, today = planted.on_desk(membership, today, wanted, now)
    last = extra["last"] if "last" in extra else undoing.last_of(person, project, now)
    shown = plant.fact if plant else today.card
    opened = opened and shown is not None and shown.pk == wanted
    with asked_ahead(Fact.objects.db, _asked(shown, membership, now) if shown and not plant else []):
        view, alike = _card(membership, shown, plant, panel, opened, now)
        front = view.fact if view else None
        # Of near-duplicates another one may be kept than the one that lies on top.
        takes_two = view.takes_two if view and today.card and view.fact.pk == today.card.pk else None
        if plant and view:
            company = plant.together(view, membership, panel)
        else:
            company = together(today.card, membership, panel, now, takes_two)
        at_it = own_pace.minutes_at_it(person, project.pk, now) if view and membership.can_review else 0
    return {
        "section": "review",
        "pile": today,
        "waiting_count": today.waiting,
        "last": last,
        "last_words": DONE_WORDS.get(last.verb, _("Decided")) if last else "",
        "card": view,
        **(impact_pages.beside_card(view, now, at_once, plant) if view else {}),
        "here": _address(project, front, opened),
        "proposed_when": desk.ago(front.first_seen_at, now) if front else "",
        **({"cluster": alike, "unticked": (), "reasons": decisions.REASONS} if alike else {}),
        **({} if view else done_context(membership, today, now)),
        **_panel(membership, shown, panel, kept, words, now, plant),
        **company,
        "plant": plant,
        "at_it": at_it,
        "can_review": membership.can_review,
        "project": project,
        "membership": membership,
        "now": now,
        **extra,
    }


def _card(
    membership: Membership, shown: Fact | None, plant: planted.Planted | None, panel: str, opened: bool, now: datetime
) -> tuple[Card | None, Cluster | None]:
    """The card on top, and the near-duplicates that it stands for."""
    if plant:
        return plant.card(membership, now, opened), None
    if shown is None:
        return None, None
    alike = cluster_of(shown, now) if not panel else None
    # Of near-duplicates that all wait, the one that is kept is what the card is about.
    front = alike.kept if alike and not alike.is_live else shown
    return card.build(front, membership, now, is_opened=opened), alike


def _asked(fact: Fact, membership: Membership, now: datetime) -> list[Statement]:
    """What a card reads of a memory, whatever it turns out to be: waited for once."""
    return [
        cluster.asked(fact),
        reads.QUOTES.asked(fact=fact.pk),
        reads.AGENTS.asked(project=membership.project_id),
        leases.asked(fact, now),
        assigning.asked(fact),
        own_pace.asked(membership.person, membership.project_id, now),
    ]


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
