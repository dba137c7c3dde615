"""The gradient flow of stage 2's late phase, in coordinates free of cancellation.

Late in training (attention one-hot to double precision) the gradient is, up to a positive factor, that of
sum_e w_e exp(-(W_a - W_j)) over the merged edges e = (a, j), and normalised descent follows the flow
dW/ds = Gam/|Gam|, Gam = sum_e w_e exp(-(W_a - W_j)) (e_a - e_j).

Write W = x W* + r, r = r0 + f + y. The potentials r0 put multipliers on all edges that can carry some,
lam_e = w_e exp(-(r0_a - r0_j)) with sum lam_e (e_a - e_j) = W*; y is constant on each component of
the support, and f sums to 0 over each. Without the factor exp(-x), Gam = W* + D,

    D = sum_carried lam_e expm1(-(f_a - f_j)) (e_a - e_j) + sum_others w_e exp(-x slack_e - (r_a - r_j)) (e_a - e_j).

D is of the order 1/s and so is f: both keep their digits however large s is. Then

    dy/ds = D's mean over the component / |Gam|,        df/ds = (D - that mean) / |Gam|;

carried edges lie inside components and are left out of the means. The clock x follows from s: <W, What> =
s + <r0, What> - lag with d(lag)/ds = 1 - cos(Gam, W*) = |D'|^2 / (|Gam| (|Gam| + ||W*|| + <D, What>)),
D' = D - <D, What> What, and <y, What> = 0, so x ||W*|| = s - lag - <f, What>.

f relaxes in a time s of the order of ||W*||, so on the scale of log s its equations are stiff by a factor s.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from marginaudit.orders.jit import compiled
from marginaudit.training.ntp.far.elimination import Elimination, Factors, Numbers, decomposed, elimination, solved
from marginaudit.training.ntp.far.potentials import potentials
from marginaudit.training.ntp.model.edges import Floats, Indices, MergedEdges
from marginaudit.training.ntp.model.reference import ExactReference
from marginaudit.training.ntp.steps.class_fluxes import SMALL, expm1_of_small

LOOK_AHEAD = 0.15
"""About half a step of the solver in log s. Newton's method converges like e^LOOK_AHEAD - 1 at worst."""


class FieldEdges(NamedTuple):
    """The merged edges, the carried ones first, and W*.

    Attributes
    ----------
    winner, loser : (edges,) integer arrays
    component, size : (pairs,) and (components,) integer arrays
    lam : (carried edges,) array
    log_flux, slack : (other edges,) arrays
        ``log_flux`` is log w - (r0_a - r0_j).
    W, What : (pairs,) arrays
    norm : float
    """

    winner: Indices
    loser: Indices
    component: Indices
    size: Indices
    lam: Floats
    log_flux: Floats
    slack: Floats
    W: Floats
    What: Floats
    norm: float


@compiled
def fluxes_of(edges: FieldEdges, s: float, state: Floats) -> Floats:
    """Flux of each edge, minus lam on the carried ones; shape (edges,)."""
    pairs, carried = len(edges.What), len(edges.lam)
    f, y = state[:pairs], state[pairs:-1]
    x = (s - state[-1] - np.dot(edges.What, f)) / edges.norm
    flux = np.empty(len(edges.winner))
    for e in range(len(flux)):
        a, j = edges.winner[e], edges.loser[e]
        fallen = (f[j] - f[a]) + (y[edges.component[j]] - y[edges.component[a]])
        if e < carried:
            flux[e] = edges.lam[e] * (expm1_of_small(fallen) if abs(fallen) < SMALL else np.expm1(fallen))
        else:
            flux[e] = np.exp(fallen + edges.log_flux[e - carried] - x * edges.slack[e - carried])
    return flux


