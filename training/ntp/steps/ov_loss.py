"""Stage 1 in token space, free of cancellation: margins instead of P - e_y."""

import numpy as np
from numpy.typing import NDArray

from marginaudit.training.ntp.steps.iterate import EPS, Floats, Iterate
from marginaudit.training.ntp.steps.loss import Loss, Row, TokenGradient
from marginaudit.training.ntp.steps.spaces import WeightSpace
from marginaudit.training.ntp.steps.underflow import log_softplus, log_sum_exp


class OV(Loss):
    """L0 of W_ov: sum over tokens x of -log P_{n(x)}(x).

    With margins M_v(x) = B[n(x), x] - B[v, x], the gradient in token space (eq. 5 of arXiv 2409.17335) is
    G[v, x] = P_v(x) = exp(-M_v(x)) / (1 + sum of exp(-M)) for v != n(x), and G[n(x), x] = -(their sum).

    Parameters
    ----------
    answer : (tokens,) integer array
        n(x).
    reference : array in the space
        What of the iterate.
    """

    def __init__(self, space: WeightSpace, answer: NDArray[np.int64], reference: Floats) -> None:
        self.space = space
        self._V = len(answer)
        self.answer = answer
        self._tokens = np.arange(self._V)
        self._other = np.ones((self._V, self._V), dtype=bool)
        self._other[answer, self._tokens] = False
        self._reference_margins = self._margins_of(space.scores(reference))

    def _margins_of(self, B: Floats) -> Floats:
        return np.asarray(B[self.answer, self._tokens] - B)

    def margins(self, iterate: Iterate) -> Floats:
        """M, shape (labels, tokens); 0 at the labels n(x)."""
        return iterate.along * self._reference_margins + self._margins_of(self.space.scores(iterate.rest))

    def other_margins(self, iterate: Iterate) -> Floats:
        """The margins at labels v != n(x), flat."""
        return self.margins(iterate)[self._other]

    def _log_odds(self, margins: Floats) -> Floats:
        """-M, and -inf at the labels n(x)."""
        return np.where(self._other, -margins, -np.inf)

    def token_gradient(self, iterate: Iterate) -> TokenGradient:
        """G, scaled by its largest entry; 0 at tokens with an embedding of zeros."""
        margins = self.margins(iterate)
        log_odds = self._log_odds(margins)
        log_P = np.where(self.space.seen, log_odds - np.logaddexp(0.0, log_sum_exp(log_odds, axis=0)), -np.inf)
        shift = float(log_P.max(initial=-np.inf))
        if shift == -np.inf:
            zero = np.zeros((self._V, self._V))
            return TokenGradient(zero, zero, shift, 0.0, 0.0, 0.0)
        magnitude = np.exp(log_P - shift)
        value = magnitude.copy()
        magnitude[self.answer, self._tokens] = magnitude.sum(axis=0)
        value[self.answer, self._tokens] = -magnitude[self.answer, self._tokens]
        relative = EPS * (32 + self._V + 4 * float(np.abs(margins).max())) + 2 * self.space.rounding(iterate)
        # per token H = diag(P) - P P^T, whose trace is at most twice the sum of P_v over v != n(x)
        curvature = 2 * float(magnitude[self.answer, self._tokens].max())
        return TokenGradient(value, magnitude, shift, relative, curvature, 0.0)

    def measure(self, iterate: Iterate) -> Row:
        """Loss and margins."""
        margins = self.margins(iterate)
        log_loss = float(log_sum_exp(log_softplus(log_sum_exp(self._log_odds(margins), axis=0)), axis=0))
        if self._V == 1:
            least, most, spread = float("nan"), float("nan"), 0.0
        else:
            low = np.where(self._other, margins, np.inf).min(axis=0)
            high = np.where(self._other, margins, -np.inf).max(axis=0)
            least, most, spread = float(low.min()), float(high.max()), float((high - low).max())
        return {
            "loss": float(np.exp(log_loss)),
            "log_loss": log_loss,
            "min_margin": least,
            "max_margin": most,
            "label_spread": spread,
        }
