"""Stage 2 far out: gradient flow in place of steps, from a late state on, with a bound on the difference.

The step of normalised descent W + eta v(W), v the unit vector against the gradient, has a Lipschitz constant of
at most 1 + eta |dv/ds| where the loss is convex (late in training it is) and eta times its largest curvature is
below 2 gradient norms; dv/ds is v's derivative along the flow dW/ds = v. In the time eta the flow leaves a step
by at most eta/2 times the arc that v travels. So after the arc L, steps and flow from one state differ by at
most B = (eta/2) L e^L, to leading order in eta.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import scipy  # its subpackages load when first used
from numpy.typing import NDArray

from marginaudit.margins import CertificateError
from marginaudit.training.ntp.far.late_field import LateField
from marginaudit.training.ntp.model.edges import Floats, Indices, MergedEdges
from marginaudit.training.ntp.model.reference import ExactReference
from marginaudit.training.ntp.steps.iterate import EPS

RTOL = 1e-7
ATOL = 1e-9
COARSER = 10.0
"""Ratio of the second solution's tolerances to the first's."""

UNKNOWN = 1.0
"""Least error bound of a start of which no logit is known to 1: both solutions take `COARSER` tolerances and are
interpolated."""

MOST_PAIRS_STOPPED_AT = 1_000
"""Pairs up to which a step of the first solution ends at each row; with more, its rows are interpolated."""

HIGHER_ORDERS = 0.01
"""Relative addition to the bound for higher orders of eta, and for chords in place of arcs (below 1e-3 each)."""


class FlowFailure(RuntimeError):  # noqa: N818
    """The flow cannot be computed or trusted, for the reason in the message."""


@dataclass(frozen=True, eq=False)
class Flow:
    """States on the flow; every array except ``rest`` has the shape (records,).

    Attributes
    ----------
    step : integer array
        t.
    rest : (records, pairs) array
        rho: W = eta t What + rho.
    one_minus_cos : array
        1 - cos(W, W*).
    error : array
        Bound on the relative difference from true steps of ``one_minus_cos``: ((1 + b/|u|) / (1 - b/<W, What>))^2 - 1,
        with b the sum of the four distances below and u = W - <W, What> What; beside |u|, ``integration`` counts by its
        part across What alone. Infinite where u = 0.
    distance_error : array
        Bound on the distance of W/||W|| from that of true steps: the distance, no less, of their projections from the
        origin onto the plane <., What> = 1, (a + |u| b / <W, What>)/(<W, What> - b), with a equal to b without the part
        of ``integration`` along What; 2 unless b < <W, What>.
    discretisation : array
        Bound on the distance of W from true steps with the same start: B or the bound of `whole_flow`, times
        1 + `HIGHER_ORDERS`.
    inherited : array
        Bound on the propagated error of the start: e^L times it (in `whole_flow`, e^G times it).
    integration : array
        Twice the largest distance so far to a second solution with 10 times the tolerances and twice as many rows to
        stop at: the second one's error where tolerances set the solver's steps, this one's where rows do. Where this
        one's rows are interpolated, the second one stops at each row once: the distance has the interpolation's error.
        From an `UNKNOWN` start, both are interpolated, and ``inherited`` is far larger.
        Infinite if ``inherited`` alone reaches <W, What> at every step, so that no second solution is needed.
    rounding : array
        EPS (1 + ||rho||) for each step of the solver, and 64 times that for the potentials and coordinates; in
        `whole_flow` also the propagated errors of the field, and the tolerance of a step.
    arc : array
        L, as a sum of chords between the solver's steps.
    """

    step: NDArray[np.int64]
    rest: Floats
    one_minus_cos: Floats
    error: Floats
    distance_error: Floats
    discretisation: Floats
    inherited: Floats
    integration: Floats
    rounding: Floats
    arc: Floats


def fast_forward(
    merged: MergedEdges,
    reference: ExactReference,
    eta: float,
    t0: int,
    rest0: Floats,
    steps: Sequence[int] | Indices,
    *,
    start_error: float = 0.0,
) -> Flow:
    """Follow the flow from W = eta t0 What + rest0 to each of the steps.

    The caller guarantees that at t0 attention is one-hot to double precision (and so later): in every sentence, the
    attention of all other tokens, and A times it, is below EPS. Constraints with positive slack may still carry flux.
    Each row is the end of a solver step, up to `MOST_PAIRS_STOPPED_AT`; with more pairs, or if the error of the start
    is `UNKNOWN`, rows are interpolated.

    Parameters
    ----------
    merged : MergedEdges
    reference : ExactReference
    eta : float
        Length of a step.
    t0 : int
        At least 1.
    rest0 : (pairs,) array
        rho after t0 steps.
    steps : increasing integers
        Steps to record, at least t0; repeats are allowed.
    start_error : float
        Bound on the error of rest0.

    Raises
    ------
    FlowFailure
        Steps are too long for descent to follow the flow, or a solver fails.
    """
    step = np.asarray(steps, dtype=np.int64)
    field = _late_field(merged, reference)
    s0, s = eta * float(t0), eta * step.astype(np.float64)
    goals = np.log(s)
    if start_error >= UNKNOWN:
        path = integrated(field, eta, s0, rest0, goals, COARSER, interpolated=True)
        lost = (start_error * np.exp(path.log_growth) >= s + path.along).all()
        coarse = None if lost else integrated(field, eta, s0, rest0, goals, COARSER**2, interpolated=True)
        return with_bounds(field.What, eta, step, path, coarse, start_error)
    interpolated = len(rest0) > MOST_PAIRS_STOPPED_AT
    path = integrated(field, eta, s0, rest0, goals, 1.0, interpolated=interpolated)
    if interpolated:
        return with_bounds(field.What, eta, step, path, integrated(field, eta, s0, rest0, goals, COARSER), start_error)
    halves = (np.concatenate([[np.log(s0)], goals[:-1]])[: len(goals)] + goals) / 2
    coarse = integrated(field, eta, s0, rest0, np.stack([halves, goals], axis=1).ravel(), COARSER)

    return with_bounds(field.What, eta, step, path, coarse.at_every_second(), start_error)


def with_bounds(
    What: Floats, eta: float, step: NDArray[np.int64], path: "FlowPath", coarse: "FlowPath | None", start_error: float
) -> Flow:
    """The flow with its error bounds, from its path, and that of the second solution, if any, at the same steps."""
    s = eta * step.astype(np.float64)
    rest = path.across + path.along[:, None] * What
    u, c = np.linalg.norm(path.across, axis=1), s + path.along
    R = np.hypot(c, u)
    with np.errstate(over="ignore"):
        growth = np.exp(path.log_growth)
    discretisation = (1 + HIGHER_ORDERS) * path.distance
    inherited = start_error * growth
    rounding = path.rounding + EPS * (path.solver_steps + 64) * (1 + np.linalg.norm(rest, axis=1))
    if coarse is None:
        integration_across = integration = np.full(len(step), np.inf)
    else:
        integration_across = 2 * np.maximum.accumulate(np.linalg.norm(path.across - coarse.across, axis=1))
        integration = np.hypot(integration_across, 2 * np.maximum.accumulate(np.abs(path.along - coarse.along)))
    others = discretisation + inherited + rounding
    b = others + integration
    with np.errstate(divide="ignore", invalid="ignore"):
        error = ((1 + (others + integration_across) / u) / (1 - b / c)) ** 2 - 1 + 16 * EPS
        distance_error = (others + integration_across + u * b / c) / (c - b)
    return Flow(
        step=step,
        rest=rest,
        one_minus_cos=u**2 / (R * (R + c)),
        error=np.where((u > 0) & (b < c), error, np.inf),
        distance_error=np.where(b < c, distance_error, 2.0),
        discretisation=discretisation,
        inherited=inherited,
        integration=integration,
        rounding=rounding,
        arc=path.arc,
    )


def _late_field(merged: MergedEdges, reference: ExactReference) -> LateField:
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # non-finite numbers raise below
            return LateField(merged, reference)
    except CertificateError:
        raise
    except RuntimeError as failure:
        raise FlowFailure(f"potentials of the support: {failure}") from failure


@dataclass(frozen=True, eq=False)
class FlowPath:
    """States at the goals.

    Attributes
    ----------
    across : (goals, pairs) array
        W off What.
    along : (goals,) array
        <rho, What>.
    arc, distance, rounding, log_growth : (goals,) arrays
        The arc, the bounds on the distance from true steps with the same start (to leading order in eta) and on the
        field's propagated errors, and the logarithm of the growth of errors, so far.
    solver_steps : (goals,) integer array
    """

    across: Floats
    along: Floats
    arc: Floats
    distance: Floats
    rounding: Floats
    log_growth: Floats
    solver_steps: Indices

    def at_every_second(self) -> "FlowPath":
        """The path at every second goal, the last one among them."""
        return FlowPath(*(getattr(self, field.name)[1::2] for field in fields(self)))


def integrated(
    field: LateField, eta: float, s0: float, rest0: Floats, goals: Floats, looser: float, *, interpolated: bool = False
) -> FlowPath:
    """Integrate the flow in log s; the solver ends a step at each of the values, or interpolates between its steps."""
    path: list[tuple[Floats, float, float, int]] = []
    arc, count = 0.0, 0
    state = field.enter(s0, rest0)
    direction = field.unit_gradient(s0, state)
    _check_step_size(field, eta, s0, state)
    start, end = np.log(s0), np.log(s0) if len(goals) == 0 else goals[-1]
    unused = scipy.sparse.csc_array((len(state), len(state)))
    solver: Any = scipy.integrate.Radau(
        field.speed, start, state, end, rtol=RTOL * looser, atol=ATOL * looser, jac=unused
    )
    # it solves the equations of the matrices mu I - J by `lu` and `solve_lu`
    solver.I, solver.J = 1.0, field.derivative(start, state)
    solver.jac = lambda log_s, at, _speed: field.derivative(log_s, at)
    solver.lu, solver.solve_lu = lambda solution_of: solution_of, lambda solution_of, right: solution_of(right)
    for goal in goals.tolist():
        while solver.t < goal:
            solver.t_bound, solver.status = end if interpolated else goal, "running"
            with np.errstate(over="ignore", invalid="ignore"):  # the solver then takes a shorter step
                problem = solver.step()
            if problem is not None:
                raise FlowFailure(f"Radau stopped at t = {np.exp(solver.t) / eta:.3e}: {problem}")
            count += 1
            s = float(np.exp(solver.t))
            _check_step_size(field, eta, s, solver.y)
            last, direction = direction, field.unit_gradient(s, solver.y)
            arc += float(np.linalg.norm(direction - last))
        state = solver.y if solver.t == goal else solver.dense_output()(goal)
        path.append((field.across(state), field.along(state), arc, count))
    across, along, arcs, counts = zip(*path, strict=True) if path else ([], [], [], [])
    return FlowPath(
        np.array(across).reshape(len(path), len(rest0)),
        np.array(along),
        np.array(arcs),
        eta / 2 * np.array(arcs) * np.exp(arcs),
        np.zeros(len(path)),
        np.array(arcs),
        np.array(counts, dtype=np.int64),
    )


def _check_step_size(field: LateField, eta: float, s: float, state: Floats) -> None:
    """Raise if steps overshoot: above 2, descent oscillates about the flow."""
    curvature = field.largest_curvature(s, state)
    if not eta * curvature < 2:
        raise FlowFailure(
            f"steps of length {eta:.3g} may not follow the flow: the curvature reaches {curvature:.3g} gradient norms"
        )
