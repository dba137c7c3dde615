"""What a solution meets, and that none goes unchecked."""

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType

import numpy as np
import pytest

from marginaudit.margins import CertificateError, exact
from marginaudit.margins.ntp import MaxMargin, ov, solve_kq, solve_ov
from marginaudit.margins.ntp.solution import Method
from marginaudit.orders.ntp import CASES, Dataset, broken
from tests.margins.restated import kq_constraints, ov_constraints

EXAMPLE = CASES["free-20"]()
ROTATION = np.linalg.qr(np.random.default_rng(0).normal(size=(20, 25)).T)[0].T
CONFUSED = broken(replace(EXAMPLE, embedding=ROTATION), "no_confused_tokens")
SKEW = broken(CASES["example-1"](), "orthonormal")


@pytest.mark.parametrize("method", ["auto", "cvxpy"])
@pytest.mark.parametrize(
    "data", [replace(EXAMPLE, embedding=ROTATION), CONFUSED, SKEW], ids=["turned", "confused", "skew"]
)
def test_the_matrix_itself_meets_every_constraint(data: Dataset, method: Method) -> None:
    """(x_w - x_l)^T W q >= 1 from the embeddings, with the margins 1 that an optimum has somewhere."""
    E, index = data.embeddings, data.index
    solution = solve_kq(data, method=method).optimal()
    W = solution.matrix
    margins = [(E[index[w]] - E[index[x]]) @ W @ E[index[q]] for q, w, x in kq_constraints(data)]
    assert min(margins) == pytest.approx(1, abs=1e-9)
    assert solution.norm_squared == pytest.approx(np.sum(W**2), rel=1e-9, abs=0)
    assert solution.scores == pytest.approx(E @ W @ E.T, abs=1e-9)
    solution = solve_ov(data, method=method).optimal()
    W = solution.matrix
    margins = [(W @ E[index[x]])[index[n]] - (W @ E[index[x]])[index[v]] for x, n, v in ov_constraints(data)]
    assert min(margins) == pytest.approx(1, abs=1e-9)
    assert solution.norm_squared == pytest.approx(np.sum(W**2), rel=1e-9, abs=0)
    assert solution.scores == pytest.approx(W @ E.T, abs=1e-9)


@pytest.mark.parametrize(
    ("module", "name", "solve"), [(ov, "verify_ov", solve_ov), (exact.ExactScores, "verify", solve_kq)]
)
def test_no_exact_answer_goes_unchecked(
    monkeypatch: pytest.MonkeyPatch,
    module: ModuleType | type[exact.ExactScores],
    name: str,
    solve: Callable[..., MaxMargin],
) -> None:
    def refuse(*arguments: object) -> None:
        raise CertificateError("checked")

    monkeypatch.setattr(module, name, refuse)
    with pytest.raises(CertificateError, match="checked"):
        solve(EXAMPLE)
