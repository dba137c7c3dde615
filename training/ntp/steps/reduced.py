"""Stage 2 on the reduced model: fluxes along the edges from a sentence's optimal token to its other tokens."""

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marginaudit.training.ntp.model.classes import Indices, SampleClasses
from marginaudit.training.ntp.model.edges import Edges, MergedEdges
from marginaudit.training.ntp.model.reference import ExactReference
from marginaudit.training.ntp.steps.iterate import EPS, Floats, Iterate, States
from marginaudit.training.ntp.steps.kq_loss import CommonMargin
from marginaudit.training.ntp.steps.loss import Gradient, Row, TokenGradient
from marginaudit.training.ntp.steps.spaces import TokenKQ
from marginaudit.training.ntp.steps.underflow import FAR_BEHIND, LEAST_MARGIN, LOST, TINY, segment_log_sum_exp

if TYPE_CHECKING:
    from marginaudit.training.ntp.steps.compiled import CompiledSteps

AT_ONCE = 2**15
"""Limit on the size of an array of several states, to fit a processor's cache."""

MOST_EDGES_IN_NUMPY = 1_000
"""Edges up to which several states together in NumPy take less time than compiled calls."""

MOST_TOGETHER = 64
"""Limit on the states evaluated together."""


class Margins(NamedTuple):
    """s_winner - s_loser on the merged edges, as ``lead`` + ``rest`` with one lead for all.

    Attributes
    ----------
    lead : float, or (states, 1) array
    rest : (merged edges,) or (states, merged edges) array
    rounding : array of that shape
        Bound on the rounding error of ``rest``, in units of EPS.
    """

    lead: Floats | float
    rest: Floats
    rounding: Floats

    @property
    def least(self) -> Floats:
        """The smallest margin of each state."""
        return np.asarray(self.lead + self.rest.min(axis=-1, keepdims=True))

    @property
    def rounding_of_attention(self) -> Floats:
        """The largest of ``rounding``, shape (states, 1); attention far below the largest is weighted by its size."""
        ahead = np.exp(self.rest.min(axis=-1, keepdims=True) - self.rest) / FAR_BEHIND
        return np.asarray((self.rounding * np.minimum(1.0, ahead)).max(axis=-1, keepdims=True))


