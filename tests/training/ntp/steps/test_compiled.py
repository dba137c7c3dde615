"""The compiled steps against the NumPy form, against exact arithmetic, and at the ends of their range."""

import math
import subprocess
import sys
from typing import Any

import flint
import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.orders.ntp import CASES, Dataset, Sample, free_dataset
from marginaudit.training.ntp.steps import class_fluxes, compiled
from marginaudit.training.ntp.steps.class_fluxes import SMALL as SMALL_EXPONENT
from marginaudit.training.ntp.steps.class_fluxes import exp_of, exp_of_small
from marginaudit.training.ntp.steps.compiled import SUMMED, CompiledSteps, root_of_squares
from marginaudit.training.ntp.steps.descent import Descent
from marginaudit.training.ntp.steps.iterate import Iterate
from marginaudit.training.ntp.steps.lanes import LANES, in_blocks
from marginaudit.training.ntp.steps.reduced import ReducedKQ
from marginaudit.training.ntp.steps.sizes import ONE_HOT, TINY
from tests.solutions import known
from tests.training.ntp.naive import ball
from tests.training.ntp.problems import REDUCED, SMALL, WITH_SLACK, reduced

WORDS = [[*"a" * times, *"c" * other, "b"] for times in range(1, 5) for other in range(0, 7, 2)]

MANY_ALIKE = Dataset(
    "alike",
    ("a", "b", "c"),
    tuple(Sample(tuple(words), "a") for words in [*WORDS, *map(list, ("ba", "bba", "cbaa", "bc"))]),
    (1, *range(2, 21)),
    next_token={"a": "b", "b": "a", "c": "c"},
)
"""Classes with one set of tokens and many multiplicities, some in proportion, beside others."""


def test_importing_the_package_and_the_command_line_does_not_import_numba() -> None:
    for module in ("marginaudit.training", "marginaudit.reports.command.cli"):
        code = f"import sys, {module}; sys.exit('numba' in sys.modules)"
        subprocess.run([sys.executable, "-c", code], check=True)


def test_attention_is_one_hot_where_it_is_so_in_every_sentence() -> None:
    """The one with most of the other tokens, in multiples of its optimal token's count, decides."""
    samples = (Sample(tuple("ac" * 3), "a"), Sample(tuple("abbbbbbcc"), "a"))
    data = Dataset("uneven", ("a", "b", "c"), samples, (1, 1), next_token={"a": "a", "b": "b", "c": "c"})
    problem, _ = reduced(data, 9.0, exact=False)
    expected = math.log((6 + 2) * (8 * 9 + 8) / ONE_HOT)
    assert CompiledSteps(problem).arrays.one_hot_margin == pytest.approx(expected, rel=1e-14, abs=0)


def both(
    problem: ReducedKQ, iterate: Iterate, moves: int, goal: int, rest: NDArray[np.float64] | None = None
) -> tuple[Iterate, Iterate]:
    """The states after the compiled and after the NumPy steps, from one state on."""
    fast, slow = (iterate.placed(moves, iterate.rest if rest is None else rest) for _ in range(2))
    descent = Descent(problem)
    descent.advance(fast, goal, lambda t: None)
    while slow.moves < goal and descent.step(slow):
        pass
    return fast, slow


def interpreted(kernel: Any) -> Any:
    """The function that was compiled."""
    return kernel.py_func


def assert_same(fast: Iterate, slow: Iterate, tolerance: float = 1e-13) -> None:
    assert fast.moves == slow.moves
    scale = 1 + np.abs(slow.rest).max()
    np.testing.assert_allclose(fast.rest, slow.rest, rtol=0, atol=tolerance * scale)
    np.testing.assert_allclose(fast.last, slow.last, rtol=0, atol=20 * tolerance)


