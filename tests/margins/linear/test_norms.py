"""Least norms by cvxpy: intervals that hold a second computation's value, whatever the solver returns."""

import copy
from typing import Any

import numpy as np
import pytest
import scipy.optimize
from flint import fmpq

from marginaudit.margins import CertificateError, HardMargin, SolverFailure, exact_hard_margin
from marginaudit.margins.linear import numerical
from marginaudit.margins.linear.documents import statement
from marginaudit.margins.linear.norms import above, below, evidence, exact
from marginaudit.margins.linear.numerical import Bounded, attempted, solve_numerically
from marginaudit.margins.linear.problem import Norm
from marginaudit.margins.linear.verify import DUAL, Refused, at_most
from marginaudit.margins.linear.verify import rational as parsed
from marginaudit.margins.rational import dot, written
from marginaudit.orders.arrays import Floats

NORMS: tuple[Norm, ...] = ("euclidean", "largest-entry", "nuclear", "spectral")


def problem(seed: int, norm: Norm, equalities: int = 2) -> HardMargin:
    random = np.random.default_rng(seed)
    rows, equal = (written(random.integers(-3, 4, (count, 12)).astype(float)) for count in (5, equalities))
    values = [fmpq(value) for value in random.integers(-2, 3, equalities).tolist()]
    return HardMargin(rows, equal, values, norm=norm, shape=(3, 4))


def bounded(one: HardMargin) -> Bounded:
    found = solve_numerically(one)
    assert isinstance(found, Bounded)
    assert found.lower <= found.upper
    assert found.upper - found.lower < 1e-6 * found.upper
    assert statement(one, found.document, "here").startswith(
        f"the least {one.norm} norm is from {found.lower:.17g} to "
    )
    return found


def norm_of(one: HardMargin, w: Floats) -> float:
    """The norm in float64, by NumPy."""
    W = w.reshape(one.shape) if one.shape is not None else w
    sizes = {"euclidean": None, "largest-entry": np.inf} | {"nuclear": "nuc", "spectral": 2}
    return float(np.linalg.norm(w if one.norm in ("euclidean", "largest-entry") else W, sizes[one.norm]))  # type: ignore[call-overload]


@pytest.mark.parametrize("norm", NORMS)
def test_the_weights_meet_the_rows_and_have_the_norm(norm: Norm) -> None:
    for seed in range(3):
        one = problem(seed, norm)
        found = bounded(one)
        assert norm_of(one, found.w) == pytest.approx(found.upper, rel=1e-9, abs=0)
        short = [1 - dot(row, exact(found.w)) for row in one.rows]
        off = [abs(dot(row, exact(found.w)) - c) for row, c in zip(one.equalities, one.targets, strict=True)]
        assert 0 <= max([fmpq(0), *short, *off]) <= exact([found.max_violation])[0] < fmpq(1, 10**12)


def test_the_euclidean_interval_holds_the_exact_optimum() -> None:
    for seed in range(6):
        one = problem(seed, "euclidean", equalities=seed % 3)
        found, optimum = bounded(one), exact_hard_margin(one.rows, one.equalities, one.values)
        lower, upper = exact([found.lower, found.upper])
        assert lower**2 <= optimum.norm2 <= upper**2
        assert exact([found.gap(squared=True)])[0] >= upper**2 - lower**2
        directions = [w / np.linalg.norm(w) for w in (found.w, np.array(optimum.w, dtype=float))]
        assert np.linalg.norm(directions[0] - directions[1]) <= found.direction_radius < 1e-4


def test_the_interval_of_the_largest_entry_holds_the_value_of_a_linear_program() -> None:
    """Of max |w_i| = s: w_i <= s and -w_i <= s, solved by HiGHS."""
    for seed in range(6):
        one = problem(seed, "largest-entry", equalities=seed % 3)
        A, E = (np.array([[float(v) for v in row] for row in of]).reshape(-1, 12) for of in (one.rows, one.equalities))
        sides = np.vstack([np.hstack([sign * np.eye(12), -np.ones((12, 1))]) for sign in (1, -1)])
        upper = np.vstack([np.hstack([-A, np.zeros((5, 1))]), sides])
        equal = np.hstack([E, np.zeros((len(E), 1))])
        b = np.append(-np.ones(5), np.zeros(24))
        values = [float(value) for value in one.targets]
        solved = scipy.optimize.linprog(np.eye(13)[-1], upper, b, equal, values, bounds=(None, None))
        found = bounded(one)
        assert solved.fun is not None
        assert found.lower * (1 - 1e-9) <= solved.fun <= found.upper * (1 + 1e-9)


