"""Theorem 1: the gradient of the whole matrix, the sign in eq. 88, and which gradients are compared."""

from typing import Any

import mpmath
import numpy as np
import pytest

from marginaudit.claims.snap import ClassConfig, ClassRun
from marginaudit.claims.snap.appendix_d5_theorem1 import eq87_eq89, theorem1
from marginaudit.claims.snap.appendix_d5_theorem1.theorem1 import FORM
from marginaudit.orders.snap import CASES
from marginaudit.training.snap.limit.backpropagated import backpropagated, mended_beta, printed_beta, printed_iota
from marginaudit.training.snap.limit.continuous import speed
from marginaudit.training.snap.limit.descent import descend
from marginaudit.training.snap.limit.fluctuation import fluctuation
from marginaudit.training.snap.limit.overlap import overlap
from tests.claims.snap.samples import run
from tests.training.snap.dense import precise_sgd


def test_eq_88_fails_on_two_classes_in_high_precision() -> None:
    """The smallest case: one class has no beta. SGD on the whole matrix of M = 3 tokens, 60 digits."""
    M, eta, sequence = 3, 0.5, [0, 1, 0]
    F = np.array([[0.6, 0.6], [0.8, 0.0], [0.0, 0.8]])
    own, at = overlap(F), fluctuation([2, 1], M, eta)
    with mpmath.workdps(60):
        Y = precise_sgd(F, sequence, M, eta, modified=True)
        f = mpmath.matrix(F.tolist())
        logits = [mpmath.fsum(Y[i][j] * f[i, 0] for i in range(M)) for j in range(M)]
        powers = [mpmath.exp(x) for x in logits]
        error = [(j == 0) - p / mpmath.fsum(powers) for j, p in enumerate(powers)]
        g = mpmath.matrix([mpmath.fsum(Y[i][j] * error[j] for j in range(M)) for i in range(M)])
        weights = mpmath.lu_solve(f.T * f, f.T * g)
        gamma = float(speed(at.mean).value)
        iota, beta = float(weights[0]) / gamma, -float(weights[1]) / gamma
    assert printed_iota(own, at).value[0] == pytest.approx(iota, rel=1e-12, abs=0)
    assert mended_beta(own, at).value[0, 1] == pytest.approx(beta, rel=1e-12, abs=0)
    q_0, grown = -M / (M - 1) ** 2, 1 + at.sigma.value[0]
    apart = 2 * q_0 * grown * (1 + at.theta.value[1])
    assert printed_beta(own, at).value[0, 1] - beta == pytest.approx(apart, rel=1e-11, abs=0)


def test_printed_and_mended_beta_by_hand() -> None:
    on = run("snap-symmetric")
    where = theorem1.compared(on)
    expected = theorem1.formulas(mended_beta)(on)
    E = np.full((3, 3), on.dataset.overlap.E[0, 1])
    np.fill_diagonal(E, 0)
    dual = np.eye(3) - np.linalg.inv(np.eye(3) + E)
    q_1, q_0 = 5000 / 4999, -5000 / 4999**2
    row = 0
    for record in range(len(where.step)):
        theta, sigma = where.at.theta.value[record], where.at.sigma.value[record]
        for n in range(3):
            others = [k for k in range(3) if k != n]
            iota = q_1 * (1 + theta[n]) * (1 - dual[n, n]) - q_0 * sum((1 + theta[k]) * dual[k, n] for k in others)
            betas = [
                q_1 * (1 + theta[n]) * dual[n, j]
                + q_0 * (-(1 + theta[j]) + sum((1 + theta[k]) * dual[k, j] for k in others))
                for j in others
            ]
            np.testing.assert_allclose(expected.value[row : row + 3], (1 + sigma[n]) * np.array([iota, *betas]), 1e-12)
            row += 3
    assert row == len(expected)
    witness = FORM.judge(on).witness
    assert witness is not None
    assert witness["value"] == pytest.approx(witness["mended"], rel=1e-12, abs=0)
    assert abs(witness["printed"] / witness["value"] - 1) > 1e-3


RHO, IN_TURN = 0.05, [0, 1] * 32
PAIR = np.array([[RHO**0.5, RHO**0.5], [(1 - RHO) ** 0.5, 0], [0, (1 - RHO) ** 0.5]])


@pytest.mark.parametrize(
    ("M", "part", "said"), [(300, 0.107, "0.11"), (5000, 7.94e-3, "0.008"), (10**6, 5.07e-5, "0.00005")]
)
def test_by_how_much_xi_is_smaller_under_eq_7(M: int, part: float, said: str) -> None:
    """By the columns of Y = F A alone, of which the last stands for all tokens but two."""
    own = overlap(PAIR)
    A = descend(own, np.array([IN_TURN]), [len(IN_TURN)], M, 0.5).A[0, 0]
    powers = np.exp((np.eye(2) + own.E)[0] @ A) * [1, 1, M - 2]
    error = -powers / powers.sum()
    error[0] = -error[1:].sum()
    xi = -(A @ error)[1] * RHO
    modified = backpropagated(own, fluctuation([32, 32], M, 0.5)).xi.value[0]
    assert xi / modified == pytest.approx(part, rel=5e-3, abs=0)
    assert f" {said} " in FORM.instead


def test_what_is_left_beside_e_prime_is_of_the_order_of_1_in_M() -> None:
    """At M = 5000, with classes drawn alike, delta_2 is E'_12/M and delta_3 (1 - E'_11)/M."""
    at = run("snap-single")
    E_prime, late = at.overlap.E_prime.value, eq87_eq89.left_over(at).value[7]
    assert late[:, 0] == pytest.approx(np.full(2, E_prime[0, 1] / at.M), rel=1e-2, abs=0)
    own = 1 - E_prime[[1, 0], [1, 0]]
    assert late[:, 1] == pytest.approx(own / at.M, rel=1e-2, abs=0)


def test_gradients_of_a_few_seeds_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    def size(**settings: Any) -> int:
        found = theorem1.compared(ClassRun(CASES["snap-symmetric"](), ClassConfig(**settings)))
        assert len(found.step) == len(found.counts)
        assert (found.counts.sum(axis=1) == found.step).all()
        return len(found.step)

    assert (size(), size(seeds=1), size(seeds=2)) == (24, 24, 24)
    for entries, number in ((9 * 6, 6), (9 * 6 - 1, 3), (1, 3)):
        monkeypatch.setattr(theorem1, "ENTRIES", entries)
        assert size() == number


def test_the_farthest_coefficient_is_shown() -> None:
    at = run("snap-symmetric")
    found, apart = theorem1.farthest(at), theorem1.coefficients(at)
    printed = theorem1.formulas(printed_beta)(at)
    assert found is not None
    entry = int(np.abs(apart.value - printed.value).argmax())
    assert (found["coefficient"], found["value"]) == (apart.label[entry], apart.value[entry])
    assert found["printed"] == printed.value[entry]
    assert found["mended"] == theorem1.formulas(mended_beta)(at).value[entry]
    counts = theorem1.compared(at).counts[entry // 9]
    assert found["counts"] == dict(zip(at.dataset.next_tokens, counts.tolist(), strict=True))
    assert apart.label[entry].endswith(f"t = {counts.sum()}")
