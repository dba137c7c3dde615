"""Numerical answers: what the solver says of itself decides nothing."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from marginaudit.margins import SolverFailure, quadratic
from marginaudit.margins.ntp import solve_kq, solve_ov
from marginaudit.margins.rows import Rows
from marginaudit.orders.ntp import CASES, broken
from tests.solutions import known

SOLVE = quadratic.solve_program


def rows_of(edges: list[tuple[int, int]], size: int) -> Rows:
    winner, loser = np.array(edges, dtype=np.int64).T
    return Rows(winner, loser, np.zeros(len(edges), dtype=np.int64), size, None, None)


def patched(monkeypatch: pytest.MonkeyPatch, change: Callable[..., Any]) -> None:
    monkeypatch.setattr(quadratic, "solve_program", lambda A, b: change(*SOLVE(A, b)))


def test_status_words_decide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = broken(CASES["example-1"](), "orthonormal")
    expected = solve_kq(dataset).optimal()
    patched(monkeypatch, lambda w, lam, status: (w, lam, "infeasible"))
    assert solve_kq(dataset).optimal().norm_squared == expected.norm_squared
    patched(monkeypatch, lambda w, lam, status: (-w, lam, "optimal"))
    with pytest.raises(SolverFailure, match="CLARABEL ended with status 'optimal': least margin -"):
        solve_kq(dataset)
    rows = rows_of([(0, 2), (0, 3), (1, 3)], 4)
    patched(monkeypatch, lambda w, lam, status: (w * np.array([1.0, -3.0, 1.0, 1.0])[: len(w)], lam, "optimal"))
    least = rows.margins(known(quadratic.attempted(rows)[0]))[0]
    assert least.min() < 0 < least.max()
    assert f"least margin {least.min():.3g}, expected positive" in str(quadratic.solve_quadratic(rows))
    patched(monkeypatch, lambda w, lam, status: (w, 0.9 * lam, "optimal"))
    with pytest.raises(SolverFailure, match=r"relative duality gap up to 0\.01"):
        solve_ov(dataset)
    patched(monkeypatch, lambda w, lam, status: (None, None, "solver_error"))
    for solve in (solve_kq, solve_ov):
        with pytest.raises(SolverFailure, match="no solution and no multipliers"):
            solve(dataset)
    with pytest.raises(SolverFailure):
        solve_kq(broken(CASES["example-1"](), "no_confused_tokens"))
