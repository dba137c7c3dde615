"""Reach of stage 2: true steps, and from where on the flow takes their place."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from marginaudit.margins import CertificateError
from marginaudit.margins.ntp import Exact, Infeasible, MaxMargin
from marginaudit.orders.ntp import Dataset, check_assumption
from marginaudit.training.ntp.model.classes import sample_classes
from marginaudit.training.ntp.model.edges import no_reduction
from marginaudit.training.ntp.model.reference import ExactReference
from marginaudit.training.ntp.records import Progress
from marginaudit.training.ntp.steps.descent import Descent, descend
from marginaudit.training.ntp.steps.iterate import Floats, Iterate
from marginaudit.training.ntp.steps.kq import class_log_weights
from marginaudit.training.ntp.steps.loss import Row, row, rows_at
from marginaudit.training.ntp.steps.reduced import ReducedKQ
from marginaudit.training.ntp.steps.underflow import ONE_HOT

if TYPE_CHECKING:
    from marginaudit.training.ntp.far.flow import Flow
    from marginaudit.training.ntp.far.law import Law

SWITCH = 10**5
"""Least number of true steps before a fast-forward."""

LATE_SWITCH = 10**6
"""The same where a later start makes the fast-forward better: while the gradient turns, which with a tight constraint
without a multiplier has no end, or while the flow fails. Elsewhere more steps only add rounding."""

SETTLED = 1e-9
"""A state settles the asymptotic law if it leaves open at most this part of the distance from W*'s line."""

MOST_TRUE_STEPS = 10**7
"""True steps of a stage, at most, where it has no closed form or fast-forward, or attention is not yet one-hot."""


def no_closed_form(dataset: Dataset, optimizer: str = "ngd") -> str | None:
    """Why stage 1 can be followed by true steps only, or None.

    Of one token W_ov stays 0, which needs no closed form.

    Parameters
    ----------
    dataset : Dataset
    optimizer : "ngd" or "gd"
    """
    if dataset.V == 1:
        return None
    if optimizer != "ngd":
        return "plain gradient descent has none"
    return None if check_assumption(dataset, "orthonormal").holds else "the embeddings are not orthonormal"


def no_fast_forward(dataset: Dataset, solution: MaxMargin | None, optimizer: str = "ngd") -> str | None:
    """Why stage 2 cannot be followed beyond its true steps, or None.

    Without a relation W_kq stays 0, which needs no fast-forward.

    Parameters
    ----------
    dataset : Dataset
    solution : MaxMargin or None
        W*_kq.
    optimizer : "ngd" or "gd"

    Raises
    ------
    CollocationError
        n is not a function on the whole vocabulary.
    """
    unreduced = no_reduction(sample_classes(dataset))
    if unreduced is None and not len(dataset.relations):
        return None
    if optimizer != "ngd":
        return "plain gradient descent has none"
    if not check_assumption(dataset, "orthonormal").holds:
        return "the embeddings are not orthonormal"
    if solution is None:
        return "W*_kq is not known"
    if isinstance(solution, Infeasible):
        return "W*_kq does not exist"
    if not isinstance(solution, Exact):
        return "W*_kq is not known exactly"
    return unreduced


class Followed(NamedTuple):
    """Stage 2 to its last step.

    Attributes
    ----------
    rows : list of records
    last : Iterate
        The state at the last step that was reached.
    law : Law or None
        The asymptotic law, where the run reached a state that settles it.
    stopped : str
        Why that is not the last step that was asked for; "" where it is.
    """

    rows: list[Row]
    last: Iterate
    law: "Law | None"
    stopped: str


