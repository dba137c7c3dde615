"""sharp.theorem1.squared: the steps of its proof, its multipliers and its graph, its constants, and what it says."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.linalg import null_space
from scipy.optimize import brentq, linprog

from marginaudit.claims import Verdict
from marginaudit.claims.claim import BeyondTheRun
from marginaudit.claims.ntp import Config, Run, bounds
from marginaudit.claims.ntp.appendix_c_stage2 import theorem1_squared
from marginaudit.claims.ntp.appendix_c_stage2.theorem1_squared import (
    DRIFT,
    SECOND_ORDER,
    UNLIKE_EXPONENTIALS,
    coercivity,
    law,
    least_stretch,
    reduced,
)
from marginaudit.margins import spread as room
from marginaudit.margins.errors import SolverFailure
from marginaudit.margins.spread import spread
from marginaudit.margins.weighted_margin import weighted_margin
from marginaudit.orders.ntp import CASES, Dataset, Sample, free_dataset
from marginaudit.reports import LEDGER
from tests.claims.ntp.samples import retrained
from tests.measured import measured
from tests.proof_instances import SEEDS, carrying, descent, fluxes, instances, margins, reference, sentences
from tests.solutions import known
from tests.test_proofs_rates import idle_edge

Floats = NDArray[np.float64]


def bound(t: float, norm: float, Lambda: float, eta: float) -> float:
    """b(t) of section 7."""
    return (2 * norm**3 * Lambda + eta * norm**2) * (1 + math.log(t)) / (t * eta) + math.sqrt(2) * norm / t


def test_t_1_is_a_step() -> None:
    for least in (1.0, 7.3, 1165.41, 1e30):
        found = theorem1_squared.met_from(lambda t, least=least: t >= least)  # type: ignore[misc]
        assert found == math.ceil(found)
        assert least <= found <= 1.01 * least + 1
    with pytest.raises(BeyondTheRun):
        theorem1_squared.met_from(lambda t: False)


# The steps of the proof


def far_scores(data: Dataset, rng: np.random.Generator, least: float, scale: float) -> Floats:
    """Something random and so much of the reference that every margin is at least ``least``."""
    S, W = rng.standard_normal((data.V, data.V)) * scale, reference(data)
    while min(margins(S, sentence).min() for sentence in sentences(data)) < least:
        S = S + W
    return S


def shares(data: Dataset, S: Floats, A: float) -> tuple[Floats, Floats, Floats]:
    """Of each edge: M_e (flat), its summed flux, and omega exp(-margin)."""
    found: dict[tuple[int, int, int], list[float]] = {}
    for sentence in sentences(data):
        o, q = sentence.optimal, sentence.query
        for x, g in zip(sentence.others, fluxes(S, sentence, A).tolist(), strict=True):
            edge = found.setdefault((q, o, x), [0.0, 0.0])
            edge[0] += g
            edge[1] += sentence.pi * sentence.count[x] / sentence.count[o] * float(np.exp(S[x, q] - S[o, q]))
    M = np.zeros((len(found), data.V, data.V))
    for row, (q, o, x) in enumerate(found):
        M[row, o, q], M[row, x, q] = 1, -1
    flux, exponential = np.array(list(found.values())).T
    return M.reshape(len(found), -1), flux, exponential


def enough(data: Dataset, A: float) -> float:
    """The margin of condition (ii)."""
    return float(np.log(8 * (data.L_max - 1) * max(1.0, A)))


@given(data=instances(), seed=SEEDS, A=st.floats(0.05, 20), scale=st.sampled_from([0.0, 0.5, 3.0]))
@settings(max_examples=60)
def test_lemma_11_1(data: Dataset, seed: int, A: float, scale: float) -> None:
    S = far_scores(data, np.random.default_rng(seed), enough(data, A), scale)
    _, flux, exponential = shares(data, S, A)
    assert np.ptp(np.log(flux / exponential)) <= UNLIKE_EXPONENTIALS


def incidence(winner: NDArray[np.int64], loser: NDArray[np.int64], nodes: int) -> Floats:
    """1 where an edge's winner is, and -1 where its loser is, shape (edges, nodes)."""
    return np.asarray(np.eye(nodes)[winner] - np.eye(nodes)[loser])


