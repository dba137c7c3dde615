"""Trajectories against the oracle's descent in high precision."""

from collections.abc import Sequence

import flint
import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.orders.ntp import CASES, Dataset, dataset_to_document
from marginaudit.training.ntp import train
from marginaudit.training.ntp.trained import Training
from tests.oracle.descent import Matrix, State, stage1
from tests.oracle.problem import problem
from tests.training.ntp.naive import exact_states

BITS = 700


def off_direction(W: Matrix, reference: NDArray[np.float64]) -> float:
    """1 - cos of the angle between them."""
    pairs = [(W[i][j], flint.arb(float(r))) for (i, j), r in np.ndenumerate(reference)]
    norms = (sum((one[k] ** 2 for one in pairs), flint.arb(0)) for k in (0, 1))
    return float(1 - sum((w * r for w, r in pairs), flint.arb(0)) / (next(norms) * next(norms)).sqrt())


def both_stages(data: Dataset, steps1: int, steps2: int) -> tuple[list[Matrix], list[State]]:
    """W_ov by token and label, orthonormal tokens, and stage 2 on the last of them."""
    p, (eta0, eta) = problem(dataset_to_document(data)), of_the_paper(data)
    first = stage1(p, p.gram, eta0, steps1)
    n, last = p.vocabulary.index(p.n[p.vocabulary[0]]), first[-1]
    return first, exact_states(data, last[n][0] - last[(n + 1) % p.V][0], eta, steps2)[1]


def stage1_loss(data: Dataset, B: Matrix) -> flint.arb:
    """The sum over tokens of log sum over v of exp(B[v][x] - B[n(x)][x])."""
    n = [data.index[data.collocation.function[x]] for x in data.vocabulary]
    columns = (sum(((row[x] - B[y][x]).exp() for row in B), flint.arb(0)) for x, y in enumerate(n))
    return sum((total.log() for total in columns), flint.arb(0))


def ov_star(data: Dataset) -> NDArray[np.float64]:
    """W*_ov, orthonormal tokens: the centred one-hot of n(x)."""
    n = data.collocation.function
    B = np.full((data.V, data.V), -1 / data.V)
    B[[data.index[n[x]] for x in data.vocabulary], np.arange(data.V)] += 1
    return B


def closed_form(data: Dataset) -> NDArray[np.float64]:
    """Proposition 2's W*_kq (any reference direction does for these tests)."""
    S = np.zeros((data.V, data.V))
    for query, order in data.orders.items():
        k, m = len(order.optimal), len(order.non_optimal)
        for x in order.optimal:
            S[data.index[x], data.index[query]] = m / (k + m)
        for x in order.non_optimal:
            S[data.index[x], data.index[query]] = -k / (k + m)
    return S


def compare(
    data: Dataset,
    steps1: int,
    steps2: int,
    at: Sequence[int],
    kq_reference: NDArray[np.float64],
    loosest_error: float = 1e-10,
) -> Training:
    trained = train(data, steps1=steps1, steps2=steps2, at=at, ov_reference=ov_star(data), kq_reference=kq_reference)
    with flint.ctx.workprec(BITS):
        first, states = both_stages(data, steps1, steps2)
        for i, t in enumerate(trained.stage1.step.tolist()):
            stage, B = trained.stage1, first[t]
            assert stage.log_loss[i] == pytest.approx(float(stage1_loss(data, B).log()), rel=1e-13, abs=1e-13)
            norm = sum((b * b for row in B for b in row), flint.arb(0)).sqrt()
            assert stage.norm[i] == pytest.approx(float(norm), rel=1e-13, abs=0)
            if t:
                gap = off_direction(B, ov_star(data))
                assert abs(np.sqrt(2 * max(gap, 0)) - stage.distance[i]) <= stage.distance_error[i] <= 1e-12
        for i, t in enumerate(trained.stage2.step.tolist()):
            record, state = trained.stage2, states[t]
            assert state.log_excess is not None
            assert record.log_loss[i] == pytest.approx(float(state.log_loss), rel=1e-13, abs=1e-13)
            assert record.log_excess[i] == pytest.approx(float(state.log_excess), rel=1e-12, abs=1e-12)
            assert record.norm[i] == pytest.approx(float(state.norm), rel=1e-13, abs=0)
            assert record.log_gradient_norm[i] == pytest.approx(float(state.gradient_norm.log()), rel=1e-13, abs=1e-12)
            if t:
                gap = off_direction(state.scores, kq_reference)
                assert abs(np.sqrt(2 * max(gap, 0)) - record.distance[i]) <= record.distance_error[i] <= 1e-12
                off = abs(gap / record.one_minus_cos[i] - 1)
                assert off <= 1e-12
                assert off <= record.error[i] <= loosest_error
        S = [[float(value) for value in row] for row in states[-1].scores]
    np.testing.assert_allclose(trained.S, S, rtol=1e-12, atol=1e-12)
    return trained


STEPS = (0, 1, 2, 3, 10, 30, 100, 300, 600)


def test_example_1_in_high_precision() -> None:
    data = CASES["example-1"]()
    compare(data, 200, 600, STEPS, closed_form(data))


def of_the_paper(data: Dataset) -> tuple[float, float]:
    """Its step sizes."""
    return 0.2 / np.sqrt(data.V), 0.05 / np.sqrt(data.V)
