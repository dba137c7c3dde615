"""The gradient flow of stage 2's late phase, in coordinates in which nothing cancels.

Late in training (attention one-hot to double precision) the gradient is, up to a positive factor, that of
sum_e w_e exp(-(W_a - W_j)) over the merged edges e = (a, j), and normalised descent follows the flow
dW/ds = Gam/|Gam|, Gam = sum_e w_e exp(-(W_a - W_j)) (e_a - e_j).

Write W = x W* + r, r = r0 + f + y: r0 are the potentials under which the edges that can carry multipliers do
carry some, lam_e = w_e exp(-(r0_a - r0_j)) with sum lam_e (e_a - e_j) = W*; y is constant on each component of
the support, and f sums to 0 over each. With the factor exp(-x) taken out of it, Gam = W* + D,

    D = sum_carried lam_e expm1(-(f_a - f_j)) (e_a - e_j) + sum_others w_e exp(-x slack_e - (r_a - r_j)) (e_a - e_j).

D is of the order 1/s and so is f: both keep their digits however large s is. Then

    dy/ds = D's mean over the component / |Gam|,        df/ds = (D - that mean) / |Gam|;

carried edges lie inside components and are left out of the means. The clock x follows from s: <W, What> =
s + <r0, What> - lag with d(lag)/ds = 1 - cos(Gam, W*) = |D'|^2 / (|Gam| (|Gam| + ||W*|| + <D, What>)),
D' = D - <D, What> What, and <y, What> = 0, so x ||W*|| = s - lag - <f, What>.

f relaxes in a time s of the order of ||W*||, so on the scale of log s its equations are stiff by a factor s.
"""

import math
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import scipy  # its subpackages load when first used

from marginaudit.training.ntp.far.potentials import potentials
from marginaudit.training.ntp.model.edges import Floats, MergedEdges
from marginaudit.training.ntp.model.reference import ExactReference

if TYPE_CHECKING:
    Matrix: TypeAlias = Floats | scipy.sparse.csr_array[np.float64] | scipy.sparse.csc_array[np.float64]

LOOK_AHEAD = 0.15
"""About half a step of the solver in log s. Newton's method converges like e^LOOK_AHEAD - 1 at worst."""

DENSE = 5_000
"""Entries of a matrix up to which a dense product is faster than a sparse one."""


def _quick(matrix: "scipy.sparse.csr_array[np.float64]") -> "Matrix":
    return matrix.toarray() if math.prod(matrix.shape) <= DENSE else matrix


