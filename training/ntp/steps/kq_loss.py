"""Stage 2 in token space, free of cancellation: a class's gradient as fluxes between two of its tokens."""

from abc import abstractmethod
from functools import cached_property
from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from marginaudit.training.ntp.model.classes import Indices, SampleClasses
from marginaudit.training.ntp.model.losses import infimum
from marginaudit.training.ntp.steps.iterate import EPS, Floats, Iterate
from marginaudit.training.ntp.steps.loss import Loss, Row, TokenGradient
from marginaudit.training.ntp.steps.spaces import EmbeddedKQ, TokenKQ
from marginaudit.training.ntp.steps.underflow import LOST, log_expm1, log_softplus, log_sum_exp, segment_log_sum_exp

LOG_HALF = -log(2.0)

LARGEST_LOG = 600.0
"""Magnitudes above exp(600) times the largest value are cut off; they hide the gradient either way."""


class Fluxes(NamedTuple):
    """g_x - g_u for each pair of places of one class: sign, log |.|, and the log of the sum of absolute terms."""

    sign: Floats
    log_value: Floats
    log_magnitude: Floats


class FluxPairs(NamedTuple):
    """The pairs of places between which fluxes run.

    Attributes
    ----------
    left, right : (fluxes,) integer arrays
    owner : (fluxes,) integer array
        Class of each pair.
    crossing : (fluxes,) bool array
        Whether one place is of an optimal token and the other is not.
    log_frequency : (fluxes,) array
        Of the class; -inf where its query has an embedding of zeros.
    """

    left: Indices
    right: Indices
    owner: Indices
    crossing: NDArray[np.bool_]
    log_frequency: Floats


