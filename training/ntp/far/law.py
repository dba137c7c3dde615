"""The asymptotic law of stage 2's direction error.

Where every tight constraint can carry a multiplier, W = (s + c) What + u + o(1) with constants c and u, s = eta t:
1 - cos(W, W*) ~ |u|^2/(2 s^2). On each component of the support u is W*'s potentials (`potentials`) plus a
constant, fixed by the sum of W over the component, which its edges do not change.

Tight constraints without a multiplier join different components, and their fluxes decay only like 1/s: W =
(s + c) What + X log s + u + o(1), X constant on components: the solution of a second max-margin problem,
min |X|^2 subject to X_a - X_j >= 1 on those edges (`weighted_margin`). Its potentials, again, are the constants
of the components: fluxes (w_e/||W*||) exp(-(r0_a - r0_j) - (b_a - b_j)) on its carried edges add up to size X on
each component. Only sums over the components of the second support are free. Then 1 - cos(W, W*) ~ |X log s
+ u|^2/(2 s^2) ~ |X|^2 log^2(eta t)/(2 eta^2 t^2).

Where constraints of the second problem cannot carry a multiplier either, a multiple of log log s follows.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from marginaudit.margins.support import Support, support
from marginaudit.margins.weighted_margin import WeightedMargin, weighted_margin
from marginaudit.training.ntp.far.potentials import potentials
from marginaudit.training.ntp.model.edges import Floats, Indices, MergedEdges
from marginaudit.training.ntp.model.reference import ExactReference


@dataclass(frozen=True, eq=False)
class AsymptoticLaw:
    """W = (s + along) What + log_rate log s + offset + o(1), s = eta t.

    Attributes
    ----------
    eta : float
    support : Support
        Support of the constraints, by pairs.
    second : WeightedMargin or None
        The second problem, on the components of ``support``; None unless degenerate.
    second_support : Support or None
        Support of the second problem's constraints, by components.
    along : float
        c = <W, What> - s.
    log_rate : (pairs,) array
        X; 0 where the support is not degenerate.
    offset : (pairs,) array
        u, orthogonal to What; NaN where a log log s term follows.
    unsettled : float
        Error of u to leading order: norm of the later drift of component sums, from the decaying fluxes between
        components. Infinite if a log log s term follows.
    """

    eta: float
    support: Support
    second: WeightedMargin | None
    second_support: Support | None
    along: float
    log_rate: Floats
    offset: Floats
    unsettled: float

    @property
    def log_log(self) -> bool:
        """Whether a log log s term follows; the law then gives its leading term alone."""
        return self.second_support is not None and self.second_support.degenerate

    @property
    def constant(self) -> float:
        """The limit of t^2 (1 - cos), or of t^2 (1 - cos) / log^2 t where the support is degenerate."""
        square = float(self.second.norm_squared) if self.second is not None else float(self.offset @ self.offset)
        return square / (2 * self.eta**2)

    def across(self, step: float) -> Floats:
        """W - <W, What> What after the steps, without the o(1), shape (pairs,); eta t > 1 where X is not 0."""
        return np.asarray(np.log(self.eta * step) * self.log_rate + self.offset if self.second else self.offset)

    def one_minus_cos(self, steps: ArrayLike) -> Floats:
        """1 - cos(W, W*) after t steps without the o(1), shape of ``steps``; NaN outside the law's range.

        NaN where s + c <= 0; with log s also where s <= 1, and everywhere if a log log s term follows.
        """
        s = self.eta * np.asarray(steps, dtype=np.float64)
        along = s + self.along
        outside = (s <= 1) | self.log_log if self.second is not None else s <= 0
        log_s = np.log(np.where(outside, 1.0, s))
        # one step at a time: an array of steps by pairs is slower
        squares = [np.sum((log * self.log_rate + self.offset) ** 2) for log in log_s.ravel().tolist()]
        square = np.reshape(np.array(squares), log_s.shape)
        R = np.sqrt(along**2 + square)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(outside | (along <= 0), np.nan, square / (R * (R + along)))


def asymptotic_law(merged: MergedEdges, reference: ExactReference, eta: float, t: int, rest: Floats) -> AsymptoticLaw:
    """Read the law's free parameters from a late state W = eta t What + rest.

    Later states are better: `AsymptoticLaw.unsettled` bounds the remaining error to leading order.

    Parameters
    ----------
    merged : MergedEdges
    reference : ExactReference
    eta : float
        Length of a step.
    t : int
        Steps taken, eta t > 1.
    rest : (pairs,) array
        rho.

    Raises
    ------
    ValueError
        eta t <= 1.
    RuntimeError
        Potentials are not found.
    """
    s = eta * float(t)
    if s <= 1:
        raise ValueError(f"t: got {t}, expected eta t > 1 with eta = {eta}")
    winner, loser = merged.winner, merged.loser
    pairs, norm, What = len(rest), reference.norm, reference.unit[0]
    W = np.array([float(weight) for weight in reference.weight])
    slack = np.array([float(value) for value in reference.slack])
    log_weight = np.log(merged.weight)

    found = reference.support(merged)
    carried, component = found.carried, found.component
    ends = winner[carried], loser[carried]
    level = potentials(*ends, log_weight[carried], W, component, np.ones(pairs), rest)

    settled, mass, decay = component, found.size, slack / norm
    between = None
    if found.degenerate:
        mean = np.bincount(component, level) / found.size
        inner = level - mean[component]
        lead = log_weight - np.log(norm) - (inner[winner] - inner[loser])
        between = _between_components(merged, found, lead, mean, s)
        level = inner + between.constants[component]
        settled = between.support.component[component]
        mass = np.bincount(between.support.component, found.size)
        decay[found.uncarried] = np.array([float(value) for value in between.second.slack]) / s

    left = _flux_left(merged, slack * s / norm + (rest[winner] - rest[loser]), decay, settled, mass)
    offset = level - (What @ level) * What
    return AsymptoticLaw(
        eta=eta,
        support=found,
        second=None if between is None else between.second,
        second_support=None if between is None else between.support,
        along=float(What @ rest),
        log_rate=np.zeros(pairs) if between is None else between.x[component],
        offset=np.full(pairs, np.nan) if between is not None and between.support.degenerate else offset,
        unsettled=left,
    )


class _Between(NamedTuple):
    """The second problem on the components of the support, its solution x as floats, and the components' constants."""

    second: WeightedMargin
    support: Support
    x: Floats
    constants: Floats


