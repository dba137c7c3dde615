"""The exact W*_kq against brute force over active sets, and its optimality conditions."""

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast, get_args

import numpy as np
import pytest
import scipy.sparse.csgraph
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from marginaudit.margins import CertificateError, NotExact, exact, tight
from marginaudit.margins.exact import solve_exactly
from marginaudit.margins.ntp import solve_kq
from marginaudit.margins.ntp.solution import Method
from marginaudit.margins.tight import solve_near
from marginaudit.orders import Relations
from marginaudit.orders.ntp import CASES, CollocationError, Dataset, broken
from tests.margins.restated import brute_force, check_exact_solution, kq_constraints, related
from tests.solutions import known
from tests.strategies import realizable_datasets


def bipartite(most_winners: int, most_losers: int) -> st.SearchStrategy[set[tuple[int, int]]]:
    """Non-empty sets of edges from winners a0, a1 .. to losers b0, b1 .., in one graph or several."""
    edge = st.tuples(st.integers(0, most_winners - 1), st.integers(0, most_losers - 1))
    return st.sets(edge, min_size=1, max_size=7)


def relations_of(graphs: list[set[tuple[int, int]]], losers_from: int) -> Relations:
    rows = np.array(
        [(q, a, losers_from + b) for q, edges in enumerate(graphs) for a, b in sorted(edges)], dtype=np.int64
    )
    return Relations(rows[:, 0], rows[:, 1], rows[:, 2], np.zeros(len(rows), dtype=np.int64))


@given(st.lists(bipartite(4, 4), min_size=1, max_size=4))
def test_any_bipartite_graphs_as_brute_force_solves_them(graphs: list[set[tuple[int, int]]]) -> None:
    exact = solve_exactly(relations_of(graphs, 4), 8)
    found = {
        (q, x): Fraction(a, b)
        for q, x, a, b in zip(
            exact.query.tolist(),
            exact.token.tolist(),
            exact.numerator.tolist(),
            exact.denominator.tolist(),
            strict=True,
        )
    }
    for q, edges in enumerate(graphs):
        expected = brute_force([(a, 4 + b) for a, b in edges])
        assert {x: v for (head, x), v in found.items() if head == q} == expected


@given(realizable_datasets())
def test_optimality_conditions_in_rationals(dataset: Dataset) -> None:
    solution = solve_kq(dataset).exact()
    assert (solution.status, solution.method) == ("optimal", "exact")
    check_exact_solution(dataset, solution, kq_constraints(dataset))


def test_a_flow_that_is_not_a_maximum_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """No edge is across its cut, and the same graph would be cut again without end."""
    dataset = related({"z": [("a", "p"), ("b", "p"), ("b", "q")]})
    monkeypatch.setattr(scipy.sparse.csgraph, "maximum_flow", nothing_sent)
    with pytest.raises(CertificateError, match="not a maximum flow"):
        solve_exactly(dataset.relations, dataset.V)


def nothing_sent(network: Any, source: int, sink: int) -> SimpleNamespace:
    return SimpleNamespace(flow=0 * network)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"numerator": [1, -2], "denominator": [3, 3], "flow": [1]}, "differs from w"),
        ({"numerator": [1, -1], "denominator": [3, 3], "flow": [1]}, "below 1"),
        ({"numerator": [1, -1], "denominator": [2, -2], "flow": [1]}, "denominator"),
        ({"numerator": [1, -1], "denominator": [0, 0], "flow": [1]}, "denominator"),
        ({"numerator": [1, -1], "denominator": [2, 2], "flow": [-1]}, "negative"),
        ({"numerator": [1, -1], "denominator": [2, 1], "flow": [1]}, "between two blocks"),
        ({"numerator": [2, -2], "denominator": [2, 2], "flow": [2]}, "sum"),
    ],
)
def test_each_condition_is_checked(change: dict[str, list[int]], reason: str) -> None:
    relations = Relations(*(np.array([i], dtype=np.int64) for i in (0, 0, 1, 0)))
    exact = solve_exactly(relations, 2)
    with pytest.raises(CertificateError, match=reason):
        replace(exact, **{name: np.array(values) for name, values in change.items()}).verify()


