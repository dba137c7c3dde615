"""Trajectories against an independent, naive implementation in high precision."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

import flint
import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.orders.ntp import CASES, Dataset, broken, free_dataset
from marginaudit.training.ntp import train
from marginaudit.training.ntp.trained import Training
from tests.training.ntp.naive import textbook

BITS = 700

Entries: TypeAlias = dict[tuple[int, int], flint.arb]
Loss: TypeAlias = Callable[[Entries], tuple[flint.arb, Entries]]
Rows: TypeAlias = dict[int, tuple[flint.arb, float, float, float]]


def centre(x: flint.arb) -> flint.arb:
    return flint.arb(x).mid()


def naive(
    data: Dataset,
    steps1: int,
    steps2: int,
    at: Sequence[int],
    ov_reference: NDArray[np.float64] | None = None,
    kq_reference: NDArray[np.float64] | None = None,
) -> tuple[
    Rows,
    Rows,
    Entries,
    Entries,
]:
    """Algorithm 1 as printed, in numbers of 700 bits: softmax minus one-hot, phi (g - sum phi g), no trick.

    Dense matrices B (label, token) and S (key, query), so orthonormal embeddings only. Returns per stage
    {step: (loss as a ball, norm, 1 - cos, log gradient norm)}, and the final arrays.
    """
    old, flint.ctx.prec = flint.ctx.prec, BITS
    try:
        V, index, n = data.V, data.index, data.collocation.function
        answer = [index[n[x]] for x in data.vocabulary]
        total = sum(data.counts)
        samples = [
            (Counter(index[x] for x in s.tokens), index[s.query], index[s.next], flint.arb(c) / total)
            for s, c in zip(data.samples, data.counts, strict=True)
        ]

        def softmax(z: list[flint.arb]) -> list[flint.arb]:
            e = [centre(x.exp()) for x in z]
            total = centre(sum(e, flint.arb(0)))
            return [centre(x / total) for x in e]

        def ov(B: Entries) -> tuple[flint.arb, Entries]:
            loss = flint.arb(0)
            G: Entries = {}
            for x in range(V):
                P = softmax([B[v, x] for v in range(V)])
                loss -= P[answer[x]].log() if V > 1 else 0
                for v in range(V):
                    G[v, x] = centre(P[v] - (v == answer[x]))
            return loss, G

        def kq_of(B: Entries) -> Loss:
            def kq(S: Entries) -> tuple[flint.arb, Entries]:
                loss = flint.arb(0)
                G: Entries = {}
                for bag, q, y, pi in samples:
                    tokens = list(bag)
                    e = [bag[x] * centre(S.get((x, q), flint.arb(0)).exp()) for x in tokens]
                    z = sum(e, flint.arb(0))
                    phi = [centre(a / z) for a in e]
                    P = softmax(
                        [
                            centre(sum((f * B[v, x] for f, x in zip(phi, tokens, strict=True)), flint.arb(0)))
                            for v in range(V)
                        ]
                    )
                    loss -= pi * P[y].log()
                    g = [centre(sum((B[v, x] * (P[v] - (v == y)) for v in range(V)), flint.arb(0))) for x in tokens]
                    mean = sum((f * a for f, a in zip(phi, g, strict=True)), flint.arb(0))
                    for x, f, a in zip(tokens, phi, g, strict=True):
                        G[x, q] = centre(G.get((x, q), flint.arb(0)) + pi * f * (a - mean))
                return loss, G

            return kq

        def descend(
            gradient: Loss,
            W: Entries,
            lr: flint.arb,
            steps: int,
            reference: NDArray[np.float64] | None,
        ) -> tuple[Rows, Entries]:
            rows = {}
            for t in range(steps + 1):
                loss, G = gradient(W)
                size = centre(sum((a * a for a in G.values()), flint.arb(0)).sqrt())
                if t in at:
                    norm = centre(sum((a * a for a in W.values()), flint.arb(0)).sqrt())
                    gap = float("nan")
                    if reference is not None and t:
                        R = {i: flint.arb(float(r)) for i, r in np.ndenumerate(reference) if r}
                        length = sum((r * r for r in R.values()), flint.arb(0)).sqrt()
                        inner = sum((W.get(i, flint.arb(0)) * r for i, r in R.items()), flint.arb(0))
                        gap = float(1 - inner / (norm * length))
                    log_size = float(size.log()) if size > flint.arb(2) ** (60 - BITS) else -np.inf
                    rows[t] = (centre(loss), float(norm), gap, log_size)
                if t == steps or not size > flint.arb(2) ** (60 - BITS):
                    break
                W = {i: centre(W.get(i, flint.arb(0)) - lr * G[i] / size) for i in G}
            return rows, W

        zero = {(v, x): flint.arb(0) for v in range(V) for x in range(V)}
        eta0, eta = flint.arb(0.2 / np.sqrt(V)), flint.arb(0.05 / np.sqrt(V))
        rows1, B = descend(ov, zero, eta0, steps1, ov_reference)
        rows2, S = descend(kq_of(B), {}, eta, steps2, kq_reference)
        return rows1, rows2, B, S
    finally:
        flint.ctx.prec = old


def ov_star(data: Dataset) -> NDArray[np.float64]:
    """W*_ov, orthonormal tokens: the centred one-hot of n(x)."""
    n = data.collocation.function
    B = np.full((data.V, data.V), -1 / data.V)
    B[[data.index[n[x]] for x in data.vocabulary], np.arange(data.V)] += 1
    return B


def closed_form(data: Dataset) -> NDArray[np.float64]:
    """Proposition 2's W*_kq (any reference direction does for these tests)."""
    S = np.zeros((data.V, data.V))
    for query, order in data.orders.items():
        k, m = len(order.optimal), len(order.non_optimal)
        for x in order.optimal:
            S[data.index[x], data.index[query]] = m / (k + m)
        for x in order.non_optimal:
            S[data.index[x], data.index[query]] = -k / (k + m)
    return S


