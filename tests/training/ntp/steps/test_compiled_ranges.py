"""The compiled steps at the ends of their range, and the functions that they are made of."""

import math
from typing import Any

import flint
import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.orders.ntp import Dataset, Sample, broken, free_dataset
from marginaudit.training.ntp.steps import class_fluxes, compiled
from marginaudit.training.ntp.steps.class_fluxes import SMALL as SMALL_EXPONENT
from marginaudit.training.ntp.steps.class_fluxes import exp_of, exp_of_small, expm1_of, expm1_of_small
from marginaudit.training.ntp.steps.compiled import SUMMED, CompiledSteps, root_of_squares
from marginaudit.training.ntp.steps.iterate import EPS
from marginaudit.training.ntp.steps.underflow import LEAST_MARGIN
from tests.training.ntp.naive import exact_gradient, hessian
from tests.training.ntp.problems import WITH_SLACK, assert_same, both, dense, reduced


def interpreted(kernel: Any) -> Any:
    """The function that was compiled."""
    return kernel.py_func


def test_signed_fluxes() -> None:
    """Five copies of a wrong token pull the gradient at another one the other way, for a while."""
    n = {"a": "b", "b": "c", "c": "a"}
    data = Dataset("copies", ("a", "b", "c"), (Sample(("b", "b", "b", "b", "b", "c", "a"), "b"),), (1,), next_token=n)
    problem, start = reduced(data, 6.0)
    zero = problem.gradient(start)
    assert zero.value[list(problem.classes.key).index(2)] < 0
    fast, slow = both(problem, start, 0, 150)
    assert_same(fast, slow)
    assert slow.local_error <= fast.local_error <= 1.1 * slow.local_error
    assert fast.log_growth == pytest.approx(slow.log_growth, rel=1e-9, abs=0)
    assert problem.gradient(slow).value[2] > 0


@pytest.mark.parametrize("lanes", [True, False])
@pytest.mark.parametrize("A", [8.0, 40.0, 301.0])
def test_the_bars_of_signed_fluxes(A: float, lanes: bool) -> None:
    """The kernel's gradient against 6,000 bits and its Hessian's bounds, on random data with fluxes of both signs."""
    signed = 0
    for seed in range(4):
        data = broken(free_dataset(V=6, N=9, L=9, seed=seed, max_count=4), "optimal_majority")
        problem, start = reduced(data, A, exact=False)
        kernel = CompiledSteps(problem, lanes=lanes)
        rng = np.random.default_rng(seed)
        only_losers = np.setdiff1d(problem.merged.loser, problem.merged.winner)
        for spread in (0.0, 0.5, 1.4):
            rest = np.clip(rng.normal(size=start.high.shape), LEAST_MARGIN / 3, -LEAST_MARGIN / 3) * spread
            found, gradient = kernel.gradient_at(0.0, start, rest)
            assert found.norm > 0
            signed += bool((gradient[only_losers] < 0).any())
            B, S = dense(data, A, rest)
            log_norm, unit = exact_gradient(data, B, S)
            bar = EPS * found.relative
            assert np.linalg.norm(gradient / found.norm - unit) <= bar < 1e-9
            assert found.log_norm == pytest.approx(log_norm, rel=0, abs=2 * bar + 1e-13)
            eigenvalues = np.linalg.eigvalsh(hessian(data, problem.classes, B, rest))
            scale = np.exp(found.log_norm) / found.norm
            noise = 1e-13 * A
            assert eigenvalues[-1] <= found.curvature * scale * (1 + 1e-9) + noise
            assert -eigenvalues[0] <= found.concavity * scale * (1 + 1e-9) + noise
            assert found.concavity * scale <= 30 * abs(eigenvalues).max() + noise
    assert signed >= 3


def test_margins_far_below_zero() -> None:
    """b is asked for much more often than a and they share no optimum: one class's margin falls without limit."""
    n = {"a": "b", "b": "a", "c": "c"}
    samples = (Sample(("a", "b", "c"), "a"), Sample(("a", "c"), "b"), Sample(("b", "a", "c"), "b"))
    data = Dataset("against", ("a", "b", "c"), samples, (1000, 1, 1), next_token=n)
    problem, start = reduced(data, 2.0, exact=False, lr=0.5)
    fast, slow = both(problem, start, 0, 40)
    assert_same(fast, slow, 1e-11)
    for size in (140.0, 184.0, 500.0):
        far = np.where(np.arange(len(start.high)) % 2, size, -size)
        fast, slow = both(problem, start, 0, 3, rest=far)
        assert_same(fast, slow)