def settled(data: Dataset) -> tuple[Run, Floats]:
    """A run, and an orthonormal basis of U_+ without the reference's direction, shape (pairs, dimensions)."""
    run = Run(data, Config(steps1=1, steps2=1))
    model = reduced(run)
    W, carried = np.array([float(x) for x in model.exact.weight]), model.support.carried
    M = incidence(model.merged.winner[carried], model.merged.loser[carried], len(W))
    basis = M.T @ null_space((M @ W)[np.newaxis])
    left, size, _ = np.linalg.svd(basis, full_matrices=False)
    return run, left[:, size > 1e-9]


@given(data=instances(), seed=SEEDS)
@settings(max_examples=40)
def test_lemma_11_2(data: Dataset, seed: int) -> None:
    run, basis = settled(data)
    model = reduced(run)
    assume(basis.shape[1] > 0)
    c, carried = coercivity(model), model.support.carried
    rng = np.random.default_rng(seed)
    for power in (0, 1, 4):
        u = basis @ (rng.standard_normal(basis.shape[1]) * rng.random(basis.shape[1]) ** power)
        m = u[model.merged.winner[carried]] - u[model.merged.loser[carried]]
        assert -m.min() >= c * np.linalg.norm(u) * (1 - 1e-9)


@given(data=instances(), seed=SEEDS, A=st.floats(0.05, 20), scale=st.sampled_from([0.3, 3.0, 30.0]))
@settings(max_examples=40)
def test_lemma_11_3(data: Dataset, seed: int, A: float, scale: float) -> None:
    run, _ = settled(data)
    S = far_scores(data, np.random.default_rng(seed), enough(data, A), scale)
    M, flux, exponential = shares(data, S, A)
    S = M.T @ np.linalg.lstsq(M.T, S.ravel())[0]  # what training can reach
    W = reference(data).ravel()
    plus = carrying(M, W)
    u = S - W * (W @ S) / (W @ W)
    inner = M[plus].T @ np.linalg.lstsq(M[plus].T, u)[0]
    omega = exponential / np.exp(-(M @ S))
    K0 = np.log(omega.sum() / omega[plus].min()) + UNLIKE_EXPONENTIALS
    along = float(u @ M.T @ (flux / flux.sum()))
    assert along <= K0 - coercivity(reduced(run)) * np.linalg.norm(inner) + 1e-9 * np.linalg.norm(u)


@given(w=st.floats(0.7072, 1e4), Lambda=st.floats(np.log(16), 800), s=st.floats(1e-6, 1), log_eta=st.floats(-230, 230))
@settings(max_examples=300)
def test_what_lemma_11_4_takes_from_its_condition(w: float, Lambda: float, s: float, log_eta: float) -> None:
    eta, norm_w = math.exp(log_eta), w
    low, high = 0.0, 700.0
    for _ in range(200):  # the log of the first step that meets (i)
        middle = (low + high) / 2
        met = 16 * norm_w**2 * bound(math.exp(middle), norm_w, Lambda, eta) <= s**2
        low, high = (low, middle) if met else (middle, high)
    assume(high < 699)
    first = math.exp(high)
    x = eta * s / (2 * math.sqrt(2) * norm_w**2)
    log_left = math.log(0.6) + Lambda - first * x
    offset = first * eta * math.sqrt(2 * bound(first, norm_w, Lambda, eta))
    assert log_left + math.log(math.sqrt(2) * norm_w * (1 + 1 / x)) <= math.log(1e-3)
    assert log_left + math.log(math.sqrt(2) * (offset + eta)) <= math.log(DRIFT)