@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.parametrize("A", [0.5, 40.0, 301.0])
@pytest.mark.parametrize("normalised", [True, False])
def test_the_same_steps_as_the_numpy_form(name: str, A: float, normalised: bool) -> None:
    data = REDUCED[name]
    problem, start = reduced(data, A, normalised=normalised, lr=None if normalised else 0.3)
    # on a cycle the steps amplify rounding once they oscillate about the optimum
    goal = 100 if name == "cycle" else 300
    fast, slow = both(problem, start, 0, goal)
    assert fast.moves == goal
    assert_same(fast, slow, 1e-13 * max(1.0, A / 40))  # rounding of attention is worth A times as much
    if np.isfinite(slow.state_error):
        assert fast.log_growth == pytest.approx(slow.log_growth, rel=1e-9, abs=1e-12)
        assert 0.9 * slow.local_error <= fast.local_error <= 6 * slow.local_error


def test_what_the_reference_rounds_away_counts() -> None:
    """With a second part large enough to see."""
    problem, start = reduced(SMALL, 9.0)
    low = 1e-3 * np.random.default_rng(0).normal(size=start.high.shape)
    start.reference_low = low
    fast, slow = both(problem, start, 0, 200)
    assert_same(fast, slow)
    before = slow.placed(200, slow.rest)
    Descent(problem).step(slow)
    moved = slow.rest - before.rest
    np.testing.assert_allclose(moved, -slow.lr * (slow.last + slow.reference + low), rtol=0, atol=1e-15)


