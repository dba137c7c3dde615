"""Rates of eq. 10, eq. 13, and what the solver gives up on."""

from typing import Any

import mpmath
import numpy as np
import pytest

from marginaudit.orders.snap import CASES, SequenceClasses
from marginaudit.training.approximation import Approximation
from marginaudit.training.log_time import NotIntegrated
from marginaudit.training.snap.attention import solver
from marginaudit.training.snap.attention.descent import descend_both
from marginaudit.training.snap.attention.logits import Logits
from marginaudit.training.snap.attention.path import follow, turned
from marginaudit.training.snap.attention.rates import features, mean_counts, rates
from marginaudit.training.snap.attention.solver import solved
from marginaudit.training.snap.limit.backpropagated import mended_beta
from marginaudit.training.snap.limit.continuous import continuous, gamma
from tests.training.snap.attention.test_attention import ETA_Y, ETA_Z, three
from tests.training.snap.dense import softmax
from tests.training.snap.independent import eq_10


def place(z: Any, error: float = 0.0) -> Approximation:
    value = np.asarray(z, dtype=float)
    return Approximation(value, np.full_like(value, error))


def test_rates_are_the_derivative_of_the_path_and_the_letter_of_eq_10() -> None:
    data, t = three(), 20.0
    K, M = data.K, data.M
    logits = Logits(data)
    z = follow(data, [turned(t, K, M, ETA_Y, ETA_Z).value]).z[0]
    at = mean_counts(continuous(t / K, M, ETA_Y), K)
    found = rates(logits, z, at)
    f, own = features(logits, z)
    beta = mended_beta(own, at).value
    speed = float(gamma(t, K, M, ETA_Y).value)
    expected = np.zeros(len(logits.names))
    for n in range(K):
        row = f.value[n]
        moved = sum(
            beta[n, k] * np.diag(row) @ (np.outer(row, row) - np.eye(len(row))) @ f.value[k] for k in range(K) if k != n
        )
        for l in data.classes[n].support:  # noqa: E741
            expected[logits.position(n, l)] += speed * moved[data.contextual.index(l)]
    np.testing.assert_allclose(found.z_dot.value, expected, rtol=1e-12)
    before, after = (np.array(eq_10(data, t + h, ETA_Y, ETA_Z)[0]) / (2 * ETA_Z * 1e-3) for h in (-1e-3, 1e-3))
    np.testing.assert_allclose(found.z_dot.value, after - before, rtol=1e-6)


def test_bars_of_rates_cover_an_error_of_z() -> None:
    data = three()
    logits, at = Logits(data), mean_counts(continuous(7.0, data.M, ETA_Y), data.K)
    rng = np.random.default_rng(0)
    z = rng.normal(size=len(logits.names))
    for size in (0.0, 1e-9, 1e-4):
        found = rates(logits, place(z, size), at)
        for _ in range(20):
            near = rates(logits, place(z + size * rng.choice([-1, 1], len(z))), at)
            for wide, narrow in ((found.z_dot, near.z_dot), (found.gradient.xi, near.gradient.xi), (found.f, near.f)):
                assert (np.abs(wide.value - narrow.value) <= wide.error).all()
            assert (
                np.abs(found.overlap.E_prime.value - near.overlap.E_prime.value) <= found.overlap.E_prime.error
            ).all()
        assert found.z_dot.error.max() <= 1000 * size * np.abs(found.z_dot.value).max() + 1e-11


def whole_sgd(data: SequenceClasses, sequence: Any, eta_Y: float, eta_Z: float, modified: bool) -> Any:
    """Eq. 3 with c_n for X^T b and diag(c_n) for X^T diag(b) X, on matrices Y and Z of all M tokens."""
    M, K = data.M, data.K
    position = {token: i for i, token in enumerate(data.tokens)}
    P = np.zeros((K, M))
    for n, c in enumerate(data.classes):
        for token, p in c.probabilities.items():
            P[n, position[token]] = p
    queries = [position[c.query] for c in data.classes]
    following = [position[c.next] for c in data.classes]
    Y, Z = np.zeros((M, M)), np.zeros((M, M))
    for n in sequence:
        attended = np.array([P[k] * np.exp(Z[queries[k]]) / (P[k] @ np.exp(Z[queries[k]])) for k in range(K)])
        F = (attended / np.linalg.norm(attended, axis=1, keepdims=True)).T
        size = np.linalg.norm(attended[n])
        error = np.eye(M)[following[n]] - softmax(Y.T @ F[:, n])
        projected = (np.eye(M) - np.outer(F[:, n], F[:, n])) / size
        of_Z = np.diag(attended[n]) @ projected @ Y @ error
        direction = F @ np.linalg.inv(F.T @ F)[:, n] if modified else F[:, n]
        Y = Y + eta_Y * np.outer(direction, error)
        Z[queries[n]] += eta_Z * of_Z
    return Z[[position[q] for q in data.queries]][:, [position[l] for l in data.contextual]]  # noqa: E741


