"""A planted card at the desk: it looks like any other, its answer changes nothing, and is told at once.

It stands at the address that a memory of its number would have. There is no such memory, so each page to which a card
leads asks here as well: who could tell a planted card by a dead link would look at nothing else.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone

from memory import rendering, short_ids
from memory.models import Decision, Evidence, Fact, Session, Status, Verb
from projects.models import Membership
from review.cards import card, impact_masked
from review.cards.card import Card
from review.cards.impact import Impact
from review.cards.proof import ON_CARD
from review.deciding import assigning, leases, second_person
from review.deciding.decisions import REASONS
from review.finding.asked import Asked, folded
from review.finding.facts import EXACT, Hit
from review.models import GoldItem
from review.pages.access import find_fact, membership_in
from review.piles import gold
from review.piles.pile import Pile

DIGITS = {digit: code for digit, code, _words in REASONS}


@dataclass(frozen=True)
class Planted:
    """A planted card as the desk shows it: `fact` is no row of any table."""

    item: GoldItem
    source: Fact
    fact: Fact
    quotes: list[Evidence]

    def card(self, membership: Membership, now: datetime, is_opened: bool, proofs_shown: int = ON_CARD) -> Card:
        view = card.build(self.fact, membership, now, proofs_shown, is_opened=is_opened, quotes=self.quotes)
        # What it was made from would give the answer away.
        known = tuple(one for one in view.known if one.pk != self.source.pk)
        alike = view.alike
        if alike is not None:
            shown = tuple(self.others(alike.shown))
            alike = replace(alike, shown=shown, count=alike.count - 1) if shown else None
        return replace(view, known=known, known_count=view.known_count - 1, alike=alike)

    def others(self, facts: Iterable[Fact]) -> list[Fact]:
        """Without the memory that it was made from."""
        return [fact for fact in facts if fact.pk != self.source.pk]

    def figures(self, agents: Iterable[Any], now: datetime) -> Impact:
        return impact_masked.of_new(self.source, agents, now)

    def together(self, view: Card, membership: Membership, panel: str) -> dict[str, Any]:
        """As `review.pages.together` of a proposal that nobody has to do with: it is nobody's to be on."""
        if membership.can_review:
            leases.leave(membership.project, membership.person)
        needs_two = view.risk is not None and view.risk.needs_two
        two = second_person.nobody_yet(membership) if needs_two else None
        found: dict[str, Any] = {"on_it": None, "put_before": None, "two": two}
        if panel == "before":
            found["people"] = second_person.others_who_review(membership.project, membership.person)
        return found

    @property
    def as_line(self) -> tuple[Fact, list[Evidence]]:
        """As the list shows it (review.piles.lines)."""
        return self.fact, self.quotes

    def steps(self) -> list[Decision]:
        """The history of a proposal: that it was proposed."""
        fact = self.fact
        proposed = Decision(project_id=fact.project_id, fact=fact, verb=Verb.PROPOSE, at=fact.first_seen_at)
        proposed.before, proposed.after = {}, fact._snapshot()
        proposed.revision_before, proposed.revision_after = 0, 1
        return [proposed]


def on_desk(membership: Membership, today: Pile, wanted: int | None, now: datetime) -> tuple[Planted | None, Pile]:
    """The planted card that lies on the desk, if one does, and the pile with it before the first card: J and K pass it.

    It comes only where a new proposal would: in front of a complaint, or of what somebody put before this person, it
    would stand out.
    """
    first = today.card if today.card is not None and today.left and today.card.pk == today.left[0] else None
    if today.card is None:
        return None, today
    if wanted is not None and (first is None or wanted != first.pk):
        plant = due(membership, wanted, now)
    else:
        plant = due(membership, None, now) if first is not None and _is_plain(first) else None
        if plant is not None and first is not None and assigning.of(first, now) is not None:
            plant = None
    if plant is None:
        return None, today
    is_shown = wanted is None or wanted == plant.fact.pk
    return plant if is_shown else None, replace(today, planted=plant.fact.pk, is_planted=is_shown)


def _is_plain(fact: Fact) -> bool:
    return fact.status == Status.PROPOSED and not fact.relation and not fact.standing


def due(membership: Membership, wanted: int | None, now: datetime) -> Planted | None:
    """The planted card that is due for this person now, or the one that was asked for by its number. One that no longer
    can be shown as it was made goes."""
    item = gold.next_for(membership, now) if wanted is None else gold.looked_at(membership, wanted)
    if item is None:
        return None
    source = gold.sources(membership.project, now).filter(pk=item.card.get("source")).first()
    quotes = list(source.evidence.select_related("observation__session__agent").order_by("pk")) if source else []
    if source is None or not quotes or any(row.verdict() != "holds" for row in quotes):
        GoldItem.objects.filter(pk=item.pk).update(retired_at=now)
        return None
    return Planted(item, source, _as_fact(item, source), quotes)


