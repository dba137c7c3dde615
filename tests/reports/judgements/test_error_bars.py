"""Numbers that are not finite: NaN enters no comparison, and nothing infinite passes one that it should not."""

from itertools import product

import numpy as np
import pytest

from marginaudit.reports.judgements.compare import Outcome, compare_equal, compare_upper
from marginaudit.reports.series import by_formula, series

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


def test_an_infinite_error_bar_reaches_from_end_to_end() -> None:
    unknown = series([1.0], radius=INF)
    assert (unknown.lower.tolist(), unknown.upper.tolist()) == ([-INF], [INF])


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
