"""The steps, the flow and its error bar against mpmath and against more true steps."""

from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from separable.descent import distance_bound, log_loss, polynomial_flow, rounding, steps
from separable.points import CASES, Points
from separable.quantities import direction, late, loss, margin_gap
from separable.run import DescentConfig, DescentRun, normalized, polynomial

START = (0.3, -0.7)


Run = Callable[..., DescentRun]


def in_mpmath(data: Points, eta: float, loss: str, count: int, w0: tuple[float, ...]) -> list[mpmath.mpf]:
    """w after ``steps`` steps in 40 digits, implemented independently."""
    w = [mpmath.mpf(v) for v in w0]
    for t in range(count):
        pulls = []
        for x in data.signed.tolist():
            u = mpmath.fdot(x, w)
            if loss == "logistic":
                pulls.append(1 / (1 + mpmath.exp(u)))
            elif loss in ("exponential", "normalized"):
                pulls.append(mpmath.exp(-u))
            else:
                pulls.append(1 / (1 + u) ** 2 if u > 0 else mpmath.mpf(1))
        force = [mpmath.fsum(p * x[i] for p, x in zip(pulls, data.signed.tolist(), strict=True)) for i in range(data.d)]
        size = 1 / mpmath.sqrt((t + 1) * mpmath.fsum(f**2 for f in force)) if loss == "normalized" else mpmath.mpf(eta)
        w = [a + size * f for a, f in zip(w, force, strict=True)]
    return w


@pytest.mark.parametrize("loss", ["logistic", "exponential", "polynomial", "normalized"])
def test_steps_are_those_of_40_digits(loss: str) -> None:
    data = CASES["zero-dual"]()
    with mpmath.workdps(40):
        exact = in_mpmath(data, 0.2, loss, 500, START)
    found = steps(data.signed, np.array(START), 0.2, loss, np.array([0, 500]))
    assert found[0].tolist() == list(START)
    assert found[1] == pytest.approx([float(v) for v in exact], rel=0, abs=1e-13)
    assert np.linalg.norm(found[1] - np.array(exact, dtype=float)) <= rounding(np.array([0.0, 500.0]), found)[1]


@pytest.mark.parametrize(
    ("name", "loss", "last"),
    [
        ("two-points", "exponential", 10**6),
        ("iris", "exponential", 10**6),
        pytest.param("two-points", "exponential", 10**7, marks=pytest.mark.slow),
        pytest.param("zero-dual", "logistic", 10**7, marks=pytest.mark.slow),
    ],
)
def test_the_flow_keeps_within_its_error_bar_of_true_steps(name: str, loss: str, last: int, run: Run) -> None:
    early, true = run(name, loss=loss), run(name, last, loss=loss)
    steps, rest = true.path.s[: true.path.steps], range(early.path.steps, len(early.path.s))
    both = [(i, j) for i in rest for j in np.flatnonzero(np.isclose(steps, early.path.s[i], rtol=1e-14))]
    assert max(true.path.s[j] for _, j in both) == pytest.approx(np.log(last))
    apart = [np.linalg.norm(early.path.rho[i] - true.path.rho[j]) for i, j in both]
    bars = [early.path.radius[i] for i, _ in both]
    assert all(a <= b for a, b in zip(apart, bars, strict=True))
    assert max(apart) > 1e-4 * min(bars), "a bar that nothing comes near proves nothing"


def test_the_flow_at_1e18_is_that_of_mpmath(run: Run) -> None:
    """Runge and Kutta's method in 25 digits, of the equation for w itself, from the same point where steps end."""
    of = run("zero-dual")
    parted = of.path.steps - 1
    s0, rho = float(of.path.s[parted]), [mpmath.mpf(v) for v in of.path.rho[parted]]
    at = int(np.argmin(np.abs(of.path.s - 18 * np.log(10))))
    X, what, eta = of.dataset.signed.tolist(), of.what.tolist(), of.eta

    def field(s: mpmath.mpf, rho: list[mpmath.mpf]) -> list[mpmath.mpf]:
        w = [a * s + r for a, r in zip(what, rho, strict=True)]
        pulls = [eta * mpmath.exp(s) / (1 + mpmath.exp(mpmath.fdot(x, w))) for x in X]
        return [mpmath.fsum(p * x[i] for p, x in zip(pulls, X, strict=True)) - what[i] for i in range(len(what))]

    with mpmath.workdps(25):
        n = 200
        h = (mpmath.mpf(float(of.path.s[at])) - s0) / n
        for k in range(n):
            s = s0 + k * h
            k1 = field(s, rho)
            k2 = field(s + h / 2, [r + h / 2 * v for r, v in zip(rho, k1, strict=True)])
            k3 = field(s + h / 2, [r + h / 2 * v for r, v in zip(rho, k2, strict=True)])
            k4 = field(s + h, [r + h * v for r, v in zip(rho, k3, strict=True)])
            rho = [r + h / 6 * (a + 2 * b + 2 * c + d) for r, a, b, c, d in zip(rho, k1, k2, k3, k4, strict=True)]
    assert of.path.rho[at] == pytest.approx([float(v) for v in rho], rel=0, abs=2e-8)


