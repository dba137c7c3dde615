"""Algorithm 1 on the textbook losses in float64, and stage 2 in high precision, sharing no code with the steps."""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

import flint
import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.ntp import Dataset, dataset_to_document
from marginaudit.training.ntp import loss_gradient, sample_classes, stage1_loss_gradient
from marginaudit.training.ntp.model.classes import SampleClasses
from marginaudit.training.ntp.model.edges import MergedEdges
from tests.oracle.descent import Matrix, State, common_margin, downhill, groups, stage1, stage2
from tests.oracle.problem import Problem, problem

Floats = NDArray[np.float64]


def ball(value: Fraction) -> flint.arb:
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def descent(data: Dataset, steps: tuple[int, int], rates: tuple[float, float]) -> tuple[Floats, Floats, list[float]]:
    """W_ov and W_kq after both stages of plain descent, and the norms of stage 2's gradients."""
    d = data.embeddings.shape[1]
    W_ov, W_kq, norms = np.zeros((data.V, d)), np.zeros((d, d)), []
    for _ in range(steps[0]):
        W_ov = W_ov - rates[0] * stage1_loss_gradient(data, W_ov)
    for _ in range(steps[1]):
        G = loss_gradient(data, W_ov, W_kq)
        norms.append(float(np.linalg.norm(G)))
        W_kq = W_kq - rates[1] * G
    return W_ov, W_kq, norms


def exact_states(data: Dataset, A: flint.arb, eta: float | Fraction, steps: int) -> tuple[Problem, list[State]]:
    """The oracle's states of stage 2, orthonormal tokens, all margins of W_ov the number A."""
    p = problem(dataset_to_document(data))
    return p, stage2(p, p.gram, common_margin(p, A), A, eta, steps)


def exact_gradient(data: Dataset, B: Floats, S: Floats) -> tuple[float, Floats]:
    """Log of the norm and unit direction of dLoss/dS on the pairs, by the oracle in 6,000 bits."""
    with flint.ctx.workprec(6000):
        p, classes = problem(dataset_to_document(data)), sample_classes(data)
        exact_S, exact_B = (flint.arb_mat(x.tolist()).tolist() for x in (S, B))
        D = downhill(p, exact_S, exact_B)
        G = [-D[x][q] for x, q in zip(classes.key.tolist(), classes.pair_query.tolist(), strict=True)]
        norm = sum((a * a for a in G), flint.arb(0)).sqrt()
        return float(norm.log()), np.array([float(a / norm) for a in G])


def hessian(data: Dataset, classes: SampleClasses, B: Floats, s: Floats) -> Floats:
    """Of the loss in the scores of the pairs, by complex steps of the textbook gradient."""
    rows = []
    for i in range(len(s)):
        S = np.zeros((data.V, data.V), dtype=complex)
        S[classes.key, classes.pair_query] = s
        S[classes.key[i], classes.pair_query[i]] += 1e-150j
        rows.append(loss_gradient(data, B, S)[classes.key, classes.pair_query].imag / 1e-150)
    return (np.array(rows) + np.array(rows).T) / 2


def other_weight(p: Problem, state: State) -> flint.arb:
    """The largest summed attention on other-than-optimal tokens."""
    n, largest = [p.vocabulary.index(p.n[x]) for x in p.vocabulary], flint.arb(0)
    for group, phi in zip(groups(p), state.attention, strict=True):
        wrong = (f for f, (x, _) in zip(phi, group.bag, strict=True) if n[x] != group.next)
        largest = largest.max(sum(wrong, flint.arb(0)))
    return largest


def both_stages(
    data: Dataset, steps1: int, steps2: int, rates: tuple[float, float]
) -> tuple[list[Matrix], list[State]]:
    """W_ov by token and label, orthonormal tokens, and stage 2 on the last of them."""
    p = problem(dataset_to_document(data))
    first = stage1(p, p.gram, rates[0], steps1)
    n, last = p.vocabulary.index(p.n[p.vocabulary[0]]), first[-1]
    return first, exact_states(data, last[n][0] - last[(n + 1) % p.V][0], rates[1], steps2)[1]


