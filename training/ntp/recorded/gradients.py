"""Both gradients at given weights, with bounds on the rounding of a textbook implementation.

A textbook program computes eqs. 5 and 6 of arXiv 2409.17335 as printed, or differentiates eq. 1: scores, softmax,
logits, softmax, P - e_y, and back. Errors to first order in the unit roundoff u, entry by entry:

- inner product of k nonzero terms: k u times the product of absolute values;
- weights, rounded once more when written, and embeddings: u times their absolute value. A score of k terms thus has (k
  + 3) u times its absolute terms, a logit (k + 2) u;
- softmax: an exponential has the relative error of its argument, u times the distance to the largest argument, and
  `EXP` u. A share p of their sum has 1 - p times its own error, the other shares times theirs, one u for each term of
  the sum and one for the division. As exp(z - lse), lse the logarithm of the sum, z has one u of |lse| and of |z -
  lse|, and the logarithm and both exponentials `EXP` u each;
- P - e_y: P times the relative error of P, and u times itself. At y all digits are lost once 1 - P_y is below u.
  Computed as minus the sum of the others, it has all their errors and one u for each;
- phi (g - mean g): the errors of phi, of g (only differences, as in softmax) and of the mean, each times the size of
  the others, and u for each operation. Rounded shares do not add up to 1, so the mean also has one u of g for each term
  of their sum and one for the division;
- mean over samples: one u for each repeated sample and position, as a program may add them one by one;
- gradient of eq. 1 in W_ov, (P - e_y) (X phi)^T: the error of each factor times the size of the other.

The bound follows the condition of the gradient: where terms cancel, it is large relative to their sum. Where errors of
arguments are too large for first order and may move a share, the bound is infinite.

A W_ov known up to a distance D moves logits by at most D |X^T phi|, and x^T W_ov^T r by D |x| |r|.
"""

from collections import Counter
from collections.abc import Callable
from copy import copy
from typing import NamedTuple

import numpy as np

from marginaudit.orders.arrays import Floats
from marginaudit.orders.ntp import Dataset
from marginaudit.training.ntp.model.classes import Indices, class_of_samples, sample_classes

EXP = 4
"""Bound on the relative error of exp in units of u; libraries for CPUs and GPUs promise 1 to 4."""

FIRST_ORDER = 0.1
"""Largest error of the difference of two arguments of exp for a bound to first order."""

LEAST_EXPONENT = float(np.log(np.finfo(np.float64).smallest_subnormal))
"""Arguments below this have exp = 0."""


class TextbookGradient(NamedTuple):
    """A gradient with a bound on the rounding of each entry."""

    value: Floats
    rounding: Floats


class Softmax(NamedTuple):
    """Probabilities along the rows, bounds on their relative errors, and whether rounding may decide one."""

    value: Floats
    relative: Floats
    lost: bool


class Stage1Loss:
    """L0: the sum over tokens, or their weighted sum, of -log softmax(W_ov x)_{n(x)}."""

    def __init__(self, dataset: Dataset) -> None:
        n = dataset.collocation.require_function()
        self.E = dataset.embeddings
        self._terms, self._terms_of_column = _terms(self.E), _terms(self.E.T)
        self.answer = np.array([dataset.index[n[x]] for x in dataset.vocabulary])
        self.names = dataset.vocabulary
        index, pi = dataset.index, np.zeros(dataset.V)
        for sample, frequency in zip(dataset.samples, dataset.frequencies, strict=True):
            pi[index[sample.query]] += frequency * (len(sample.tokens) == 1)
        self._shares = pi

    @property
    def classes(self) -> int:
        """Number of terms of the sum."""
        return len(self.E)

    def other_weights(self) -> dict[str, Floats]:
        """Plausible weights of the tokens in place of 1."""
        return {"frequencies of the samples of length 1": self._shares} if self._shares.any() else {}

    def curvature(self, W: Floats) -> float:
        """Bound on the largest eigenvalue of diag(P) - P P^T of any token: twice P (1 - P) of n(x)."""
        P = _softmax(self.E @ W.T, np.zeros((len(self.E), len(W))), 0.0).value
        r, _ = _surplus(Softmax(P, P, lost=False), self.answer, np.arange(len(P)), 0.0)
        return 2 * float(-r[np.arange(len(P)), self.answer].min())

    def gradient(self, W: Floats, u: float, weights: Floats | None = None) -> TextbookGradient:
        """Eq. 5 at W_ov (V, d)."""
        E, every = self.E, np.arange(len(self.E))
        weights = np.ones(len(E)) if weights is None else weights
        P = _softmax(E @ W.T, (self._terms + 2) * u * (abs(E) @ abs(W).T), u)
        r, dr = _surplus(P, self.answer, every, u)
        r, dr = weights[:, None] * r, weights[:, None] * (dr + u * abs(r))
        value = r.T @ E
        return _bounded(value, dr.T @ abs(E) + (self._terms_of_column + 1) * u * (abs(r).T @ abs(E)), P)


