"""A problem with the settings of Algorithm 1, and all that statements speak of, computed when asked for."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import flint

from tests.oracle import descent
from tests.oracle.definitions import Order, assumptions, orders
from tests.oracle.descent import Group, Matrix, State, ball
from tests.oracle.problem import Problem
from tests.oracle.solutions import Solution, solve_kq, solve_ov

BITS = 400
FEWER_BITS = 280
"""Stage 2 counts as known as long as this precision leads to the same states."""
MOST_BITS = 20_000
"""Fewer than these are taken to tell a small number from 0."""

AGREED = 2.0**-90
"""What counts as the same, relative."""


@dataclass(frozen=True)
class Settings:
    """Algorithm 1's T, the length of stage 2, eta0 and eta."""

    steps1: int
    steps2: int
    eta0: float
    eta: float


class Experiment:
    """The problem, with one-hot embeddings in the place of orthonormal ones that are off by rounding.

    Everything is to be used inside ``flint.ctx.workprec(BITS)``.
    """

    def __init__(self, p: Problem, settings: Settings, reach: int) -> None:
        self.problem, self.settings, self.reach = p, settings, reach

    @cached_property
    def assumptions(self) -> dict[str, bool]:
        return assumptions(self.problem)

    @cached_property
    def orders(self) -> dict[str, Order]:
        return orders(self.problem)

    @cached_property
    def gram(self) -> Sequence[Sequence[Fraction]]:
        if self.assumptions["orthonormal"]:
            return [[Fraction(i == j) for j in range(self.problem.V)] for i in range(self.problem.V)]
        return self.problem.gram

    @cached_property
    def ov(self) -> Solution:
        return solve_ov(self.problem, self.gram)

    @cached_property
    def kq(self) -> Solution:
        return solve_kq(self.problem, self.gram)

    @cached_property
    def norm_ov(self) -> flint.arb:
        return _root(self.ov)

    @cached_property
    def norm_kq(self) -> flint.arb:
        return _root(self.kq)

    @property
    def A(self) -> flint.arb | None:
        """All margins of W_ov^(T), T eta0/sqrt(V-1), where tokens are orthonormal."""
        if not self.assumptions["orthonormal"] or self.problem.V == 1:
            return None
        return self.settings.steps1 * ball(self.settings.eta0) / flint.arb(self.problem.V - 1).sqrt()

    @cached_property
    def states(self) -> list[State]:
        """Stage 2 from step 0 on, as far as it is known."""
        precise = self._states(BITS)
        coarse = self._states(FEWER_BITS)
        known = 0
        while known < len(precise) and _same(precise[known].scores, coarse[known].scores):
            known += 1
        return precise[:known]

    def finer(self, t: int) -> tuple[int, State] | None:
        """The bits that tell exp(-A) from 0, and the state at a step with them; None where they are too many."""
        bits = BITS + int(float(6 * self.A)) if self.A is not None and self.A < MOST_BITS else MOST_BITS
        return None if bits >= MOST_BITS else (bits, self._states(bits, t)[t])

    def _states(self, bits: int, reach: int | None = None) -> list[State]:
        with flint.ctx.workprec(bits):
            if self.A is not None:
                B = descent.common_margin(self.problem, self.A)
            else:
                C = descent.stage1(self.problem, self.gram, self.settings.eta0, self.settings.steps1)[-1]
                B = descent.logits(C, self.gram)
            steps = min(self.settings.steps2, self.reach if reach is None else reach)
            return descent.stage2(self.problem, self.gram, B, self.A, self.settings.eta, steps)

    @cached_property
    def groups(self) -> list[Group]:
        return descent.groups(self.problem)

    @cached_property
    def unit_kq(self) -> dict[tuple[int, int], flint.arb]:
        """W*_kq/||W*_kq|| by (key, query)."""
        at = {x: i for i, x in enumerate(self.problem.vocabulary)}
        return {(at[x], at[q]): ball(w) / self.norm_kq for (x, q), w in self.kq.weights.items()}


def _root(solution: Solution) -> flint.arb:
    if solution.norm_squared is None:
        raise ValueError("the problem is infeasible")
    return ball(solution.norm_squared).sqrt()


def _same(left: Matrix, right: Matrix) -> bool:
    largest = max(abs(a).mid() for row in left for a in row)
    off = max(abs(a - b).mid() for one, other in zip(left, right, strict=True) for a, b in zip(one, other, strict=True))
    return bool(off <= AGREED * largest)