@st.composite
def idle_instances(draw: st.DrawFn) -> Dataset:
    """Data with a tight constraint that carries no multiplier."""
    data = draw(st.one_of(st.just(idle_edge()), st.integers(0, 40).map(many_optimal)))
    data = replace(data, counts=tuple(10 ** draw(st.integers(0, 5)) for _ in data.samples))
    assume(reduced(Run(data, Config(steps1=1, steps2=1))).support.degenerate)
    return data


def many_optimal(seed: int) -> Dataset:
    return free_dataset(V=12, N=20, L=6, seed=seed, optimal=(1, 3))


@given(data=idle_instances(), seed=SEEDS, log_eta=st.floats(-3, 3), far=st.sampled_from([0.1, 1.0, 30.0]))
@settings(max_examples=40)
def test_lemmas_11_5_and_11_6(data: Dataset, seed: int, log_eta: float, far: float) -> None:
    """Steps along the fluxes that Lemma 11.1 leaves possible, without slack edges, from anywhere; and what follows."""
    rng, eta, steps = np.random.default_rng(seed), 10**log_eta, 200
    run, basis = settled(data)
    model = reduced(run)
    tight, part = model.support.tight, model.support.component
    winner, loser, omega = model.merged.winner[tight], model.merged.loser[tight], model.merged.weight[tight]
    W = np.array([float(x) for x in model.exact.weight])
    M = incidence(winner, loser, len(W))
    idle = part[winner] != part[loser]
    second = weighted_margin(model.support.size, part[winner[idle]], part[loser[idle]])
    X = np.array([float(x) for x in second.x])[part]
    np.testing.assert_allclose(basis.T @ X, 0, atol=1e-9)
    assert theorem1_squared.second_norm(model) == pytest.approx(float(np.linalg.norm(X)))

    w, c = np.linalg.norm(W), coercivity(model)
    K = np.log(omega.sum() / omega[~idle].min()) + UNLIKE_EXPONENTIALS
    near = (K + SECOND_ORDER * eta) / c
    reached = near + 2 * eta + (near + eta) * (np.sqrt(2) / c) ** 0.5
    h = np.log(steps) + K + np.sqrt(2) * reached + (np.sqrt(2) + w) * eta
    aside = rng.standard_normal(len(model.support.size))[part] * far * near
    u = basis @ rng.standard_normal(basis.shape[1]) * far * near + aside - W * (W @ aside) / w**2
    v, f = np.linalg.norm(basis.T @ u), np.sum((u - basis @ (basis.T @ u) - h * X) ** 2)
    V_first = v**2 + f
    for _ in range(steps):
        flux = np.log(omega) - M @ u + UNLIKE_EXPONENTIALS * rng.integers(0, 2, len(omega))
        p = np.exp(flux - flux.max())
        d = p @ M / np.linalg.norm(p @ M)
        u = u + eta * (d - W * (W @ d) / w**2)
        v_next, f_next = np.linalg.norm(basis.T @ u), np.sum((u - basis @ (basis.T @ u) - h * X) ** 2)
        rounding = 1e-10 * (V_first + eta**2)
        if v >= near:
            assert v_next**2 + f_next <= v**2 + f - np.sqrt(2) * eta * c * (v - near) + rounding
        if v <= reached:
            assert f_next <= f + 2 * eta * w / (math.e * steps) + rounding
        v, f = v_next, f_next
        assert v**2 + f <= V_first + eta * w + (near + eta) ** 2 + rounding


# The multipliers and the graph


