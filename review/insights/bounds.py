"""What a share in a sample says about the whole (values): exact binomial bounds after Clopper and Pearson (1934).

No approximation: near 0 % and 100 %, where these figures are read, the usual ± formula is wrong. Each bound is found by
bisection on the binomial sum; a few thousand terms take milliseconds.
"""

from __future__ import annotations

import math

CONFIDENCE = 0.95
_STEPS = 60


def upper(found: int, looked_at: int, confidence: float = CONFIDENCE) -> float:
    """With this confidence no more than this share of the whole is like the `found` ones. One-sided: for 0 of n it is
    about 3 / n. Nothing looked at says nothing: 1.0. Raises ValueError for counts that cannot be."""
    _check(found, looked_at)
    if found == looked_at:
        return 1.0
    return _share(lambda share: at_most(found, looked_at, share) > 1 - confidence)


def lower(found: int, looked_at: int, confidence: float = CONFIDENCE) -> float:
    """With this confidence at least this share of the whole is like the `found` ones. One-sided."""
    _check(found, looked_at)
    return 1.0 - upper(looked_at - found, looked_at, confidence) if looked_at else 0.0


def interval(found: int, looked_at: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Between which shares the whole lies, with this confidence: two-sided."""
    one_side = 1 - (1 - confidence) / 2
    return lower(found, looked_at, one_side), upper(found, looked_at, one_side)


def at_most(found: int, looked_at: int, share: float) -> float:
    """How likely it is to see at most `found` among so many, where each is one with the chance `share`."""
    if share <= 0.0:
        return 1.0
    if share >= 1.0:
        return 0.0 if found < looked_at else 1.0
    yes, no = math.log(share), math.log1p(-share)
    terms = (
        math.exp(_log_choose(looked_at, count) + count * yes + (looked_at - count) * no) for count in range(found + 1)
    )
    return min(1.0, math.fsum(terms))


def _share(is_below) -> float:  # type: ignore[no-untyped-def]
    low, high = 0.0, 1.0
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if is_below(middle) else (low, middle)
    return (low + high) / 2


def _log_choose(of: int, count: int) -> float:
    return math.lgamma(of + 1) - math.lgamma(count + 1) - math.lgamma(of - count + 1)


def _check(found: int, looked_at: int) -> None:
    if not 0 <= found <= looked_at:
        raise ValueError(f"{found} of {looked_at} cannot be.")
