"""What approving would do to briefs, said of a memory that is in them already but is shown as a new card."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from django.utils.translation import gettext as _

from memory.models import Fact
from projects.models import Agent
from review.cards import impact
from review.cards.impact import Impact, Outlook, Reader


def of_new(live: Fact, agents: Iterable[Agent], now: datetime) -> Impact:
    """The figures of withdrawing `live`, read from the other end: what leaves would come."""
    taken = impact.of_withdrawal(live, agents, now)
    outlooks = tuple(
        Outlook(_("If you approve"), tuple(_turned(reader) for reader in one.readers), one.problem, one.more)
        for one in taken.outlooks
    )
    return Impact(outlooks, taken.about, taken.budget)


def _turned(reader: Reader) -> Reader:
    return Reader(
        reader.agent,
        {"loses": "gets", "told": "behind"}.get(reader.state, reader.state),
        tokens=-reader.tokens,
        line_tokens=max(0, -reader.tokens),
        after_tokens=reader.after_tokens - reader.tokens,
        budget=reader.budget,
        pushed=reader.let_in,
        let_in=reader.pushed,
    )