class KQ(Loss):
    r"""Loss of eq. 1 as a function of the scores s_x = x^T W_kq q, W_ov frozen.

    For a class (merged samples) with frequency pi, attention phi over its tokens, logits
    z_v = sum_x phi_x B[v, x] and g_x = sum_v (P_v - [v = y]) B[v, x], eq. 6 of arXiv 2409.17335 reads
    dLoss/ds_x = pi phi_x (g_x - sum_u phi_u g_u) = sum_u pi phi_x phi_u (g_x - g_u): antisymmetric fluxes
    between the tokens, so that a class's entries sum to 0. Each flux is computed without cancellation, in logarithms,
    and divided by the largest before summation, so that none underflows at any size of the margins of W_ov or of the
    scores.

    Subclasses compute g_x - g_u: `CommonMargin`, `GeneralB`. They define *places*, runs of edges with equal g, between
    which fluxes run.
    """

    places: int
    place: Indices
    """(edges,) the place of each edge."""

    margin_size: float
    """Largest |margin| of W_ov (for a general B twice that: the largest difference of two margins)."""

    def __init__(self, space: TokenKQ | EmbeddedKQ, classes: SampleClasses, V: int, reference: Floats) -> None:
        self.space: TokenKQ | EmbeddedKQ = space
        self.classes = classes
        self.V = V
        self._head = classes.first_edge[classes.edge_class]
        self._reference_offsets = self._offsets(space.scores(reference))
        self._log_multiplicity = np.log(classes.multiplicity / classes.multiplicity[self._head])
        self._log_frequency = np.log(classes.frequency)
        slots = np.bincount(classes.edge_class, minlength=len(classes))
        self._summed = int(np.bincount(classes.pair).max() * slots.max())

    @abstractmethod
    def place_log_weights(self, log_phi: Floats) -> Floats:
        """log of the summed attention of each place."""

    @abstractmethod
    def log_odds(self, log_phi: Floats) -> Floats:
        """log of (1 - P_y) / P_y per class; -inf where V = 1."""

    @abstractmethod
    def fluxes(self, log_phi: Floats) -> Fluxes:
        """g_x - g_u for each of `pairs`."""

    @abstractmethod
    def _ends(self) -> tuple[Indices, Indices]:
        """``left`` and ``right`` of `pairs`."""

    @cached_property
    def pairs(self) -> FluxPairs:
        """Pairs of places of one class: many more than there are edges, and not needed by the reduced model."""
        left, right = self._ends()
        owner = self._place_class[left]
        seen = self.space.seen[self.classes.query]
        return FluxPairs(
            left,
            right,
            owner,
            self._optimal_place[left] ^ self._optimal_place[right],
            np.where(seen, self._log_frequency, -np.inf)[owner],
        )

    @abstractmethod
    def log_excess(self, log_phi: Floats) -> Floats:
        """log(Loss - log(1 + (V-1) exp(-A))), or NaN."""

    def _offsets(self, scores: Floats) -> Floats:
        on_edges = scores[self.classes.pair]
        return np.asarray(on_edges - on_edges[self._head])

    def log_phi(self, iterate: Iterate) -> Floats:
        """log of each edge's attention: its token's positions summed."""
        offsets = iterate.along * self._reference_offsets + self._offsets(self.space.scores(iterate.rest))
        return normalised(self.classes, offsets + self._log_multiplicity)

    def token_gradient(self, iterate: Iterate) -> TokenGradient:
        """dLoss/dS on the pairs; 0 at queries with an embedding of zeros."""
        classes = self.classes
        log_phi = self.log_phi(iterate)
        log_weight = self.place_log_weights(log_phi)
        found = self.fluxes(log_phi)
        left, right = self.pairs.left, self.pairs.right
        common = log_weight[left] + log_weight[right]
        common += self.pairs.log_frequency
        log_value = found.log_value + common
        shift = float(log_value.max(initial=-np.inf))
        if shift == -np.inf:
            zero = np.zeros(len(classes.key))
            return TokenGradient(zero, zero, shift, 0.0, 0.0, 0.0)
        value = found.sign * np.exp(log_value - shift)
        magnitude = np.exp(np.minimum(found.log_magnitude + common - shift, LARGEST_LOG))
        share = np.exp(log_phi - log_weight[self.place])
        relative = EPS * (32 + self._summed + 4 * self.margin_size + 2 * abs(shift))
        if relative > LOST:
            relative = np.inf
        return TokenGradient(
            self._on_pairs(self._into(left, value) - self._into(right, value), share),
            self._on_pairs(self._into(left, magnitude) + self._into(right, magnitude), share),
            shift,
            relative + 2 * self.space.rounding(iterate),
            *self._hessian(np.exp(log_weight), magnitude),
        )

    def _hessian(self, Phi: Floats, magnitude: Floats) -> tuple[float, float]:
        """Bounds on the largest eigenvalue of the Hessian, and on minus the smallest.

        A flux f = pi Phi_x Phi_u (g_x - g_u) acts along e_x - e_u, of norm sqrt(2). Its relative derivative
        is e_x + e_u - 2 Phi from the attention, plus that of g_x - g_u: at most the largest derivative of
        a logit against another, of norm at most A sqrt(2) (Phi_v (1 - Phi_v) + Phi_w (1 - Phi_w)).
        Queries are separate blocks. Fluxes between an optimal and another token of a sentence with at
        least half its attention on optimal tokens count as semidefinite (as all are in the end), others
        as concave by their attention's part.
        """
        classes, pairs = self.classes, self.pairs
        owner = pairs.owner
        squares = np.bincount(self._place_class, Phi**2, len(classes))
        pair = Phi[pairs.left] + Phi[pairs.right]
        moved = np.sqrt(np.maximum(2 - 4 * pair + 4 * squares[owner], 0.0))
        undecided = np.maximum.reduceat(Phi * (1 - Phi), self._first_place)
        bent = 2 * np.sqrt(2) * self.margin_size * undecided[owner]
        decided = np.bincount(self._place_class, Phi * self._optimal_place, len(classes)) >= 0.5
        convex = pairs.crossing & decided[owner]
        size = np.sqrt(2) * magnitude
        query = classes.query[owner]
        most = np.bincount(query, size * (moved + np.where(pairs.crossing, bent, 2 * bent)))
        least = np.bincount(query, np.where(convex, 0.0, size * moved))
        return float(most.max()), float(least.max())

    def _set_places(self, place_class: Indices, optimal: NDArray[np.bool_]) -> None:
        self.places = len(place_class)
        self._place_class = place_class
        self._first_place = np.searchsorted(place_class, np.arange(len(self.classes)))
        self._optimal_place = optimal

    def _into(self, places: Indices, values: Floats) -> Floats:
        return np.asarray(np.bincount(places, values, self.places), dtype=np.float64)

    def _on_pairs(self, values: Floats, share: Floats) -> Floats:
        on_edges = values[self.place] * share
        return np.asarray(np.bincount(self.classes.pair, on_edges, len(self.classes.key)), dtype=np.float64)

    def measure(self, iterate: Iterate) -> Row:
        """Loss, attention on optimal tokens, and the weights."""
        measured = {name: float(value) for name, value in self._measured(self.log_phi(iterate)).items()}
        return {**measured, "along": iterate.along, "rest": self.space.recorded(iterate.rest)}

    def _measured(self, log_phi: Floats) -> dict[str, Floats]:
        """Loss and attention on optimal tokens."""
        classes = self.classes
        log_loss = log_sum_exp(self._log_frequency + log_softplus(self.log_odds(log_phi)), axis=-1)
        optimal = class_log_weights(classes, log_phi, classes.optimal)
        others = class_log_weights(classes, log_phi, ~classes.optimal)
        return {
            "loss": np.exp(log_loss),
            "log_loss": log_loss,
            "min_optimal_weight": np.exp(optimal.min(axis=-1)),
            "log_other_weight": others.max(axis=-1),
            "log_excess": self.log_excess(log_phi),
        }