def test_the_numbers_of_a_late_entry_are_those_of_mpmath(run: Run) -> None:
    of = run("zero-dual")
    found = late(of)
    at = int(np.argmin(np.abs(found.s - 18 * np.log(10))))
    with mpmath.workdps(60):
        s = mpmath.mpf(float(found.s[at]))
        w = [mpmath.mpf(a) * s + mpmath.mpf(r) for a, r in zip(of.what.tolist(), found.rho[at].tolist(), strict=True)]
        length, norm = mpmath.norm(w), mpmath.norm(of.what.tolist())
        apart = mpmath.norm([a / length - b / norm for a, b in zip(w, of.what.tolist(), strict=True)])
        margins = [mpmath.fdot(x, w) for x in of.dataset.signed.tolist()]
        gap = 1 / norm - min(margins) / length
        L = mpmath.fsum(mpmath.log1p(mpmath.exp(-u)) for u in margins)
        expected = [float(apart), float(gap), float(mpmath.log(L))]
    assert [one.value[at] for one in (direction(of), margin_gap(of), loss(of))] == pytest.approx(expected, rel=1e-13)


@pytest.mark.parametrize("u", [-5.0, 0.0, 3.0, 19.9, 20.1, 35.0, 800.0])
def test_the_logarithm_of_the_loss(u: float) -> None:
    with mpmath.workdps(400):
        exact = float(mpmath.log(mpmath.log1p(mpmath.exp(-mpmath.mpf(u)))))
    assert log_loss(np.array([u]), "logistic")[0] == pytest.approx(exact, rel=1e-14)


def test_the_limit_solves_its_equations_and_keeps_the_start_outside_the_span() -> None:
    data = Points("line", ((1.0, 1.0, 0.0), (2.0, 1.0, 0.0)), (1, 1))
    of = DescentRun(data, DescentConfig(true_steps=1000, start=(0.1, 0.2, 5.0)))
    for n in data.svm.support:
        assert of.eta * np.exp(-data.signed[n] @ of.limit) == pytest.approx(float(data.svm.alpha[n]), rel=1e-12)
    assert of.limit[2] == 5.0
    assert of.outside(of.limit) == pytest.approx(of.outside(of.w0), abs=1e-14)


@pytest.mark.parametrize("name", ["two-points", "figure-1", "iris"])
def test_the_polynomial_tail_leads_where_its_minimum_lies(name: str, run: Run) -> None:
    """v/3 = sum x_n/(x_n.v)^2 at the minimum that the claim names instead: of its direction both sides are parallel."""
    of = run(name)
    X, q = of.dataset.signed, polynomial(of).rho[-1]
    pull = X.T @ (X @ q) ** -2.0
    assert q / np.linalg.norm(q) == pytest.approx(pull / np.linalg.norm(pull), rel=0, abs=1e-8)


def test_the_polynomial_flow(run: Run) -> None:
    of = run("two-points")
    q = polynomial(of).rho[-1]  # (1,0) and (0,2): v_1/3 = v_1^-2 and v_2/3 = 2 (2 v_2)^-2
    assert q[0] / q[1] == pytest.approx(2 ** (1 / 3), rel=1e-9)
    early, solver = polynomial_flow(of.dataset.signed, 0.1, np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    assert early.shape == (2, 2)
    assert solver[1] < 1e-8


def test_normalised_steps_have_their_length(run: Run) -> None:
    t, w, _ = normalized(run("two-points", true_steps=1000))
    assert [np.linalg.norm(w[0]), np.linalg.norm(w[1] - w[0])] == pytest.approx([1.0, 1 / np.sqrt(2)])
    assert t[:2].tolist() == [1, 2]


def test_the_bound_says_nothing_where_steps_are_too_large_or_the_loss_is() -> None:
    X = np.eye(2)
    assert distance_bound(X, 2.0, 0.5, "logistic", 2.0) == np.inf
    assert distance_bound(X, 2.0, 1e4, "exponential", 0.5) == np.inf
    assert distance_bound(X, 2.0, 0.5, "exponential", 0.01) < 0.01


def test_the_path_goes_on_from_the_last_step(run: Run) -> None:
    again = run("two-points", 1000).path
    assert again.s[again.steps - 1] == np.log(1000)
    assert np.all(np.diff(again.s) > 0)
    assert again.s[-1] == 1e4
