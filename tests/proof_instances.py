"""Datasets on which the inequalities of docs/proofs.md are tried, and the quantities that its proofs speak of."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import linprog

from marginaudit.margins.ntp import solve_kq
from marginaudit.orders.ntp import Dataset, Sample, free_dataset, prefix_closed_dataset

Floats: TypeAlias = NDArray[np.float64]


SEEDS = st.integers(0, 10**6)


@dataclass(frozen=True, eq=False)
class Sentence:
    """A sample with more than one distinct token, read off plainly."""

    pi: float
    query: int
    optimal: int
    others: list[int]
    count: Floats  # (tokens,)

    def __post_init__(self) -> None:
        assert self.others


def sentences(data: Dataset) -> list[Sentence]:
    n, total = data.collocation.require_function(), sum(data.counts)
    found = []
    for sample, times in zip(data.samples, data.counts, strict=True):
        (o,) = {x for x in sample.tokens if n[x] == sample.next}
        others = sorted({data.index[x] for x in sample.tokens if x != o})
        if others:
            count = np.array([sample.tokens.count(x) for x in data.vocabulary], dtype=float)
            found.append(Sentence(times / total, data.index[sample.query], data.index[o], others, count))
    return found


@st.composite
def instances(draw: st.DrawFn) -> Dataset:
    """Small datasets under Assumptions 1-3, with frequencies that may differ by many orders of magnitude."""
    V, L, seed = draw(st.integers(2, 6)), draw(st.integers(2, 6)), draw(SEEDS)
    if draw(st.booleans()):
        size = [(2, 4, 3), (4, 8, 4), (5, 12, 5)][seed % 3]
        data = prefix_closed_dataset(V=size[0], N=size[1], L=size[2], seed=seed % 40)
    else:
        data = free_dataset(V=V, N=min(V, 4), L=L, seed=seed, optimal=(1, 3))
    rng = np.random.default_rng(seed)
    data = replace(
        data, counts=tuple(int(10 ** rng.uniform(0, draw(st.sampled_from([0, 3, 9])))) for _ in data.samples)
    )
    assume(sentences(data))
    return data


@dataclass(frozen=True)
class State:
    """What the proofs speak of in one sentence; P[z] belongs to the label n(z)."""

    phi: Floats
    P: Floats
    beta: Floats
    wrong: float  # 1 - P[o], without cancellation


def state(phi: Floats, o: int, A: float) -> State:
    odds = np.exp(A * (phi - phi[o]))
    S = float(np.delete(odds, o).sum())
    P = odds / (1 + S)
    beta = P + float(np.sum(P * (phi[o] - phi)))
    return State(phi, P, beta, S / (1 + S))


def attention(S: Floats, sentence: Sentence) -> Floats:
    weight = sentence.count * np.exp(S[:, sentence.query] - S[sentence.optimal, sentence.query])
    return np.asarray(weight / weight.sum())


def fluxes(S: Floats, sentence: Sentence, A: float) -> Floats:
    """g of Lemma 4.1 for the sentence's others."""
    found = state(attention(S, sentence), sentence.optimal, A)
    return np.asarray(A * sentence.pi * found.phi[sentence.others] * found.beta[sentence.others])


def margins(S: Floats, sentence: Sentence) -> Floats:
    return np.asarray(S[sentence.optimal, sentence.query] - S[sentence.others, sentence.query])


def gradient(S: Floats, data: Dataset, A: float) -> Floats:
    G = np.zeros_like(S)
    for sentence in sentences(data):
        g = fluxes(S, sentence, A)
        G[sentence.others, sentence.query] += g
        G[sentence.optimal, sentence.query] -= g.sum()
    return G


def reference(data: Dataset) -> Floats:
    """W*_kq for one-hot tokens."""
    return solve_kq(data).optimal().scores


def carrying(M: Floats, W: Floats) -> NDArray[np.bool_]:
    """Whether an edge's row of M carries a positive multiplier in some dual solution, by a linear program for each."""
    found = M @ W < 1 + 1e-9
    tight = M[found]
    most = []
    for row in np.eye(len(tight)):
        solved = linprog(-row, A_eq=tight.T, b_eq=W, bounds=(0, None))
        assert solved.x is not None
        most.append(float(solved.x @ row))
    found[found] = np.array(most) > 1e-9
    return found


def descent(data: Dataset, A: float, eta: float, steps: int) -> Iterator[tuple[int, Floats, Floats]]:
    """t, W^(t) and the unit step at t, from zero; the step from logarithms of fluxes, which do not underflow."""
    S, read = np.zeros((data.V, data.V)), sentences(data)
    for t in range(steps):
        logs = []
        for sentence in read:
            found = state(attention(S, sentence), sentence.optimal, A)
            ratio = sentence.count[sentence.others] / sentence.count[sentence.optimal]
            log_phi = np.log(found.phi[sentence.optimal] * ratio) - margins(S, sentence)
            logs.append(np.log(sentence.pi * found.beta[sentence.others]) + log_phi)
        top = max(float(log_g.max()) for log_g in logs)
        d = np.zeros_like(S)
        for sentence, log_g in zip(read, logs, strict=True):
            g = np.exp(log_g - top)
            d[sentence.others, sentence.query] -= g
            d[sentence.optimal, sentence.query] += g.sum()
        d /= np.linalg.norm(d)
        yield t, S, d
        S = S + eta * d


def log_term(data: Dataset) -> float:
    """Lambda = log(2 L^3 / pi_min)."""
    return float(np.log(2 * data.L_max**3 * (sum(data.counts) / min(data.counts))))


def one_heavy(M: int, epsilon: float) -> Dataset:
    """M pairs under M queries; the first sample's frequency is 1 - (M - 1) epsilon, the others' epsilon."""
    names = tuple(f"{side}{i}" for i in range(M) for side in "ox")
    n = dict(zip(names, (*names[1:], names[0]), strict=True))
    samples = tuple(Sample((f"o{i}", f"x{i}"), n[f"o{i}"]) for i in range(M))
    data = Dataset("heavy", names, samples, (1,) * M, next_token=n)
    # the proofs are about any frequencies, also those that a dataset refuses
    object.__setattr__(data, "counts", (round(1 / epsilon) - M + 1, *[1] * (M - 1)))
    return data


def direction_bound(t: Floats, norm: float, log_pi: float, eta: float) -> Floats:
    """b(t)."""
    whole = (2 * norm**3 * log_pi + eta * norm**2) * (1 + np.log(t)) + np.sqrt(2) * eta * norm
    return np.asarray(whole / (t * eta))


def separated_scores(data: Dataset, rng: np.random.Generator, scale: float) -> Floats:
    """Scores with every margin at least 0: winners up, losers down, sizes over orders of magnitude."""
    S = np.zeros((data.V, data.V))
    for sentence in sentences(data):
        q = sentence.query
        for x, sign in [(sentence.optimal, 1), *((x, -1) for x in sentence.others)]:
            if not S[x, q]:
                S[x, q] = sign * min(150.0, scale * rng.exponential() ** 3)
    return S


def one_label_each(data: Dataset, A: float) -> Floats:
    """W_ov whose margins are all A, for one-hot tokens."""
    n = data.collocation.require_function()
    W_ov = np.zeros((data.V, data.V))
    for x, y in n.items():
        W_ov[data.index[y], data.index[x]] = A
    return W_ov