def _between_components(merged: MergedEdges, found: Support, lead: Floats, mean: Floats, s: float) -> _Between:
    """The second problem, whose edges have the logarithmic weights ``lead``; ``mean`` of each component at s."""
    free = np.flatnonzero(found.uncarried)
    ends = found.component[merged.winner[free]], found.component[merged.loser[free]]
    second = weighted_margin(found.size, *ends)
    carrying = support(*ends, second.slack, second.multiplier, len(found.size))
    x, constants = np.array([float(value) for value in second.x]), mean
    if not carrying.degenerate:
        held = carrying.carried
        constants = potentials(
            ends[0][held], ends[1][held], lead[free][held], found.size * x, carrying.component, found.size,
            mean - x * np.log(s),
        )  # fmt: skip
    return _Between(second, carrying, x, constants)


def _flux_left(merged: MergedEdges, margin: Floats, decay: Floats, component: Indices, mass: Indices) -> float:
    """Remaining drift of unit descent between components, if each edge's flux decays at its rate per s.

    An edge moves flux / rate in total, and a component moves as a whole.
    """
    winner, loser = merged.winner, merged.loser
    exponent = np.log(merged.weight) - margin
    flux = np.exp(exponent - exponent.max())
    pulled = np.bincount(winner, flux, len(component)) - np.bincount(loser, flux, len(component))
    a, j = component[winner], component[loser]
    across = a != j
    with np.errstate(divide="ignore"):
        moved = (flux / np.linalg.norm(pulled))[across] / decay[across]
    return float(np.sum(moved * np.sqrt(1 / mass[a] + 1 / mass[j])[across]))
