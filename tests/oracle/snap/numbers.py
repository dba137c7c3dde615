"""What the numbers of `audited` are, from definitions."""

from collections.abc import Callable, Collection
from fractions import Fraction
from functools import cached_property
from typing import Any

from flint import arb

from tests.oracle.snap import growth
from tests.oracle.snap.chances import missed
from tests.oracle.snap.flow import Flow, State
from tests.oracle.snap.problem import Problem, ball
from tests.oracle.snap.random_classes import Settings

BITS = 320

MOST_PAIRS, MOST_CLASSES = 16, 4
"""Of a query and a token, and of classes, beyond which eq. 10 is not followed here."""

FARTHEST = 1e12
"""Gamma up to which it is."""


class Truth:
    """A problem with settings, and all that numbers and statements speak of, computed when asked for."""

    def __init__(self, problem: Problem, settings: Settings, recorded: Collection[int], asked: Collection[int]) -> None:
        self.problem, self.settings, self.recorded, self.asked = problem, settings, recorded, asked

    @property
    def M(self) -> int:
        return self.problem.M

    @property
    def K(self) -> int:
        return self.problem.K

    @property
    def eta_Y(self) -> float:
        return self.settings.lr_y

    def logit(self, t: Fraction | int) -> arb:
        """M h(t/K)."""
        return growth.h_logit(Fraction(t) / self.K, self.M, self.eta_Y)

    def clock(self, t: Fraction | int) -> arb:
        return growth.clock(Fraction(t), self.K, self.M, self.eta_Y, self.settings.lr_z)

    @cached_property
    def flow(self) -> Flow:
        return Flow(self.problem)

    @cached_property
    def _followed(self) -> dict[int, State]:
        """The states at all steps that are asked for, as far as they are followed."""
        turns = {t: self.clock(t) for t in sorted(self.asked)}
        near = [t for t, turn in turns.items() if turn <= FARTHEST]
        if len(self.flow.pairs) > MOST_PAIRS or self.K > MOST_CLASSES or not self.problem.independent:
            return {}
        return dict(zip(near, self.flow.states([turns[t] for t in near]), strict=False))

    def state(self, t: int) -> State | None:
        """Z and B at a step, None where it was not followed so far."""
        return self._followed.get(t)

    def rates(self, t: int) -> tuple[list[arb], list[arb]] | None:
        """Z-dot and xi over eta_Z gamma and gamma, at a step."""
        state = self.state(t)
        return None if state is None else self.flow.rates(state[: len(self.flow.pairs)])

    @property
    def inverse_C0(self) -> arb:
        return ball(self.problem.inverse_C0)

    def B_of_eq_13(self, t: Fraction | int) -> arb:
        """ln(1 + 4 Gamma/C0)/4 solves B-dot = C0^{-1} eta_Z gamma exp(-4 B), as z = -B."""
        return (4 * self.clock(t) * self.inverse_C0).log1p() / 4

    def value(self, what: str, of: tuple[Any, ...]) -> arb | None:
        return QUANTITIES[what](self, *of)


def _interval(p: Fraction, N: int, delta: float, wide: bool) -> arb:
    evidence = (N * (2 / ball(delta)).log()).sqrt()
    center = Fraction(-((-N * p.numerator) // p.denominator))
    return missed(N, p, center, evidence if wide else evidence / arb(2).sqrt() + 1)


def _token(T: Truth, delta: float, P: Fraction, length: int) -> arb:
    return missed(length, P, length * P, (length * (2 / ball(delta)).log() / 2).sqrt())


def _of_state(T: Truth, t: int, at: int) -> arb | None:
    state = T.state(t)
    return None if state is None else state[at]


def _z_dot(T: Truth, t: int, query: str, token: str) -> arb | None:
    found = T.rates(t)
    return None if found is None else growth.gamma(T.logit(t), T.M) * found[0][T.flow.place[query, token]]


def _xi(T: Truth, t: int, name: str) -> arb | None:
    found = T.rates(t)
    return None if found is None else growth.gamma(T.logit(t), T.M) * found[1][T.problem.names.index(name)]


QUANTITIES: dict[str, Callable[..., arb | None]] = {
    "E": lambda T, i, j: T.problem.E[i][j],
    "eigenvalue": lambda T, i: arb(T.problem.eigenvalues[i]),
    "E'": lambda T, i, j: T.problem.E_prime[i][j] if T.problem.independent else None,
    "count": lambda T, delta, p, N: _interval(p, N, delta, wide=False),
    "count, wide": lambda T, delta, p, N: _interval(p, N, delta, wide=True),
    "token": _token,
    "M h(t/K)": lambda T, t: T.logit(t),
    "share": lambda T, t: growth.share(T.logit(t), T.M),
    "gamma": lambda T, t: growth.gamma(T.logit(t), T.M),
    "Gamma": lambda T, t: T.clock(t),
    "M h*(t)": lambda T, t: growth.h_star(t, T.M, T.eta_Y)[0],
    "share*": lambda T, t: growth.share(growth.h_star(t, T.M, T.eta_Y)[0], T.M),
    "lag": lambda T, t: growth.h_star(t, T.M, T.eta_Y)[1],
    "gap": lambda T, t: (growth.h_star(t, T.M, T.eta_Y)[0] - growth.h_logit(Fraction(t), T.M, T.eta_Y)) / T.M,
    "z": lambda T, t, query, token: _of_state(T, t, T.flow.place[query, token]),
    "B": lambda T, t, name: _of_state(T, t, len(T.flow.pairs) + T.problem.names.index(name)),
    "z-dot": _z_dot,
    "xi": _xi,
    "B of eq. 13": lambda T, t: T.B_of_eq_13(t),
}
