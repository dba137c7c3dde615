"""Exact solutions as certificate documents, for `marginaudit.margins.ntp.verify` to check."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from marginaudit.margins.errors import NotExact
from marginaudit.margins.exact import confused_queries
from marginaudit.margins.ntp.solution import Cycle, Exact, Infeasible, MaxMargin, each_value
from marginaudit.margins.ntp.verify import FORMAT
from marginaudit.orders.ntp import Dataset


def certificate_document(
    dataset: Dataset, *, ov: MaxMargin | None = None, kq: MaxMargin | None = None
) -> dict[str, Any]:
    """Primal and dual of the given solutions, with rationals as strings "p/q" in lowest terms.

    Raises
    ------
    NotExact
        A solution is not exact, or its infeasibility is not proved by a cycle.
    """
    document: dict[str, Any] = {"format": FORMAT, "dataset": dataset.name}
    if ov is not None:
        document["ov"] = _ov(dataset, ov)
    if kq is not None:
        document["kq"] = _kq(dataset, kq)
    return document


def _ov(dataset: Dataset, solution: MaxMargin) -> dict[str, Any]:
    """Document of W*_ov for orthonormal tokens: two values and one multiplier."""
    if not isinstance(solution, Exact):
        raise NotExact("ov: the solution is a float64 one, and a certificate needs an exact one")
    V = dataset.V
    return {
        "status": "optimal",
        "norm_squared": _text(solution.norm_squared_exact),
        "at_next_token": _text(1 - Fraction(1, V)),
        "elsewhere": _text(Fraction(-1, V) if V > 1 else Fraction(0)),
        "multiplier": _text(Fraction(1, V)),
    }


def _kq(dataset: Dataset, solution: MaxMargin) -> dict[str, Any]:
    if isinstance(solution, Infeasible) and isinstance(solution.infeasibility, Cycle):
        return {
            "status": "infeasible",
            "query": solution.infeasibility.query,
            "cycle": list(solution.infeasibility.tokens),
        }
    if not isinstance(solution, Exact):
        raise NotExact("kq: the solution is a float64 one, and a certificate needs an exact one")
    names, rows = dataset.vocabulary, dataset.relations
    confused = {names[q] for q in confused_queries(rows, dataset.V).tolist()}
    found = solution.multipliers_exact
    positive = np.flatnonzero(found.numerator)
    over = found.denominator[positive]
    base = over.max(initial=0) + 1
    few, which = np.unique(found.numerator[positive] * base + over, return_inverse=True)  # reducing a fraction is slow
    text = [_text(Fraction(*divmod(code, base))) for code in few.tolist()]
    columns = (rows.winner[positive].tolist(), rows.loser[positive].tolist(), which.tolist())
    entries = [[names[i], names[j], text[value]] for i, j, value in zip(*columns, strict=True)]
    queries, first = np.unique(rows.query[positive], return_index=True)  # relations are sorted by query
    parts = pairwise([*first.tolist(), len(entries)])
    multipliers = {names[q]: entries[slice(*part)] for q, part in zip(queries.tolist(), parts, strict=True)}
    return {
        "status": "optimal",
        "norm_squared": _text(solution.norm_squared_exact),
        "weights": each_value(solution.weights_exact, _text),
        "multipliers": multipliers,
        "closed_form": {
            query: {"holds": form.holds, "S": list(form.witness or ())}
            for query, form in solution.closed_form.items()
            if query not in confused
        },
    }


def _text(value: Fraction) -> str:
    return f"{value.numerator}/{value.denominator}"