def follow(
    problem: ReducedKQ,
    exact: ExactReference,
    iterate: Iterate,
    steps: int,
    at: Sequence[int],
    progress: Progress | None,
    done: int,
) -> Followed:
    """True steps to `SWITCH` or `LATE_SWITCH`, or on until attention is one-hot, and the gradient flow beyond.

    The rows say how they were obtained, and their ``error`` bounds what steps would have made different. Where
    the flow fails, or attention is not one-hot after `MOST_TRUE_STEPS`, the last true step is the last record.
    """
    rows: list[Row] = []
    turns = steps > SWITCH and exact.support(problem.merged).degenerate
    for least in (LATE_SWITCH,) if turns else (SWITCH, LATE_SWITCH):
        more, goal = _true_steps(problem, iterate, least, steps, at[len(rows) :], progress, done)
        rows += more
        later = at[len(rows) :]
        if iterate.moves < goal:  # rounding hides the gradient, and W stays where it is
            still = row(problem, iterate, goal)
            return Followed(rows + [{**still, "step": t} for t in later], iterate, None, "")
        states = [(goal, iterate.rest)] if one_hot(problem, iterate) else []
        if goal == steps:
            return Followed(rows, iterate, _law(problem, exact, iterate.lr, states), "")
        unready = f"steps of {iterate.lr:.3g} have not made attention one-hot"
        decades = [10**k for k in range(1, 19) if goal < 10**k < steps]
        flow = _flow(problem, exact, iterate, [*later, *decades, steps]) if states else unready
        good = not isinstance(flow, str) and flow.discretisation[-1] <= iterate.state_error
        if good or goal >= LATE_SWITCH or not states:
            break
    if isinstance(flow, str):
        last = [] if goal in at else [row(problem, iterate, goal)]
        return Followed(rows + last, iterate, None, f"no fast-forward beyond step {goal}: {flow}")
    bounds, recorded = (flow.error.tolist(), flow.distance_error.tolist()), set(later)
    followed = list(zip(flow.step.tolist(), flow.rest, *bounds, strict=True))
    states += [(t, rest) for t, rest, *_ in followed]
    rows += rows_at(problem, iterate, [state for state in followed if state[0] in recorded], "flow")
    if progress is not None:
        progress(done + steps)
    return Followed(rows, iterate.placed(*states[-1]), _law(problem, exact, iterate.lr, states), "")


def _flow(problem: ReducedKQ, exact: ExactReference, iterate: Iterate, wanted: Sequence[int]) -> "Flow | str":
    """The flow from the last true step to each step that is wanted, or why there is none."""
    from marginaudit.training.ntp.far.flow import FlowFailure, fast_forward

    start, error = (iterate.moves, iterate.rest), iterate.state_error
    try:
        return fast_forward(problem.merged, exact, iterate.lr, *start, np.unique(wanted), start_error=error)
    except FlowFailure as failure:
        return str(failure)


def _true_steps(
    problem: ReducedKQ,
    iterate: Iterate,
    least: int,
    steps: int,
    at: Sequence[int],
    progress: Progress | None,
    done: int,
) -> tuple[list[Row], int]:
    """Take true steps, up to where rounding hides the next; the records, and the step that was wanted."""
    rows: list[Row] = []
    descent, most, goal = Descent(problem), min(steps, MOST_TRUE_STEPS), min(steps, least)
    while True:
        wanted = [t for t in at[len(rows) :] if t <= goal]
        rows += descend(descent, iterate, goal, wanted, progress, done)
        if goal == most or iterate.moves < goal or one_hot(problem, iterate):
            return rows, goal
        goal = min(most, goal + goal // 2)


def _law(problem: ReducedKQ, exact: ExactReference, eta: float, states: list[tuple[int, Floats]]) -> "Law | None":
    """The law read from the first of the late states that settles it."""
    from marginaudit.training.ntp.far.law import asymptotic_law

    for t, rest in states:
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                law = asymptotic_law(problem.merged, exact, eta, t, rest)
        except CertificateError:
            raise
        except (RuntimeError, ValueError):  # too early, or descent oscillates
            continue
        if law.log_log or law.unsettled <= SETTLED * np.linalg.norm(law.across(t)):
            return law
    return None


def one_hot(problem: ReducedKQ, iterate: Iterate) -> bool:
    """Whether attention on other tokens, also A times it, is below the rounding of float64 in every sentence."""
    others = class_log_weights(problem.classes, problem.log_phi(iterate), ~problem.classes.optimal)
    return bool(others.max(initial=-np.inf) + np.log(max(1.0, problem.margin_size)) < np.log(ONE_HOT))
