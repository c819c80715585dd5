"""In which order proposals are worth a person's time (values): how likely each is approved, how often agents would be
served it, how new it is. The three are multiplied; whatever waits harms nobody, so the least useful may wait longest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

# What is said of a project before it decided anything, and how many decisions that weighs. From the whole project to
# the type, from the type to who read it: each is drawn to the one before until it has decisions of its own.
PRIOR, PRIOR_WEIGHT = 0.7, 4.0
NARROWER_WEIGHT = 5.0
# Flagged ones are refused more often, and cost more time; so are long ones, and those that nothing was shown for.
FLAGGED, LONG, UNQUOTED = 0.5, 0.7, 0.6
LONG_TEXT = 240
# Of a place (a repository, the project) the task chooses what is told: about one fact in ten.
TOLD_OF_A_PLACE = 0.1
# Twice as many sessions is one step more; past these nobody's pile changes by it.
MOST_SERVED, MOST_SEEN = 255.0, 16
SEEN_AGAIN = 2.0
# Next to something known: nearly the same is little news, of what only waits itself it is more, and another value of a
# live memory is more than a new one.
WAITING = "same_thing_waits"
NEWS = {"same_thing": 0.4, WAITING: 0.7, "changes": 1.2}


@dataclass(frozen=True, slots=True)
class Signals:
    """What is known of one proposal. `likely` is 0..1 (`Rates.of`); `served` are sessions and briefs of its subject
    lately, of the agents it would go to; `sessions` are those it was really quoted from, with a part of one for each
    that says nearly the same."""

    likely: float
    served: float
    sessions: float
    relation: str = ""
    is_flagged: bool = False
    is_quoted: bool = True
    length: int = 0
    is_place: bool = False


@dataclass(frozen=True, slots=True)
class Rates:
    """How a project decided: (type, source, reader) → (approved, rejected)."""

    counts: Mapping[tuple[str, str, str], tuple[int, int]]

    def of(self, type_: str, source: str, reader: str) -> float:
        """The smoothed share of approvals among proposals like this one, 0..1."""
        share = _drawn(PRIOR, PRIOR_WEIGHT, self.counts.values())
        share = _drawn(share, NARROWER_WEIGHT, (n for key, n in self.counts.items() if key[0] == type_))
        own = self.counts.get((type_, source, reader))
        return _drawn(share, NARROWER_WEIGHT, [own] if own else [])


def worth(one: Signals) -> float:
    """The place among proposals, the greatest first: likely × served × new. Always above 0."""
    likely = one.likely * (FLAGGED if one.is_flagged else 1.0)
    likely *= (LONG if one.length > LONG_TEXT else 1.0) * (1.0 if one.is_quoted else UNQUOTED)
    served = one.served * (TOLD_OF_A_PLACE if one.is_place else 1.0)
    reach = 1.0 + math.log2(1.0 + min(max(served, 0.0), MOST_SERVED))
    seen = 1.0 + SEEN_AGAIN * math.log2(min(max(one.sessions, 1.0), MOST_SEEN))
    return likely * reach * seen * NEWS.get(one.relation, 1.0)


def _drawn(towards: float, weight: float, counts: Iterable[tuple[int, int]]) -> float:
    approved, rejected = 0, 0
    for yes, no in counts:
        approved, rejected = approved + yes, rejected + no
    return (approved + towards * weight) / (approved + rejected + weight)
