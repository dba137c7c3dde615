"""A recorded trajectory as a `Training`: the usual measurements, at the recorded weights.

The error of the weights depends on whether the run conforms. For a conforming run it is the distance from the exact
Algorithm 1: the distance of each record from our own steps from the previous one counts as rounding of that step
(`Iterate.direction` derives the growth of errors; in stage 1 of orthonormal tokens the exact weights are known). For
any other run it is the rounding of the record itself, u ||W||.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import TypeAlias

import numpy as np

from marginaudit.margins.ntp import MaxMargin
from marginaudit.orders.ntp import Dataset, check_assumption
from marginaudit.training.departure import StageComparison
from marginaudit.training.ntp.model.classes import sample_classes
from marginaudit.training.ntp.recorded.comparison import STEPS1
from marginaudit.training.ntp.recorded.trajectory import Trajectory
from marginaudit.training.ntp.records import Floats, Stage1, columns
from marginaudit.training.ntp.stage1 import (
    SPREAD_TOLERANCE,
    Stage1Result,
    first_of,
    first_stage,
    on_the_law,
    stage1_start,
)
from marginaudit.training.ntp.stage2 import Stage2Problem, Stage2Result, asymptotics, trained
from marginaudit.training.ntp.start import TrainingSettings
from marginaudit.training.ntp.steps.iterate import EPS, Iterate
from marginaudit.training.ntp.steps.loss import Loss, Row, rows
from marginaudit.training.ntp.steps.reduced import ReducedKQ
from marginaudit.training.ntp.steps.stepper import Stepper
from marginaudit.training.ntp.trained import Training
from marginaudit.training.recorded_weights import Recorded

MOST_NUMBERS = 20_000_000
"""Limit on the scores in the records of stage 2; of a longer trajectory log-spaced records are measured."""

FEWEST = 100
"""Fewest records measured."""

Entered: TypeAlias = tuple[Floats, float]
"""The weights in the space of a loss, and the norm of the rest."""

States: TypeAlias = Iterator[tuple[int, Iterate]]


def recorded_training(
    dataset: Dataset,
    trajectory: Trajectory,
    stages: Sequence[StageComparison],
    ov: MaxMargin | None,
    kq: MaxMargin | None,
) -> Training:
    """Both stages, measured at the recorded weights; an unrecorded stage has no records.

    Parameters
    ----------
    stages : sequence of StageComparison
        Comparison of the stages with Algorithm 1, with step sizes. A stage with a departure or undecided records is
        measured at its weights alone.
    ov, kq : MaxMargin or None
        W*_ov and W*_kq.
    """
    departs = {one.stage for one in stages if not one.premise_met}
    departs |= {1, 2} if trajectory.head != "trained" else set()
    orthonormal = check_assumption(dataset, "orthonormal").holds
    run = TrainingSettings(dataset, normalised=True, orthonormal=orthonormal, progress=None)
    eta0, eta = trajectory.step_sizes(dataset)
    first, second = trajectory.stage1, trajectory.stage2
    T = STEPS1 if first is None else int(first.step[-1])
    own = None if 1 in departs else first_stage(run, eta0, T, (), ov)
    measured = own if first is None else _stage1(run, first, eta0, ov, conforms=own is not None)
    base = own or measured
    if base is None or measured is None:
        raise TypeError("departure of a stage that is not recorded")
    if second is None:
        found = trained(run, base, eta, (), kq, lambda problem: Stage2Result([], problem.iterate))
    else:
        found = _stage2(run, second, base, eta, kq, conforms=not departs)
    return replace(
        found,
        stage1=Stage1(**columns(Stage1, measured.rows if trajectory.head == "trained" else [])),
        B=measured.B,
        W_ov=measured.weights,
        margin=measured.margin,
        margin_spread=measured.spread,
        margin_error=measured.margin_error,
    )


def _stage1(
    run: TrainingSettings, record: Recorded, eta0: float, ov: MaxMargin | None, *, conforms: bool
) -> Stage1Result:
    E = run.dataset.embeddings

    def enter(W: Floats) -> Entered:
        B = W @ E.T
        return B, float(np.linalg.norm(W - B @ E))

    kept = _kept(record, 1)
    if run.orthonormal and not conforms and not _inside(record, kept, enter):
        run = run._replace(orthonormal=False)
    entered = enter if run.orthonormal else _as_it_is
    loss, iterate, _ = stage1_start(run, eta0, ov)
    if not conforms:
        states = _as_recorded(iterate, record, kept, entered)
    elif run.orthonormal and run.dataset.V > 1:
        states = _states_by_law(iterate, record, kept, entered, lambda t: on_the_law(iterate, loss.answer, t))
    else:
        states = _states_by_steps(Stepper(loss), iterate, record, kept, entered)
    found, last = _rows(loss, states, iterate)
    first = first_of(run, loss, last, found, None)
    one = np.sqrt(2) * last.state_error * float(np.linalg.norm(E, 2)) + first.margin_error
    common = first.margin >= 0 and first.spread <= SPREAD_TOLERANCE * first.margin + one
    return first._replace(common=common, margin_error=one)  # bounds each margin and their mean, hence the spread


def _stage2(
    run: TrainingSettings, record: Recorded, first: Stage1Result, eta: float, kq: MaxMargin | None, *, conforms: bool
) -> Training:
    classes, V = sample_classes(run.dataset), run.dataset.V

    def enter(W: Floats) -> Entered:
        """x^T W q of the pairs that occur, of orthonormal tokens."""
        E, at = run.dataset.embeddings, (classes.key, classes.pair_query)
        S = E @ W @ E.T
        inside = np.zeros_like(S)
        inside[at] = S[at]
        return S[at], float(np.linalg.norm(W - E.T @ inside @ E))

    kept = _kept(record, len(classes.key) if run.orthonormal else V * V)
    if run.orthonormal and not conforms and not _inside(record, kept, enter):
        run, kept = run._replace(orthonormal=False), _kept(record, V * V)
    entered = enter if run.orthonormal else _as_it_is

    def followed(problem: Stage2Problem) -> Stage2Result:
        loss, exact, iterate = problem.loss, problem.exact, problem.iterate
        if conforms:
            states = _states_by_steps(problem.stepper, iterate, record, kept, entered)
        else:
            states = _as_recorded(iterate, record, kept, entered)
        found, last = _rows(loss, states, iterate)
        if exact is None or not isinstance(loss, ReducedKQ):
            return Stage2Result(found, last)
        return Stage2Result(found, last, asymptotics=asymptotics(run.dataset, loss, exact, None))

    return trained(run, first, eta, record.step[kept].tolist(), kq, followed)


def _as_it_is(W: Floats) -> Entered:
    return W, 0.0


def _kept(record: Recorded, numbers: int) -> list[int]:
    """Records to measure: all, or log-spaced ones if records are large."""
    count, most = len(record.step), max(FEWEST, MOST_NUMBERS // numbers)
    if count <= most:
        return list(range(count))
    return sorted({*(np.rint(np.geomspace(1, count, most)).astype(int) - 1).tolist()})


def _weights(record: Recorded, kept: Sequence[int]) -> Iterator[tuple[int, Floats]]:
    for i in kept:
        yield int(record.step[i]), np.asarray(record.weights[i], dtype=np.float64)


def _inside(record: Recorded, kept: Sequence[int], enter: Callable[[Floats], Entered]) -> bool:
    """Whether all weights lie in a space, up to the rounding of W E^T in entries outside of it."""
    share = (len(record.weights[0]) + 8) * (record.roundoff + EPS)
    return all(
        enter(W)[1] <= share * np.linalg.norm(W) + np.linalg.norm(record.excess(i))
        for i, (_, W) in zip(kept, _weights(record, kept), strict=True)
    )


def _as_recorded(iterate: Iterate, record: Recorded, kept: Sequence[int], enter: Callable[[Floats], Entered]) -> States:
    """States of a run that is not Algorithm 1, with their own rounding; rho is W, as the steps are unknown."""
    for i, (t, W) in zip(kept, _weights(record, kept), strict=True):
        inside, outside = enter(W)
        found = iterate.placed(0, inside)
        written = (record.roundoff + 8 * EPS) * np.linalg.norm(W) + np.linalg.norm(record.excess(i))
        found.local_error = float(np.hypot(outside, written))
        yield t, found


def _states_by_law(
    iterate: Iterate,
    record: Recorded,
    kept: Sequence[int],
    enter: Callable[[Floats], Entered],
    law: Callable[[int], Floats],
) -> States:
    """States of a run on a known curve, with their distance from it as error; ``law`` is rho on it."""
    for t, W in _weights(record, kept):
        found, outside = _placed(iterate, t, W, enter)
        found.local_error = float(np.hypot(np.linalg.norm(found.rest - law(t)), outside)) + _rounding(found, W)
        yield t, found


def _states_by_steps(
    stepper: Stepper, iterate: Iterate, record: Recorded, kept: Sequence[int], enter: Callable[[Floats], Entered]
) -> States:
    """States of a conforming run, with error bars from the distance of its steps to ours and its growth."""
    now = iterate
    for t, W in _weights(record, kept):
        if now.moves < t:
            stepper.advance(now, t, lambda _: None)
        found, outside = _placed(iterate, now.moves, W, enter)  # our steps are fewer where the gradient is 0
        missed = float(np.hypot(np.linalg.norm(found.weights - now.weights), outside))
        found.local_error = now.local_error + missed + _rounding(found, W)
        found.log_growth, found.inherited_error, found.last = now.log_growth, now.inherited_error, now.last
        yield t, found
        now = found.copied()


def _placed(iterate: Iterate, t: int, W: Floats, enter: Callable[[Floats], Entered]) -> tuple[Iterate, float]:
    """W as s What + rho with s = t lr."""
    inside, outside = enter(W)
    return iterate.placed(t, inside - t * iterate.along_step * iterate.reference), outside


def _rounding(iterate: Iterate, W: Floats) -> float:
    """Rounding error of W - s What in float64."""
    return 8 * EPS * (float(np.linalg.norm(W)) + iterate.along) if iterate.moves else 0.0


def _rows(loss: Loss, states: States, start: Iterate) -> tuple[list[Row], Iterate]:
    """The records of the states, and the last state."""
    found: list[Row] = []
    last = start
    while some := list(islice(states, loss.together)):
        found += rows(loss, some)
        last = some[-1][1]
    return found, last
