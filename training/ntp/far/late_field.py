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

import math
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
import scipy  # its subpackages load when first used

from marginaudit.orders.jit import compiled
from marginaudit.training.ntp.far.potentials import potentials
from marginaudit.training.ntp.model.edges import Floats, Indices, MergedEdges
from marginaudit.training.ntp.model.reference import ExactReference

if TYPE_CHECKING:
    Matrix: TypeAlias = Floats | scipy.sparse.csr_array[np.float64] | scipy.sparse.csc_array[np.float64]

LOOK_AHEAD = 0.15
"""About half a step of the solver in log s. Newton's method converges like e^LOOK_AHEAD - 1 at worst."""

DENSE = 5_000
"""Entries of a matrix up to which a dense product is faster than a sparse one."""


def _quick(matrix: "scipy.sparse.csr_array[np.float64]") -> "Matrix":
    return matrix.toarray() if math.prod(matrix.shape) <= DENSE else matrix


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
            flux[e] = edges.lam[e] * np.expm1(fallen)
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
        self._matrices()

    def _matrices(self) -> None:
        """Linear maps from unit fluxes to the state, and from the state to the logarithms of the fluxes."""
        known = self.edges
        edges, pairs, components = len(known.winner), len(known.W), len(known.size)
        ends, signs = np.concatenate([known.winner, known.loser]), np.repeat([1.0, -1.0], edges)
        edge = np.tile(np.arange(edges), 2)
        incidence = scipy.sparse.csr_array((signs, (ends, edge)), shape=(pairs, edges))
        place = known.component[ends]
        across = np.tile(known.component[known.winner] != known.component[known.loser], 2)
        between = scipy.sparse.csr_array((signs[across], (place[across], edge[across])), shape=(components, edges))
        mean = scipy.sparse.csr_array(scipy.sparse.diags_array(1 / known.size) @ between)
        of_pair = np.arange(pairs), known.component
        member = scipy.sparse.csr_array((np.ones(pairs), of_pair), shape=(pairs, components))
        of_lag = scipy.sparse.csr_array((1, edges))
        response = scipy.sparse.vstack([incidence - member @ mean, mean, of_lag], format="csr")
        by_lag = np.zeros((edges, 1))
        by_lag[self._others, 0] = known.slack / known.norm
        log_flux = scipy.sparse.hstack([-incidence.T, -between.T, scipy.sparse.csr_array(by_lag)], format="csr")
        self._response, self._log_flux = _quick(response), _quick(log_flux)

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

    def jacobian(self, log_s: float, state: Floats) -> "Matrix":
        """Derivative of `speed`, accurate enough for Newton's method in an implicit solver.

        It omits dense terms: the change of |Gam|, of relative order |D|/||W*||, and of the clock with f, of the order
        of the slack. The stiff part, which grows like s, is taken at `LOOK_AHEAD`.
        """
        s = np.exp(log_s)
        flux = fluxes_of(self.edges, s, state)
        _, _, length, _ = turn(self.edges, flux)
        flux[: len(self.edges.lam)] += self.edges.lam
        rate = flux * (s * np.exp(LOOK_AHEAD) / length)
        found: Matrix = (self._response * rate) @ self._log_flux
        return scipy.sparse.csc_array(found) if scipy.sparse.issparse(found) else found

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