class Stage2Loss:
    """The loss of eq. 1; samples of equal query, bag and next token form a class."""

    def __init__(self, dataset: Dataset) -> None:
        found = sample_classes(dataset)
        self.dataset = dataset
        self.embed(dataset.embeddings)
        self.names = dataset.vocabulary
        self.owner, self.token, self.query = found.edge_class, found.token, found.query
        self.count, self.answer, self.weights = found.multiplicity, found.next, found.frequency
        of_class = class_of_samples(dataset)
        roots = np.sqrt(dataset.counts)
        self._alike = np.bincount(of_class) / dataset.N
        self._roots = np.bincount(of_class, roots) / roots.sum()
        self._samples = float(sum(dataset.counts))
        copies = np.bincount(of_class, np.array(dataset.counts, dtype=np.float64))
        added = np.asarray(copies[self.owner] * self.count, dtype=np.float64)
        self.added = self._scatter(added) if self._one_hot else float(added.sum())
        self.longest = dataset.L_max

    def embed(self, E: Floats) -> None:
        """Set the embeddings of the keys, and what the bounds need of them at every step."""
        self.E, self.sizes = E, np.linalg.norm(E, axis=1)
        self._terms, self._one_hot = _terms(E), _one_hot(E)

    @property
    def classes(self) -> int:
        """Number of terms of the mean."""
        return len(self.query)

    def other_weights(self) -> dict[str, Floats]:
        """Plausible weights of the classes in place of pi."""
        of_query = np.bincount(self.query, self.weights)[self.query]
        length = np.bincount(self.owner, self.count)
        return {
            "every distinct sample alike": self._alike,
            "every query alike": self.weights / of_query,
            "pi times the length": self.weights * length,
            "pi over the length": self.weights / length,
            "square roots of the counts": self._roots,
        }

    def other_keys(self) -> dict[str, "Stage2Loss"]:
        """Losses with attention to tokens other than those of the sample."""
        longest = self.longest
        return {
            "the last token is left out": self._attending(lambda sample, _: sample[:-1] or sample),
            "each distinct token counts once": self._attending(lambda sample, _: [*set(sample)]),
            "the next token is attended too": self._attending(lambda sample, y: [*sample, y]),
            "padding is attended, as the first token": self._attending(
                lambda sample, _: sample + [0] * (longest - len(sample))
            ),
            "padding is attended, as zeros": self._attending(
                lambda sample, _: sample + [len(self.E)] * (longest - len(sample))
            ),
        }

    def _attending(self, keys: Callable[[list[int], int], list[int]]) -> "Stage2Loss":
        """The loss with other keys, computed from a sample's tokens and its next token; token V is zeros."""
        data, found = self.dataset, copy(self)
        samples = [([data.index[x] for x in one.tokens], data.index[one.next]) for one in data.samples]
        bags = [Counter(keys(sample, y)) for sample, y in samples]
        found.embed(np.vstack([self.E, np.zeros((1, self.E.shape[1]))]))
        found.owner, found.token, found.count = np.array(
            [(n, x, many) for n, bag in enumerate(bags) for x, many in bag.items()]
        ).T
        found.query, found.answer = np.array([(sample[-1], y) for sample, y in samples]).T
        found.weights, found.longest = data.frequencies, self.longest + 1
        found.added = float(np.array(data.counts, dtype=np.float64)[found.owner] @ found.count)
        return found

    def gradient(
        self,
        W_ov: Floats,
        W: Floats,
        u: float,
        weights: Floats | None = None,
        distance: float = 0.0,
        off: Floats | None = None,
    ) -> TextbookGradient:
        """Eq. 6 at W_kq (d, d), known up to ``off`` entry by entry, and W_ov up to a ``distance``."""
        E, classes, key, owner = self.E, np.arange(len(self.query)), self.token, self.owner
        pi = self.weights if weights is None else weights
        phi, context = self._attention(W, u, off)
        P, B, B_abs = self._probabilities(W_ov, phi, context, u, distance)
        r, dr = _surplus(P, self.answer, classes, u)
        g = (r @ B)[owner, key]
        dg = ((dr + (len(B) + self._terms + 4) * u * abs(r)) @ B_abs)[owner, key]
        dg += distance * np.linalg.norm(r, axis=1)[owner] * self.sizes[key]
        centred = g - self._mean(phi.value, g)
        length = np.bincount(owner, self.count)[owner]
        moved = phi.relative * abs(centred) + (2 * length + 1) * u * abs(g)
        shifted = (1 - phi.value) * dg + abs(self._mean(phi.value, dg) - phi.value * dg)
        term = phi.value * centred
        rounding = phi.value * (phi.relative * abs(centred) + shifted + 2 * u * abs(g) + self._mean(phi.value, moved))
        scale = pi[owner]
        G, size, bound = (self._scatter(scale * x) for x in (term, abs(term), rounding + 3 * u * abs(term)))
        carried = 0 if self._one_hot else 2 * (len(E) + 1)
        return _bounded(E.T @ G @ E, abs(E).T @ (bound + (self.added + carried) * u * size) @ abs(E), phi, P)

    def ov_gradient(self, W_ov: Floats, W: Floats, u: float, distance: float = 0.0) -> TextbookGradient:
        """The gradient of the same loss in W_ov: the sum of pi (P - e_y) (X phi)^T."""
        phi, context = self._attention(W, u)
        P, _, _ = self._probabilities(W_ov, phi, context, u, distance)
        r, dr = _surplus(P, self.answer, np.arange(len(self.query)), u)
        (value, error), pi = context, self.weights[:, None]
        off_r, off_context = dr + (self._samples + 2) * u * abs(r), error + (self.longest + 1) * u * value
        off = (pi * off_r).T @ value + (pi * abs(r)).T @ off_context
        return _bounded((pi * r).T @ (value @ self.E), off @ abs(self.E), phi, P)

    def _attention(self, W: Floats, u: float, off: Floats | None = None) -> tuple[Softmax, tuple[Floats, Floats]]:
        """phi summed over each token's positions, edge by edge, and as (classes, tokens) arrays with its error."""
        E, classes = self.E, len(self.query)
        s = np.full((classes, len(E)), -np.inf)
        error = np.zeros_like(s)
        at = self.owner, self.token
        s[at] = (E @ W @ E.T)[self.token, self.query[self.owner]]
        error[at] = (2 * self._terms + 3) * u * (abs(E) @ abs(W) @ abs(E).T)[self.token, self.query[self.owner]]
        if off is not None:
            error[at] += (abs(E) @ off @ abs(E).T)[self.token, self.query[self.owner]]
        counts = np.ones_like(s)
        counts[at] = self.count
        phi = _softmax(s, error, u, counts, terms=self.longest)
        return Softmax(phi.value[at], phi.relative[at], phi.lost), (phi.value, phi.value * phi.relative)

    def _probabilities(
        self, W_ov: Floats, phi: Softmax, context: tuple[Floats, Floats], u: float, distance: float
    ) -> tuple[Softmax, Floats, Floats]:
        B, B_abs = W_ov @ self.E.T, abs(W_ov) @ abs(self.E).T
        terms = self.longest + min(W_ov.shape[1], self.longest * self._terms) + 3
        value, error = context
        moved = distance * np.linalg.norm(value @ self.E, axis=1, keepdims=True)
        return _softmax(value @ B.T, (error + terms * u * value) @ B_abs.T + moved, u), B, B_abs

    def _mean(self, phi: Floats, x: Floats) -> Floats:
        """Mean of x over the attention of each class, at its edges."""
        return np.asarray(np.bincount(self.owner, phi * x)[self.owner])

    def _scatter(self, x: Floats) -> Floats:
        """The sum over edges of each pair (token, query)."""
        V = len(self.E)
        return np.asarray(
            np.bincount(self.token * V + self.query[self.owner], x, V * V).reshape(V, V), dtype=np.float64
        )


