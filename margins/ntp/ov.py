"""The hard-margin problem of W_ov, eq. 2 of arXiv 2409.17335."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import partial

import numpy as np

from marginaudit.margins.certificate import Certificate, Certified
from marginaudit.margins.errors import CertificateError
from marginaudit.margins.farkas import find_farkas
from marginaudit.margins.ntp.constraints import next_indices, ov_rows, require_dense, require_exact
from marginaudit.margins.ntp.solution import (
    Exact,
    MaxMargin,
    Method,
    Multipliers,
    both,
    check_method,
    infeasible,
    numerical,
)
from marginaudit.margins.polish import polished
from marginaudit.margins.quadratic import solve_quadratic
from marginaudit.margins.rows import Indices
from marginaudit.orders.ntp import Dataset, Token, check_assumption, gram_deviation


def solve_ov(dataset: Dataset, *, method: Method = "auto") -> MaxMargin:
    """W*_ov: min ||W||_F s.t. (e_{n(x)} - e_v)^T W x >= 1 for all tokens x and all v != n(x).

    For orthonormal tokens W*_ov x = e_{n(x)} - 1/V, for any n, injective or not, and ||W*_ov||^2 = V - 1; for other
    embeddings a quadratic program, polished to float64 resolution if that can be proved (``direction_radius`` is then
    about 1e-16, otherwise the solver's).

    Parameters
    ----------
    method : "auto", "exact" or "cvxpy"
        "exact" raises without a closed form; "cvxpy" solves numerically in any case, without polishing. With one token
        there are no rows, and W* = 0 for any method.

    Raises
    ------
    CollocationError
        n is not a function on the whole vocabulary.
    TooDenseError
        Too many tokens.
    NotExact
        method is "exact" and the tokens are not orthonormal.
    SolverFailure
        The solver's answer proves neither a solution nor infeasibility.

    Notes
    -----
    Source: arXiv 2409.17335, eq. 2.

    >>> from marginaudit.orders.ntp import CASES
    >>> solution = solve_ov(CASES["example-1"]()).exact()
    >>> solution.norm_squared_exact
    Fraction(3, 1)
    >>> {v: str(value) for v, value in solution.weights_exact["S"].items()}
    {'S': '-1/4', 'V': '3/4', 'O': '-1/4', 'P': '-1/4'}
    """
    check_method(method)
    require_dense(dataset, "W*_ov", "none of which is zero", ", or W*_kq alone")
    next_index = next_indices(dataset)
    if method == "exact" and dataset.V > 1:
        require_exact(dataset, "W*_ov", "orthonormal")
    orthonormal = check_assumption(dataset, "orthonormal").holds
    if dataset.V == 1 or (orthonormal and method != "cvxpy"):
        return _closed_form(dataset, next_index)
    rows, E = ov_rows(dataset, orthonormal=orthonormal), dataset.embedding
    found = solve_quadratic(rows)
    if isinstance(found, Certified):
        if method != "cvxpy":
            found = polished(rows, found)
        matrix = found.W if E is None or not orthonormal else found.W @ E
        return numerical(
            found,
            scores=rows.scores(found.W),
            matrix=matrix,
            closed_form={},
            gram_deviation=gram_deviation(dataset) if orthonormal else None,
        )
    farkas = None if orthonormal else find_farkas(rows, dataset.vocabulary)
    if farkas is None:
        raise found
    return infeasible(farkas, {})


def _closed_form(dataset: Dataset, next_index: Indices) -> Exact:
    """W*_ov x = e_{n(x)} - 1/V with all multipliers 1/V, checked in integers."""
    V = dataset.V
    times_V = np.full((V, V), -1, dtype=np.int64)
    times_V[next_index, np.arange(V)] = V - 1
    verify_ov(times_V, next_index)
    scores = times_V / V
    ones = np.ones(V * (V - 1), dtype=np.int64)
    E = dataset.embedding
    return Exact(
        method="closed-form",
        closed_form={},
        dense=partial(both, scores, scores if E is None else scores @ E),
        certificate=Certificate(primal=float(V - 1), dual=float(V - 1), gap=0.0, max_violation=0.0),
        multipliers=ones / V,
        direction_radius=0.0 if V > 1 else np.nan,
        weight_radius=0.0,
        gram_deviation=gram_deviation(dataset) if V > 1 else None,
        norm_squared_exact=Fraction(V - 1),
        weights_exact=ClosedFormColumns(dataset.vocabulary, next_index),
        multipliers_exact=Multipliers(numerator=ones, denominator=np.full_like(ones, V)),
    )


def verify_ov(times_V: Indices, next_index: Indices) -> None:
    """Check the optimality conditions of W = times_V / V with all multipliers 1/V.

    Raises
    ------
    CertificateError
        A condition fails.
    """
    V = len(next_index)
    tokens = np.arange(V)
    margins = times_V[next_index, tokens] - times_V
    margins[next_index, tokens] = V
    if np.any(margins < V):
        raise CertificateError("a row of eq. 2 has a margin below 1")
    pulled = np.full((V, V), -1, dtype=np.int64)
    pulled[next_index, tokens] = V - 1
    if np.any(pulled != times_V):
        raise CertificateError("A^T lam differs from W*_ov")
    if int(np.sum(times_V**2)) != V**2 * (V - 1):
        raise CertificateError("sum(lam) differs from ||W*_ov||^2")


class ClosedFormColumns(Mapping[Token, Mapping[Token, Fraction]]):
    """{x: {v: W*_ov[v, x]}} for orthonormal tokens, with columns made on demand."""

    def __init__(self, vocabulary: tuple[Token, ...], next_index: Indices) -> None:
        V = len(vocabulary)
        self._vocabulary = vocabulary if V > 1 else ()  # with one token W* = 0
        self._next = {x: vocabulary[n] for x, n in zip(vocabulary, next_index.tolist(), strict=True)}
        self._low, self._high = Fraction(-1, V), Fraction(V - 1, V)

    def __getitem__(self, x: Token) -> Mapping[Token, Fraction]:
        if not self._vocabulary:
            raise KeyError(x)
        return dict.fromkeys(self._vocabulary, self._low) | {self._next[x]: self._high}

    def is_of(self, dataset: Dataset) -> bool:
        """Whether the vocabulary and every n(x) are those of the dataset."""
        return self._next == dataset.collocation.require_function() and self._vocabulary == dataset.vocabulary

    def __iter__(self) -> Iterator[Token]:
        return iter(self._vocabulary)

    def __len__(self) -> int:
        return len(self._vocabulary)
