"""Exact binomial bounds, held against published values and against their own definition."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from review.insights import bounds


@pytest.mark.parametrize(
    ("found", "looked_at", "low", "high"),
    [
        # As R's binom.test gives them.
        (0, 10, 0.0, 0.30850),
        (2, 10, 0.02521, 0.55610),
        (5, 10, 0.18709, 0.81291),
        (1, 20, 0.00127, 0.24873),
        (10, 10, 0.69150, 1.0),
    ],
)
def test_intervals_are_those_of_clopper_and_pearson(found: int, looked_at: int, low: float, high: float) -> None:
    assert bounds.interval(found, looked_at) == pytest.approx((low, high), abs=5e-6)


@pytest.mark.parametrize(("looked_at", "high"), [(60, 0.0487), (300, 0.00994), (30, 0.0950), (1, 0.95)])
def test_none_of_n_is_about_three_in_n(looked_at: int, high: float) -> None:
    assert bounds.upper(0, looked_at) == pytest.approx(high, abs=5e-5)
    assert bounds.upper(0, looked_at) == pytest.approx(1 - 0.05 ** (1 / looked_at), abs=1e-9)


def test_nothing_looked_at_says_nothing() -> None:
    assert bounds.upper(0, 0) == 1.0
    assert bounds.lower(0, 0) == 0.0
    assert bounds.interval(0, 0) == (0.0, 1.0)


@settings(deadline=None)
@given(st.integers(1, 120).flatmap(lambda n: st.tuples(st.integers(0, n - 1), st.just(n))))
def test_a_bound_is_where_so_few_would_be_a_chance_of_one_in_twenty(counts: tuple[int, int]) -> None:
    found, looked_at = counts
    share = Fraction(bounds.upper(found, looked_at)).limit_denominator(10**12)
    exact = sum(comb(looked_at, i) * share**i * (1 - share) ** (looked_at - i) for i in range(found + 1))
    assert float(exact) == pytest.approx(0.05, abs=1e-6)


def test_large_samples_are_counted_exactly_too() -> None:
    assert bounds.upper(3, 10_000) == pytest.approx(0.000775, abs=5e-6)
    assert bounds.interval(9_000, 10_000) == pytest.approx((0.89395, 0.90581), abs=5e-5)


@pytest.mark.parametrize("counts", [(-1, 10), (11, 10)])
def test_counts_that_cannot_be_are_refused(counts: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="cannot be"):
        bounds.upper(*counts)
