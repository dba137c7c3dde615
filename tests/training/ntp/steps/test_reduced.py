"""The reduced gradient: against the textbook form, in many digits, and its bounds."""

import flint
import numpy as np
import pytest

from marginaudit.training.ntp import loss_gradient, stage2_loss
from marginaudit.training.ntp.steps.loss import rows_at
from tests.solutions import known
from tests.training.ntp.naive import ball, exact_gradient, hessian, late_gradient
from tests.training.ntp.problems import REDUCED, SMALL, at_scores, dense, reduced, states


@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.parametrize("A", [0.3, 6.0, 30.0])
def test_the_gradient_is_that_of_the_textbook_form(name: str, A: float) -> None:
    data = REDUCED[name]
    problem, _ = reduced(data, A, exact=False)
    for scores in states(problem):
        found = problem.gradient(at_scores(problem, scores))
        B, S = dense(data, A, scores)
        expected = loss_gradient(data, B, S)[problem.classes.key, problem.classes.pair_query]
        off = found.value * np.exp(found.log_scale) - expected
        # the textbook form cancels: absolute errors of the size of A
        assert np.abs(off).max() <= 1e-14 * A + 1e-11 * np.abs(expected).max()
        measured = problem.measure(at_scores(problem, scores))
        assert measured["loss"] == pytest.approx(stage2_loss(data, B, S), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("name", ["free", "no majority", "cycle"])
@pytest.mark.parametrize("A", [2.0, 40.0, 1500.0])
def test_no_digit_is_lost_and_the_rounding_bound_holds(name: str, A: float) -> None:
    data = REDUCED[name]
    problem, _ = reduced(data, A, exact=False)
    ahead = states(problem)[3]
    for scores in [*states(problem), 40 * ahead, -3 * ahead, -15 * ahead, -40 * ahead]:
        found = problem.gradient(at_scores(problem, scores))
        log_norm, unit = exact_gradient(data, *dense(data, A, scores))
        if found.hidden:  # terms that cancel
            assert name == "cycle"
            assert np.exp(log_norm - found.log_scale) <= 2 * found.rounding
            continue
        assert found.log_norm == pytest.approx(log_norm, rel=1e-13, abs=1e-10)
        off = np.linalg.norm(found.value / found.norm - unit)
        assert off <= found.rounding / found.norm < 1e-8
        assert off < 1e-13 * (1 + A)


@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.parametrize("A", [0.3, 6.0, 25.0])
def test_the_bounds_on_the_hessian(name: str, A: float) -> None:
    data = REDUCED[name]
    problem, _ = reduced(data, A, exact=False)
    ratios = []
    for seed in range(3):
        for scores in states(problem, seed)[:4]:
            token = problem.token_gradient(at_scores(problem, scores))
            B, _ = dense(data, A, scores)
            eigenvalues = np.linalg.eigvalsh(hessian(data, problem.classes, B, scores)) / np.exp(token.log_scale)
            noise = 1e-13 * A * np.exp(-token.log_scale)
            assert eigenvalues[-1] <= token.curvature * (1 + 1e-9) + noise
            assert -eigenvalues[0] <= token.concavity * (1 + 1e-9) + noise
            ratios.append(token.curvature / eigenvalues[-1])
    assert np.median(ratios) < 12


def test_the_lead_keeps_the_digits_at_any_distance() -> None:
    """At t = 1e15 and 1e18 against 300 bits: what s (1 + slack) / ||W*|| in float64 would lose."""
    for data in (SMALL, REDUCED["prefix-closed"]):
        problem, start = reduced(data, 9.0)
        exact = known(problem.exact)
        rng = np.random.default_rng(3)
        for t in (10**15, 10**18):
            rest = rng.normal(size=start.high.shape)
            [row] = rows_at(problem, start, [(t, rest, 1e-9, 1e-9)], "flow")
            with flint.ctx.workprec(300):
                root = ball(exact.norm_squared).sqrt()
                s = flint.arb(start.lr) * t
                W = [s * ball(w) / root + flint.arb(float(r)) for w, r in zip(exact.weight, rest, strict=True)]
                G = late_gradient(problem.merged, W)
                size = sum((g * g for g in G), flint.arb(0)).sqrt()
                slope = -sum((g * ball(w) for g, w in zip(G, exact.weight, strict=True) if w), flint.arb(0))
                across = -sum((g * flint.arb(float(r)) for g, r in zip(G, rest, strict=True)), flint.arb(0))
                norm = sum((w * w for w in W), flint.arb(0)).sqrt()
                inner = sum((w * ball(x) for w, x in zip(W, exact.weight, strict=True)), flint.arb(0)) / (norm * root)
            assert row["descent_reference"] == pytest.approx(float(slope / (size * root)), rel=1e-13, abs=0)
            assert row["descent_rest"] == pytest.approx(float(across / size), rel=1e-12, abs=0)
            assert row["one_minus_cos"] == pytest.approx(float(1 - inner), rel=1e-13, abs=0)
            assert row["norm"] == pytest.approx(float(norm), rel=1e-15, abs=0)
            # the factor that all fluxes share: A V e^-A / (1 + (V-1) e^-A)
            common = np.log(9.0 * data.V) - 9.0 - np.log1p((data.V - 1) * np.exp(-9.0))
            assert row["log_gradient_norm"] == pytest.approx(float(size.log()) + common, rel=1e-14, abs=0)
            assert row["along"] == start.lr * t