def find_shown(request: HttpRequest, short_id: str, now: datetime) -> tuple[Fact, Membership, Planted | None]:
    """As `access.find_fact`, for a page that a card leads to: the memory, or the planted card of this id and what is
    behind it, for whoever has not answered it. Raises Http404."""
    try:
        return *find_fact(request, short_id), None
    except Http404:
        number = short_ids.decode(short_id)
        for membership in request.memberships if number is not None else ():  # type: ignore[attr-defined]
            plant = due(membership, number, now)
            if plant is not None:
                return plant.fact, membership_in(request, membership.project_id), plant
        raise


def in_transcript(membership: Membership, session: Session, evidence: Sequence[Evidence], now: datetime) -> None:
    """Puts the planted card that lies before this person where the memory stands that it was made from: whoever reads
    the quote in its session would know it by what else came from there. No query while the switch is off."""
    plant = due(membership, None, now) if evidence else None
    if plant is None or session.project_id != membership.project_id:
        return
    for row in evidence:
        if row.fact_id == plant.source.pk:
            row.fact = plant.fact


def found_by(memberships: Iterable[Membership], wanted: Asked, now: datetime) -> list[Hit]:
    """The planted card before one of these, where its id or its whole sentence was asked for. No query while the switch
    is off."""
    hits: list[Hit] = []
    for membership in () if wanted.is_empty else memberships:
        plant = due(membership, None, now)
        if plant is None:
            continue
        by_id = ("f", plant.fact.pk) in wanted.ids
        if by_id or folded(plant.fact.text) in wanted.sentences:
            hits.append(Hit(plant.fact, EXACT, is_live=False, by_id=by_id))
    return hits


def answered(request: HttpRequest, short_id: str, verb: str | None = None, reason: str = "") -> HttpResponse | None:
    """What the desk answers to a decision about a planted card (`verb`, where the form does not say it); None where
    there is none of this id."""
    number = short_ids.decode(short_id)
    if number is None:
        return None
    for membership in request.memberships:  # type: ignore[attr-defined]
        item = gold.asked(membership, number)
        if item is not None:
            request.membership = membership  # type: ignore[attr-defined]
            said_verb, said_reason = _said(request, item) if verb is None else (verb, reason)
            return tell(request, membership, answer(membership, item, said_verb, said_reason))
    return None


def answer(membership: Membership, item: GoldItem, verb: str, reason: str) -> tuple[str, bool]:
    """Keeps the answer; (what is told of it, whether it was right)."""
    said = gold.answer(membership, item, verb, reason, timezone.now())
    return gold.feedback(said), said.is_right


def told_of_many(membership: Membership, plant: Planted, verb: str, reason: str) -> dict[str, Any]:
    """Keeps the answer given along with others; what the desk says of it, by name, for several lines were ticked."""
    told, is_right = answer(membership, plant.item, verb, DIGITS.get(reason, reason))
    return {"told": f"“{plant.fact.text}” {told}", "told_right": is_right}


def tell(request: HttpRequest, membership: Membership, said: tuple[str, bool]) -> HttpResponse:
    """The next card, with what was said over it."""
    from review.pages.desk_context import desk_context

    told, is_right = said
    if request.htmx:  # type: ignore[attr-defined]
        # The last real decision is not what U would be pressed for now.
        context = desk_context(
            membership, None, at_once=False, told=told, told_right=is_right, announce=told, last=None
        )
        return render(request, "review/_desk.html", context)
    messages.info(request, told)
    return redirect("review:pile", membership.project.slug)


def _said(request: HttpRequest, item: GoldItem) -> tuple[str, str]:
    """(what the answer means, its reason): approving other words is an edit, and another end alone is none."""
    verb, reason = request.POST.get("verb", ""), request.POST.get("reason", "")
    typed = rendering.clean_line(request.POST.get("text", ""))
    if verb in ("approve", "edit") and typed and typed != item.card.get("text"):
        verb = "edit"
    elif verb == "edit":
        verb = ""
    return verb, DIGITS.get(reason, reason)


def _as_fact(item: GoldItem, source: Fact) -> Fact:
    """A proposal that nobody has touched, with what the source was when it was learned."""
    looks = copy.copy(source)
    looks.pk = item.card["number"]
    looks.text = item.card["text"]
    looks.value = item.card["text"] if isinstance(source.value, str) else source.value
    looks.status, looks.relation, looks.related = Status.PROPOSED, "", None
    looks.approved_at = looks.approved_by = looks.confirmed_at = looks.review_due_at = None
    looks.first_yes_by = looks.first_yes_at = looks.put_off_until = looks.superseded_by = looks.valid_to = None
    looks.helped_count = 0
    looks.revision = 1
    return looks
