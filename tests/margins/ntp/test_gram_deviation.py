"""Which solutions are those of orthonormal tokens, and how far the embedding is from these."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from marginaudit.margins.ntp import MaxMargin, solve_kq, solve_ov
from marginaudit.margins.ntp.solution import Method
from marginaudit.orders.ntp import CASES, Dataset, broken, gram_deviation
from tests.solutions import known

EXAMPLE = CASES["example-1"]()
ROTATION = np.linalg.qr(np.random.default_rng(0).normal(size=(EXAMPLE.V, EXAMPLE.V)))[0]


@pytest.mark.parametrize("method", ["auto", "cvxpy"])
@pytest.mark.parametrize("solve", [solve_ov, solve_kq])
def test_a_solution_of_orthonormal_tokens_says_how_far_the_embedding_is_from_them(
    solve: Callable[..., MaxMargin], method: Method
) -> None:
    assert solve(EXAMPLE, method=method).optimal().gram_deviation == 0.0
    assert solve(EXAMPLE, method=method).optimal().note is None
    for embedding in (ROTATION, (1 + 4.5e-13) * np.eye(EXAMPLE.V)):
        turned = replace(EXAMPLE, embedding=embedding)
        solution = solve(turned, method=method).optimal()
        assert 0 < known(solution.gram_deviation) == gram_deviation(turned) < 1e-12
        assert f"{solution.gram_deviation:.3g} of I" in known(solution.note)
        assert solution.scores == pytest.approx(solve(EXAMPLE, method=method).optimal().scores, abs=1e-6)


@pytest.mark.parametrize("solve", [solve_ov, solve_kq])
def test_a_solution_of_the_embedding_as_it_stands_supposes_nothing(solve: Callable[..., MaxMargin]) -> None:
    solution = solve(broken(EXAMPLE, "orthonormal")).optimal()
    assert solution.method == "cvxpy"
    assert solution.gram_deviation is None
    assert solution.note is None


def test_nothing_is_supposed_where_there_is_no_row_or_a_cycle() -> None:
    one = Dataset.from_sentences("one", ["aa"])
    for data in (one, replace(one, embedding=np.array([[2.0]]))):
        assert solve_ov(data).optimal().gram_deviation is None
        assert solve_kq(data).optimal().gram_deviation is None
    cyclic = broken(replace(EXAMPLE, embedding=ROTATION), "well_defined_orders")
    assert solve_kq(cyclic).status == "infeasible"
