"""Eqs. 10 and 13 integrated in t, in balls of 200 bits, by extrapolated midpoint steps; nothing comes from the product.

The level h is one of the unknowns, g = Y (e_n - alpha_n) is made of Y = F (I+E)^{-1} W, and E' does not occur.
"""

from collections.abc import Callable
from typing import Any

import flint
from flint import arb, arb_mat

BITS = 200

COLUMNS = 10
"""Extrapolations of a panel: its order is twice that."""

State = list[arb]


def extrapolated(rate: Callable[[State], State], state: State, length: arb, panels: int) -> State:
    """The state after ``length``, by Gragg's midpoint rule with 2, 4, .. substeps a panel, extrapolated to none."""
    for _ in range(panels):
        size, table = length / panels, list[State]()
        for row in range(1, COLUMNS + 1):
            step = size / (2 * row)
            before, now = state, [x + step * r for x, r in zip(state, rate(state), strict=True)]
            for _ in range(2 * row - 1):
                before, now = now, [x + 2 * step * r for x, r in zip(before, rate(now), strict=True)]
            after = [(b + x + step * r) / 2 for b, x, r in zip(before, now, rate(now), strict=True)]
            new = [after]
            for column in range(1, row):
                ratio = arb(row) ** 2 / arb(row - column) ** 2 - 1
                new.append([x + (x - y) / ratio for x, y in zip(new[-1], table[column - 1], strict=True)])
            table = new
        state = [x.mid() for x in table[-1]]
    return state


def eq_10(data: Any, t: float, eta_Y: float, eta_Z: float, panels: int = 8) -> tuple[list[float], list[float]]:
    """z of each (query, token) pair, queries first, and B of each class, at t, from 0; theta = sigma = 0.

    With alpha_n = softmax(w_n): e_n - alpha_n = (M-1) zeta_n/(M-1+exp(M h)) and g = F (I+E)^{-1} W (e_n - alpha_n); the
    part of f_n in the sum over the other classes is g without that: xi_n = -f_n^T (g - (coefficient of f_n) f_n).
    """
    with flint.ctx.workprec(BITS):
        M, K, queries = data.M, data.K, list(data.queries)
        tokens = data.contextual
        pairs = [(q, l) for q in queries for l in tokens if any(c.query == q and l in c.support for c in data.classes)]  # noqa: E741

        def rate(state: State) -> State:
            h, z = state[0], dict(zip(pairs, state[1:], strict=False))
            share = 1 / (M - 1 + (M * h).exp())
            raw = [
                {l: arb(float(c.probabilities[l])) * z[c.query, l].exp() for l in c.support}  # noqa: E741
                for c in data.classes
            ]
            f = []
            for row in raw:
                norm = sum((x**2 for x in row.values()), arb(0)).sqrt()
                f.append({l: x / norm for l, x in row.items()})  # noqa: E741
            gram = arb_mat([[sum((x * b.get(l, arb(0)) for l, x in a.items()), arb(0)) for b in f] for a in f])  # noqa: E741
            moved, xi = dict.fromkeys(pairs, arb(0)), []
            for n, c in enumerate(data.classes):
                # row k of W times e_n - alpha_n: h M (e_k - 1/M)^T M (e_n - 1/M) share
                errors = arb_mat([[h * share * M * ((M if k == n else 0) - 1)] for k in range(K)])
                weights = [row[0] for row in gram.solve(errors).tolist()]
                others = {
                    l: sum((weights[k] * f[k].get(l, arb(0)) for k in range(K) if k != n), arb(0))
                    for l in tokens  # noqa: E741
                }
                along = sum((x * others[l] for l, x in f[n].items()), arb(0))  # noqa: E741
                for l, x in f[n].items():  # noqa: E741
                    moved[c.query, l] += eta_Z * x * (others[l] - along * x)
                xi.append(-along)
            return [arb(eta_Y) / K * share, *moved.values(), *(eta_Z * x for x in xi)]

        start = [arb(0)] * (1 + len(pairs) + K)
        found = extrapolated(rate, start, arb(t), panels)
        return [float(x) for x in found[1 : len(pairs) + 1]], [float(x) for x in found[len(pairs) + 1 :]]


def eq_13(C0: float, t: float, K: int, M: int, eta_Y: float, eta_Z: float, panels: int = 8) -> tuple[float, float]:
    """z of the common token and B at t, from 0."""
    with flint.ctx.workprec(BITS):

        def rate(state: State) -> State:
            h, z, _ = state
            share = 1 / (M - 1 + (M * h).exp())
            fall = eta_Z * (M - 1) ** 2 * h * share * (4 * z).exp() / arb(C0)
            return [arb(eta_Y) / K * share, -fall, fall]

        _, z, B = extrapolated(rate, [arb(0)] * 3, arb(t), panels)
        return float(z), float(B)