class CommonMargin(KQ):
    """All margins of W_ov are one A, so label v's logit is A Phi_v, the summed attention of its tokens.

    Places are slots (class, label). P_v and Phi_v belong to labels, Q = 1 - P_y is the sum of the other
    P_v over the whole vocabulary, and (g_x - g_u) / A is
    P_{n(x)} + Q for n(x) != y = n(u), and P_{n(x)} - P_{n(u)} for neither = y, where
    P_v - P_w = P_v (1 - exp(-A (Phi_v - Phi_w))), v being the larger. Equal to, for n(x) != y,
    A phi_x [P_{n(x)} + sum_{v != y} P_v (Phi_y - Phi_v)], and for n(x) = y,
    -A phi_x sum_{v != y} P_v [(1 - Phi_y) + Phi_v]; n need not be injective, nor y be in the sentence.
    Measurements run along the last axis of ``log_phi``, for one state or several.
    """

    def __init__(
        self, space: TokenKQ | EmbeddedKQ, classes: SampleClasses, V: int, reference: Floats, A: float
    ) -> None:
        super().__init__(space, classes, V, reference)
        self._A = self.margin_size = A
        self.place = classes.slot
        self._is_answer = np.arange(len(classes.slot_class)) == classes.answer[classes.slot_class]
        self._set_places(classes.slot_class, self._is_answer)
        slots = np.bincount(classes.slot_class, minlength=len(classes))
        with np.errstate(divide="ignore"):
            self._log_absent = np.log(V - slots - (classes.answer < 0))
            self._log_A = float(np.log(A))

    def _ends(self) -> tuple[Indices, Indices]:
        """All pairs of slots, first those of another label and y."""
        left, right = pairs_within(self.classes.slot_class)
        swap = self._is_answer[left]
        left, right = np.where(swap, right, left), np.where(swap, left, right)
        order = np.argsort(~self._is_answer[right], kind="stable")
        return left[order], right[order]

    def place_log_weights(self, log_phi: Floats) -> Floats:
        """log Phi per slot."""
        return segment_log_sum_exp(log_phi, self.classes.slot_first_edge, self.classes.slot)

    def _label_weights(self, log_phi: Floats) -> tuple[Floats, Floats]:
        """Phi per slot, and Phi_y per class."""
        Phi = np.exp(self.place_log_weights(log_phi))
        return Phi, np.where(self.classes.answer >= 0, Phi[..., self.classes.answer], 0.0)

    def _leads(self, Phi: Floats, of_label: Floats) -> Floats:
        """A (Phi_v - Phi_y) per slot."""
        return self._A * (Phi - of_label[..., self.classes.slot_class])

    def _log_odds(self, lead: Floats, label: Floats) -> Floats:
        classes = self.classes
        rivals = segment_log_sum_exp(np.where(self._is_answer, -np.inf, lead), classes.first_slot, classes.slot_class)
        return np.logaddexp(rivals, self._log_absent - label)

    def log_odds(self, log_phi: Floats) -> Floats:
        """log S = log of the sum over v != y of exp(A (Phi_v - Phi_y))."""
        Phi, of_label = self._label_weights(log_phi)
        return self._log_odds(self._leads(Phi, of_label), self._A * of_label)

    def fluxes(self, log_phi: Floats) -> Fluxes:
        """A (P_x + Q) or A (P_x - P_u), with probabilities relative to the largest."""
        owner = self.classes.slot_class
        Phi, of_label = self._label_weights(log_phi)
        lead = self._leads(Phi, of_label)
        top = np.maximum(np.maximum.reduceat(lead, self.classes.first_slot), 0.0)
        below = lead - top[owner]
        log_S = self._log_odds(below, self._A * of_label + top)
        log_Z = np.logaddexp(-top, log_S)
        log_P = below - log_Z[owner]
        pairs, cut = self.pairs, int(self.pairs.crossing.sum())
        asked = np.logaddexp(log_P[pairs.left[:cut]], (log_S - log_Z)[pairs.owner[:cut]])
        rival, other = pairs.left[cut:], pairs.right[cut:]
        ahead = self._A * (Phi[rival] - Phi[other])
        larger = np.maximum(log_P[rival], log_P[other])
        with np.errstate(divide="ignore"):
            difference = larger + np.log(-np.expm1(-np.abs(ahead)))
        sign = np.concatenate([np.ones(cut), np.sign(ahead)])
        # equal labels have exactly equal numbers (from the same operations), so no rounding remains
        magnitude = np.where(ahead == 0, -np.inf, larger)
        return Fluxes(
            sign,
            self._log_A + np.concatenate([asked, difference]),
            self._log_A + np.concatenate([asked, magnitude]),
        )

    def log_excess(self, log_phi: Floats) -> Floats:
        """From S_n - S_0 = sum over v != y of (exp(A (1 - Phi_y + Phi_v)) - 1) exp(-A)."""
        classes = self.classes
        Phi, of_label = self._label_weights(log_phi)
        others = class_log_weights(classes, log_phi, ~classes.optimal)
        risen = np.logaddexp(others[..., classes.slot_class], self.place_log_weights(log_phi))
        each = np.where(self._is_answer, -np.inf, self._log_gain(risen, self._leads(Phi, of_label)))
        rivals = segment_log_sum_exp(each, classes.first_slot, classes.slot_class)
        summed = np.logaddexp(rivals, self._log_absent + self._log_gain(others, -self._A * of_label))
        log_floor_Z = infimum(self.V, self._A)
        return log_sum_exp(self._log_frequency + log_softplus(summed - log_floor_Z), axis=-1)

    def _log_gain(self, log_x: Floats, lead: Floats) -> Floats:
        """log((exp(A x) - 1) exp(-A)) from log x and A x - A, free of cancellation."""
        far = log_x > LOG_HALF
        with np.errstate(divide="ignore"):
            near_A = lead + np.log(-np.expm1(-self._A * np.exp(np.where(far, log_x, 0.0))))
        return np.where(far, near_A, log_expm1(self._log_A + np.where(far, LOG_HALF, log_x)) - self._A)