def test_the_kernel_takes_the_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the comparison above would compare the NumPy form with itself."""
    monkeypatch.setattr(Descent, "step", None)
    for name in ("free", "prefix-closed"):
        problem, start = reduced(REDUCED[name], 9.0)
        for moves, goal in ((0, 5000), (10**7, 10**7 + 5)):
            state = start.placed(moves, start.rest)
            Descent(problem).advance(state, goal, lambda t: None)
            assert state.moves == goal


@pytest.mark.parametrize("A", [299.0, 301.0, 705.0, 3e3, 4e7])
@pytest.mark.parametrize("name", ["free", "prefix-closed", "no majority", "confused"])
def test_margins_of_any_size(name: str, A: float) -> None:
    """From even attention, past where A phi is 1, to one-hot attention: one step each, with its error bounds."""
    problem, start = reduced(REDUCED[name], A)
    one_hot = CompiledSteps(problem).arrays.one_hot_margin
    compared = 0
    for margin in np.linspace(0, one_hot, 60):
        for spread in (0.0, 0.2):
            rest = spread * np.random.default_rng(compared).normal(size=start.high.shape)
            moves = int(margin / (problem.lead_rate or 1 / problem.margin_size) / start.lr)
            state = start.placed(moves, rest)
            CompiledSteps(problem).take(state, moves + 1, lambda t: None)
            slow = start.placed(moves, rest)
            slow_taken = Descent(problem).step(slow)
            if state.moves == moves:
                continue
            assert slow_taken
            compared += 1
            size = slow.local_error / slow.lr
            np.testing.assert_allclose(state.last, slow.last, rtol=0, atol=3 * size)
            assert 0.1 * slow.local_error <= state.local_error <= 10 * slow.local_error
            assert state.log_growth == pytest.approx(slow.log_growth, rel=1e-9, abs=1e-12)
    assert compared > 100


def test_the_kernel_is_called_again_until_all_steps_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "WORK", 100)
    monkeypatch.setattr(Descent, "step", None)
    problem, start = reduced(REDUCED["free"], 9.0)
    seen: list[int] = []
    Descent(problem).advance(start, 50, seen.append)
    each = 100 // len(problem.edges)
    assert 1 < each < 10
    assert seen == [*range(each, 50, each), 50]


def test_sums_are_compensated() -> None:
    """Scores that all differ by one large number have the same margins."""
    problem, start = reduced(SMALL, 9.0)
    state, slow = both(problem, start, 0, 300, rest=np.full(start.high.shape, 1e9))
    near, _ = both(problem, start, 0, 300)
    np.testing.assert_allclose((state.high - 1e9) + state.low, near.rest, rtol=0, atol=1e-13)
    np.testing.assert_allclose(state.low, slow.low, rtol=0, atol=1e-13)


@pytest.mark.parametrize("data", [WITH_SLACK, CASES["section-7"]()], ids=lambda data: data.name)
def test_one_exponential_an_edge_late(data: Dataset) -> None:
    """Before, across and behind the step at which attention becomes one-hot to double precision."""
    problem, start = reduced(data, 9.0)
    switch = CompiledSteps(problem).arrays.one_hot_margin
    weight = problem.merged.weight
    for margin in (switch - 14, switch - 0.5, switch + 1):
        moves = int(margin / (problem.lead_rate * start.lr))
        fast, slow = both(problem, start, moves, moves + 1)
        np.testing.assert_allclose(fast.last, slow.last, rtol=0, atol=1e-15)
    late = np.bincount(problem.merged.loser, weight, len(slow.last))
    late -= np.bincount(problem.merged.winner, weight, len(slow.last))
    tight = np.array([slack == 0 for slack in known(problem.exact).slack])
    if tight.all():
        np.testing.assert_allclose(slow.last, late / np.linalg.norm(late), rtol=0, atol=1e-15)
    moves = int((switch - 1) / (problem.lead_rate * start.lr))
    fast, slow = both(problem, start, moves, moves + 600)
    assert_same(fast, slow)
    margins = problem.margins(slow)
    assert margins.lead + margins.rest.min() > switch
    assert fast.log_growth == pytest.approx(slow.log_growth, rel=1e-6, abs=0)
    assert slow.local_error * (1 - 1e-9) <= fast.local_error <= 2 * slow.local_error


def test_steps_far_out_against_exact_arithmetic() -> None:
    """A hundred steps from t = 1e13 on, from 300 bits of the whole of W."""
    problem, start = reduced(SMALL, 9.0)
    exact, merged = known(problem.exact), problem.merged
    rest = np.random.default_rng(0).normal(size=start.high.shape)
    t0, steps = 10**13, 100
    state = start.placed(t0, rest)
    Descent(problem).advance(state, t0 + steps, lambda t: None)
    with flint.ctx.workprec(300):
        root = ball(exact.norm_squared).sqrt()
        lr = flint.arb(start.lr)
        W = [lr * t0 * ball(w) / root + flint.arb(float(r)) for w, r in zip(exact.weight, rest, strict=True)]
        for _ in range(steps):
            G = [flint.arb(0)] * len(W)
            for a, j, weight in zip(merged.winner.tolist(), merged.loser.tolist(), merged.weight.tolist(), strict=True):
                flux = flint.arb(weight) * (W[j] - W[a]).exp()
                G[j] += flux
                G[a] -= flux
            size = sum((g * g for g in G), flint.arb(0)).sqrt()
            W = [(w - lr * g / size).mid() for w, g in zip(W, G, strict=True)]
        moved = [float(w - lr * (t0 + steps) * ball(x) / root) for w, x in zip(W, exact.weight, strict=True)]
    assert np.abs(np.array(moved) - rest).max() > 0.1
    np.testing.assert_allclose(state.rest, moved, rtol=0, atol=1e-14)


def test_plain_descent_late() -> None:
    """Steps that know the size of the gradient, where it is exp(-70)."""
    problem, start = reduced(SMALL, 9.0, normalised=False, lr=float(np.exp(72)))
    ahead = np.random.default_rng(0).normal(size=start.high.shape)
    ahead[problem.merged.winner] += 65
    fast, slow = both(problem, start, 0, 3, rest=ahead)
    assert np.abs(slow.rest - ahead).max() > 1e-3
    assert_same(fast, slow)


def test_plain_steps_below_float64_are_in_the_error() -> None:
    """Of 1e-323, of which float64 keeps one digit or none."""
    problem, start = reduced(SMALL, 9.0, normalised=False, lr=1e-323)
    fast, slow = both(problem, start, 0, 3)
    assert 3 * TINY <= fast.local_error <= 4 * TINY
    assert 3 * TINY <= slow.local_error <= 4 * TINY


def test_exponents_beyond_those_of_float64() -> None:
    """exp(A / 3) with an exponent that would wrap around to a small one."""
    n = {"a": "b", "b": "c", "c": "a"}
    samples = (Sample(("b", "c", "a"), "b"), Sample(("a", "a", "c", "b"), "b"))
    problem, start = reduced(Dataset("three", ("a", "b", "c"), samples, (1, 1), next_token=n), 7500.0)
    assert_same(*both(problem, start, 0, 20))


@pytest.mark.parametrize(
    ("A", "lr"), [(400.0, 0.02), (1600.0, 0.02), (3200.0, 0.02), (5e4, 0.02), (9.0, 40.0), (30.0, 1000.0)]
)
def test_beyond_the_kernel_s_range_the_numpy_form_takes_over(A: float, lr: float) -> None:
    problem, start = reduced(WITH_SLACK, A, lr=lr)
    fast, slow = both(problem, start, 0, 3)
    assert_same(fast, slow)
    fast, _ = both(problem, start, 0, 400)
    assert fast.moves == 400
    assert np.isfinite(fast.rest).all()


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


@pytest.mark.parametrize("width", [LANES, 1])
@pytest.mark.parametrize("data", [WITH_SLACK, MANY_ALIKE], ids=["distinct", "alike"])
def test_the_blocks_hold_every_class_once(data: Dataset, width: int) -> None:
    problem, _ = reduced(data, 4.0)
    edges, merged = problem.edges, problem.merged
    expected = [
        (query, merged.number[a:z].tolist(), problem.ratio[a:z].tolist(), frequency)
        for query, a, z, frequency in zip(edges.query, edges.first, edges.first[1:], edges.frequency, strict=False)
    ]
    size, number, ratio, query, frequency = in_blocks(edges, merged.number, problem.ratio, width)
    held, at = [], 0
    for b, d in enumerate(size.astype(int).tolist()):
        numbers, ratios = (part[at : at + d * width].reshape(d, width).T.tolist() for part in (number, ratio))
        own = slice(b * width, (b + 1) * width)
        held += list(zip(query[own], numbers, ratios, frequency[own], strict=True))
        at += d * width
    assert at == len(number) == len(ratio)
    assert sorted(row for row in held if row[3]) == sorted(expected)
    absent = [row for row in held if not row[3]]
    assert bool(absent) == (width > 1)
    assert not any(any(ratios) for _, _, ratios, _ in absent)


def test_neighbours_in_a_block_are_of_different_queries() -> None:
    """As long as there are enough queries: a sum does not wait for the one before."""
    data = free_dataset(V=60, N=900, L=5, seed=0)
    problem, _ = reduced(data, 4.0)
    query = in_blocks(problem.edges, problem.merged.number, problem.ratio, LANES).query
    assert (np.diff(query.astype(int)) == 0).mean() < 0.2


@pytest.mark.parametrize("A", [0.2, 4.0, 301.0])
def test_classes_alike_in_their_tokens(A: float) -> None:
    problem, start = reduced(MANY_ALIKE, A)
    assert_same(*both(problem, start, 0, 60), 1e-13 * max(1.0, A / 40))


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
            assert abs(float(interpreted(exp_of_small)(flint.arb(r)) / flint.arb(r).exp() - 1)) < 2e-17, r


@pytest.mark.parametrize("n", [1, SUMMED, SUMMED + 1, 100_003])
def test_norms_of_any_length(n: int) -> None:
    values = np.random.default_rng(n).normal(size=n) * np.exp(np.random.default_rng(n + 1).normal(size=n))
    exact = math.sqrt(math.fsum(values**2))
    assert root_of_squares(values) == pytest.approx(exact, rel=1e-15, abs=0)
    assert interpreted(root_of_squares)(values) == pytest.approx(exact, rel=1e-15, abs=0)  # within its array
    assert root_of_squares(np.zeros(n)) == 0