class LateField:
    """The field on states (f, y, lag), an array of the length pairs + components + 1, in the time log s.

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
        self.component, self.size = found.component, found.size
        self.W = np.array([float(weight) for weight in reference.weight])
        self.norm = reference.norm
        self.What = reference.unit[0]

        order = np.argsort(~found.carried, kind="stable")
        carried = slice(0, int(found.carried.sum()))
        self._others = slice(carried.stop, len(merged))
        self._winner, self._loser = merged.winner[order], merged.loser[order]
        self._log_weight = np.log(merged.weight[order])
        ends = self._winner[carried], self._loser[carried]
        flat = np.ones(pairs), np.zeros(pairs)
        self.r0 = potentials(*ends, self._log_weight[carried], self.W, self.component, *flat)
        log_flux = self._log_weight - (self.r0[self._winner] - self.r0[self._loser])
        self._carried, self._lam, self._others_log_flux = carried, np.exp(log_flux[carried]), log_flux[self._others]
        self._slack = np.array([float(slack) for slack in reference.slack])[order[self._others]]
        self._matrices()

    def _matrices(self) -> None:
        """Linear maps from unit fluxes to D and to the state, and from the state to the logarithms of the fluxes."""
        edges, pairs, components = len(self._winner), len(self.W), len(self.size)
        ends, signs = np.concatenate([self._winner, self._loser]), np.repeat([1.0, -1.0], edges)
        edge = np.tile(np.arange(edges), 2)
        incidence = scipy.sparse.csr_array((signs, (ends, edge)), shape=(pairs, edges))
        place = self.component[ends]
        across = np.tile(self.component[self._winner] != self.component[self._loser], 2)
        between = scipy.sparse.csr_array((signs[across], (place[across], edge[across])), shape=(components, edges))
        mean = scipy.sparse.csr_array(scipy.sparse.diags_array(1 / self.size) @ between)
        member = scipy.sparse.csr_array((np.ones(pairs), (np.arange(pairs), self.component)), shape=(pairs, components))
        of_lag = scipy.sparse.csr_array((1, edges))
        response = scipy.sparse.vstack([incidence - member @ mean, mean, of_lag], format="csr")
        by_lag = np.zeros((edges, 1))
        by_lag[self._others, 0] = self._slack / self.norm
        log_flux = scipy.sparse.hstack([-incidence.T, -between.T, scipy.sparse.csr_array(by_lag)], format="csr")
        self._response, self._log_flux = _quick(response), _quick(log_flux)
        self._onto_pairs_and_state = _quick(scipy.sparse.vstack([incidence, response], format="csr"))

    def _means(self, values: Floats) -> Floats:
        return np.asarray(np.bincount(self.component, values) / self.size)

    def enter(self, s: float, rest: Floats) -> Floats:
        """The state of W = s What + rest, with the x at which |Gam| = ||W*||."""
        exponent = self._log_weight - (rest[self._winner] - rest[self._loser])
        exponent[self._others] -= s / self.norm * self._slack
        top = float(exponent.max())
        flux = np.exp(exponent - top)
        pulled = np.bincount(self._winner, flux, len(rest)) - np.bincount(self._loser, flux, len(rest))
        behind = np.log(self.norm) - top - np.log(np.linalg.norm(pulled))  # x - s/||W*||
        r = rest - behind * self.W
        y = self._means(r)
        lag = self.What @ (self.r0 - rest)
        return np.concatenate([r - self.r0 - y[self.component], y, [lag]])

    def fluxes(self, s: float, state: Floats) -> Floats:
        """Each edge's flux, less lam for the carried ones; shape (edges,)."""
        carried, others = self._carried, self._others
        flux: Floats = np.asarray(self._log_flux @ state)
        flux[carried] = self._lam * np.expm1(flux[carried])
        clock = (s - self.What @ state[: len(self.W)]) / self.norm
        flux[others] = np.exp(flux[others] + self._others_log_flux - clock * self._slack)
        return flux

    def speed(self, log_s: float, state: Floats) -> Floats:
        """d state / d log s."""
        s, pairs = np.exp(log_s), len(self.W)
        found: Floats = np.asarray(self._onto_pairs_and_state @ self.fluxes(s, state))
        D, moved = found[:pairs], found[pairs:]
        turned, length, sum_of_lengths = self._turn(D)
        moved[-1] = turned @ turned / sum_of_lengths
        return np.asarray(moved * (s / length))

    def _turn(self, D: Floats) -> tuple[Floats, float, float]:
        """D off What, |Gam|, and |Gam| + <Gam, What>."""
        along = float(self.What @ D)
        length = float(np.linalg.norm(self.W + D))
        return D - along * self.What, length, length + self.norm + along

    def jacobian(self, log_s: float, state: Floats) -> "Matrix":
        """Derivative of `speed`, as good as Newton's method in an implicit solver needs it.

        Left out is what would make it dense: the change of |Gam|, of relative order |D|/||W*||, and of the clock
        with f, of the order of the slack. The stiff part grows like s: it is that at `LOOK_AHEAD`.
        """
        s = np.exp(log_s)
        flux = self.fluxes(s, state)
        _, length, _ = self._turn(self._onto_pairs(flux))
        flux[self._carried] += self._lam
        rate = flux * (s * np.exp(LOOK_AHEAD) / length)
        found: Matrix = (self._response * rate) @ self._log_flux
        return scipy.sparse.csc_array(found) if scipy.sparse.issparse(found) else found

    def _onto_pairs(self, flux: Floats) -> Floats:
        return np.asarray(self._onto_pairs_and_state @ flux)[: len(self.W)]

    def unit_gradient(self, s: float, state: Floats) -> Floats:
        """Gam/|Gam| - What, shape (pairs,)."""
        turned, length, sum_of_lengths = self._turn(self._onto_pairs(self.fluxes(s, state)))
        return np.asarray(turned / length - turned @ turned / (length * sum_of_lengths) * self.What)

    def largest_curvature(self, s: float, state: Floats) -> float:
        """Bound on the largest eigenvalue of the loss's Hessian over the gradient's norm.

        The Hessian is sum flux (e_a - e_j) (e_a - e_j)^T: at most the largest sum of the fluxes at a and at j.
        """
        flux = self.fluxes(s, state)
        _, length, _ = self._turn(self._onto_pairs(flux))
        flux[self._carried] += self._lam
        at = np.bincount(self._winner, flux, len(self.W)) + np.bincount(self._loser, flux, len(self.W))
        return float((at[self._winner] + at[self._loser]).max() / length)

    def across(self, state: Floats) -> Floats:
        """u = W - <W, What> What, shape (pairs,)."""
        pairs = len(self.W)
        inner = self.r0 + state[:pairs]
        return np.asarray(inner - (self.What @ inner) * self.What + state[pairs:-1][self.component])

    def along(self, state: Floats) -> float:
        """<rho, What> = <W, What> - s."""
        return float(self.What @ self.r0 - state[-1])
