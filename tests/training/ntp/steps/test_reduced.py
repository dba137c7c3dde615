"""The reduced model of stage 2: gradient, Hessian's bounds, rounding bound and records, against independent ways."""

import math
from collections.abc import Callable, Sequence

import flint
import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.orders.ntp import Dataset, Sample
from marginaudit.training.ntp import loss_gradient, stage2_loss
from marginaudit.training.ntp.model.classes import SampleClasses
from marginaudit.training.ntp.steps import reduced as reduced_module
from marginaudit.training.ntp.steps.descent import Descent, descend
from marginaudit.training.ntp.steps.iterate import Iterate
from marginaudit.training.ntp.steps.loss import Gradient, Row
from marginaudit.training.ntp.steps.recording import row, rows_at
from marginaudit.training.ntp.steps.reduced import ReducedKQ
from tests.solutions import known
from tests.training.ntp.naive import ball
from tests.training.ntp.problems import REDUCED, SMALL, at_scores, reduced


def dense(
    data: Dataset, A: float, scores: NDArray[np.float64], classes: SampleClasses
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    n = data.collocation.require_function()
    B = A * np.eye(data.V)[:, [data.index[n[x]] for x in data.vocabulary]]
    S = np.zeros((data.V, data.V), dtype=scores.dtype)
    S[classes.key, classes.pair_query] = scores
    return B, S


def states(problem: ReducedKQ, seed: int = 0) -> list[NDArray[np.float64]]:
    """Scores of all kinds: zero, mixed, optimal tokens far ahead, others far ahead."""
    rng = np.random.default_rng(seed)
    ahead = np.zeros(problem.space.shape)
    ahead[problem.merged.winner] = 3.0
    noise = rng.normal(size=problem.space.shape)
    return [0 * noise, noise, 3 * noise, ahead + noise, 8 * ahead + noise, noise - ahead]


@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.parametrize("A", [0.3, 6.0, 30.0])
def test_the_gradient_is_that_of_the_textbook_form(name: str, A: float) -> None:
    data = REDUCED[name]
    problem, _ = reduced(data, A, exact=False)
    for scores in states(problem):
        found = problem.gradient(at_scores(problem, scores))
        B, S = dense(data, A, scores, problem.classes)
        expected = loss_gradient(data, B, S)[problem.classes.key, problem.classes.pair_query]
        off = found.value * np.exp(found.log_scale) - expected
        # the textbook form cancels: absolute errors of the size of A
        assert np.abs(off).max() <= 1e-14 * A + 1e-11 * np.abs(expected).max()
        measured = problem.measure(at_scores(problem, scores))
        assert measured["loss"] == pytest.approx(stage2_loss(data, B, S), rel=1e-12, abs=1e-15)


def naive_gradient(
    data: Dataset, A: float, scores: NDArray[np.float64], classes: SampleClasses
) -> tuple[float, NDArray[np.float64]]:
    """Log of the norm and the unit direction of dLoss/dS, phi (g - mean) in 5,000 bits."""
    with flint.ctx.workprec(5000):
        n = data.collocation.require_function()
        at = {
            (data.vocabulary[x], data.vocabulary[q]): i
            for i, (x, q) in enumerate(zip(classes.key.tolist(), classes.pair_query.tolist(), strict=True))
        }
        G = [flint.arb(0)] * len(at)
        for sample, count in zip(data.samples, data.counts, strict=True):
            e = {x: c * flint.arb(float(scores[at[x, sample.query]])).exp() for x, c in sample.bag.items()}
            total = sum(e.values())
            phi = {x: a / total for x, a in e.items()}
            z = {v: A * sum((f for x, f in phi.items() if n[x] == v), flint.arb(0)) for v in data.vocabulary}
            total = sum(a.exp() for a in z.values())
            g = {x: A * (z[n[x]].exp() / total - (n[x] == sample.next)) for x in phi}
            mean = sum(phi[x] * g[x] for x in phi)
            for x in phi:
                G[at[x, sample.query]] += flint.arb(count) / sum(data.counts) * phi[x] * (g[x] - mean)
        norm = sum((a * a for a in G), flint.arb(0)).sqrt()
        return float(norm.log()), np.array([float(a / norm) for a in G])


@pytest.mark.parametrize("name", ["free", "no majority", "cycle"])
@pytest.mark.parametrize("A", [2.0, 40.0, 1500.0])
def test_no_digit_is_lost_and_the_rounding_bound_holds(name: str, A: float) -> None:
    data = REDUCED[name]
    problem, _ = reduced(data, A, exact=False)
    ahead = states(problem)[3]
    for scores in [*states(problem), 40 * ahead, -3 * ahead, -15 * ahead, -40 * ahead]:
        found = problem.gradient(at_scores(problem, scores))
        log_norm, unit = naive_gradient(data, A, scores, problem.classes)
        if found.hidden:  # terms that cancel
            assert name == "cycle"
            assert np.exp(log_norm - found.log_scale) <= 2 * found.rounding
            continue
        assert found.log_norm == pytest.approx(log_norm, rel=1e-13, abs=1e-10)
        off = np.linalg.norm(found.value / found.norm - unit)
        assert off <= found.rounding / found.norm < 1e-8
        assert off < 1e-13 * (1 + A)


def hessian(data: Dataset, A: float, scores: NDArray[np.float64], classes: SampleClasses) -> NDArray[np.float64]:
    """Of the loss in the scores, by complex steps of the textbook gradient."""
    rows = []
    for i in range(len(scores)):
        B, S = dense(data, A, scores.astype(complex), classes)
        S[classes.key[i], classes.pair_query[i]] += 1e-150j
        rows.append(loss_gradient(data, B, S)[classes.key, classes.pair_query].imag / 1e-150)
    H = np.array(rows)
    return (H + H.T) / 2


@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.parametrize("A", [0.3, 6.0, 25.0])
def test_the_bounds_on_the_hessian(name: str, A: float) -> None:
    data = REDUCED[name]
    problem, _ = reduced(data, A, exact=False)
    ratios = []
    for seed in range(3):
        for scores in states(problem, seed)[:4]:
            token = problem.token_gradient(at_scores(problem, scores))
            eigenvalues = np.linalg.eigvalsh(hessian(data, A, scores, problem.classes)) / np.exp(token.log_scale)
            noise = 1e-13 * A * np.exp(-token.log_scale)
            assert eigenvalues[-1] <= token.curvature * (1 + 1e-9) + noise
            assert -eigenvalues[0] <= token.concavity * (1 + 1e-9) + noise
            ratios.append(token.curvature / eigenvalues[-1])
    assert np.median(ratios) < 12


def test_when_the_flux_part_of_the_hessian_is_semidefinite() -> None:
    """M of `ReducedKQ` for one class, at random: never below the bound, and sometimes near it."""
    rng = np.random.default_rng(0)
    sharp = 0.0
    for _ in range(3000):
        k = int(rng.integers(1, 5))
        weight = rng.dirichlet(np.full(k + 1, rng.choice([0.3, 1, 5])))
        phi = weight[1:]
        h = np.exp(rng.normal(size=k) * rng.choice([0, 0.5, 2]))
        f = phi * h
        d = np.hstack([-np.ones((k, 1)), np.eye(k)])
        u, w = f @ d, phi @ d
        M = (d.T * f) @ d - np.outer(u, w) - np.outer(w, u)
        least = np.linalg.eigvalsh(M)[0]
        Phi = phi.sum()
        tilt = Phi + np.sqrt(Phi * f.sum() / h.min())
        bound = min(max(tilt - 1, 0) * (f.sum() + f.max()), 4 * Phi * f.sum())
        assert least >= -bound * (1 + 1e-12) - 1e-14
        if tilt <= 1:
            assert least >= -1e-14
        sharp = max(sharp, -least / bound if k > 1 and bound > 1e-3 else 0)
    assert sharp > 0.3


def test_the_lead_keeps_the_digits_at_any_distance() -> None:
    """At t = 1e15 and 1e18 against 300 bits: what s (1 + slack) / ||W*|| in float64 would lose."""
    for data in (SMALL, REDUCED["prefix-closed"]):
        problem, start = reduced(data, 9.0)
        exact = known(problem.exact)
        rng = np.random.default_rng(3)
        for t in (10**15, 10**18):
            rest = rng.normal(size=start.high.shape)
            [row] = rows_at(problem, start, [(t, rest, 1e-9)], "flow")
            with flint.ctx.workprec(300):
                root = ball(exact.norm_squared).sqrt()
                s = flint.arb(start.lr) * t
                W = [s * ball(w) / root + flint.arb(float(r)) for w, r in zip(exact.weight, rest, strict=True)]
                merged = problem.merged
                G = [flint.arb(0)] * len(W)
                for a, j, weight in zip(
                    merged.winner.tolist(), merged.loser.tolist(), merged.weight.tolist(), strict=True
                ):
                    flux = flint.arb(weight) * (W[j] - W[a]).exp()
                    G[j] += flux
                    G[a] -= flux
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
            assert row["step"] == t
            assert row["method"] == "flow"
            assert 1e-9 <= row["error"] < 2e-9
            assert row["along"] == start.lr * t


@pytest.mark.parametrize("t", [1, 50, 3000])
def test_a_row_of_a_given_state_is_that_of_steps(t: int) -> None:
    problem, iterate = reduced(SMALL, 9.0)
    while iterate.moves < t:
        Descent(problem).step(iterate)
    stepped = row(problem, iterate, t)
    [given] = rows_at(problem, iterate, [(t, iterate.rest, 0.25)], "law")
    for name, value in stepped.items():
        if name in ("error", "distance_error", "method"):
            continue
        np.testing.assert_allclose(given[name], value, rtol=1e-13, err_msg=name)
    assert given["method"] == "law"
    assert 0.25 < given["error"] < 0.25 + 1e-10
    assert 0.25 * given["distance"] <= given["distance_error"] < 0.26 * given["distance"]
    assert rows_at(problem, iterate, [(t, iterate.rest, np.inf)], "law")[0]["distance_error"] == 2


def assert_same_rows(found: list[Row], expected: list[Row]) -> None:
    assert [set(row) for row in found] == [set(row) for row in expected]
    for one, other in zip(found, expected, strict=True):
        for name, value in other.items():
            if isinstance(value, str):
                assert one[name] == value
            else:
                np.testing.assert_allclose(one[name], value, rtol=1e-12, atol=1e-14, err_msg=name)


@pytest.mark.parametrize("name", REDUCED)
@pytest.mark.parametrize("A", [0.0, 0.3, 30.0])
def test_several_states_looked_at_together_are_as_each_alone(name: str, A: float) -> None:
    """Also where one of them is so far behind that `CommonMargin` takes over, whose fluxes do not cancel there."""
    problem, _ = reduced(REDUCED[name], A, exact=False)
    behind = np.zeros(problem.space.shape)
    behind[problem.merged.loser] = 8.0
    near = [at_scores(problem, scores) for scores in states(problem)[:4]]
    for together in (near, [*near, at_scores(problem, behind)]):
        for (gradient, measured), state in zip(problem.looked_at(together), together, strict=True):
            alone = problem.gradient(state)
            np.testing.assert_allclose(gradient.value, alone.value, rtol=1e-12, atol=1e-14)
            for part in ("norm", "log_scale", "rounding", "curvature", "concavity"):
                assert getattr(gradient, part) == pytest.approx(getattr(alone, part), rel=1e-12, abs=1e-300), part
            assert_same_rows([measured], [problem.measure(state)])


def test_a_flux_that_is_zero_counts_as_one_of_no_known_sign() -> None:
    """h of c: exp(A (0.2 - 0.4)) underflows, and a and b have equal attention, so up to 2 + 4 Phi."""
    samples, following = (Sample(tuple("aabbc"), "a"),), {"a": "a", "b": "b", "c": "c"}
    problem, start = reduced(Dataset("even", ("a", "b", "c"), samples, (1,), next_token=following), 4000.0, exact=False)
    gradient = problem.token_gradient(start)
    assert gradient.value.tolist() == [-1, 1, 0]
    assert gradient.concavity == pytest.approx(2 + 4 * 0.6, rel=1e-12, abs=0)


def test_states_of_sentences_of_one_token_have_no_margins() -> None:
    """Attention has nothing to choose from, and the gradient is 0."""
    samples = (Sample(("a",), "b"), Sample(("b",), "a"))
    problem, start = reduced(Dataset("alone", ("a", "b"), samples, (1, 2), next_token={"a": "b", "b": "a"}), 2.0, False)
    for gradient, measured in problem.looked_at([start.placed(t, start.rest) for t in (1, 2)]):
        assert gradient.hidden
        assert measured["loss"] == pytest.approx(math.log1p(math.exp(-2.0)), rel=1e-14, abs=0)


def test_rows_taken_in_blocks_are_those_taken_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A block is more than one state, and the last one is not full; a state that is kept does not move on."""
    steps = [1, 2, *range(10, 160), 300]
    blocks: list[int] = []
    looked_at = ReducedKQ.looked_at

    def counted(problem: ReducedKQ, some: Sequence[Iterate]) -> list[tuple[Gradient, Row]]:
        blocks.append(len(some))
        return looked_at(problem, some)

    monkeypatch.setattr(ReducedKQ, "looked_at", counted)
    found = []
    for most in (64, 1):
        monkeypatch.setattr(reduced_module, "MOST_TOGETHER", most)
        problem, start = reduced(SMALL, 9.0)
        assert problem.together == most
        found.append(descend(Descent(problem), start, 300, steps, None, 0))
    assert blocks == [64, 64, 25, *[1] * 153]
    assert [row["step"] for row in found[0]] == steps
    assert_same_rows(*found)


def test_rows_of_given_states_are_taken_in_blocks() -> None:
    problem, start = reduced(SMALL, 9.0)
    rng = np.random.default_rng(0)
    given = [(t, rng.normal(size=start.high.shape), 1e-9 * t) for t in range(1, 100)]
    alone = [found for one in given for found in rows_at(problem, start, [one], "flow")]
    assert_same_rows(rows_at(problem, start, given, "flow"), alone)


def test_rows_after_the_gradient_is_hidden_are_those_of_where_it_stopped() -> None:
    """The rows before are of a block that is not full."""
    problem, start = reduced(SMALL, 9.0)
    rows = descend(Hiding(problem, 5), start, 100, [3, 4, 50, 100], None, 0)
    assert [row["step"] for row in rows] == [3, 4, 50, 100]
    stopped = row(problem, start, 50)
    assert_same_rows(rows[2:], [stopped, {**stopped, "step": 100}])


@pytest.mark.parametrize("normalised", [True, False])
def test_a_copy_of_a_state_stays_where_it_is(normalised: bool) -> None:
    """The NumPy form adds to the low part of rho in place."""
    problem, iterate = reduced(SMALL, 9.0, normalised=normalised)
    for _ in range(3):
        Descent(problem).step(iterate)
    copy, rest, low = iterate.copied(), iterate.rest.copy(), iterate.low.copy()
    Descent(problem).step(iterate)
    assert (copy.moves, iterate.moves) == (3, 4)
    np.testing.assert_array_equal(copy.rest, rest)
    np.testing.assert_array_equal(copy.low, low)
    assert (iterate.low != low).any()


class Hiding(Descent):
    """Descent whose gradient is hidden from some step on."""

    def __init__(self, loss: ReducedKQ, last: int) -> None:
        super().__init__(loss)
        self.most = last

    def advance(self, iterate: Iterate, goal: int, report: Callable[[int], None]) -> None:
        super().advance(iterate, min(goal, self.most), report)


def test_few_states_of_a_large_problem_are_looked_at_together(monkeypatch: pytest.MonkeyPatch) -> None:
    tokens = len(reduced(SMALL, 9.0)[0].classes.token)
    for most, together in ((3 * tokens, 3), (3 * tokens - 1, 2), (tokens - 1, 1), (10**9, 64)):
        monkeypatch.setattr(reduced_module, "AT_ONCE", most)
        assert reduced(SMALL, 9.0)[0].together == together
