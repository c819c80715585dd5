"""How long a person takes for a card, from when they decided: the gap to the act before, where it was no pause."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

# A longer gap was something else than the card.
LONGEST_SECONDS = 180.0


def gaps(moments: Iterable[float]) -> list[float]:
    """Seconds between one act and the next, pauses left out. `moments` are seconds since some time, in any order; all
    decisions of one act have one moment."""
    return [after - before for before, after in pairwise(sorted(set(moments))) if after - before <= LONGEST_SECONDS]