def test_confused_tokens_are_no_bipartite_graph() -> None:
    relations = Relations(*(np.array(rows, dtype=np.int64) for rows in ([0, 0], [0, 1], [1, 2], [0, 0])))
    with pytest.raises(ValueError, match="confused"):
        solve_exactly(relations, 3)


def test_no_relation_has_the_solution_zero() -> None:
    dataset = Dataset.from_sentences("none", ["ab", "ba"])
    for method in get_args(Method):
        solution = solve_kq(dataset, method=method).exact()
        assert solution.status == "optimal"
        assert not solution.scores.any()
        assert solution.norm_squared_exact == 0
        assert np.isnan(solution.direction_radius)
        assert solution.weights_exact == {}
        assert solution.closed_form == {}


def test_exact_is_refused_with_the_assumption_that_fails() -> None:
    dataset = CASES["free-20"]()
    with pytest.raises(NotExact, match=r"orthonormal fails, with witness .*inner_product") as caught:
        solve_kq(broken(dataset, "orthonormal"), method="exact")
    assert "\n" not in str(caught.value)
    with pytest.raises(CollocationError):
        solve_kq(broken(dataset, "collocation"))
    with pytest.raises(ValueError, match="expected one of auto, exact, cvxpy"):
        solve_kq(dataset, method=cast(Method, "best"))


@pytest.mark.slow
def test_flows_beyond_32_bits() -> None:
    """50 000 winners and as many losers in one graph: the whole flow is 2.5e9."""
    rng = np.random.default_rng(0)
    k = 50_000
    winner = np.concatenate([np.arange(k), rng.integers(k, size=2 * k)])
    loser = k + np.concatenate([rng.permutation(k), rng.integers(k, size=2 * k)])
    code = np.unique(winner * 2 * k + loser)
    zeros = np.zeros(len(code), dtype=np.int64)
    exact = solve_exactly(Relations(zeros, code // (2 * k), code % (2 * k), zeros), 2 * k)
    assert set(np.unique(exact.numerator * 2 // exact.denominator).tolist()) == {-1, 1}


def test_a_cut_with_no_edge_across_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two queries are cut; of the first all tokens are said to be reached, as by a flow that is none."""
    edges = [(0, 3), (1, 3), (1, 4), (1, 5), (1, 6)]
    relations = Relations(*np.array([(q, w, x, 0) for q in (0, 1) for w, x in edges]).T)
    right, calls = exact.reachable, []

    def wrong(
        tail: NDArray[np.int64], head: NDArray[np.int64], flow: NDArray[np.int64], starts: NDArray[np.int64], size: int
    ) -> NDArray[np.bool_]:
        reached = right(tail, head, flow, starts, size)
        calls.append(reached.copy())
        reached[: size // 2] = True
        return reached

    assert len(set(solve_exactly(relations, 7).block.tolist())) == 4
    monkeypatch.setattr(exact, "reachable", wrong)
    with pytest.raises(CertificateError, match="not a maximum flow"):
        solve_exactly(relations, 7)
    ((first, second),) = (np.split(reached, 2) for reached in calls)
    assert first.tolist() == second.tolist()
    assert not first.all()


def test_a_wrong_flow_near_a_right_guess_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = related({"z": [("a", "b"), ("b", "c")]})
    scores, right = solve_kq(dataset).optimal().scores, tight.flow_on_tight
    assert solve_near(dataset.relations, dataset.V, scores)
    monkeypatch.setattr(tight, "flow_on_tight", lambda *arguments: known(right(*arguments)) + 1)
    with pytest.raises(CertificateError):
        solve_near(dataset.relations, dataset.V, scores)
