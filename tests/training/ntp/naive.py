"""Stage 2 in high precision by the textbook formula phi (g - sum phi g), sharing no code with the product."""

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

import flint
import numpy as np

from marginaudit.orders.ntp import Dataset


def ball(value: Fraction) -> flint.arb:
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


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