def _softmax(z: Floats, error: Floats, u: float, counts: Floats | None = None, terms: int | None = None) -> Softmax:
    """Softmax along the rows of z, entries known up to ``error``; minus infinity for a missing term."""
    largest = z.max(axis=1, keepdims=True)
    below = z - largest
    e = np.exp(below) if counts is None else counts * np.exp(below)
    total = e.sum(axis=1, keepdims=True)
    value = e / total
    own = np.where(value > 0, error + u * np.where(np.isfinite(below), abs(below), 0) + EXP * u, 0)
    others = (value * own).sum(axis=1, keepdims=True) - value * own
    log_sum = np.log(total)
    by_logarithm = abs(largest + log_sum) + np.where(value > 0, abs(below - log_sum), 0) + EXP * (log_sum + 2)
    relative = (1 - value) * own + abs(others) + ((z.shape[1] if terms is None else terms) + 1 + by_logarithm) * u
    return Softmax(value, relative, bool(2 * error.max() > FIRST_ORDER) and _may_decide(error, below))


def _may_decide(error: Floats, below: Floats) -> bool:
    """Whether errors of arguments, at distances ``below`` the row's largest, may decide a share."""
    apart = error + error.max(axis=1, keepdims=True)
    lost = (apart > FIRST_ORDER) & (below + apart > LEAST_EXPONENT)
    np.put_along_axis(lost, below.argmax(axis=1, keepdims=True), False, axis=1)  # where the others are 0, it is 1
    return bool(lost.any())


def _bounded(value: Floats, rounding: Floats, *shares: Softmax) -> TextbookGradient:
    """A gradient with its bound, infinite where rounding decides one of its shares."""
    return TextbookGradient(value, np.full_like(value, np.inf) if any(one.lost for one in shares) else rounding)


def _surplus(P: Softmax, answer: Indices, row: Indices, u: float) -> tuple[Floats, Floats]:
    """P - e_y and its error; the entry at y is minus the sum of the others, free of cancellation."""
    r = P.value.copy()
    r[row, answer] = 0
    r[row, answer] = -r.sum(axis=1)
    error = P.value * P.relative
    of_others = error.sum(axis=1) - error[row, answer] + r.shape[1] * u * abs(r[row, answer])
    error[row, answer] = np.maximum(error[row, answer], of_others)
    return r, error + u * abs(r)


def _one_hot(E: Floats) -> bool:
    """Whether rows are one-hot, so that products with them are exact."""
    return bool(np.isin(E, (0, 1)).all()) and _terms(E) == 1


def _terms(E: Floats) -> int:
    """Largest number of nonzero entries in a row."""
    return int(np.count_nonzero(E, axis=1).max(initial=1))
