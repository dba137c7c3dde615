"""Running a method on its worst function attains the proved value: in rationals on R, with scipy in any dimension."""

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from marginaudit.margins.worst_case.interpolant import Interpolant, interpolant
from marginaudit.margins.worst_case.verify import read_problem
from tests.margins.worst_case.envelopes import Envelope, coordinates, envelope
from tests.margins.worst_case.samples import BY_NAME, first_order, refuted, solved

SMOOTH = ["gradient-descent", "nesterov"]


def start_and_solution(certificate: dict[str, Any]) -> tuple[Any, Any]:
    """Coordinates of x_0, the first evaluation with a gradient, and of x*, the one without."""
    worst = certificate["worst_case"]["points"]
    rows = certificate["problem"]["functions"][0]["evaluations"]
    names = [next(row["x"] for row in rows if bool(row["g"]) is moving) for moving in (True, False)]
    return tuple([Fraction(c) for c in worst[next(iter(name))]] for name in names)  # type: ignore[return-value]


def performance(name: str, p: Any, f: Any, start: Any, solution: Any) -> Any:
    """What the theorem bounds, of a run on a function."""
    if name == "gradient-descent":
        return f.value(first_order.gradient_descent(start, f.gradient, p.gamma, p.n)) - f.value(solution)
    if name == "nesterov":
        return f.value(first_order.nesterov(start, f.gradient, p.L, p.n)) - f.value(solution)
    if name == "proximal-point":
        return f.value(first_order.proximal_point(start, f.proximal, p.gamma, p.n)) - f.value(solution)
    moved = first_order.gradient_descent(start, f.gradient, p.gamma, p.n) - solution
    return moved * moved * f.length if isinstance(f, Interpolant) else moved @ moved


