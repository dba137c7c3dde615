"""The records of a stage of training."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Progress: TypeAlias = Callable[[int], None]
"""Called with the number of steps done in both stages, at most a few hundred times."""

Floats: TypeAlias = NDArray[np.float64]

SURE = ("step", "along", "error", "distance_error", "method")
"""Columns that stay valid when rounding has lost W."""


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
        derives it), and in stage 2, where stage 1 has no closed form, from that of W_ov (an estimate: `Shadowed`);
        excludes the error of the reference. Infinite where the recorded value is 0 or the bound exceeds the range.
    distance_error : array
        The same as an absolute bound on ``distance``, at most 2. At 2 W is not `known`, or has no direction.
    gradient_norm, log_gradient_norm : arrays
        ||grad||_F at W (may underflow to 0) and its logarithm (-inf where the gradient is 0).
    method : array of str
        How the state was reached: "steps", by true steps; "law", by a formula.
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
    method: NDArray[np.str_]

    def __len__(self) -> int:
        return len(self.step)

    @property
    def known(self) -> NDArray[np.bool_]:
        """Mask of the records with a known W; measurements of the others are meaningless."""
        return ~(self.distance_error >= 2)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The per-step arrays by name, ``step`` first; NaN for measurements where W is not `known`."""
        arrays = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: np.where(self.known, array, np.nan) if array.shape == self.step.shape and name not in SURE else array
            for name, array in arrays.items()
        }


@dataclass(frozen=True)
class Stage1(StageRecord):
    """Stage 1 (W_ov); beside the common columns, the margins (e_{n(x)} - e_v)^T W_ov x.

    Attributes
    ----------
    min_margin, max_margin : arrays
        Over all x and v != n(x); NaN for a vocabulary of one token.
    label_spread : array
        max |(e_i - e_j)^T W_ov x| over x and i, j != n(x); 0 by Lemma 3 of arXiv 2409.17335.
    """

    min_margin: Floats
    max_margin: Floats
    label_spread: Floats


@dataclass(frozen=True)
class Stage2(StageRecord):
    """Stage 2 (W_kq), W = s What + rho with What the unit reference; What = 0 without one.

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
    law : (records,) array
        1 - cos by the asymptotic law (`AsymptoticLaw`), an independent value for late steps. NaN
        where there is none.
    along : (records,) array
        s: t eta in normalised descent, 0 in plain descent.
    descent_reference, descent_rest : (records,) arrays
        -<grad, What> / ||grad|| and -<grad, rho> / ||grad||, so that -<grad, W> / ||grad|| is s times the
        first plus the second; NaN where the gradient is 0.
    rest : (records, pairs) array
        rho, by pairs.
    reference : (pairs,) array
        What.
    key, query : (pairs,) integer arrays
        The pairs (x, q): those in one sample for orthonormal embeddings (all others stay 0), else all.
    """

    min_optimal_weight: Floats
    log_other_weight: Floats
    log_excess: Floats
    law: Floats
    along: Floats
    descent_reference: Floats
    descent_rest: Floats
    rest: Floats
    reference: Floats
    key: NDArray[np.int64]
    query: NDArray[np.int64]

    @property
    def scores(self) -> Floats:
        """x^T W_kq q of each pair, shape (records, pairs): s What + rho in float64."""
        return np.asarray(np.outer(self.along, self.reference) + self.rest)

    @cached_property
    def _pairs_under(self) -> dict[int, NDArray[np.int64]]:
        """The pairs of each query that has some."""
        order = np.argsort(self.query, kind="stable")
        queries, first = np.unique(self.query[order], return_index=True)
        return dict(zip(queries.tolist(), np.split(order, first[1:]), strict=True))

    def columns(self) -> dict[str, NDArray[Any]]:
        """The per-step arrays by name, ``step`` first, without those by pairs."""
        arrays = super().columns()
        return {name: arrays[name] for name in arrays if name not in ("rest", "reference", "key", "query")}

    def score(self, key: int, query: int) -> Floats:
        """x^T W_kq q of one pair of token indices along the record, shape (records,); 0 for a pair in no sample."""
        found = np.flatnonzero((self.key == key) & (self.query == query))
        if not len(found):
            return np.zeros(len(self))
        return np.asarray(self.along * self.reference[found[0]] + self.rest[:, found[0]])

    def scores_under(self, query: int, keys: Sequence[int]) -> Floats:
        """x^T W_kq q of tokens x under one query, along the record; pairs in no sample, all 0, share the last row.

        Parameters
        ----------
        keys : sequence of distinct token indices

        Returns
        -------
        (scores, records) array
        """
        found = self._pairs_under.get(query, np.empty(0, dtype=np.int64))
        found = found[np.isin(self.key[found], keys)]
        scores = np.outer(self.reference[found], self.along) + self.rest[:, found].T
        return scores if len(found) == len(keys) else np.vstack([scores, np.zeros(len(self))])

    def score_matrix(self, record: int, size: int) -> Floats:
        """All scores at one record, shape (keys, queries) = (size, size)."""
        matrix = np.zeros((size, size))
        matrix[self.key, self.query] = self.along[record] * self.reference + self.rest[record]
        return matrix


NOT_OF_ROWS = ("law", "rest", "reference", "key", "query")
"""Fields of a record other than columns of its rows."""

TYPES: dict[str, Any] = {"step": np.int64, "method": np.str_}


def columns(kind: type[StageRecord], rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Columns of a record from its rows."""
    names = (field.name for field in fields(kind) if field.name not in NOT_OF_ROWS)
    return {name: np.array([row[name] for row in rows], dtype=TYPES.get(name, np.float64)) for name in names}
