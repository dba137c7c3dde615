"""Eqs. 10 and 13 from zero to a time t, by the oracle's integrator; nothing comes from the product."""

from fractions import Fraction
from typing import Any

import flint
from flint import arb

from marginaudit.orders.snap import classes_to_document
from tests.oracle.snap.flow import Flow, State, followed
from tests.oracle.snap.growth import clock
from tests.oracle.snap.problem import Problem

BITS = 200


def eq_10(data: Any, t: float, eta_Y: float, eta_Z: float) -> tuple[list[float], list[float]]:
    """z of each (query, token) pair, queries first, and B of each class, at t; theta = sigma = 0."""
    with flint.ctx.workprec(BITS):
        flow = Flow(Problem(classes_to_document(data)))
        [found] = flow.states([clock(Fraction(t), data.K, data.M, eta_Y, eta_Z)])
        pairs = [pair for q in data.queries for l in data.contextual if (pair := (q, l)) in flow.place]  # noqa: E741
        return [float(found[flow.place[pair]]) for pair in pairs], [float(x) for x in found[len(pairs) :]]


def eq_13(C0: float, t: float, K: int, M: int, eta_Y: float, eta_Z: float) -> tuple[float, float]:
    """z of the common token and B at t, the level h being one of the unknowns."""
    with flint.ctx.workprec(BITS):

        def rate(state: State) -> State:
            h, z, _ = state
            share = 1 / (M - 1 + (M * h).exp())
            fall = eta_Z * (M - 1) ** 2 * h * share * (4 * z).exp() / arb(C0)
            return [arb(eta_Y) / K * share, -fall, fall]

        [(_, z, B)] = followed(rate, [arb(0)] * 3, [arb(t)])
        return float(z), float(B)