@pytest.mark.parametrize("A", [3.0, 60.0])
def test_a_gradient_hidden_by_rounding_stops_the_kernel(A: float) -> None:
    n = {"a": "b", "b": "a", "c": "c"}
    tie = (Sample(("a", "b", "c"), "a"), Sample(("a", "b", "c"), "b"))
    data = Dataset("tie", ("a", "b", "c"), tie, (1, 1), next_token=n)
    pair = Dataset("pair", ("a", "b", "c"), (Sample(("a", "b"), "a"), Sample(("a", "b"), "b")), (1, 1), next_token=n)
    problem, start = reduced(pair, A, exact=False)
    fast, slow = both(problem, start, 0, 10)
    assert fast.moves == slow.moves == 0
    assert fast.state_error == np.inf
    # sums that are 0, though not all of them in float64
    bags = [Sample(("a", "b") * times, "a") for times in range(1, 6)]
    norms = []
    for counts in ((3, 7, 11, 13, 19), (1, 6, 9, 23, 31), (1, 2, 3, 4, 5)):
        same = Dataset(
            "same",
            ("a", "b", "c"),
            (*bags, Sample(("a", "b") * 6, "b")),
            (*counts, sum(counts)),
            next_token=n,
        )
        problem, start = reduced(same, A, exact=False)
        norms.append(problem.gradient(start).norm)
        fast, slow = both(problem, start, 0, 10)
        assert fast.moves == slow.moves == 0
    assert max(norms) > 0
    problem, start = reduced(data, A, exact=False)
    fast, slow = both(problem, start, 0, 10)
    assert fast.moves == slow.moves == 10
    # equal scores are unstable
    assert_same(fast, slow, 1e-9)


def stored(array: NDArray[np.float64], at: int, value: float) -> None:
    """As `store`, of one number."""
    array[at] = value


IN_PYTHON: dict[Any, dict[str, Any]] = {
    class_fluxes: {
        "load": lambda array, at, _: array[at],
        "store": stored,
        "larger": max,
        "smaller": min,
        "root": math.sqrt,
        "width_of": lambda _: np.uint64(1),
        "largest_of": float,
        "exp_of": lambda v: math.exp(max(v, -708.0)),
    },
    compiled: {"exp_of": lambda v: math.exp(max(v, -708.0))},
}
"""The functions of `lanes` for one number, interpreted."""


@pytest.mark.parametrize(("A", "moves"), [(3.0, 0), (301.0, 20), (3.0, 10**8)])
def test_the_kernel_stays_in_its_arrays(A: float, moves: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Interpreted, where an index beyond the end of an array raises, it takes the same steps."""
    problem, start = reduced(WITH_SLACK, A)
    expected, found = start.placed(moves, start.rest), start.placed(moves, start.rest)
    CompiledSteps(problem).take(expected, moves + 3, lambda t: None)
    assert expected.moves == moves + 3
    for module, stand_ins in IN_PYTHON.items():
        for name, kernel in vars(module).copy().items():
            if name in stand_ins or hasattr(kernel, "py_func"):
                monkeypatch.setattr(module, name, stand_ins.get(name) or interpreted(kernel))
    CompiledSteps(problem, lanes=False).take(found, moves + 3, lambda t: None)
    assert_same(found, expected)
    assert found.local_error == pytest.approx(expected.local_error, rel=1e-9, abs=0)
    assert found.log_growth == pytest.approx(expected.log_growth, rel=1e-9, abs=1e-12)


def test_exponentials_to_an_ulp() -> None:
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.uniform(-708, 709, 3000), rng.normal(size=3000), [0.0, -708.0, 709.0, -1e300, -1e9]])
    near = rng.uniform(-SMALL_EXPONENT, SMALL_EXPONENT, 3000)
    found = [(v, exp_of(v)) for v in values.tolist()] + [(v, exp_of_small(v)) for v in near.tolist()]
    with flint.ctx.workprec(200):
        for v, e in found:
            assert abs(float(flint.arb(e) / flint.arb(max(v, -708.0)).exp() - 1)) <= 2.5e-16, v


def test_the_polynomial_is_exp_below_rounding() -> None:
    """Its every digit, in exact arithmetic."""
    with flint.ctx.workprec(200):
        for r in np.linspace(-SMALL_EXPONENT, SMALL_EXPONENT, 301).tolist():
            found = interpreted(expm1_of_small)(flint.arb(r))
            assert abs(float((found + 1) / flint.arb(r).exp() - 1)) < 2e-17, r
            if r != 0:
                assert abs(float(found / flint.arb(r).expm1() - 1)) < 1e-16, r


def test_exp_minus_one_keeps_its_digits_at_every_size() -> None:
    sizes = [*np.geomspace(1e-300, 709, 400), *np.linspace(0.2, 3, 200)]
    with flint.ctx.workprec(1200):
        for v in sizes:
            assert abs(float(flint.arb(expm1_of(v)) / flint.arb(v).expm1() - 1)) < 4 * np.finfo(float).eps, v
    assert expm1_of(0.0) == 0


@pytest.mark.parametrize("n", [1, SUMMED, SUMMED + 1, 100_003])
def test_norms_of_any_length(n: int) -> None:
    values = np.random.default_rng(n).normal(size=n) * np.exp(np.random.default_rng(n + 1).normal(size=n))
    exact = math.sqrt(math.fsum(values**2))
    assert root_of_squares(values) == pytest.approx(exact, rel=1e-15, abs=0)
    assert interpreted(root_of_squares)(values) == pytest.approx(exact, rel=1e-15, abs=0)  # within its array
    assert root_of_squares(np.zeros(n)) == 0
