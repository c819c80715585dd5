"""Evidence first: what is risky is approved only by somebody who opened its quote."""

from __future__ import annotations

from django.utils.translation import gettext as _

from memory.models import Fact, NotAllowed, Status
from review.cards.risk import risk_of


def refuse_unread(fact: Fact, is_opened: bool) -> None:
    """Before a waiting proposal becomes live by one person's hand on one card. Raises NotAllowed where it is risky and
    its quote was not opened. At most two queries."""
    if is_opened or fact.status != Status.PROPOSED:
        return
    risk = risk_of(fact)
    if risk is not None and risk.needs_opening:
        raise NotAllowed(_("Open the quote and read it first; then it can be approved."))