@compiled
def turn(edges: FieldEdges, flux: Floats) -> tuple[Floats, Floats, float, float]:
    """D, D off What, |Gam|, and |Gam| + <Gam, What>."""
    D = np.zeros(len(edges.W))
    for e in range(len(flux)):
        D[edges.winner[e]] += flux[e]
        D[edges.loser[e]] -= flux[e]
    along, gradient = np.dot(edges.What, D), edges.W + D
    length = np.sqrt(np.dot(gradient, gradient))
    return D, D - along * edges.What, length, length + edges.norm + along


@compiled
def speed_of(edges: FieldEdges, s: float, state: Floats) -> Floats:
    """d state / d log s."""
    flux = fluxes_of(edges, s, state)
    D, turned, length, sum_of_lengths = turn(edges, flux)
    mean = np.zeros(len(edges.size))
    for e in range(len(edges.lam), len(flux)):
        mean[edges.component[edges.winner[e]]] += flux[e]
        mean[edges.component[edges.loser[e]]] -= flux[e]
    mean /= edges.size
    moved = np.empty(len(state))
    for i in range(len(D)):
        moved[i] = D[i] - mean[edges.component[i]]
    moved[len(D) : -1] = mean
    moved[-1] = np.dot(turned, turned) / sum_of_lengths
    return moved * (s / length)


@compiled
def newton_step(
    edges: FieldEdges,
    known: Elimination,
    rate: Floats,
    mu: Any,
    factors: Factors,
    right: Numbers,
) -> Numbers:
    """The solution (f, y, lag) of mu (f, y, lag) - derivative (f, y, lag) = ``right``; ``factors`` are `decomposed`."""
    row, value, inverse = factors
    pairs, carried = len(edges.What), len(edges.lam)
    lag = right[-1] / mu
    pulled, by_lag = np.empty(pairs, dtype=right.dtype), np.empty(len(rate) - carried, dtype=right.dtype)
    for k in range(pairs):
        pulled[k] = right[k] + right[pairs + edges.component[k]]
    for e in range(carried, len(rate)):
        by_lag[e - carried] = rate[e] * (edges.slack[e - carried] / edges.norm) * lag
        pulled[edges.winner[e]] += by_lag[e - carried]
        pulled[edges.loser[e]] -= by_lag[e - carried]
    g = solved(known, row, value, inverse, pulled)
    y = np.zeros(len(edges.size), dtype=right.dtype)
    for e in range(carried, len(rate)):
        flux = rate[e] * (g[edges.loser[e]] - g[edges.winner[e]]) + by_lag[e - carried]
        y[edges.component[edges.winner[e]]] += flux
        y[edges.component[edges.loser[e]]] -= flux
    found = np.empty_like(right)
    for c in range(len(y)):
        found[pairs + c] = (right[pairs + c] + y[c] / edges.size[c]) / mu
    for k in range(pairs):
        found[k] = g[k] - found[pairs + edges.component[k]]
    found[-1] = lag
    return found


class Derivative:
    """The derivative of `LateField.speed` by the state, without its dense terms, from the rate of each edge's flux.

    A number minus it is the solver of that multiple of the identity minus it.
    """

    __array_ufunc__ = None  # NumPy's numbers leave the subtraction to this class

    def __init__(self, edges: FieldEdges, known: Elimination, rate: Floats) -> None:
        self._edges, self._known, self._rate = edges, known, rate
        pairs = len(edges.What)
        self._degree = np.bincount(edges.winner, rate, pairs) + np.bincount(edges.loser, rate, pairs)

    def __rsub__(self, mu: complex) -> Callable[[Numbers], Any]:
        factors = decomposed(self._known, self._rate, mu + self._degree)
        return lambda right: newton_step(self._edges, self._known, self._rate, mu, factors, right)


