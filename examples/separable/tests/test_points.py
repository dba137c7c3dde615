"""Points: the hard-margin SVM of the built-in ones, assumptions, documents."""

import json
from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq, fmpq_mat
from separable.paper import PAPER
from separable.points import CASES, POINTS, Points
from separable.run import DescentConfig, DescentRun

from marginaudit.claims import Verdict
from marginaudit.margins.rational import combined, dot
from marginaudit.orders import InputError


@pytest.mark.parametrize("name", CASES)
def test_the_conditions_of_optimality_hold_exactly(name: str) -> None:
    data = CASES[name]()
    found = data.svm
    assert combined(found.alpha, data.exact) == found.w
    assert min(found.margins) == 1
    assert sum(found.alpha) == found.norm2
    for n, alpha in enumerate(found.alpha):
        assert (alpha > 0) == (n in found.support and n not in found.zero)
    for k, v in found.zero.items():
        assert dot(v, found.w) <= 0 < dot(v, data.exact[k])
        assert min(dot(v, data.exact[n]) for n in found.support) >= 0


def test_what_the_built_in_data_meet() -> None:
    met = {name: [a for a in POINTS.assumptions if POINTS.check(CASES[name](), a).holds] for name in CASES}
    assert met == {
        "two-points": ["separable", "generic", "spanned", "step"],
        "one-point": ["separable", "generic", "spanned", "step"],
        "zero-dual": ["separable", "spanned", "step"],
        "tie": ["separable", "generic", "spanned", "step"],
        "figure-1": ["separable", "generic", "spanned", "step"],
        "iris": ["separable", "generic", "step"],
    }
    assert (CASES["iris"]().N, CASES["iris"]().d) == (150, 5)
    assert fmpq_mat(CASES["iris"]().exact).rank() == 5


def test_decimals_are_taken_as_written() -> None:
    data = Points("x", ((0.1, 0.2), (0.3, -0.2)), (1, 1))
    assert data.exact[0] == (fmpq(1, 10), fmpq(1, 5))


@pytest.mark.parametrize(("least", "norm"), [(1e-160, 1e160), (5e-324, np.inf)])
def test_a_solution_beyond_float64_is_rational_or_null(least: float, norm: float) -> None:
    """w^ is (1/least, -1): its squared norm, or its norm too, is no float64."""
    data = Points("far", ((least, 0.0), (0.0, 1.0)), (1, -1))
    answer = PAPER.solve(data, "far.csv", "auto", ["svm"]).answer["svm"]
    whole = fmpq(1) / data.exact[0][0]
    assert (answer["norm_squared"], answer["norm_squared_exact"]) == (None, str(whole**2 + 1))
    assert answer["weights"] == [norm if np.isfinite(norm) else None, -1.0]
    config = DescentConfig(true_steps=1000)
    run = DescentRun(data, config)
    assert run.norm == pytest.approx(norm, rel=1e-15, abs=0)
    json.dumps([PAPER.facts(run), PAPER.train(data, config, lambda _: None, str, "far.csv").answer], allow_nan=False)
    verdicts = {claim.judge(run).verdict for claim in PAPER.claims}
    assert verdicts == {Verdict.HOLDS, Verdict.NOT_APPLICABLE, Verdict.INCONCLUSIVE}


def test_a_bar_holds_what_the_split_of_long_weights_rounds() -> None:
    """Of w^ = 1e160, beside which w is nothing: rho is -w^ log t."""
    data = Points("far", ((1e-160, 0.0), (0.0, 1.0)), (1, -1))
    path = DescentRun(data, DescentConfig(true_steps=1000)).path
    for s, rho, bar in zip(path.s.tolist(), path.rho[:, 0].tolist(), path.radius.tolist(), strict=True):
        assert abs(Fraction(rho) + 10**160 * Fraction(s)) <= Fraction(bar) + 1


def test_inseparable_data_have_a_farkas_witness() -> None:
    data = Points("x", ((1.0,), (1.0,)), (1, -1))
    witness = POINTS.check(data, "separable").witness
    assert witness == {"farkas": {"0": "1/2", "1": "1/2"}}
    assert not POINTS.check(data, "generic").holds


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"x": [[1], [2, 3]], "y": [1, 1]}, "here: /x/1: got 2 coordinates, expected 1, as in /x/0"),
        ({"x": [[1]], "y": [1, 1]}, "here: /y: got 2 labels, expected 1, one a point"),
        ({"x": [[1]], "y": [1], "start": [1, 2]}, "here: /start: got 2 coordinates, expected 1, as in /x/0"),
        ({"x": [[1]], "y": [2]}, "here: /y/0: got 2, expected"),
        ({"x": [[float("nan")]], "y": [1]}, "here: /x/0/0: got nan, expected a finite number"),
    ],
)
def test_bad_documents_are_refused(document: dict[str, object], said: str) -> None:
    with pytest.raises(InputError) as refused:
        POINTS.from_document(document, "here", "x")
    assert str(refused.value).startswith(said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a,b\n1,2\n", "here: line 1: got 'a,b', expected a header whose last column is y"),
        ("", "here: line 1: got '', expected a header whose last column is y"),
        ("a,y\n\n1,u\n", "here: line 3: got '1,u', expected 2 numbers"),
        ("a,y\n1e-400,1\n", "here: line 2: got '1e-400,1', expected 2 numbers"),
        ("a,b,y\n1,1\n", "here: line 2: got '1,1', expected 3 numbers"),
        ('a,y\n"1,1\n', "here: line 2: got no CSV"),
        ("a,y\n1,2\n", "here: /y/0: got 2.0, expected"),
    ],
)
def test_bad_tables_are_refused(text: str, said: str) -> None:
    assert POINTS.from_csv is not None
    with pytest.raises(InputError) as refused:
        POINTS.from_csv(text, "here", "x")
    assert str(refused.value).startswith(said)
