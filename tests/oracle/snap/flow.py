"""Eq. 10 from Z = 0 on the clock Gamma, in floating balls, by extrapolated midpoint steps of adapted length."""

from collections.abc import Callable, Sequence

import flint
from flint import arb, arb_mat

from tests.oracle.snap.problem import Problem, ball, gram, unit

BITS = 128

COLUMNS = 8
"""Extrapolations of a panel: its order is twice that."""

AGREED = 1e-22
"""Of a panel: how far its last two extrapolations may be apart, relative to the state or to the way gone."""

EASY = 1e-5
"""Where they are closer by this factor, the next panel is longer."""

PANELS = 150
"""Of one path, at most."""

State = list[arb]
Rate = Callable[[State], State]


class Flow:
    """Z, then B, of a problem along Gamma; eq. 10's terms per unit of it."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.pairs = list(dict.fromkeys((c.query, l) for c in problem.classes for l in c.P))  # noqa: E741
        self.place = {pair: i for i, pair in enumerate(self.pairs)}

    @property
    def start(self) -> State:
        return [arb(0)] * (len(self.pairs) + self.problem.K)

    def attention(self, z: Sequence[arb]) -> list[dict[str, arb]]:
        """P(l|n) exp(z_l) of each class, over its largest."""
        found = []
        for c in self.problem.classes:
            scores = {l: z[self.place[c.query, l]] for l in c.P}  # noqa: E741
            most = max(scores.values(), key=lambda score: float(score))
            found.append({l: ball(p) * (scores[l] - most).exp() for l, p in c.P.items()})  # noqa: E741
        return found

    def rates(self, z: Sequence[arb]) -> tuple[list[arb], list[arb]]:
        """Z-dot of the pairs and xi of the classes over eta_Z gamma and over gamma.

        With every class at its mean count, e_n - alpha_n is a multiple of M e_n - 1 and row k of W one of M e_k - 1, so
        that g_n/gamma = F (F^T F)^{-1} v, v_k = M (M [k = n] - 1)/(M-1)^2. The part of f_n in it does not move z, and
        f_n^T of the rest is -xi_n/gamma.
        """
        problem, M = self.problem, self.problem.M
        attention = self.attention(z)
        F, own = [unit(c) for c in attention], gram(attention)
        v = [[arb(M * ((M if k == n else 0) - 1)) / (M - 1) ** 2 for n in range(problem.K)] for k in range(problem.K)]
        weights = own.solve(arb_mat(v)).tolist()
        moved, xi = [arb(0)] * len(self.pairs), []
        for n, c in enumerate(problem.classes):
            others = dict.fromkeys(c.P, arb(0))
            for k, f in enumerate(F):
                if k != n:
                    for l in c.P.keys() & f.keys():  # noqa: E741
                        others[l] += weights[k][n] * f[l]
            along = sum((x * others[l] for l, x in F[n].items()), arb(0))  # noqa: E741
            for l, x in F[n].items():  # noqa: E741
                i = self.place[c.query, l]
                moved[i] += x * (others[l] - along * x)
            xi.append(-along)
        return moved, xi

    def states(self, turns: Sequence[arb]) -> list[State]:
        """Z and B at these Gamma, which do not decrease."""

        def rate(state: State) -> State:
            *rest, elapsed = state
            moved, xi = self.rates(rest[: len(self.pairs)])
            pace = 1 + elapsed  # of the clock u = ln(1 + Gamma)
            return [*(pace * x for x in (*moved, *xi)), pace]

        with flint.ctx.workprec(BITS):
            times = [turn.log1p().mid() for turn in turns]
            return [state[:-1] for state in followed(rate, [*self.start, arb(0)], times)]


def followed(rate: Rate, start: State, times: Sequence[arb]) -> list[State]:
    """The states at these times of an autonomous equation from 0, as many as `PANELS` allow."""
    state, now, size, panels, found = start, arb(0), arb(1) / 8, 0, list[State]()
    for time in times:
        while now < time:
            length = min(size, time - now, key=lambda one: float(one))
            after, off = panel(rate, state, length)
            panels += 1
            if panels > PANELS:
                return found
            if off > AGREED:
                size = length / 2
                continue
            state, now = after, (now + length).mid()
            if off < AGREED * EASY:
                size = max(size, 2 * length, key=lambda one: float(one))
        found.append(state)
    return found


def panel(rate: Rate, state: State, length: arb) -> tuple[State, float]:
    """The state after ``length`` by Gragg's midpoint rule with 2, 4, .. substeps; how far the last two are apart."""
    table = list[State]()
    slope = rate(state)
    for row in range(1, COLUMNS + 1):
        step = length / (2 * row)
        before, now = state, [(x + step * r).mid() for x, r in zip(state, slope, strict=True)]
        for _ in range(2 * row - 1):
            before, now = now, [(x + 2 * step * r).mid() for x, r in zip(before, rate(now), strict=True)]
        after = [((b + x + step * r) / 2).mid() for b, x, r in zip(before, now, rate(now), strict=True)]
        new = [after]
        for column in range(1, row):
            ratio = arb(row) ** 2 / arb(row - column) ** 2 - 1
            new.append([(x + (x - y) / ratio).mid() for x, y in zip(new[-1], table[column - 1], strict=True)])
        last, table = (table[-1] if table else state), new
    off = 0.0
    for x, y, z in zip(table[-1], last, state, strict=True):
        way = max(abs(x), abs(x - z), key=lambda one: float(one))
        if way > 0:
            off = max(off, float(abs(x - y) / way))
    return table[-1], off
