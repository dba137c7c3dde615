"""Sections 6 to 8 of docs/proofs.md: sharp.lemma7, sharp.theorem1 and sharp.floor."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from marginaudit.orders.ntp import CASES, Dataset, free_dataset
from marginaudit.training.ntp import stage2_loss
from tests.proof_instances import (
    SEEDS,
    Floats,
    attention,
    descent,
    direction_bound,
    fluxes,
    gradient,
    instances,
    log_term,
    margins,
    one_heavy,
    one_label_each,
    reference,
    sentences,
    separated_scores,
    state,
)


def spread(v: list[float], absent: int) -> Floats:
    """Attention phi, the optimal token first, with log(phi_o / phi_x) = v."""
    weight = np.exp(-np.array([0.0, *v, *([np.inf] * absent)]))
    return np.asarray(weight / weight.sum())


@given(
    L=st.integers(2, 12),
    theta=st.floats(0, 12),
    first=st.floats(0, 1),
    past=st.lists(st.sampled_from([0.0, 0.5, 1.0, 1.5, 4.0]), max_size=10),
    absent=st.sampled_from([0, 1, 200]),
    A=st.floats(0.01, 30),
)
def test_kind_one(L: int, theta: float, first: float, past: list[float], absent: int, A: float) -> None:
    theta += np.log(L)
    v = (theta - np.log(L)) * (1 - first**3)
    others = [v, *(max(v, theta + more) for more in past[: L - 2])]
    found = state(spread(others, absent), 0, A)
    terms = found.phi[1 : len(others) + 1] * found.beta[1 : len(others) + 1] * (np.array(others) - theta)
    assert terms.sum() <= -found.phi[1] * found.beta[1] * (theta - v) / 2 * (1 - 1e-9)
    assert found.beta[1] >= max(found.phi[0] * found.wrong, found.beta[1:].max()) * (1 - 1e-12)


def test_kind_ones_inequality_in_L() -> None:
    L = np.arange(2, 10**6)
    assert (L * np.log(L) >= 2 * (L - 2) / math.e).all()


def test_how_log_two_L_cubed_over_pi_min_is_used() -> None:
    L = np.arange(2.0, 10**4)
    for pi_min in (1e-9, 0.1, 1.0):
        fallen = pi_min / (2 * L**3)  # exp(-Lambda)
        assert (fallen <= 1 / L**2).all()  # n0 is of kind (I)
        assert (2 * (L - 1) * L * fallen <= 1 / L).all()  # kind (II) has at most half the attention elsewhere
        assert (L * fallen / math.e < pi_min / (2 * L**2) * np.log(2 * L**2 / pi_min)).all()  # the sum is negative


@given(
    L=st.integers(2, 12),
    theta=st.floats(0, 30),
    past=st.lists(st.floats(-1, 2), min_size=1, max_size=11),
    absent=st.integers(0, 3),
    A=st.floats(0.01, 30),
)
def test_kind_two(L: int, theta: float, past: list[float], absent: int, A: float) -> None:
    others = [max(0.0, theta + more) for more in past[: L - 1]]
    found = state(spread(others, absent), 0, A)
    terms = found.phi[1 : len(others) + 1] * found.beta[1 : len(others) + 1] * (np.array(others) - theta)
    assert terms.sum() <= found.wrong * L * np.exp(-theta - 1) * (1 + 1e-9)


@given(seed=SEEDS, A=st.floats(0.01, 40), V=st.integers(2, 8), rest=st.floats(1e-6, 0.5))
def test_half_the_attention_elsewhere_has_the_smaller_error_probability(
    seed: int, A: float, V: int, rest: float
) -> None:
    rng = np.random.default_rng(seed)

    def phi(elsewhere: float, *, one: bool) -> Floats:
        share = np.eye(V - 1)[0] if one else rng.dirichlet(np.full(V - 1, 0.3))
        return np.array([1 - elsewhere, *(elsewhere * share)])

    for one in (True, False):
        assert state(phi(rest / 2, one=one), 0, A).wrong <= state(phi(rest, one=False), 0, A).wrong * (1 + 1e-12)


@given(data=instances(), seed=SEEDS, A=st.floats(0.01, 20), scale=st.sampled_from([0.1, 1.0, 5.0, 20.0]))
def test_the_steps_of_lemma_7(data: Dataset, seed: int, A: float, scale: float) -> None:
    S, W = separated_scores(data, np.random.default_rng(seed), scale), reference(data)
    L, pi_min = data.L_max, min(data.counts) / sum(data.counts)
    R = float(np.linalg.norm(S) / np.linalg.norm(W))
    theta = R + log_term(data)
    worst = min(sentences(data), key=lambda sentence: float(margins(S, sentence).min()))
    assert margins(S, worst).min() <= R * (1 + 1e-12)
    found = state(attention(S, worst), worst.optimal, A)
    heaviest = max(worst.others, key=lambda x: float(found.phi[x]))
    assert found.phi[heaviest] >= np.exp(-R) / L * (1 - 1e-9)
    assert np.log(found.phi[worst.optimal] / found.phi[heaviest]) <= R + np.log(L)
    assert found.beta[heaviest] >= found.phi[worst.optimal] * found.wrong * (1 - 1e-12)
    common = A * pi_min * found.wrong * np.exp(-R) / (2 * L**2)
    first = second = 0.0
    for sentence in sentences(data):
        total = float(fluxes(S, sentence, A) @ (margins(S, sentence) - theta))
        other = state(attention(S, sentence), sentence.optimal, A)
        with np.errstate(divide="ignore"):
            v = np.log(other.phi[sentence.optimal]) - np.log(other.phi[sentence.others].max())
        if v > theta - np.log(L):
            assert 2 * other.phi[sentence.others].sum() <= found.phi[worst.others].sum()
            assert other.wrong <= found.wrong * (1 + 1e-12)
            second += total
        else:
            assert total <= 0
            first += total
    assert second <= common / math.e * (1 + 1e-9)
    assert first <= -common * np.log(2 * L**2 / pi_min) * (1 - 1e-9)


def needed(S: Floats, data: Dataset, A: float) -> float:
    """The least a ||W|| / ||W*|| with which the inequality of Lemma 7 holds at S."""
    W, G = reference(data), gradient(S, data, A)
    return float(np.sum(G * S) / np.sum(G * W) - np.linalg.norm(S) / np.linalg.norm(W))


@given(data=instances(), seed=SEEDS, A=st.floats(0.01, 20), scale=st.sampled_from([0.1, 1.0, 5.0]))
def test_lemma_7(data: Dataset, seed: int, A: float, scale: float) -> None:
    S = separated_scores(data, np.random.default_rng(seed), scale)
    assume(np.abs(gradient(S, data, A)).max() > 1e-250)
    assert needed(S, data, A) <= log_term(data) * (1 + 1e-9)


def test_lemma_7_needs_all_of_log_one_over_pi_min() -> None:
    M, epsilon, U = 40, 1e-40, 200.0
    data = one_heavy(M, epsilon)
    margin = np.full(M, U)
    margin[0] += 0.93 * np.log(1 / epsilon)
    S = np.zeros((data.V, data.V))
    for i in range(M):
        S[2 * i, 2 * i + 1], S[2 * i + 1, 2 * i + 1] = margin[i] / 2, -margin[i] / 2
    assert 0.8 * np.log(1 / epsilon) < needed(S, data, 1.0) < log_term(data)


@pytest.mark.parametrize("eta", [0.02, 0.5, 20.0])
@pytest.mark.parametrize(
    "data",
    [one_heavy(1, 1.0), one_heavy(2, 1e-60), free_dataset(V=5, N=6, L=4, seed=1), CASES["example-1"]()],
    ids=["pair", "skewed", "free", "example-1"],
)
def test_theorem_1_and_the_steps_it_adds_up(data: Dataset, eta: float) -> None:
    W = reference(data)
    norm, log_pi = float(np.linalg.norm(W)), log_term(data)
    for t, S, d in descent(data, 3.0, eta, int(min(400, 150 / eta))):
        if not t:
            continue
        w = float(np.linalg.norm(S))
        along, own = float(np.sum(d * W)) / norm, float(np.sum(d * S)) / w
        assert own >= 0
        assert along >= own - norm * log_pi / w
        grown = float(np.linalg.norm(S + eta * d))
        assert eta * own >= grown - w - eta**2 / (2 * w) - 1e-9 * w
        assert w >= t * eta / (np.sqrt(2) * norm) * (1 - 1e-12)
        assert 1 - np.sum(S * W) / (w * norm) <= direction_bound(np.array(float(t)), norm, log_pi, eta)


def sample_loss(S: Floats, data: Dataset, number: int, A: float) -> float:
    alone = replace(data, samples=(data.samples[number],), counts=(1,))
    return float(stage2_loss(alone, one_label_each(data, A), S))


@given(data=instances(), seed=SEEDS, A=st.floats(0.1, 12), scale=st.sampled_from([0.0, 1.0, 4.0, 12.0]))
def test_no_loss_is_below_the_floor_and_the_reference_reaches_it(
    data: Dataset, seed: int, A: float, scale: float
) -> None:
    floor = np.log1p((data.V - 1) * np.exp(-A))
    S = scale * np.random.default_rng(seed).normal(size=(data.V, data.V))
    for i in range(data.N):
        assert sample_loss(S, data, i, A) >= floor * (1 - 1e-9)
        assert sample_loss(60 * reference(data), data, i, A) <= floor * (1 + 1e-9)


@given(data=instances(), seed=SEEDS, A=st.floats(0.1, 8))
def test_the_excess_is_a_sum_of_exponentials(data: Dataset, seed: int, A: float) -> None:
    """The excess is B f(W) up to a relative error of the order of the attention on other tokens."""
    S = 12 * reference(data) + 0.5 * separated_scores(data, np.random.default_rng(seed), 1.0)
    factor = A * data.V / (np.exp(A) + data.V - 1)
    for sentence in sentences(data):
        found = state(attention(S, sentence), sentence.optimal, A)
        S_star = (data.V - 1) * np.exp(-A)
        elsewhere = float(found.phi[sentence.others].sum())
        surplus = np.exp(-A) * np.expm1(A * (elsewhere + np.delete(found.phi, sentence.optimal))).sum()
        exact = np.log1p(surplus / (1 + S_star))
        ratio = sentence.count[sentence.others] / sentence.count[sentence.optimal]
        stated = factor * float(ratio @ np.exp(-margins(S, sentence)))
        assert abs(exact / stated - 1) <= 4 * (1 + A) * elsewhere + 1e-12
