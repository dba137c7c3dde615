"""Every assumption against its restatement, every witness against what it claims, each with a negative control."""

import json
import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given

from marginaudit.orders.snap import (
    SequenceClass,
    SequenceClasses,
    check_assumption,
    check_assumptions,
    classes_from_document,
    classes_to_document,
)
from marginaudit.orders.snap.assumptions import largest_below, spread_beyond
from marginaudit.orders.snap.exactly import only_to_rounding
from tests.oracle.snap.assumptions import assumptions
from tests.oracle.snap.problem import Problem
from tests.orders.snap import restated
from tests.orders.snap.strategies import class_documents
from tests.strategies import Document


def witness(dataset: SequenceClasses, name: str) -> Any:
    found = check_assumption(dataset, name)
    assert found.name == name
    assert found.holds == (found.witness is None)
    return found.witness


@given(class_documents())
def test_every_predicate_and_witness(document: Document) -> None:
    data = classes_from_document(document)
    found, expected = check_assumptions(data), assumptions(Problem(classes_to_document(data)))
    with mpmath.workdps(30):
        assert set(found) == set(expected)
        for name, assumption in found.items():
            assert assumption.name == name
            assert (assumption.witness is None) == assumption.holds
            assert expected[name] in (None, assumption.holds), name
            if assumption.witness is not None:
                assert restated.witnesses(document, name, assumption.witness), (name, assumption.witness)
                json.dumps(assumption.witness, allow_nan=False)
                if "undecided" in assumption.witness:
                    assert assumption.witness["undecided"] <= (expected[name] is None)


def classes(*weights: dict[str, float]) -> SequenceClasses:
    listed = [(f"n{n}", "q", found) for n, found in enumerate(weights)]
    return SequenceClasses.from_weights("classes", 5000, listed)


def test_bounds_of_the_vocabulary() -> None:
    for K, name, least in ((2, "wide_vocabulary", 40), (3, "wide_vocabulary", 90), (2, "large_vocabulary", 1000)):
        dataset = classes(*({f"a{n}": 1.0} for n in range(K)))
        assert witness(replace(dataset, M=least), name) is None
        assert witness(replace(dataset, M=least - 1), name) == (
            {"M": least - 1, "least": least} | ({"K": K} if name == "wide_vocabulary" else {})
        )


HALF = classes({"a": 1, "b": 1, "c": 1, "d": 1}, {"a": 1})
"""The eigenvalues are 1/2 and -1/2 exactly."""


def test_what_the_error_bar_straddles_is_undecided() -> None:
    assert witness(HALF, "small_overlap")["undecided"] is True
    assert witness(replace(HALF, M=144), "spread_overlap")["undecided"] is True
    assert witness(replace(HALF, M=145), "spread_overlap") is None
    assert witness(replace(HALF, M=143), "spread_overlap")["undecided"] is False
    assert witness(classes({"a": 1, "b": 3}, {"a": 1, "b": 3}), "overlap_below_one")["undecided"] is False
    assert witness(classes({"a": 1, "b": 1e-9}, {"a": 1, "c": 1e-9}), "overlap_below_one")["undecided"] is True


@pytest.mark.parametrize(
    ("size", "error", "small", "spread"),
    [
        (1.0, 0.5, False, None),
        (0.75, 0.25, False, None),
        (0.625, 0.25, True, True),
        (0.25, 0.25, True, True),
        (0.375, 0.0625, None, False),
        (0.25, 1.0, True, True),
    ],
)
def test_bars_that_touch_a_bound(size: float, error: float, small: bool | None, spread: bool | None) -> None:
    """Bounds 1/2, as for K = 2 and M = 144; None: the assumption holds, else whether it is undecided."""
    overlap = replace(HALF.overlap, eigenvalues=np.array([-size, size]), eigenvalue_error=error)
    for found, undecided in ((largest_below(overlap, Fraction(1, 2)), small), (spread_beyond(overlap, 144), spread)):
        assert (None if found is None else found["undecided"]) is undecided


@pytest.mark.parametrize(("difference", "same"), [(2**-50, True), (2**-49, False)])
def test_how_far_equal_probabilities_may_be_rounded_apart(difference: float, same: bool) -> None:
    first = SequenceClass("m", "q", {"a": 0.5, "the": 0.5})
    second = SequenceClass("n", "q", {"b": 0.5 * (1 + difference), "the": 0.5 * (1 - difference)})
    data = SequenceClasses("d", 5000, (first, second))
    assert (witness(data, "symmetric_classes") is None) is same
    assert (witness(data, "shared_common") is None) is same


@pytest.mark.parametrize(("part", "equal"), [(0.9, True), (1.1, False)])
def test_overlaps_are_equal_within_their_error_bars(part: float, equal: bool) -> None:
    """Each entry is off by its own bar, and by that of the probabilities in its two factors and their norms."""
    data = classes(*({"the": 1.0, f"a{n}": 3.0} for n in range(3)))
    E = data.overlap.E.copy()
    rounding = 2 * data.overlap.relative_error + 4 * 2.0**-50
    E[0, 1] = E[1, 0] = E[0, 2] * (1 - part * rounding)
    vars(data)["overlap"] = replace(data.overlap, E=E)
    assert (witness(data, "equal_overlaps") is None) is equal


def test_one_common_token_of_several_that_is_off_by_rounding_is_not_shared_exactly() -> None:
    off = math.nextafter(0.25, 1)
    classes = [("m", "q", {"x": 0.25, "y": 0.25, "m": 0.5}), ("n", "q", {"x": 0.25, "y": off, "n": 0.75 - off})]
    data = SequenceClasses.from_weights("two", None, classes)
    assert data.classes[1].probabilities == {"x": 0.25, "y": off, "n": 0.75 - off}
    assert check_assumption(data, "shared_common").holds
    assert only_to_rounding(data, "shared_common")


def test_classes_are_symmetric_whatever_the_order_of_their_tokens() -> None:
    classes = [("m", "q", {"a": 1, "b": 2, "the": 5}), ("n", "q", {"c": 2, "d": 1, "the": 5})]
    data = SequenceClasses.from_weights("turned", None, classes)
    assert check_assumption(data, "symmetric_classes").holds
    assert not only_to_rounding(data, "symmetric_classes")
