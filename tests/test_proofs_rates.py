"""Sections 9 and 10 of docs/proofs.md: rates of stage 2, and Theorems 1 and 2 of the paper."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from marginaudit.margins.ntp import solve_kq
from marginaudit.orders.ntp import CASES, Dataset, Sample, free_dataset
from marginaudit.training.ntp import train
from tests.proof_instances import (
    SEEDS,
    Floats,
    attention,
    carrying,
    descent,
    direction_bound,
    gradient,
    instances,
    log_term,
    margins,
    one_heavy,
    reference,
    sentences,
)


def hull(data: Dataset) -> tuple[Floats, Floats]:
    """The M_e, shape (edges, pairs), and What, shape (pairs,)."""
    rows = []
    for sentence in sentences(data):
        for x in sentence.others:
            M = np.zeros((data.V, data.V))
            M[sentence.optimal, sentence.query], M[x, sentence.query] = 1, -1
            rows.append(M.ravel())
    W = reference(data).ravel()
    return np.unique(np.array(rows), axis=0), W / np.linalg.norm(W)


@given(data=instances(), seed=SEEDS, power=st.sampled_from([0.0, 1.0, 4.0]))
def test_lemma_9_1(data: Dataset, seed: int, power: float) -> None:
    M, What = hull(data)
    gamma = float((M @ What).min())
    p = np.random.default_rng(seed).random(len(M)) ** power
    p /= p.sum()
    G = p @ M
    size = float(np.linalg.norm(G))
    Y = M @ G / size
    assert gamma * (1 - 1e-9) <= size <= np.sqrt(2) * (1 + 1e-12)
    variance = float(p @ (Y - p @ Y) ** 2)
    rounding = 1e-12
    assert variance <= (np.sqrt(2) - gamma + 4 / gamma) * (size - gamma) + rounding
    assert np.sqrt(2) - gamma + 4 / gamma <= 4.5 / gamma * (1 + 1e-12)
    assert np.sum((G / size - What) ** 2) <= 2 / gamma * (size - gamma) + rounding
    eta = gamma / 4
    fallen = np.log(p @ np.exp(-eta * Y))
    assert fallen <= -eta * size + 9 / 8 * (math.e - 2) * eta * (size - gamma) + rounding


def test_lemma_9_1_on_two_orthogonal_pairs() -> None:
    """p = (1 - s, s): what is to be bounded and the bound shrink together as s tends to one half."""
    data = one_heavy(2, 0.5)
    M, What = hull(data)
    gamma = float((M @ What).min())
    for s in (0.3, 0.499, 0.49999):
        G = np.array([1 - s, s]) @ M
        size = float(np.linalg.norm(G))
        Y = M @ G / size
        variance = (1 - s) * s * float(Y[1] - Y[0]) ** 2
        assert 0.1 < variance / (4.5 / gamma * (size - gamma)) < 1


def oscillating() -> Dataset:
    n = {"o": "a", "a": "b", "b": "o"}
    return Dataset("oscillating", ("o", "a", "b"), (Sample(tuple("ooaab"), "a"),), (1,), next_token=n)


def log_sum(S: Floats, data: Dataset) -> float:
    """psi = log f."""
    terms = [
        np.log(sentence.pi * sentence.count[sentence.others] / sentence.count[sentence.optimal]) - margins(S, sentence)
        for sentence in sentences(data)
    ]
    return float(np.logaddexp.reduce(np.concatenate(terms)))


def test_the_rates_hold_for_small_steps_and_not_for_large_ones() -> None:
    data, norm = oscillating(), np.sqrt(2 / 3)
    for eta, steady in ((1 / (4 * norm), True), (4.0, True), (6.0, False), (8.0, False)):
        across, psi = [], []
        for _, S, _ in descent(data, 3.0, eta, 120):
            aside = S - np.sum(S * reference(data)) / norm**2 * reference(data)
            across.append(float(np.linalg.norm(aside)))
            psi.append(log_sum(S, data))
        assert (abs(across[-1] / across[-2] - 1) < 1e-6) == steady
        np.testing.assert_allclose(across[-1], across[-3], rtol=1e-6)
        rate = (psi[-3] - psi[-1]) / 2 * norm / eta
        assert (abs(rate - 1) < 1e-6) == steady
        assert rate < 1 + 1e-6


def test_the_map_of_section_9_6_is_the_late_step() -> None:
    data = oscillating()
    (sentence,) = sentences(data)
    for D in (-1.3, 0.2, 2.0):
        S = 25 * reference(data)  # attention elsewhere is below 1e-10
        S[[1, 2], 2] += np.array([D - np.log(2), 0]) / 1.0
        assert attention(S, sentence)[sentence.optimal] > 1 - 1e-8
        G = gradient(S, data, 3.0)
        moved = S - 0.7 * G / np.linalg.norm(G)
        stepped = D - 2 * 0.7 * np.sinh(D / 2) / np.sqrt(4 * np.cosh(D) + 2)
        np.testing.assert_allclose(moved[1, 2] - moved[2, 2] + np.log(2), stepped, rtol=1e-6)


def idle_edge() -> Dataset:
    """The smallest kind of query with a tight constraint that no dual solution uses: b >_q q."""
    names = ("a", "b", "q", "x", "y", "z")
    n = dict(zip(names, ("b", "q", "x", "y", "z", "a"), strict=True))
    samples = (Sample(tuple("axq"), "b"), Sample(tuple("byq"), "q"), Sample(tuple("bzq"), "q"))
    return Dataset("idle", names, samples, (1, 1, 1), next_token=n)


def test_the_second_problem_gives_the_growth_of_an_idle_edge() -> None:
    """t^2 (1 - cos) / log^2 t tends to |X|^2 / (2 eta^2): its square root is linear in log t, with that slope."""
    data = idle_edge()
    M, What = hull(data)
    tight = M @ What < (M @ What).min() * (1 + 1e-9)
    used = carrying(M, reference(data).ravel())
    carried, idle = M[used], M[tight & ~used]
    assert len(idle) == 1
    rows = np.vstack([carried, idle])
    X = np.linalg.lstsq(rows, np.array([0.0] * len(carried) + [1.0]))[0]  # of least norm; its one bound is tight
    np.testing.assert_allclose(X @ X, 1.5, rtol=1e-6)
    eta = 0.05
    training = train(data, lr2=eta, steps2=400_000, at=[4_000, 40_000, 400_000], kq_reference=solve_kq(data))
    along = np.array([training.stage2.score_matrix(i, data.V).ravel() @ X for i in range(3)]) / (X @ X)
    np.testing.assert_allclose(np.diff(along)[-1] / np.log(10), 1, atol=0.01)
    root = training.stage2.step * np.sqrt(2 * training.stage2.one_minus_cos) * eta
    assert abs(np.diff(root)[-1] / np.log(10) / np.sqrt(X @ X) - 1) < 0.2


def test_without_idle_edges_the_direction_error_times_t_squared_converges() -> None:
    data = CASES["example-1"]()
    training = train(data, lr2=0.1, steps2=100_000, at=[1_000, 10_000, 100_000], kq_reference=solve_kq(data))
    constant = training.stage2.step**2.0 * training.stage2.one_minus_cos
    changes = np.abs(np.diff(np.log(constant)))
    assert changes[1] < 0.2 * changes[0] < 0.01
    assert constant[2] > 1


@pytest.mark.parametrize("data", [CASES["example-1"](), idle_edge()], ids=lambda data: data.name)
def test_the_norm_falls_behind_t_eta_by_a_bounded_amount(data: Dataset) -> None:
    """Lemma 9.2, (iii) and (iv)."""
    W, eta = solve_kq(data), 0.1
    norm = float(np.linalg.norm(reference(data)))
    training = train(data, lr2=eta, steps2=100_000, at=[100, 1_000, 10_000, 100_000], kq_reference=W)
    stage = training.stage2
    behind = -stage.rest @ stage.reference  # t eta - <W, What>
    excess = stage.log_excess + stage.step * eta / norm
    for series in (behind, excess):
        late_changes = np.abs(np.diff(series))
        assert late_changes[0] > 1e-3
        assert (late_changes[1:] <= 0.2 * late_changes[:-1] + 1e-9).all()
    assert (np.diff(behind) > -1e-9).all()


@pytest.mark.parametrize(
    "data",
    [one_heavy(1, 1.0), one_heavy(2, 1e-3), CASES["example-1"](), free_dataset(V=3, N=2, L=3, seed=5)],
    ids=["pair", "skewed", "example-1", "free"],
)
@pytest.mark.parametrize("steps1", [1, 30])
def test_lemma_10_1(data: Dataset, steps1: int) -> None:
    eta, eta0, L = 0.5, 0.3, data.L_max
    kq = solve_kq(data)
    norm, log_pi = float(np.linalg.norm(reference(data))), log_term(data)
    t = np.unique(np.geomspace(1, 1e9, 2000).round())
    bound = direction_bound(t, norm, log_pi, eta)
    assert (np.diff(bound) < 0).all()
    start = int(t[np.argmax(16 * norm**2 * bound <= 1)])
    at = [start, 2 * start, 10 * start]
    training = train(data, steps1=steps1, steps2=at[-1], lr1=eta0, lr2=eta, at=[0, *at], kq_reference=kq)
    norm_ov = np.sqrt(data.V - 1)
    A = steps1 * eta0 / norm_ov
    np.testing.assert_allclose(training.margin, A, rtol=1e-12)
    for i, step in enumerate(at, start=1):
        S = training.stage2.score_matrix(i, data.V)
        mu = step * eta / (2 * np.sqrt(2) * norm**2)
        assert min(float(margins(S, sentence).min()) for sentence in sentences(data)) >= mu
        stated = np.log(L - 1) - mu - np.logaddexp(0, np.log(L - 1) - mu)
        assert training.stage2.log_other_weight[i] <= stated
        C0, C1 = eta0 / (4 * norm_ov**2), eta / (4 * L * norm**2)
        printed = np.log(L) - C1 * step
        assert stated <= printed - np.logaddexp(0, printed)
        phi = 1 / (1 + (L - 1) * np.exp(-mu))
        loss = np.log(data.V - 1) - A * (2 * phi - 1)
        assert training.stage2.log_loss[i] <= loss + 1e-12
        factor = 1 - 2 * L * np.exp(-C1 * step) / (L * np.exp(-C1 * step) + 1)
        assert loss <= np.log(data.V) - C0 * steps1 * factor


@given(
    norm=st.floats(0.71, 30),
    N=st.integers(1, 10**4),
    L=st.integers(2, 50),
    share=st.floats(0, 1),
    small=st.floats(1e-6, 1),
)
def test_corollaries_10_2_and_10_3(norm: float, N: int, L: int, share: float, small: float) -> None:
    eta = small * norm / math.e
    size = N * float(L) ** 4
    t = np.concatenate([np.geomspace(2, 60, 400), np.geomspace(60, 1e40, 400)])
    for most, corollary in ((5, 3), (230, 2)):
        log_pi = max(np.log(2 * L**3 * N), share * most * size)
        bound = direction_bound(t, norm, log_pi, eta)
        if corollary == 3:
            assert (bound <= 54 * size * norm**4 * np.log(t) ** 2 / (t * eta)).all()
        else:
            past = t >= 864 * size * norm**6 * np.log(t) ** 2 / eta
            assert past.any()
            assert (16 * norm**2 * bound[past] <= 1).all()


def test_theorem_1_as_printed_fails_for_frequencies_that_differ_enough() -> None:
    """While sample 2 waits, the cosine is stuck; for a time that grows with log(1 / epsilon)."""
    eta, A, stuck = 0.2, 1.0, {}
    for epsilon in (1e-60, 1e-120):
        data = one_heavy(2, epsilon)
        W = reference(data)
        share = 1 - 1 / (1 + 3 * np.exp(-A))
        until = np.log(share / (4 * epsilon)) / (np.sqrt(2) * eta)
        for t, S, _ in descent(data, A, eta, int(until) + 1):
            margin = [float(margins(S, sentence)[0]) for sentence in sentences(data)]
            assert margin[0] <= np.sqrt(2) * eta * t + 1e-9
            assert margin[1] <= 4 * epsilon / share * np.exp(np.sqrt(2) * eta * t) + 1e-12
            if t * eta >= 8:
                assert np.sum(S * W) / np.linalg.norm(S) < 0.8
                stuck[epsilon] = t
    assert stuck[1e-120] > 1.9 * stuck[1e-60]