@given(seed=SEEDS)
@settings(max_examples=40)
def test_the_least_multiplier_is_the_largest_that_a_dual_solution_has(seed: int) -> None:
    """Against one linear program over all edges, in another form."""
    rng = np.random.default_rng(seed)
    over, under = rng.integers(1, 4), rng.integers(1, 4)
    kept = [(a, over + x) for a, x in product(range(over), range(under)) if rng.random() < 0.8] or [(0, over)]
    winner, loser = np.array(kept).T
    A = incidence(winner, loser, int(over + under)).T
    carries = rng.random(len(kept)) + 0.1
    found = spread(winner, loser, A @ carries)
    np.testing.assert_allclose(A @ found.multiplier, A @ carries, atol=1e-8)
    assert found.residual < 1e-8
    least = linprog(
        np.append(np.zeros(len(kept)), -1.0),
        A_ub=np.hstack([-np.eye(len(kept)), np.ones((len(kept), 1))]),
        b_ub=np.zeros(len(kept)),
        A_eq=np.hstack([A, np.zeros((len(A), 1))]),
        b_eq=A @ carries,
    )
    assert found.multiplier.min() == pytest.approx(-known(least.fun), rel=1e-6, abs=1e-9)


def test_multipliers_that_the_solver_does_not_find_are_an_error() -> None:
    with pytest.raises(SolverFailure, match="largest least multiplier"):
        spread(np.array([0, 0, 1]), np.array([2, 3, 2]), np.array([1.0, 1.0, 1.0, 1.0]))


@given(seed=SEEDS)
@settings(max_examples=40)
def test_the_least_stretch_is_the_least_singular_value_on_the_span(seed: int) -> None:
    rng = np.random.default_rng(seed)
    nodes = int(rng.integers(2, 9))
    ends = np.array([sorted(rng.choice(nodes, 2, replace=False)) for _ in range(rng.integers(1, 12))])
    winner, loser = np.unique(ends, axis=0).T
    size = np.linalg.svd(incidence(winner, loser, nodes), compute_uv=False)
    least = float(size[size > 1e-9].min())
    assert least_stretch(winner, loser, nodes) == pytest.approx(least, rel=1e-9, abs=0)


BROOM = [(0, 1), (1, 2), (0, 3), (3, 4), *((2, leaf) for leaf in range(5, 25)), *((4, leaf) for leaf in range(25, 45))]
"""A path with 20 leaves at either end, seen from its middle: twice as wide as it is deep."""


@pytest.mark.parametrize("edges", [[(0, 1), (1, 2), (2, 3), (3, 4)], [(0, 3), (1, 3), (1, 4), (2, 4)], BROOM])
def test_of_large_graphs_the_stretch_is_bounded_from_below(
    edges: list[tuple[int, int]], monkeypatch: pytest.MonkeyPatch
) -> None:
    winner, loser = np.array(edges).T
    nodes = int(loser.max()) + 1
    exact = least_stretch(winner, loser, nodes)
    monkeypatch.setattr(theorem1_squared, "LARGEST_SPECTRUM", 4)
    assert 0.3 * exact < least_stretch(winner, loser, nodes) < exact


# The constants, and what it says of data

CLAIM = measured(LEDGER["sharp.theorem1.squared"])


def star(k: int, *counts: int) -> Dataset:
    """One query q under which o beats k tokens, q among them, in k - 1 sentences [o, x, q]."""
    others = [f"x{number}" for number in range(k - 1)]
    names = ("o", *others, "q")
    n = dict(zip(names, (*names[1:], names[0]), strict=True))
    samples = tuple(Sample(("o", x, "q"), n["o"]) for x in others)
    return Dataset("star", names, samples, counts or (1,) * len(samples), next_token=n)


def light_across() -> Dataset:
    """Under q, o beats x, y and q, and p beats q; o and q end in two parts, and no edge is as light as theirs."""
    names = ("o", "p", "x", "y", "q")
    n = dict(zip(names, (*names[1:], names[0]), strict=True))
    samples = (*(Sample(("o", *[x] * 9, "q"), n["o"]) for x in "xy"), Sample(("p", "q"), n["p"]))
    return Dataset("light across", names, samples, (1, 1, 20), next_token=n)