@pytest.mark.parametrize("norm", ["nuclear", "spectral"])
def test_the_least_norm_under_one_row_is_one_over_the_dual_norm(norm: Norm) -> None:
    random = np.random.default_rng(0)
    for shape in ((3, 4), (4, 3), (1, 5), (3, 3)):
        A = random.integers(-4, 5, shape).astype(float)
        one = HardMargin(written([A.ravel()]), norm=norm, shape=shape)
        found, expected = bounded(one), 1 / np.linalg.norm(A, 2 if norm == "nuclear" else "nuc")
        assert found.lower * (1 - 1e-12) <= expected <= found.upper * (1 + 1e-12)


@pytest.mark.parametrize("norm", ["nuclear", "spectral"])
def test_the_interval_of_matrices_holds_the_value_of_another_solver(norm: Norm) -> None:
    """SCS, a first-order method, to six digits, through the norm's own definition as a semidefinite program."""
    import cvxpy as cp

    for seed in range(2):
        one, found = problem(seed, norm), bounded(problem(seed, norm))
        block = cp.Variable((7, 7), PSD=True)
        w = cp.vec(block[:3, 3:], order="C")
        A, E = (np.array([[float(v) for v in row] for row in of]) for of in (one.rows, one.equalities))
        rows = [A @ w >= 1, E @ w == [float(value) for value in one.targets]]
        size = cp.Variable()
        if norm == "nuclear":
            objective: Any = cp.trace(block) / 2
        else:
            objective, rows = size, [*rows, block[:3, :3] == size * np.eye(3), block[3:, 3:] == size * np.eye(4)]
        value = cp.Problem(cp.Minimize(objective), rows).solve(solver="SCS", eps=1e-8, max_iters=100_000)
        assert found.lower * (1 - 1e-5) <= value <= found.upper * (1 + 1e-5)


@pytest.mark.parametrize("norm", NORMS)
def test_the_interval_is_true_whatever_the_solver_returns(norm: Norm, monkeypatch: pytest.MonkeyPatch) -> None:
    one = problem(0, norm)
    truth, (w, y, _) = bounded(one), attempted(one)
    assert w is not None
    assert y is not None
    random = np.random.default_rng(0)
    for noise in (1e-9, 1e-7, 1e-6):
        false = (w + noise * random.normal(size=12), y + noise * random.normal(size=7), "optimal")
        monkeypatch.setattr(numerical, "attempted", lambda _, false=false: false)
        found = solve_numerically(one)
        assert isinstance(found, Bounded)
        assert found.lower <= truth.upper
        assert truth.lower <= found.upper
        assert statement(one, found.document, "here")
        assert found.max_violation < 1e-12
    useless: list[Any] = [(w, np.zeros(7), "optimal"), (None, None, "optimal")]
    if norm != "euclidean":  # in which the feasible point nearest to 0 is the optimum
        useless.append((np.zeros(12), y, "optimal"))
    for given in useless:
        monkeypatch.setattr(numerical, "attempted", lambda _, given=given: given)
        with pytest.raises(SolverFailure, match="CLARABEL ended with status 'optimal': "):
            solve_numerically(one)


@pytest.mark.parametrize("norm", NORMS)
def test_infeasible_rows_are_refuted_exactly_in_any_norm(norm: Norm) -> None:
    rows = written([[1, 0, 0, 0], [-2, 0, 0, 0]])
    assert solve_numerically(HardMargin(rows, norm=norm, shape=(2, 2))) == (fmpq(2, 3), fmpq(1, 3))
    one = HardMargin(rows[:1], written([[0, 1, 0, 0], [0, 2, 0, 0]]), (fmpq(1), fmpq(1)), norm=norm, shape=(2, 2))
    y = solve_numerically(one)
    assert isinstance(y, tuple)
    assert y[0] == 0
    assert y[1] + 2 * y[2] == 0
    assert y[1] + y[2] == 1
    assert solve_numerically(HardMargin(written([[0, 0]]), norm="largest-entry")) == (fmpq(1),)


