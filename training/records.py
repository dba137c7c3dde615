"""What training leaves behind: a record per stage, and the trained weights."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from marginaudit.training.classes import SampleClasses

Progress: TypeAlias = Callable[[int], None]
"""Called with the number of steps done so far, both stages together; at most a few hundred times."""

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class StageRecord:
    """One stage of Algorithm 1 at its recorded steps; every array has the shape (records,).

    Attributes
    ----------
    step : integer array
        t; step 0 is the zero initialisation, whose direction is NaN.
    loss, log_loss : arrays
        The stage's loss and its natural logarithm (which does not underflow).
    norm : array
        ||W||_F.
    one_minus_cos : array
        1 - cos(W, W*), without cancellation; NaN without a reference direction.
    distance : array
        Euclidean distance of the unit vectors; distance^2 = 2 one_minus_cos.
    error : array
        Bound on |true - recorded| / recorded of ``one_minus_cos`` from rounding (`Iterate.direction`
        derives it); the error of the reference is not in it. Infinite where the recorded value is 0
        or the bound exceeds what is possible.
    distance_error : array
        The same bound, as an absolute one on ``distance``; always finite, at most 2.
    gradient_norm, log_gradient_norm : arrays
        ||grad||_F at W (may underflow to 0) and its logarithm (-inf where the gradient is 0).
    """

    step: NDArray[np.int64]
    loss: Floats
    log_loss: Floats
    norm: Floats
    one_minus_cos: Floats
    distance: Floats
    error: Floats
    distance_error: Floats
    gradient_norm: Floats
    log_gradient_norm: Floats

    def __len__(self) -> int:
        return len(self.step)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The per-step arrays by name, ``step`` first."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True)
class Stage1(StageRecord):
    """Stage 1 (W_ov); beside the common columns, the margins (e_{n(x)} - e_v)^T W_ov x.

    Attributes
    ----------
    min_margin, max_margin : arrays
        Over all x and v != n(x); NaN for a vocabulary of one token.
    label_spread : array
        max |(e_i - e_j)^T W_ov x| over x and i, j != n(x) (Lemma 3 of arXiv 2409.17335 says 0).
    """

    min_margin: Floats
    max_margin: Floats
    label_spread: Floats


@dataclass(frozen=True)
class Stage2(StageRecord):
    """Stage 2 (W_kq).

    Attributes
    ----------
    min_optimal_weight : (records,) array
        Smallest summed attention on optimal positions over the samples.
    log_other_weight : (records,) array
        log of the largest summed attention on the other positions over the samples, so the log of
        1 - min_optimal_weight without cancellation; -inf where no sample has another position.
    log_excess : (records,) array
        log(Loss - floor), floor = log(1 + (V-1) exp(-A)); -inf where equal. NaN unless the margins of
        W_ov are one A.
    method : (records,) array of str
        "steps": the state was reached by true steps.
    scores : (records, pairs) array
        x^T W_kq q of each pair.
    key, query : (pairs,) integer arrays
        The pairs (x, q): those in one sample for orthonormal embeddings (all others stay 0), else all.
    """

    min_optimal_weight: Floats
    log_other_weight: Floats
    log_excess: Floats
    method: NDArray[np.str_]
    scores: Floats
    key: NDArray[np.int64]
    query: NDArray[np.int64]

    def columns(self) -> dict[str, NDArray[Any]]:
        """The per-step arrays by name, ``step`` first; scores are left out."""
        arrays = super().columns()
        return {name: arrays[name] for name in arrays if name not in ("scores", "key", "query")}

    def score(self, key: int, query: int) -> Floats:
        """x^T W_kq q of one pair of token indices along the record, shape (records,); 0 for a pair in no sample."""
        found = np.flatnonzero((self.key == key) & (self.query == query))
        return self.scores[:, found[0]] if len(found) else np.zeros(len(self))

    def score_matrix(self, record: int, size: int) -> Floats:
        """All scores at one record, shape (keys, queries) = (size, size)."""
        matrix = np.zeros((size, size))
        matrix[self.key, self.query] = self.scores[record]
        return matrix


@dataclass(frozen=True)
class Training:
    """Both stages of Algorithm 1 and the weights they end with.

    Attributes
    ----------
    stage1, stage2 : records
    B : (labels, tokens) array
        W_ov E^T after stage 1: B[v, x] is the logit of label v where all attention is on x.
    S : (keys, queries) array
        E W_kq E^T after stage 2, for orthonormal embeddings on the pairs of ``classes`` and 0 elsewhere.
    W_ov, W_kq : (V, d) and (d, d) arrays
        The same weights in embedding space.
    margin : float
        A, the mean of all margins (e_{n(x)} - e_v)^T W_ov x after stage 1; 0 for one token.
    margin_spread : float
        max |margin - A|.
    margin_error : float
        Bound on the rounding error of A.
    common_margin : bool
        Whether stage 2 took all margins as A: margin_spread <= 1e-9 A.
    classes : SampleClasses
        The samples of stage 2, merged by (query, bag, next token).
    """

    stage1: Stage1
    stage2: Stage2
    B: Floats
    S: Floats
    W_ov: Floats
    W_kq: Floats
    margin: float
    margin_spread: float
    margin_error: float
    common_margin: bool
    classes: SampleClasses
