"""The hard-margin problem of W_kq, eq. 3 of arXiv 2409.17335."""

from collections.abc import Mapping
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise, starmap

import numpy as np
from numpy.typing import NDArray

from marginaudit.margins.certificate import Certificate, Certified, certify
from marginaudit.margins.errors import CertificateError, NotExact
from marginaudit.margins.exact import ExactScores, confused_queries, joined, solve_exactly
from marginaudit.margins.farkas import find_farkas
from marginaudit.margins.ntp.constraints import kq_rows, require_dense, require_exact
from marginaudit.margins.ntp.proposition2 import compare, compare_exactly, decide
from marginaudit.margins.ntp.solution import (
    ClosedForm,
    Cycle,
    Exact,
    MaxMargin,
    Method,
    Multipliers,
    Optimal,
    check_method,
    infeasible,
    numerical,
)
from marginaudit.margins.polish import polished
from marginaudit.margins.quadratic import solve_quadratic
from marginaudit.margins.rows import Rows
from marginaudit.margins.tight import solve_near
from marginaudit.orders import Relations, printable
from marginaudit.orders.arrays import Floats, gamma
from marginaudit.orders.ntp import Dataset, Token, check_assumption, gram_deviation


def solve_kq(dataset: Dataset, *, method: Method = "auto") -> MaxMargin:
    """W*_kq: min ||W||_F s.t. (x_w - x_l)^T W q >= 1 for every relation x_w >_q x_l.

    Exact for orthonormal tokens: by minimum cuts under queries without confused tokens; under the others from the tight
    rows of a quadratic program's solution, if the exact check confirms the result. For other embeddings a quadratic
    program, polished to float64 resolution if that can be proved (``direction_radius`` is then about 1e-16, otherwise
    the solver's).

    Parameters
    ----------
    method : "auto", "exact" or "cvxpy"
        "exact" raises without an exact solution; "cvxpy" solves every query numerically without polishing, as an
        independent result. For any method, a cycle proves the problem infeasible, and W* = 0 without relations.

    Raises
    ------
    CollocationError
        n is not a function on the whole vocabulary.
    NotExact
        method is "exact" and the tokens are not orthonormal, or the exact check confirms no solution under a
        query with confused tokens.
    TooDenseError
        Too many tokens for the quadratic program.
    SolverFailure
        The solver's answer proves neither a solution nor infeasibility.

    Notes
    -----
    Source: arXiv 2409.17335, eq. 3, and Proposition 2 for ``closed_form``.

    >>> from marginaudit.orders.ntp import CASES
    >>> solution = solve_kq(CASES["example-1"]()).exact()
    >>> solution.norm_squared_exact
    Fraction(13, 6)
    >>> {x: str(value) for x, value in solution.weights_exact["O"].items()}
    {'S': '-1/3', 'V': '-1/3', 'O': '2/3'}
    """
    check_method(method)
    dataset.collocation.require_function()
    relations = dataset.relations
    confused = np.isin(np.arange(dataset.V), confused_queries(relations, dataset.V))
    cycles = _cycles(dataset, confused)
    if method == "exact" and not cycles:
        require_exact(dataset, "W*_kq", "orthonormal")
    if not len(relations):
        return _exact_solution(dataset, solve_exactly(relations, dataset.V), {})
    if not check_assumption(dataset, "orthonormal").holds:
        require_dense(dataset, "W*_kq", "of tokens that are not orthonormal")
        return _general_solution(dataset, cycles, method)
    return _solved_by_query(dataset, confused, cycles, method)


def _solved_by_query(
    dataset: Dataset, confused: NDArray[np.bool_], cycles: Mapping[Token, Cycle], method: Method
) -> MaxMargin:
    """Solution for orthonormal tokens: exact under queries without confused tokens, under others if confirmed."""
    relations = dataset.relations
    clear = ~confused[relations.query]
    exact = solve_exactly(_taken(relations, clear), dataset.V)
    forms = decide(exact, dataset.vocabulary)
    if clear.all() and method != "cvxpy":
        return _exact_solution(dataset, exact, forms)
    if method == "cvxpy":
        require_dense(dataset, "W*_kq", "of a quadratic program")
    rows = kq_rows(dataset, orthonormal=True)
    tangled = ~clear & ~np.isin(relations.query, [dataset.index[q] for q in cycles])
    if method == "cvxpy" and not cycles:
        whole = _solved(rows)
        return _numerical_solution(dataset, whole, _closed_form(dataset, forms, {}, whole))

    if tangled.any():
        query = dataset.vocabulary[relations.query[tangled][0]]
        require_dense(dataset, "W*_kq", f"as {printable(query)} has confused tokens")
    found = _solved(rows.taken(tangled)) if tangled.any() else None
    near = {} if found is None or method == "cvxpy" else solve_near(_taken(relations, tangled), dataset.V, found.W)
    if near:
        exact = joined([exact, *near.values()])
    forms |= compare_exactly(dataset, [dataset.vocabulary[q] for q in near], _weights(exact, dataset.vocabulary))
    forms = _closed_form(dataset, forms, cycles, found)
    if found is None or cycles:
        return infeasible(next(iter(cycles.values())), forms)
    known = clear | np.isin(relations.query, list(near))
    if known.all():
        return _exact_solution(dataset, exact, forms)
    if method == "exact":
        query = dataset.vocabulary[relations.query[~known][0]]
        raise NotExact(f"W*_kq: no exact solution was found near the numerical one under query {printable(query)}")
    return _numerical_solution(dataset, _joined(rows, exact, known, found, clear), forms)