@pytest.mark.parametrize("counts", [(1, 1, 1), (1, 50, 7), (3,)])
@pytest.mark.parametrize(("eta", "lr1"), [(0.01, 0.2), (30.0, 0.2), (0.8, 1e100)])
def test_the_constants_of_one_query(counts: tuple[int, ...], eta: float, lr1: float) -> None:
    """One optimal token before k: multipliers 1/(k+1), ||W*||^2 = k/(k+1), c = 1/k; the weights are pi, and 1 of q."""
    k = len(counts) + 1
    data, norm, pi = star(k, *counts), np.sqrt(k / (k + 1)), min(counts) / sum(counts)
    run = Run(data, Config(steps1=5, steps2=1, lr1=lr1, lr2=eta))
    found = law(run)
    K = np.log(2 / pi) + 0.8
    assert coercivity(reduced(run)) == pytest.approx(1 / k, rel=1e-9, abs=0)
    assert found.beta == 0
    assert found.alpha == pytest.approx(norm * (2 * k * (K + eta / np.sqrt(2)) + eta) / eta, rel=1e-9, abs=0)
    Lambda, A = np.log(2 * 3**3 / pi), 5 * lr1 / np.sqrt(data.V - 1)
    near = np.exp(brentq(lambda s: np.log(16 * norm**2 * bound(np.exp(s), norm, Lambda, eta)), 0, 60))
    far = np.log(8 * 2 * max(1, A)) * 2 * np.sqrt(2) * norm**2 / eta
    assert (far > near) == (lr1 > 1 and k == 2)
    first = max(near, far)
    start = first + 2 * np.sqrt(2) / (eta / k) * first * eta * np.sqrt(2 * bound(first, norm, Lambda, eta)) + 1
    assert start * (1 - 1e-9) <= found.start <= 1.02 * start + 2


@pytest.mark.parametrize("data", [CASES["free-20"](), light_across()], ids=lambda data: data.name)
def test_edges_out_of_the_span_wait_until_they_carry_nothing(data: Dataset) -> None:
    """Condition (i), and what it adds to the constant."""
    run = Run(data, Config(steps2=1))
    model, found, eta, norm = reduced(run), law(run), run.eta, run.norm_kq
    part = model.support.component
    out = part[model.merged.winner] != part[model.merged.loser]
    assert out.any()
    assert not model.support.tight[out].any()
    omega = model.merged.weight
    K = np.log(omega.sum() / omega[model.support.carried].min()) + 0.8 + DRIFT
    c = coercivity(model)
    within = 2 * (K + eta / np.sqrt(2)) / c + eta
    offset = found.alpha * eta / norm - within - eta
    # that offset is Y(t_1), from which t_1 follows
    Lambda = np.log(2 * data.L_max**3 * sum(data.counts) / min(data.counts))
    first = brentq(lambda s: s * eta * np.sqrt(2 * bound(s, norm, Lambda, eta)) - offset, 1, 1e20)
    sigma = min(float(model.exact.slack[e]) for e in np.flatnonzero(out))
    assert 16 * norm**2 * bound(first, norm, Lambda, eta) <= sigma**2 * (1 + 1e-6)
    assert 16 * norm**2 * bound(first / 1.02, norm, Lambda, eta) > sigma**2
    assert found.start == pytest.approx(first + 2 * np.sqrt(2) / (eta * c) * offset, rel=1e-6, abs=0)