class LateField:
    """The flow's field on states (f, y, lag), arrays of length pairs + components + 1, in time log s.

    Parameters
    ----------
    merged : MergedEdges
    reference : ExactReference

    Raises
    ------
    RuntimeError
        The potentials are not found.
    """

    def __init__(self, merged: MergedEdges, reference: ExactReference) -> None:
        pairs = len(reference.weight)
        found = reference.support(merged)
        W = np.array([float(weight) for weight in reference.weight])
        self.What = np.ascontiguousarray(reference.unit[0])

        order = np.argsort(~found.carried, kind="stable")
        carried = slice(0, int(found.carried.sum()))
        self._others = slice(carried.stop, len(merged))
        winner, loser = merged.winner[order], merged.loser[order]
        self._log_weight = np.log(merged.weight[order])
        flat = np.ones(pairs), np.zeros(pairs)
        ends = winner[carried], loser[carried]
        self.r0 = potentials(*ends, self._log_weight[carried], W, found.component, *flat)
        log_flux = self._log_weight - (self.r0[winner] - self.r0[loser])
        self.edges = FieldEdges(
            winner=winner,
            loser=loser,
            component=found.component,
            size=found.size,
            lam=np.exp(log_flux[carried]),
            log_flux=log_flux[self._others],
            slack=np.array([float(slack) for slack in reference.slack])[order[self._others]],
            W=W,
            What=self.What,
            norm=reference.norm,
        )
        self._elimination = elimination(winner, loser, pairs)

    def enter(self, s: float, rest: Floats) -> Floats:
        """The state of W = s What + rest, with the x at which |Gam| = ||W*||."""
        edges = self.edges
        exponent = self._log_weight - (rest[edges.winner] - rest[edges.loser])
        exponent[self._others] -= s / edges.norm * edges.slack
        top = float(exponent.max())
        pulled, *_ = turn(edges, np.exp(exponent - top))
        behind = np.log(edges.norm) - top - np.log(np.linalg.norm(pulled))  # x - s/||W*||
        r = rest - behind * edges.W
        y = np.bincount(edges.component, r) / edges.size
        lag = self.What @ (self.r0 - rest)
        return np.concatenate([r - self.r0 - y[edges.component], y, [lag]])

    def speed(self, log_s: float, state: Floats) -> Floats:
        """d state / d log s."""
        return speed_of(self.edges, np.exp(log_s), state)

    def derivative(self, log_s: float, state: Floats) -> Derivative:
        """Derivative of `speed`, accurate enough for Newton's method in an implicit solver.

        It omits dense terms: the change of |Gam|, of relative order |D|/||W*||, and of the clock with f, of the order
        of the slack. The stiff part, which grows like s, is taken at `LOOK_AHEAD`.
        """
        s = np.exp(log_s)
        flux = fluxes_of(self.edges, s, state)
        _, _, length, _ = turn(self.edges, flux)
        flux[: len(self.edges.lam)] += self.edges.lam
        return Derivative(self.edges, self._elimination, flux * (s * np.exp(LOOK_AHEAD) / length))

    def unit_gradient(self, s: float, state: Floats) -> Floats:
        """Gam/|Gam| - What, shape (pairs,)."""
        _, turned, length, sum_of_lengths = turn(self.edges, fluxes_of(self.edges, s, state))
        return np.asarray(turned / length - turned @ turned / (length * sum_of_lengths) * self.What)

    def largest_curvature(self, s: float, state: Floats) -> float:
        """Bound on the largest eigenvalue of the loss's Hessian over the gradient's norm.

        The Hessian is sum flux (e_a - e_j) (e_a - e_j)^T: at most the largest sum of the fluxes at a and at j.
        """
        edges = self.edges
        flux = fluxes_of(edges, s, state)
        _, _, length, _ = turn(edges, flux)
        flux[: len(edges.lam)] += edges.lam
        at = np.bincount(edges.winner, flux, len(edges.W)) + np.bincount(edges.loser, flux, len(edges.W))
        return float((at[edges.winner] + at[edges.loser]).max() / length)

    def across(self, state: Floats) -> Floats:
        """u = W - <W, What> What, shape (pairs,)."""
        pairs = len(self.What)
        inner = self.r0 + state[:pairs]
        return np.asarray(inner - (self.What @ inner) * self.What + state[pairs:-1][self.edges.component])

    def along(self, state: Floats) -> float:
        """<rho, What> = <W, What> - s."""
        return float(self.What @ self.r0 - state[-1])