@pytest.mark.parametrize("name", [*SMOOTH, "proximal-point", "gradient-descent-contraction"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_run_in_rationals_attains_the_bound(name: str, n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found, bound = solved(name, n)
    monkeypatch.setattr(first_order, "exact", lambda value: value)  # a run on rationals
    assert found.function is not None
    f = interpolant(read_problem(found.problem, "").functions[0], found.function)
    (start,), (solution,) = start_and_solution(found.certificate())
    p = SimpleNamespace(**BY_NAME[name].instance(n))
    assert performance(name, p, f, start, solution) == bound


@pytest.mark.parametrize("name", [*SMOOTH, "proximal-point", "gradient-descent-contraction"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_control_is_violated_by_a_run_in_scipy(name: str, n: int) -> None:
    found, bound, values = refuted(name, n)
    certificate = found.certificate()
    f = envelope(certificate)
    length = np.sqrt([float(Fraction(c)) for c in certificate["worst_case"]["squared_lengths"]])
    start, solution = (np.array(row, dtype=float) * length for row in start_and_solution(certificate))
    p = SimpleNamespace(**{key: value if key == "n" else float(value) for key, value in values.items()})
    assert (start - solution) @ (start - solution) <= 1 + 1e-9
    reached = performance(name, p, f, start, solution)
    assert reached > float(bound) * (1 + 5e-4)
    assert reached == pytest.approx(float(found.lower or 0), rel=1e-5, abs=0)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_controls_with_several_metrics_are_violated_by_runs_in_scipy(n: int) -> None:
    found, bound, values = refuted("nonconvex-gradient-descent", n)
    f = envelope(found.certificate())
    x, gamma = f.x[0], float(values["gamma"])
    start, norms = x, []
    for step in range(n + 1):
        gradient = f.gradient(x)
        norms.append(gradient @ gradient)
        x = x - gamma * gradient if step < n else x
    assert f.value(start) - f.value(x) <= 1 + 1e-6
    assert min(norms) > float(bound)
    found, bound, values = refuted("subgradient", n)
    f = envelope(found.certificate())
    solution = next(x for x, g in zip(f.x, f.g, strict=True) if not g.any())
    x = next(x for x, g in zip(f.x, f.g, strict=True) if g.any())
    assert (x - solution) @ (x - solution) <= float(values["R2"]) + 1e-6
    least = np.inf
    for _ in range(n + 1):
        least = min(least, f.value(x) - f.value(solution))
        x = x - float(values["gamma"]) * known_gradient(f, x)
    assert least > float(bound)


def known_gradient(f: Envelope, x: Any) -> Any:
    """The subgradient at a point of the certificate, which is one: no affine piece is above it."""
    k = int(np.argmin([abs(known - x).max() for known in f.x]))
    assert abs(f.x[k] - x).max() < 1e-6
    assert f.value(x) == pytest.approx(f.f[k], abs=1e-6)
    assert np.sqrt(f.g[k] @ f.g[k]) <= 2 + 1e-6
    return f.g[k]


@pytest.mark.parametrize("name", ["halpern", "krasnoselskii-mann", "krasnoselskii-mann-long"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_controls_of_operators_are_violated_by_runs_in_floats(name: str, n: int) -> None:
    found, bound, values = refuted(name, n)
    known = envelope(found.certificate())
    for i in range(len(known.x)):
        assert (np.sum((known.g - known.g[i]) ** 2, 1) <= np.sum((known.x - known.x[i]) ** 2, 1) + 1e-9).all()

    def operator(x: Any) -> Any:
        k = int(np.argmin([abs(row - x).max() for row in known.x]))
        assert abs(known.x[k] - x).max() < 1e-9
        return known.g[k]

    solution = next(x for x, g in zip(known.x, known.g, strict=True) if abs(x - g).max() < 1e-12)
    start = known.x[1]
    assert (start - solution) @ (start - solution) <= 1 + 1e-9
    arguments = (n,) if name == "halpern" else (float(values["gamma"]), n)
    method = first_order.halpern if name == "halpern" else first_order.krasnoselskii_mann
    end = method(start, operator, *arguments)
    assert np.sum((end - operator(end)) ** 2) / 4 > float(bound)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_controls_of_sums_are_violated_by_runs_in_scipy(n: int) -> None:
    found, bound, values = refuted("proximal-gradient", n)
    certificate = found.certificate()
    f, h, points = envelope(certificate), envelope(certificate, 1), coordinates(certificate)
    gamma, solution = float(values["gamma"]), f.x[0]
    assert abs(f.g[0] + h.g[0]).max() < 1e-9
    (name,) = certificate["problem"]["functions"][0]["evaluations"][1]["x"]
    start = points[name]
    assert (start - solution) @ (start - solution) <= 1 + 1e-9
    moved = first_order.proximal_gradient(start, f.gradient, h.proximal, gamma, n) - solution
    assert moved @ moved > float(bound) * (1 + 5e-4)
    found, bound, values = refuted("douglas-rachford", n)
    certificate = found.certificate()
    f, h, points = envelope(certificate), envelope(certificate, 1), coordinates(certificate)
    starts = [points[name] for name in ("p0", "p1")]
    assert np.sum((starts[0] - starts[1]) ** 2) <= 1 + 1e-9
    ends = [first_order.douglas_rachford(w, f.proximal, h.proximal, float(values["alpha"]), n) for w in starts]
    assert np.sum((ends[0] - ends[1]) ** 2) > float(bound) * (1 + 5e-4)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_control_of_the_monotone_operator_is_violated_by_a_run_in_floats(n: int) -> None:
    found, bound, values = refuted("monotone-proximal-point", n)
    known, alpha = envelope(found.certificate()), float(values["alpha"])
    for i in range(len(known.x)):
        assert (np.sum((known.g - known.g[i]) * (known.x - known.x[i]), 1) >= -1e-9).all()

    def resolvent(x: Any, _: float) -> Any:
        k = int(np.argmin([abs(y + alpha * g - x).max() for y, g in zip(known.x, known.g, strict=True)]))
        assert abs(known.x[k] + alpha * known.g[k] - x).max() < 1e-9
        return known.x[k]

    start, solution = known.x[1] + alpha * known.g[1], known.x[0]
    assert not known.g[0].any()
    assert (start - solution) @ (start - solution) <= 1 + 1e-9
    before = first_order.proximal_point(start, resolvent, alpha, n - 1)
    assert np.sum((resolvent(before, alpha) - before) ** 2) > float(bound)