@pytest.mark.parametrize("modified", [True, False])
def test_sgd_of_both_layers_on_whole_matrices(modified: bool) -> None:
    data = three()
    sequences = np.random.default_rng(3).integers(3, size=(4, 25))
    found = descend_both(data, sequences, [0, 7, 25], ETA_Y, ETA_Z, modified=modified)
    assert not found[:, 0].any()
    for seed, sequence in enumerate(sequences):
        for record, steps in ((1, 7), (2, 25)):
            whole = whole_sgd(data, sequence[:steps], ETA_Y, ETA_Z, modified)
            np.testing.assert_allclose(found[seed, record], whole[Logits(data).pairs], rtol=1e-9, atol=1e-15)
    assert np.abs(found[:, 2]).min(axis=1).max() > 1e-5


def test_a_solver_that_fails_says_so_once(recwarn: pytest.WarningsRecorder) -> None:
    with pytest.raises(NotIntegrated):
        solved(lambda t, x: 1 + 1e30 * x * x, 1, np.array([1.0]), 1.0)
    assert not recwarn.list


def test_more_states_may_take_more_rates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solver, "MOST_RATES", 60)
    monkeypatch.setattr(solver, "MORE_A_STATE", 1)
    with pytest.raises(NotIntegrated, match=r"^61 steps led to"):
        solved(lambda t, x: np.cos(x + t), 1, np.array([9.0]), 1.0)
    monkeypatch.setattr(solver, "MORE_A_STATE", 10_000)
    assert solved(lambda t, x: np.cos(x + t), 1, np.array([9.0]), 1.0).error.max() < 1e-9


def test_a_state_of_rounding_alone_leaves_the_bars_of_the_others() -> None:
    """The second is what rounding leaves of 0: no two runs agree on it."""
    found = solved(lambda t, x: np.array([1 - x[0], (x[0] + 0.1) - x[0] - 0.1]), 2, np.array([0.5, 3.0]), 0.5)
    assert (found.error[:, 0] < 1e-9).all()
    assert (np.abs(found.value[:, 0] - (1 - np.exp([-0.5, -3.0]))) <= found.error[:, 0]).all()
    assert (np.abs(found.value[:, 1]) <= found.error[:, 1]).all()


def test_a_dual_that_is_lost_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    calls, solve = [0], np.linalg.solve

    def later(*matrices: Any) -> Any:
        calls[0] += 1
        if calls[0] > 20:
            raise np.linalg.LinAlgError("Singular matrix")
        return solve(*matrices)

    monkeypatch.setattr(np.linalg, "solve", later)
    with pytest.raises(NotIntegrated, match="becomes linearly dependent"):
        follow(CASES["snap-single"](), [100.0])


@pytest.mark.parametrize("closeness", [1e-2, 1e-3, 1e-4, 1e-5])
def test_near_dependent_classes_have_the_rounding_of_their_overlap_in_their_bars(closeness: float) -> None:
    """At a small Gamma, z = Gamma dz/dGamma(0), here with 60 digits: two runs of one rate share its rounding."""
    rows = [{"a": 1.0, "b": closeness, "c": 3 * closeness}, {"a": 1.0, "b": closeness / 7, "c": closeness / 9}]
    data = SequenceClasses.from_weights("near", 7, [(n, "q", row) for n, row in zip("mn", rows, strict=True)])
    turn = 1e-60
    found = follow(data, [turn])
    with mpmath.workdps(60):
        P = [[mpmath.mpf(c.probabilities[token]) for token in "abc"] for c in data.classes]
        f = [mpmath.matrix(row) / mpmath.norm(mpmath.matrix(row)) for row in P]
        e = (f[0].T * f[1])[0]
        # beta of two classes, with E' = E (I + E)^{-1}
        q_0, q_1 = -mpmath.mpf(7) / 36, mpmath.mpf(7) / 6
        diagonal, off = -(e**2) / (1 - e**2), e / (1 - e**2)
        beta = (q_1 - q_0) * off - q_0 * (1 - diagonal - off)
        true = [sum(f[n][i] * beta * (f[n][i] * e - f[1 - n][i]) for n in range(2)) * turn for i in range(3)]
        true_B = beta * e * turn
        off_by = [float(abs(found.z.value[0, i] - true[i])) for i in range(3)]
        off_by += [float(abs(found.B.value[0, n] - true_B)) for n in range(2)]
    bars = [*found.z.error[0], *found.B.error[0]]
    assert all(off <= bar for off, bar in zip(off_by, bars, strict=True))
    assert bars[-1] <= 1e-10 / closeness**2 * 1e-3 * float(true_B) + 1e-11 * float(true_B)