def log_excess(loss: flint.arb, data: Dataset, B: Entries) -> float:
    """log of the loss minus log(1 + (V-1) exp(-A)), A the margin of the naive B."""
    old, flint.ctx.prec = flint.ctx.prec, BITS
    try:
        n = data.index[data.collocation.function[data.vocabulary[0]]]
        A = B[n, 0] - B[(n + 1) % data.V, 0]
        return float((loss - ((data.V - 1) * (-A).exp()).log1p()).mid().log())
    finally:
        flint.ctx.prec = old


def compare(
    data: Dataset,
    steps1: int,
    steps2: int,
    at: Sequence[int],
    kq_reference: NDArray[np.float64],
    loosest_error: float = 1e-10,
) -> Training:
    trained = train(data, steps1=steps1, steps2=steps2, at=at, ov_reference=ov_star(data), kq_reference=kq_reference)
    rows1, rows2, B, S = naive(data, steps1, steps2, at, ov_star(data), kq_reference)
    for rows, stage in ((rows1, trained.stage1), (rows2, trained.stage2)):
        for i, t in enumerate(stage.step.tolist()):
            loss, norm, gap, log_size = rows[t]
            assert stage.log_loss[i] == pytest.approx(float(loss.log()), rel=1e-13, abs=1e-13)
            assert stage.norm[i] == pytest.approx(norm, rel=1e-13, abs=0)
            assert stage.log_gradient_norm[i] == pytest.approx(log_size, rel=1e-13, abs=1e-12)
            if t:
                assert abs(np.sqrt(2 * max(gap, 0)) - stage.distance[i]) <= stage.distance_error[i] <= 1e-12
    stage2 = trained.stage2
    for i, t in enumerate(stage2.step.tolist()):
        loss, _, gap, _ = rows2[t]
        assert stage2.log_excess[i] == pytest.approx(log_excess(loss, data, B), rel=1e-12, abs=1e-12)
        if t:
            off = abs(gap / stage2.one_minus_cos[i] - 1)
            assert off <= 1e-12
            assert off <= stage2.error[i] <= loosest_error
    for (x, q), value in S.items():
        assert trained.S[x, q] == pytest.approx(float(value), rel=1e-12, abs=1e-12)
    return trained


