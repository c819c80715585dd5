"""Practice: three cards that look like real ones, answered by the same keys, each told at once. Then the real pile.

What is on the page stands in its address, so that it works without JavaScript, and nothing is kept but the day.
"""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from projects.models import Membership, Role
from review.deciding.decisions import REASONS
from review.pages.access import project_page
from review.piles import practice


@require_http_methods(["GET", "HEAD", "POST"])
@project_page(Role.REVIEWER)
def page(request: HttpRequest, membership: Membership) -> HttpResponse:
    """Card `n` (1 to 3), or what an answer to it was worth. A POST without an answer skips, and after the last card
    ends: both lead to the pile."""
    cards = practice.cards()
    sent = request.POST if request.method == "POST" else request.GET
    number = sent.get("n", "1")
    card = cards[int(number) - 1] if number in {str(one.number) for one in cards} else cards[0]
    answer = sent.get("answer", "")
    if request.method == "POST" and answer in practice.ANSWERS:
        if request.htmx:  # type: ignore[attr-defined]
            return render(request, "review/_practice.html", _context(membership, card, answer))
        return redirect(f"{reverse('review:practice', args=[membership.project.slug])}?n={card.number}&answer={answer}")
    if request.method == "POST":
        return _to_the_pile(request, membership)
    context = _context(membership, card, answer if answer in practice.ANSWERS else "", request.GET.get("panel", ""))
    is_fragment = request.htmx  # type: ignore[attr-defined]
    return render(request, "review/_practice.html" if is_fragment else "review/practice.html", context)


def _to_the_pile(request: HttpRequest, membership: Membership) -> HttpResponse:
    is_first = membership.practised_at is None
    practice.done(membership, timezone.now())
    if is_first:
        messages.info(request, _("From here on the cards are real. Practice is under your name whenever you want it."))
    target = reverse("review:pile", args=[membership.project.slug])
    if request.htmx:  # type: ignore[attr-defined]
        answer = HttpResponse(status=200)
        answer["HX-Redirect"] = target
        return answer
    return redirect(target)


def _context(membership: Membership, card: practice.PracticeCard, answer: str, panel: str = "") -> dict[str, Any]:
    cards = practice.cards()
    address = reverse("review:practice", args=[membership.project.slug])
    feedback = card.feedback(answer) if answer else ""
    return {
        "section": "review",
        "card": card,
        "total": len(cards),
        "answer": answer,
        "is_right": bool(answer) and card.is_right(answer),
        "feedback": feedback,
        "announce": feedback,
        "next": f"{address}?n={card.number + 1}" if card.number < len(cards) else "",
        "here": f"{address}?n={card.number}",
        "panel": panel if panel == "reject" and not answer else "",
        "reasons": REASONS,
        "project": membership.project,
        "membership": membership,
    }