def _cycles(dataset: Dataset, confused: NDArray[np.bool_]) -> dict[Token, Cycle]:
    """A checked cycle for each query whose relation has one; cycles run through confused tokens only."""
    queries = [dataset.vocabulary[q] for q in np.flatnonzero(confused)]
    found = {q: Cycle(q, tokens) for q in queries if (tokens := dataset.orders[q].cycle()) is not None}
    for cycle in found.values():
        cycle.verify(dataset)
    return found


def _taken(relations: Relations, chosen: NDArray[np.bool_]) -> Relations:
    return Relations(
        query=relations.query[chosen],
        winner=relations.winner[chosen],
        loser=relations.loser[chosen],
        sample=relations.sample[chosen],
    )


def _exact_solution(dataset: Dataset, exact: ExactScores, forms: Mapping[Token, ClosedForm]) -> Exact:
    """The verified exact scores, as a solution."""
    norm_squared = exact.norm_squared
    value = float(norm_squared)
    zero = value == 0
    return Exact(
        method="exact",
        closed_form=forms,
        dense=partial(_dense, exact, dataset.V, dataset.embedding),
        certificate=Certificate(primal=value, dual=value, gap=0.0, max_violation=0.0),
        multipliers=exact.flow / exact.multiplier_denominator,
        direction_radius=np.nan if zero else 0.0,
        weight_radius=0.0,
        gram_deviation=None if zero else gram_deviation(dataset),
        norm_squared_exact=norm_squared,
        weights_exact=_weights(exact, dataset.vocabulary),
        multipliers_exact=Multipliers(numerator=exact.flow, denominator=exact.multiplier_denominator),
    )


def _dense(exact: ExactScores, V: int, E: Floats | None) -> tuple[Floats, Floats]:
    """The scores as an array, and the matrix."""
    scores = np.zeros((V, V))
    scores[exact.token, exact.query] = exact.numerator / exact.denominator
    return scores, scores if E is None else E.T @ scores @ E


def _weights(exact: ExactScores, vocabulary: tuple[Token, ...]) -> dict[Token, dict[Token, Fraction]]:
    some = np.flatnonzero(exact.numerator)
    fraction = cache(Fraction)  # few distinct values; reducing a fraction is slow
    values = [*map(fraction, exact.numerator[some].tolist(), exact.denominator[some].tolist())]
    tokens = [vocabulary[x] for x in exact.token[some].tolist()]
    queries, first = np.unique(exact.query[some], return_index=True)
    parts = starmap(slice, pairwise([*first.tolist(), len(some)]))
    columns = (dict(zip(tokens[part], values[part], strict=True)) for part in parts)
    return dict(zip((vocabulary[q] for q in queries.tolist()), columns, strict=True))


def _solved(rows: Rows) -> Certified:
    found = solve_quadratic(rows)
    if isinstance(found, Certified):
        return found
    raise found


def _numerical_solution(dataset: Dataset, found: Certified, forms: Mapping[Token, ClosedForm]) -> Optimal:
    """A certified solution for orthonormal tokens."""
    E = dataset.embedding
    matrix = found.W if E is None else E.T @ found.W @ E
    return numerical(found, scores=found.W, matrix=matrix, closed_form=forms, gram_deviation=gram_deviation(dataset))


def _joined(
    rows: Rows, exact: ExactScores, known: NDArray[np.bool_], found: Certified, clear: NDArray[np.bool_]
) -> Certified:
    """Join the exact scores of the known rows' queries and numerical scores of unclear ones; certify the result."""
    W, multipliers = found.W.copy(), np.zeros(len(rows))
    W[exact.token, exact.query] = exact.numerator / exact.denominator
    multipliers[~clear] = found.multipliers
    multipliers[known] = exact.flow / exact.multiplier_denominator
    joint = certify(rows, W, multipliers)
    if joint is None:
        raise CertificateError("the joined solution of W*_kq has a margin that is not positive")
    return joint


def _closed_form(
    dataset: Dataset, forms: Mapping[Token, ClosedForm], cycles: Mapping[Token, Cycle], found: Certified | None
) -> dict[Token, ClosedForm]:
    """Verdicts on the closed form for orthonormal tokens: the known ones, and those from cycles and the solution."""
    judged = dict(forms) | {query: ClosedForm(False, cycle.tokens) for query, cycle in cycles.items()}
    if found is not None:
        rest = {query: order for query, order in dataset.orders.items() if query not in judged}
        judged |= compare(dataset, rest, found.W, np.full_like(found.W, found.weight_radius))
    return {query: judged[query] for query in dataset.orders}


def _general_solution(dataset: Dataset, cycles: Mapping[Token, Cycle], method: Method) -> MaxMargin:
    """Solution for embeddings that are not orthonormal: one problem for all queries, never exact."""
    if cycles:
        proof = next(iter(cycles.values()))
        form = {q: ClosedForm(False, cycles[q].tokens if q in cycles else None) for q in dataset.orders}
        return infeasible(proof, form)
    rows, E = kq_rows(dataset, orthonormal=False), dataset.embeddings
    found = solve_quadratic(rows)
    if not isinstance(found, Certified):
        farkas = find_farkas(rows, dataset.vocabulary)
        if farkas is None:
            raise found
        return infeasible(farkas, {q: ClosedForm(False, None) for q in dataset.orders})
    if method != "cvxpy":
        found = polished(rows, found)
    scores = rows.scores(found.W)
    lengths = np.linalg.norm(E, axis=1)
    rounding = gamma(2 * E.shape[1] + 8) * float(np.linalg.norm(found.W))
    radius: Floats = np.outer(lengths, lengths) * (found.weight_radius + rounding)
    forms = compare(dataset, dataset.orders, scores, radius)
    return numerical(found, scores=scores, matrix=found.W, closed_form=forms, gram_deviation=None)