@pytest.mark.parametrize("eta", [0.5, 20.0])
def test_the_constants_where_a_tight_constraint_carries_no_multiplier(eta: float) -> None:
    """b > q carries none; without it two stars of three tokens: multipliers 1/3, ||W*||^2 = 4/3, X = -1/2 and 1/2."""
    run = Run(idle_edge(), Config(steps1=5, steps2=1, lr2=eta))
    found, w, X, c, K = law(run), np.sqrt(4 / 3), np.sqrt(6 / 4), 1 / 4, np.log(6) + 0.8
    assert coercivity(reduced(run)) == pytest.approx(c, rel=1e-9, abs=0)
    Lambda = np.log(2 * 3**3 * 3)
    first = np.exp(brentq(lambda s: np.log(16 * w**2 * bound(np.exp(s), w, Lambda, eta)), 0, 60))
    assert first * (1 - 1e-9) <= found.start <= 1.01 * first + 1
    Y = found.start * eta * np.sqrt(2 * bound(found.start, w, Lambda, eta))
    near = (K + 0.72 * eta) / c
    reached = near + 2 * eta + (near + eta) * (np.sqrt(2) / c) ** 0.5
    h0 = K + np.sqrt(2) * reached + (np.sqrt(2) + w) * eta
    assert found.beta == pytest.approx(2 * w * X / eta, rel=1e-9, abs=0)
    assert found.alpha == pytest.approx(w / eta * (Y + 2 * X * h0 + near + 2 * eta + np.sqrt(eta * w)), rel=1e-9, abs=0)


@pytest.mark.parametrize("eta", [1.0, 3.0, 500.0])
@pytest.mark.parametrize("data", [star(3, 1, 1), star(3, 1, 1000), idle_edge()], ids=["even", "uneven", "idle"])
def test_long_steps_stay_below_it(eta: float, data: Dataset) -> None:
    """Steps of another program, whose rounding is far below the part of W across the reference."""
    found, W = law(Run(data, Config(steps1=20, steps2=1, lr2=eta))), reference(data)
    checked = 0
    for t, S, _ in descent(data, 4.0, eta, int(found.start) + 100):
        if t >= found.start:
            along = float(np.sum(S * W)) / float(np.linalg.norm(W))
            across = float(np.linalg.norm(S - W * along / np.linalg.norm(W)))
            gap = across**2 / (along**2 + across**2) / 2
            assert 0 < gap * t**2 <= (found.alpha + found.beta * np.log(t)) ** 2
            checked += 1
    assert checked >= 99


def test_a_run_that_ends_before_its_step_leaves_it_to_the_proof() -> None:
    run = Run(CASES["example-1"](), Config(steps2=900))
    found = CLAIM.judge(run)
    assert found.verdict is Verdict.HOLDS
    assert found.informative_from == law(run).start


def test_it_bounds_late_records_where_a_tight_constraint_carries_no_multiplier() -> None:
    run = Run(idle_edge(), Config(steps2=10**9, lr2=0.1))
    found = CLAIM.judge(run)
    assert found.verdict is Verdict.HOLDS
    t, gap = run.training.stage2.step[-1], run.training.stage2.one_minus_cos[-1]
    assert 1e-6 < gap / ((law(run).alpha + law(run).beta * np.log(t)) / t) ** 2 < 1


def test_a_step_beyond_float64_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounds, "direction_bound", lambda run, t: np.ones(()))
    found = CLAIM.judge(Run(CASES["example-1"](), Config(steps2=1)))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "largest float64" in found.detail


def test_multipliers_lost_in_rounding_are_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theorem1_squared, "spread", lambda *ends: replace(room.spread(*ends), residual=1.0))
    found = CLAIM.judge(Run(CASES["example-1"](), Config(steps2=1)))
    assert found.verdict is Verdict.INCONCLUSIVE
    assert "lost in rounding" in found.detail


def test_the_reduced_model_is_the_one_of_training(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not made a second time, and it is what would have been made."""
    run = Run(CASES["free-20"](), Config(steps1=30, steps2=30))
    made = []
    monkeypatch.setattr(theorem1_squared, "exact_reference", lambda *_: made.append(1))
    model = theorem1_squared.reduced(run)
    trained = known(run.training.reduced)
    assert model.merged is trained.merged
    assert model.exact is trained.exact
    assert made == []
    monkeypatch.undo()
    again = theorem1_squared.reduced(retrained(run, reduced=None))
    assert again.exact is not model.exact
    assert again.exact.norm_squared == model.exact.norm_squared
    assert [*again.exact.slack] == [*model.exact.slack]
    assert [*again.merged.winner] == [*model.merged.winner]
