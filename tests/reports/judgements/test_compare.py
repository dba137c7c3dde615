"""Comparisons of two numbers at the very edges of their error bars."""

import numpy as np
import pytest

from marginaudit.reports.judgements.compare import ALLOWANCE, Outcome, compare_equal, compare_upper
from marginaudit.reports.series import by_formula, series

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


def test_an_infinite_bar_hides_what_is_finite_and_not_what_is_known_to_be_infinite() -> None:
    inf = np.inf
    assert upper(1.0, 2.0, inf) is Outcome.UNSURE
    assert upper(1.0, inf, inf) is Outcome.TRUE
    assert upper(1.0, -inf, 0.0) is Outcome.FALSE
    assert upper(-inf, 1.0, 0.0) is Outcome.TRUE
    assert compare_upper(series([1.0], radius=0), series([inf], radius=inf)).tolist() == [Outcome.UNSURE]
    assert compare_upper(series([-inf], radius=0), series([1.0], radius=inf)).tolist() == [Outcome.TRUE]
    assert compare_upper(series([-inf], radius=inf), series([1.0], radius=0)).tolist() == [Outcome.UNSURE]
    assert equal(1.0, 1.0, inf) is Outcome.UNSURE


def test_logarithms_are_not_compared_with_plain_numbers() -> None:
    logs, plain = by_formula([1.0], log=True), by_formula([1.0])
    for compare in (compare_upper, compare_equal):
        with pytest.raises(ValueError, match="in logarithms and the other is not"):
            compare(logs, plain)


def test_the_allowance_is_of_both_error_bars() -> None:
    wide, narrow = (series([1.0], radius=part * ALLOWANCE) for part in (0.75, 0.5))
    assert compare_equal(wide, wide).tolist() == compare_upper(wide, wide).tolist() == [Outcome.UNSURE]
    assert compare_equal(narrow, narrow).tolist() == [Outcome.TRUE]