class ReducedKQ(CommonMargin):
    r"""The loss of eq. 1 for orthonormal tokens, one margin A, and `no_reduction`.

    For a class with optimal token a, phi_j its attention on another token j, and E_j = phi_j / phi_a, the
    gradient is, with z over all V tokens (phi_z = 0 where absent),

        dLoss/ds_j = pi A phi_j h_j,   h_j = P_j + sum over z != a of P_z (phi_a - phi_z),

    and dLoss/ds_a minus their sum. h_j is a sum of positive terms once phi_a >= every phi_z, and signed
    before. The common factor of all fluxes is in `TokenGradient.log_scale`: A, exp(-lead), and
    the probability of another label over the label's own in the class where it is largest.

    The margin of an edge is s (W*_a - W*_j) / ||W*|| + (rho_a - rho_j) = s / ||W*|| + s slack / ||W*|| + ...
    with the exact slack of the constraint, 0 where it is tight: the lead s / ||W*|| is common to all edges and
    drops out of the unit gradient, so that the rest keeps its digits at any s.

    Hessian. With f_j = dLoss/ds_j of one class, d_j = e_j - e_a, u = sum f_j d_j, w = sum phi_j d_j and
    J = diag(phi) - phi phi^T, the class's Hessian is

        A^2 pi J (diag P - P P^T) J + M,   M = sum f_j d_j d_j^T - u w^T - w u^T.

    The first term is positive semidefinite. For f_j > 0, y_j = d_j^T x: (sum f y)(sum phi y) is, in the norm
    sum f y^2, a form with the eigenvalue (sum phi + root of (sum f)(sum phi^2 / f)) / 2, so M >= 0 where
    Phi + root(Phi sum(phi h) / min h) <= 1, Phi = sum phi; otherwise the excess over 1 times the largest
    eigenvalue of sum f d d^T, which is at most sum f + max f, bounds minus its smallest one. The
    largest is at most (1 + Phi) sum f + max f, as |u| |w| - u.w <= Phi sum f.

    M is linear in f: for signed fluxes it is M(f+) - M(f-) of their positive and negative parts. With
    |u w^T + w u^T| <= 4 Phi sum f, the part f- adds 4 Phi sum f- to the bound on the largest eigenvalue of M(f+), and
    (2 + Phi) sum f- to that on minus the smallest, 4 Phi sum f+.

    Source: eq. 6 of arXiv 2409.17335.

    Parameters
    ----------
    space, classes, V, reference, A :
        See `CommonMargin`.
    edges, merged : Edges, MergedEdges
        `sentence_edges` and `merged_edges` of the classes.
    exact : ExactReference or None
        W*, if it is the reference; without it, lead = 0 and margins are those of the float64 arrays.
    """

    def __init__(
        self,
        space: TokenKQ,
        classes: SampleClasses,
        V: int,
        reference: Floats,
        A: float,
        edges: Edges,
        merged: MergedEdges,
        exact: ExactReference | None = None,
    ) -> None:
        super().__init__(space, classes, V, reference, A)
        self.edges = edges
        self.merged = merged
        self.exact = exact
        if exact is None:
            self.lead_rate = 0.0
            self.rest_rate = reference[merged.winner] - reference[merged.loser]
        else:
            self.lead_rate = 1 / exact.norm
            self.rest_rate = exact.unit_slack
        self.ratio = np.exp(edges.log_ratio)
        self._working = np.flatnonzero(~classes.optimal & (np.bincount(classes.edge_class) > 1)[classes.edge_class])
        at_pair = np.bincount(np.concatenate([merged.winner, merged.loser]), minlength=1).max(initial=0)
        self.summed = float(at_pair + np.bincount(merged.number, minlength=1).max(initial=0))
        """Largest number of fluxes summed into one pair."""
        self.together = max(1, min(MOST_TOGETHER, AT_ONCE // max(1, len(classes.token))))

    def margins(self, at: Iterate | States) -> Margins:
        """The margins of all merged edges."""
        winner, loser = self.merged.winner, self.merged.loser
        along = at.along * self.rest_rate
        across = (at.high[..., winner] - at.high[..., loser]) + (at.low[..., winner] - at.low[..., loser])
        return Margins(at.along * self.lead_rate, along + across, 2 * (np.abs(along) + np.abs(across)) + 3)

    def _log_odds_of(self, margins: Margins) -> Floats:
        """log E_j per edge."""
        return np.asarray(self.edges.log_ratio - (margins.lead + margins.rest)[..., self.merged.number])

    def log_phi(self, iterate: Iterate) -> Floats:
        """log of each edge's attention: its token's positions summed."""
        return self._log_phi(self.margins(iterate))

    def _log_phi(self, margins: Margins) -> Floats:
        classes = self.classes
        log_weight = np.zeros((*margins.rest.shape[:-1], len(classes.token)))
        log_weight[..., self._working] = self._log_odds_of(margins)
        total = segment_log_sum_exp(log_weight, classes.first_edge, classes.edge_class)
        return np.asarray(log_weight - total[..., classes.edge_class])

    @property
    def constant(self) -> bool:
        """Whether the loss is constant."""
        return self.margin_size == 0 or len(self.edges) == 0

    @cached_property
    def compiled(self) -> "CompiledSteps | None":
        """The compiled steps; None for a constant loss, or with numba's compiler switched off."""
        if self.constant:
            return None
        from numba import config  # takes a second to import

        if config.DISABLE_JIT:  # type: ignore[attr-defined]
            return None
        from marginaudit.training.ntp.steps.compiled import CompiledSteps

        return CompiledSteps(self)

    def _margins_in_range(self, states: Sequence[Iterate]) -> Margins | None:
        margins = self.margins(States.of(states))
        return None if self.constant or (margins.least < LEAST_MARGIN).any() else margins

    def token_gradient(self, iterate: Iterate) -> TokenGradient:
        """dLoss/dS on the pairs."""
        margins = self._margins_in_range([iterate])
        return super().token_gradient(iterate) if margins is None else self._token_gradients(margins)[0]

    def evaluated(self, states: Sequence[Iterate]) -> list[tuple[Gradient, Row]]:
        """Gradient and measurements of each state: of many edges one by one, compiled, else evaluated together."""
        if len(self.edges) > MOST_EDGES_IN_NUMPY and self.compiled is not None:
            looked = [self.compiled.look(state) for state in states]
            if not any(one is None for one in looked):
                return [one for one in looked if one is not None]
        margins = self._margins_in_range(states)
        if margins is None:
            return super().evaluated(states)
        measured = self._measured(self._log_phi(margins))
        return [
            (
                self._pulled_back(gradient),
                {
                    **{name: float(values[i]) for name, values in measured.items()},
                    "along": state.along,
                    "rest": state.rest,
                },
            )
            for i, (state, gradient) in enumerate(zip(states, self._token_gradients(margins), strict=True))
        ]

    def _token_gradients(self, margins: Margins) -> list[TokenGradient]:
        """dLoss/dS of each state, from margins of shape (states, merged edges)."""
        edges, merged, A = self.edges, self.merged, self.margin_size
        owner, first = edges.owner, edges.first[:-1]
        log_E = self._log_odds_of(margins)
        log_phi_a = -np.logaddexp(0.0, segment_log_sum_exp(log_E, first, owner))
        phi_a, phi = np.exp(log_phi_a), np.exp(log_E + log_phi_a[:, owner])

        def summed(values: Floats) -> Floats:
            return np.asarray(np.add.reduceat(values, first, axis=1))

        def largest_of(values: Floats) -> Floats:
            return np.asarray(np.maximum.reduceat(values, first, axis=1))

        Phi, largest = summed(phi), largest_of(phi)
        # P_z of other labels over the largest of them, exp(rise - A) times that of the label
        rival = np.exp(A * (phi - largest[:, owner]))
        absent = edges.absent * np.exp(-A * largest)
        rivals = summed(rival) + absent
        E = np.exp(log_E)
        together = summed(E)
        # exactly A where the largest has as much attention as the label's token
        rise = A * ((largest_of(E) + together) / (1 + together))
        most = np.minimum(rise.max(axis=1, keepdims=True), A)
        # log of a class's common factor, without exp(most - A)
        log_common = np.log(edges.frequency) + (np.minimum(rise, A) - most)
        log_common -= np.logaddexp(np.minimum(A - rise, 0.0), np.minimum(rise - A, 0.0) + np.log(rivals))
        lifted = summed(rival * (phi_a[:, owner] - phi)) + absent * phi_a
        h = rival + lifted[:, owner]
        log_share = (log_common + log_phi_a)[:, owner] + edges.log_ratio - margins.rest[:, merged.number]
        shift = log_share.max(axis=1, keepdims=True)
        share = np.exp(log_share - shift)
        flux = share * h
        others = np.diff(edges.first)
        attended = Phi * (margins.rounding_of_attention + margins.lead + others / 2 + 3)
        attention = attended.max(axis=1, keepdims=True)
        of_A = (4 * A + 2) * attention
        inexact = of_A + others.max() + 12 + self.summed
        magnitude = share * (rival + rivals[:, owner]) * (margins.rounding[:, merged.number] + inexact)

        log_of_A = np.log(A) + log_common + np.log(rivals) + margins.lead - shift
        convex, concave = self._eigenvalues(flux, phi, phi_a, h, log_of_A)
        log_scale = shift + np.log(A) + (most - A) - margins.lead
        value, sizes = self._onto_pairs(flux, signed=True), self._onto_pairs(magnitude, signed=False)
        curvature, concavity = _binned(edges.query, convex).max(axis=1), _binned(edges.query, concave).max(axis=1)
        return [
            TokenGradient(
                value[i], sizes[i], float(log_scale[i, 0]), relative, float(curvature[i]), float(concavity[i])
            )
            for i, relative in enumerate(np.where(EPS * of_A > LOST, np.inf, EPS)[:, 0].tolist())
        ]

    def _eigenvalues(
        self, flux: Floats, phi: Floats, phi_a: Floats, h: Floats, log_of_A: Floats
    ) -> tuple[Floats, Floats]:
        """Bounds on the largest and minus the smallest eigenvalue of each class's Hessian, in flux units."""
        first = self.edges.first[:-1]
        Phi, largest = np.add.reduceat(phi, first, axis=1), np.maximum.reduceat(phi, first, axis=1)
        size = np.add.reduceat(np.maximum(flux, 0), first, axis=1)
        against = np.add.reduceat(np.maximum(-flux, 0), first, axis=1)
        largest_flux = np.maximum.reduceat(np.maximum(flux, 0), first, axis=1)
        least = np.minimum.reduceat(h, first, axis=1)
        positive = least > 0
        uneven = np.add.reduceat(phi * h, first, axis=1) / np.where(positive, np.maximum(Phi * least, TINY), np.inf)
        tilt = Phi * (1 + np.sqrt(np.maximum(uneven, 0)))
        tilted = np.minimum(np.maximum(tilt - 1, 0) * (size + largest_flux), 4 * Phi * size)
        concave = np.where(positive, tilted, 4 * Phi * size) + (2 + Phi) * against
        reach = 2 * (phi_a * Phi + largest * (1 - largest)) ** 2
        with np.errstate(divide="ignore"):
            decided = np.exp(log_of_A + np.log(reach))
        return size * (1 + Phi) + largest_flux + decided + 4 * Phi * against, concave

    def _onto_pairs(self, flux: Floats, *, signed: bool) -> Floats:
        merged, pairs = self.merged, len(self.classes.key)
        on_merged = _binned(merged.number, flux, len(merged))
        into, out = _binned(merged.loser, on_merged, pairs), _binned(merged.winner, on_merged, pairs)
        return into - out if signed else into + out


def _binned(place: Indices, values: Floats, places: int | None = None) -> Floats:
    """Sums of the values of each place; shape (states, places)."""
    size = int(place.max()) + 1 if places is None else places
    own = np.arange(len(values))[:, np.newaxis] * size + place
    binned = np.bincount(own.ravel(), values.ravel(), len(values) * size)
    return np.asarray(binned.reshape(len(values), size), dtype=np.float64)