class GeneralB(KQ):
    """Any B: places are edges, and g_x - g_u = sum over v != y of P_v (M_v(u) - M_v(x)), M_v(x) = B[y, x] - B[v, x]."""

    def __init__(
        self, space: TokenKQ | EmbeddedKQ, classes: SampleClasses, V: int, reference: Floats, B: Floats
    ) -> None:
        super().__init__(space, classes, V, reference)
        self.place = np.arange(len(classes.token))
        self._set_places(classes.edge_class, classes.optimal)
        answer = classes.next[classes.edge_class]
        self.margins = B[answer, classes.token][:, np.newaxis] - B.T[classes.token]
        self.gain = self.margins[self.pairs.right] - self.margins[self.pairs.left]
        self._others = np.ones((len(classes), V), dtype=bool)
        self._others[np.arange(len(classes)), classes.next] = False
        self.margin_size = 2 * float(np.abs(self.margins).max())

    def _ends(self) -> tuple[Indices, Indices]:
        return pairs_within(self.classes.edge_class)

    @staticmethod
    def size(classes: SampleClasses, V: int) -> int:
        """Memory in numbers: a margin per label of each edge and of each pair of edges of a class."""
        edges = np.bincount(classes.edge_class)
        return int(np.sum(edges * (edges + 1) // 2)) * V

    def place_log_weights(self, log_phi: Floats) -> Floats:
        """Log phi itself."""
        return log_phi

    def _leads(self, log_phi: Floats) -> Floats:
        """z_v - z_y per class and label, -inf at y."""
        weighted = np.exp(log_phi)[:, np.newaxis] * self.margins
        return np.where(self._others, -np.add.reduceat(weighted, self.classes.first_edge, axis=0), -np.inf)

    def log_odds(self, log_phi: Floats) -> Floats:
        """log of the sum over v != y of exp(z_v - z_y)."""
        return log_sum_exp(self._leads(log_phi), axis=1)

    def fluxes(self, log_phi: Floats) -> Fluxes:
        """Sum over v != y of P_v (M_v(u) - M_v(x)), scaled by the largest P_v."""
        leads = self._leads(log_phi)
        top = leads.max(axis=1)
        top = np.where(np.isfinite(top), top, 0.0)
        below = leads - top[:, np.newaxis]
        log_scale = -np.logaddexp(-top, log_sum_exp(below, axis=1))
        P = np.exp(below)[self.pairs.owner]
        value = np.einsum("pv,pv->p", P, self.gain)
        magnitude = np.einsum("pv,pv->p", P, np.abs(self.gain))
        scale = log_scale[self.pairs.owner]
        with np.errstate(divide="ignore"):
            return Fluxes(np.sign(value), scale + np.log(np.abs(value)), scale + np.log(magnitude))

    def log_excess(self, log_phi: Floats) -> Floats:
        """NaN: the floor is that of common margins."""
        return np.asarray(np.nan)


def normalised(classes: SampleClasses, log_weight: Floats) -> Floats:
    """Each class's log weights (edges,) minus the log of their summed exponentials."""
    top = np.maximum.reduceat(log_weight, classes.first_edge)
    shifted = log_weight - top[classes.edge_class]
    log_total = np.log(np.add.reduceat(np.exp(shifted), classes.first_edge))
    return np.asarray(shifted - log_total[classes.edge_class])


def class_log_weights(classes: SampleClasses, log_phi: Floats, chosen: NDArray[np.bool_]) -> Floats:
    """log of each class's attention on the chosen edges; -inf without one."""
    return segment_log_sum_exp(np.where(chosen, log_phi, -np.inf), classes.first_edge, classes.edge_class)


def pairs_within(owner: Indices) -> tuple[Indices, Indices]:
    """All pairs i < j with owner[i] == owner[j], for sorted owners.

    >>> [part.tolist() for part in pairs_within(np.array([0, 0, 0, 1, 2, 2]))]
    [[0, 0, 1, 4], [1, 2, 2, 5]]
    """
    position = np.arange(len(owner))
    later = np.searchsorted(owner, owner, side="right") - position - 1
    left = np.repeat(position, later)
    right = left + 1 + np.arange(len(left)) - np.repeat(np.cumsum(later) - later, later)
    return left, right
