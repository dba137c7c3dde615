"""Comparisons of two numbers at the very edges of their error bars, and of numbers that are not finite."""

from itertools import product

import numpy as np
import pytest

from marginaudit.claims.judgements.compare import ALLOWANCE, Outcome, compare_equal, compare_upper
from marginaudit.claims.series import by_formula, series

TINY = 2.0**-40
"""Below the allowance, and added to 1 without rounding."""


def upper(small: float, large: float, bar: float, *, log: bool = False) -> Outcome:
    [found] = compare_upper(series([small], radius=bar, log=log), series([large], radius=0, log=log))
    return Outcome(int(found))


def equal(left: float, right: float, bar: float, *, log: bool = False, scale: float | None = None) -> Outcome:
    sizes = None if scale is None else np.array([scale])
    [found] = compare_equal(series([left], radius=bar, log=log), series([right], radius=0, log=log), sizes)
    return Outcome(int(found))


def test_bars_that_just_touch() -> None:
    assert upper(1, 1.5, 0.5) is Outcome.TRUE
    assert upper(1, 1.25, 0.5) is Outcome.UNSURE
    assert upper(1, 0.5, 0.5) is Outcome.UNSURE
    assert upper(1, 0.25, 0.5) is Outcome.FALSE
    assert upper(1 + TINY, 1, TINY) is Outcome.TRUE
    assert upper(1 + 2 * TINY, 1, TINY) is Outcome.FALSE


@pytest.mark.parametrize("log", [False, True])
def test_the_allowance_itself_still_counts_as_narrow(log: bool) -> None:
    wider = float(np.nextafter(ALLOWANCE, 1))
    for compare in (upper, equal):
        assert compare(1.0, 1.0, ALLOWANCE, log=log) is Outcome.TRUE
        assert compare(1.0, 1.0, wider, log=log) is Outcome.UNSURE
    assert upper(8.0, 8.0, 2e-9, log=log) is (Outcome.UNSURE if log else Outcome.TRUE)


def test_the_allowance_is_relative_to_the_larger_side_or_to_the_scale() -> None:
    assert equal(-8.0, -8.0, 2e-9) is Outcome.TRUE
    assert equal(0.0, 0.0, 2e-9) is Outcome.UNSURE
    assert equal(0.0, 0.0, 2e-9, scale=8.0) is Outcome.TRUE
    assert equal(8.0, 8.0, 2e-9, scale=1.0) is Outcome.UNSURE
    assert equal(1.0, 1.5, 0.5, scale=1e9) is Outcome.TRUE
    assert equal(1.0, 1.75, 0.5, scale=1e9) is Outcome.FALSE


def test_logarithms_are_not_compared_with_plain_numbers() -> None:
    logs, plain = by_formula([1.0], log=True), by_formula([1.0])
    for compare in (compare_upper, compare_equal):
        with pytest.raises(ValueError, match="in logarithms and the other is not"):
            compare(logs, plain)


def test_the_allowance_is_of_both_error_bars() -> None:
    wide, narrow = (series([1.0], radius=part * ALLOWANCE) for part in (0.75, 0.5))
    assert compare_equal(wide, wide).tolist() == compare_upper(wide, wide).tolist() == [Outcome.UNSURE]
    assert compare_equal(narrow, narrow).tolist() == [Outcome.TRUE]


INF = np.inf
VALUES = (-INF, -1e308, -1.0, 0.0, 3.0, 1e308, INF)
ENTRIES = [(v, radius) for v in VALUES for radius in (0.0, 0.5, INF) if (abs(v), radius) != (1e308, 0.5)]
PAIRS = list(product(ENTRIES, repeat=2))


def interval(value: float, radius: float) -> tuple[float, float]:
    return (-INF, INF) if radius == INF else (value - radius, value + radius)


@pytest.mark.parametrize("log", [False, True])
def test_infinite_sides_are_compared_as_intervals(log: bool) -> None:
    (left, left_bar), (right, right_bar) = np.array(PAIRS).transpose(1, 2, 0)
    small, large = series(left, radius=left_bar, log=log), series(right, radius=right_bar, log=log)
    found, equal = compare_upper(small, large).tolist(), compare_equal(small, large).tolist()
    for (a, b), below, same in zip(PAIRS, found, equal, strict=True):
        (low, high), (least, most) = interval(*a), interval(*b)
        undecided = a[0] == b[0] and np.isinf(a[0])  # both overflowed, by who knows how much
        assert (below == Outcome.TRUE) == (high <= least and not undecided), (a, b)
        assert (below == Outcome.FALSE) == (low > most), (a, b)
        assert (same == Outcome.TRUE) == (low == high == least == most and np.isfinite(low)), (a, b)
        assert (same == Outcome.FALSE) == (low > most or high < least), (a, b)


def test_the_ends_of_error_bars_are_numbers() -> None:
    found = series([1.0, -INF, INF, INF], radius=[INF, INF, INF, 1.0])
    assert found.lower.tolist() == [-INF, -INF, -INF, INF]
    assert found.upper.tolist() == [INF, INF, INF, INF]


def test_a_formula_that_overflows_is_known_to_be_beyond_every_number() -> None:
    for log in (False, True):
        found = by_formula([INF, -INF], log=log)
        assert found.lower.tolist() == found.upper.tolist() == [INF, -INF]


@pytest.mark.parametrize(
    ("value", "radius", "message"),
    [
        (np.nan, 0.0, "entry 1 is not a number"),
        (np.nan, np.nan, "entry 1 is not a number"),
        (1.0, np.nan, "the error bar of entry 1 is not a number"),
        (1.0, -1e-300, "the error bar of entry 1 is negative"),
    ],
)
def test_what_is_no_number_is_refused(value: float, radius: float, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        series([1.0, value], radius=[0.0, radius])