@pytest.mark.parametrize("norm", NORMS)
def test_rows_of_any_scale_are_solved(norm: Norm) -> None:
    for scale in (1e-60, 1e60):
        rows = written([[scale, 0, 0, 0], [0, scale, scale / 2, 0]])
        found, plain = (
            bounded(HardMargin(one, norm=norm, shape=(2, 2))) for one in (rows, written([[1, 0, 0, 0], [0, 1, 0.5, 0]]))
        )
        assert found.upper * scale == pytest.approx(plain.upper, rel=1e-6, abs=0)


@pytest.mark.parametrize("norm", NORMS)
def test_a_lie_about_the_bounds_is_refused(norm: Norm) -> None:
    one = problem(1, norm)
    document = bounded(one).document
    lower, upper = (fmpq(*map(int, document[key].split("/"))) for key in ("lower", "upper"))
    size = fmpq(*map(int, document["norm_of_sum"]["bound"].split("/")))

    def lie(key: str, value: Any, of: str = "") -> str:
        false = copy.deepcopy(document)
        (false[of] if of else false)[key] = value
        with pytest.raises(CertificateError) as refused:
            statement(one, false, "here")
        return str(refused.value)

    assert lie("lower", str(lower * fmpq(1001, 1000))).startswith("the lower bound is ")
    assert lie("upper", str(upper * fmpq(999, 1000))).startswith("|w| is at most ")
    for of, dual, bound in (("norm_of_weights", norm, upper), ("norm_of_sum", DUAL[norm], size)):
        assert lie("bound", str(bound * fmpq(999, 1000)), of).startswith(f"{of}: the {dual} norm is not proved")
        assert lie("bound", str(-bound), of).startswith(f"{of}: the {dual} norm is not proved")
    n = next(key for key in document["multipliers"] if int(key) < 5)
    assert lie("multipliers", document["multipliers"] | {n: "-1/1"}).startswith(
        f"the multiplier of row {n} is negative"
    )
    assert "has the margin" in lie("weights", ["0/1"] * 12)


@pytest.mark.parametrize("norm", ["euclidean", "largest-entry", "sum", "nuclear", "spectral"])
def test_norms_are_proved_from_above_and_closely(norm: str) -> None:
    random = np.random.default_rng(0)
    sizes: dict[str, Any] = {"nuclear": "nuc", "spectral": 2, "euclidean": "fro"}
    for shape in ((3, 5), (5, 3), (4, 4), (1, 6)):
        for M in (
            random.normal(size=shape),
            random.normal(size=(shape[0], 1)) @ random.normal(size=(1, shape[1])),
            np.ones(shape),
        ):
            if norm in sizes:
                expected = float(np.linalg.norm(M, sizes[norm]))
            else:
                expected = float(abs(M).max() if norm == "largest-entry" else abs(M).sum())
            flat = [parsed(f"{v.p}/{v.q}", "") for v in exact(M.ravel())]
            found, bound = evidence(norm, exact(M.ravel()), shape)
            assert at_most(norm, flat, shape, found, "here") == parsed(found["bound"], "")
            assert expected * (1 - 1e-14) <= bound <= expected * (1 + 1e-11)
    zero, bound = evidence(norm, (fmpq(0),) * 4, (2, 2))
    assert bound == 0
    assert at_most(norm, [parsed("0/1", "")] * 4, (2, 2), zero, "here") == 0


def test_factors_of_other_norms_prove_nothing() -> None:
    M = [parsed(text, "") for text in ("3/1", "0/1", "0/1", "4/1")]
    for false in ([["4/1", "0/1"], ["0/1", "0/1"]], [["0/1", "3/1"], ["3/1", "0/1"]]):
        with pytest.raises(Refused, match="the spectral norm is not proved"):
            at_most("spectral", M, (2, 2), {"bound": "4/1", "root": false}, "here")
    right = {"bound": "5/1", "root": [["4/1", "0/1"], ["0/1", "3/1"]]}
    assert at_most("spectral", M, (2, 2), right, "here") == 5


def test_bounds_are_rounded_outwards() -> None:
    third = fmpq(1, 3)
    assert exact([below(third)])[0] < third < exact([above(third)])[0]
    assert above(fmpq(1, 2)) == below(fmpq(1, 2)) == 0.5
    with pytest.raises(SolverFailure, match="the sum norm of a solution is beyond float64"):
        evidence("sum", (fmpq(10) ** 400,), None)