STEPS = (0, 1, 2, 3, 10, 30, 100, 300, 600, 900, 1500, 2000)


def test_example_1_in_high_precision() -> None:
    data = CASES["example-1"]()
    compare(data, 200, 900, [t for t in STEPS if t <= 900], closed_form(data))


def test_free_samples_in_high_precision() -> None:
    data = free_dataset(V=6, N=10, L=5, seed=1, max_count=3)
    compare(data, 60, 2000, STEPS, closed_form(data))


@pytest.mark.slow
def test_ten_thousand_steps_in_high_precision() -> None:
    data = free_dataset(V=5, N=10, L=4, seed=5, max_count=3)
    compare(data, 100, 10_000, (0, 1, 10, 100, 1000, 3000, 10_000), closed_form(data), loosest_error=1e-9)


@pytest.mark.parametrize("assumption", ["injective", "next_from_sentence", "no_confused_tokens", "optimal_majority"])
def test_without_an_assumption_in_high_precision(assumption: str) -> None:
    data = broken(free_dataset(V=4, N=6, L=4, seed=2, max_count=3), assumption)
    compare(data, 60, 400, (0, 1, 10, 100, 400), closed_form(data))


def test_on_a_cycle_the_error_bound_gives_up_where_descent_oscillates() -> None:
    data = broken(free_dataset(V=4, N=6, L=4, seed=2, max_count=3), "well_defined_orders")
    reference = closed_form(data)
    at = (1, 10, 100, 300, 600)
    stage = train(data, steps1=100, steps2=600, at=at, kq_reference=reference).stage2
    rows = naive(data, 100, 600, at, None, reference)[1]
    off = np.array([abs(rows[t][2] / stage.one_minus_cos[i] - 1) for i, t in enumerate(at)])
    assert np.all(off <= stage.error)
    assert np.all(stage.error[:3] < 1e-10)
    assert off[-1] > 0.01
    assert np.isinf(stage.error[-1])
    assert stage.distance_error[-1] == 2


def test_a_reference_that_is_not_the_limit_and_one_beyond_the_pairs() -> None:
    data = free_dataset(V=5, N=10, L=4, seed=4)
    reference = np.random.default_rng(0).normal(size=(5, 5))
    compare(data, 60, 300, (0, 1, 10, 300), reference)
    opposite = train(data, steps1=60, steps2=300, at=[300], kq_reference=-reference).stage2
    along = train(data, steps1=60, steps2=300, at=[300], kq_reference=reference).stage2
    assert opposite.one_minus_cos[0] + along.one_minus_cos[0] == pytest.approx(2, rel=1e-14, abs=0)


def of_the_paper(data: Dataset) -> tuple[float, float]:
    """Its step sizes."""
    return 0.2 / np.sqrt(data.V), 0.05 / np.sqrt(data.V)


def general_embedding(data: Dataset, seed: int = 0) -> Dataset:
    rng = np.random.default_rng(seed)
    return replace(data, embedding=np.eye(data.V, data.V + 1) + 0.2 * rng.normal(size=(data.V, data.V + 1)))


@pytest.mark.parametrize("general", [False, True])
def test_the_textbook_form_agrees_for_300_steps(general: bool) -> None:
    data = free_dataset(V=5, N=10, L=4, seed=4, max_count=2)
    data = general_embedding(data) if general else data
    trained = train(data, steps1=60, steps2=300)
    W_ov, W_kq, _, _ = textbook(data, (60, 300), of_the_paper(data), normalised=True)
    assert trained.common_margin is not general
    np.testing.assert_allclose(trained.W_ov, W_ov, atol=1e-11)
    np.testing.assert_allclose(trained.W_kq, W_kq, atol=1e-11)
    scores = data.embeddings @ W_kq @ data.embeddings.T
    np.testing.assert_allclose(trained.S, scores * (trained.S != 0), atol=1e-11)