def off_direction(W: list[flint.arb], reference: Floats) -> float:
    """1 - cos of the angle between them."""
    R = [flint.arb(x) for x in reference.ravel().tolist()]
    inner, *squares = (
        sum((a * b for a, b in zip(*pair, strict=True)), flint.arb(0)) for pair in ((W, R), (W, W), (R, R))
    )
    return float(1 - inner / (squares[0] * squares[1]).sqrt())


def late_gradient(merged: MergedEdges, W: list[flint.arb]) -> list[flint.arb]:
    """The gradient where attention is one-hot, up to a factor."""
    G = [flint.arb(0)] * len(W)
    for a, j, weight in zip(merged.winner.tolist(), merged.loser.tolist(), merged.weight.tolist(), strict=True):
        flux = flint.arb(weight) * (W[j] - W[a]).exp()
        G[j] += flux
        G[a] -= flux
    return G


def descend(
    data: Dataset, steps1: int, at: list[int], weights: Mapping[str, Mapping[str, Fraction]], bits: int
) -> dict[int, tuple[str, str]]:
    """Normalised descent of W_kq for one-hot tokens, all margins of W_ov the A of stage 1's closed form.

    Centres of balls only: no enclosure, but rounding of 2^-bits. ``weights`` is the exact W*_kq,
    {query: {key: Fraction}}. Returns {t: (1 - cos, norm)} for the steps in ``at``, as decimal strings of 30 digits.
    """
    with flint.ctx.workprec(bits):
        V, n = data.V, data.collocation.function
        A = steps1 * flint.arb(0.2 / np.sqrt(V)) / flint.arb(V - 1).sqrt()
        eta = flint.arb(0.05 / np.sqrt(V))
        merged: Counter[tuple[str, tuple[tuple[str, int], ...], str]] = Counter()
        for sample, count in zip(data.samples, data.counts, strict=True):
            merged[sample.query, tuple(sorted(sample.bag.items())), sample.next] += count
        classes = [(q, bag, y, flint.arb(c) / sum(data.counts)) for (q, bag, y), c in merged.items() if len(bag) > 1]
        W = {(x, q): flint.arb(0) for q, bag, _, _ in classes for x, _ in bag}
        star = {(x, q): ball(value) for q, column in weights.items() for x, value in column.items()}
        length = sum((w * w for w in star.values()), flint.arb(0)).sqrt()
        rows = {}
        for t in range(max(at) + 1):
            if t in at:
                norm = sum((w * w for w in W.values()), flint.arb(0)).sqrt()
                inner = sum((w * W.get(pair, 0) for pair, w in star.items()), flint.arb(0))
                rows[t] = ((1 - inner / (norm * length)).mid().str(30, radius=False), norm.mid().str(30, radius=False))
            G = dict.fromkeys(W, flint.arb(0))
            power = {pair: w.exp().mid() for pair, w in W.items()}
            for q, bag, y, pi in classes:
                e = {x: c * power[x, q] for x, c in bag}
                total = sum(e.values())
                phi = {x: (a / total).mid() for x, a in e.items()}
                of_label: dict[str, flint.arb] = {}
                for x, f in phi.items():
                    of_label[n[x]] = of_label.get(n[x], 0) + f
                P = {v: (A * f).exp().mid() for v, f in of_label.items()}
                labels = sum(P.values(), flint.arb(0)) + (V - len(P))
                P = {v: (p / labels).mid() for v, p in P.items()}
                g = {x: A * (P[n[x]] - (n[x] == y)) for x in phi}
                mean = sum(phi[x] * g[x] for x in phi)
                for x in phi:
                    G[x, q] = (G[x, q] + pi * phi[x] * (g[x] - mean)).mid()
            size = sum((a * a for a in G.values()), flint.arb(0)).sqrt().mid()
            W = {pair: (w - eta * G[pair] / size).mid() for pair, w in W.items()}
        return rows
