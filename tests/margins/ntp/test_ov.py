"""W*_ov: closed form against its definition."""

from dataclasses import replace
from typing import cast, get_args

import numpy as np
import pytest
from hypothesis import example, given, settings

from marginaudit.margins import CertificateError, NotExact
from marginaudit.margins.ntp import constraints, solve_ov
from marginaudit.margins.ntp.ov import verify_ov
from marginaudit.margins.ntp.solution import Method
from marginaudit.orders import InputError
from marginaudit.orders.ntp import CASES, CollocationError, Dataset, Sample, broken
from tests.margins.restated import check_exact_solution, ov_constraints
from tests.strategies import realizable_datasets


def constant_n() -> Dataset:
    """n(x) = b for every token: a function, and not injective."""
    return Dataset("constant", ("a", "b", "c"), (Sample(("a",), "b"),), (1,), next_token=dict.fromkeys("abc", "b"))


@given(realizable_datasets())
@example(constant_n())
@settings(max_examples=20)
def test_closed_form_in_rationals(dataset: Dataset) -> None:
    solution, V = solve_ov(dataset).exact(), dataset.V
    assert solution.method == "closed-form"
    check_exact_solution(dataset, solution, ov_constraints(dataset))
    assert solution.norm_squared_exact == V - 1


def test_one_token() -> None:
    dataset = Dataset("one", ("a",), (Sample(("a",), "a"),), (1,))
    for data in (dataset, replace(dataset, embedding=np.array([[0.5, 2.0]]))):
        for method in get_args(Method):
            solution = solve_ov(data, method=method).exact()
            assert solution.status == "optimal"
            assert solution.norm_squared_exact == 0
            assert not solution.scores.any()
            assert solution.matrix.shape == data.embeddings.shape
            assert np.isnan(solution.direction_radius)
            assert dict(solution.weights_exact) == {}
            assert "a" not in solution.weights_exact


def test_refusals() -> None:
    two = Dataset.from_sentences("two", ["ab", "ba"])
    with pytest.raises(NotExact, match="orthonormal"):
        solve_ov(replace(two, embedding=np.array([[1.0, 0], [0.6, 0.8]])), method="exact")
    with pytest.raises(ValueError, match="expected one of auto, exact, cvxpy"):
        solve_ov(two, method=cast(Method, "best"))
    with pytest.raises(CollocationError):
        solve_ov(broken(CASES["example-1"](), "collocation"))


def test_more_tokens_than_a_dense_array_is_made_for_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constraints, "MOST_TOKENS", 3)
    assert solve_ov(constant_n()).optimal().scores.shape == (3, 3)
    with pytest.raises(InputError, match="4 tokens, 4 x 4 weights none of which is zero, expected at most 3 tokens"):
        solve_ov(CASES["example-1"]())


def test_a_planted_lie_is_refused() -> None:
    next_index = np.array([1, 2, 0])
    right = np.full((3, 3), -1)
    right[next_index, np.arange(3)] = 2
    verify_ov(right, next_index)
    wrong = right.copy()
    wrong[0, 0] -= 1
    with pytest.raises(CertificateError, match="lam differs from W"):
        verify_ov(wrong, next_index)
    with pytest.raises(CertificateError, match="below 1"):
        verify_ov(right, np.array([0, 1, 2]))
