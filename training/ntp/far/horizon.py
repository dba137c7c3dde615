"""Reach of stage 2: true steps, then gradient flow."""

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
from marginaudit.training.ntp.steps.iterate import Floats, Iterate
from marginaudit.training.ntp.steps.kq_loss import class_log_weights
from marginaudit.training.ntp.steps.loss import Row, row, rows_at
from marginaudit.training.ntp.steps.reduced import ReducedKQ
from marginaudit.training.ntp.steps.stepper import Stepper, descend
from marginaudit.training.ntp.steps.underflow import ONE_HOT

if TYPE_CHECKING:
    from marginaudit.training.ntp.far.flow import Flow
    from marginaudit.training.ntp.far.law import AsymptoticLaw

SWITCH = 10**5
"""Least number of true steps before a fast-forward."""

LATE_SWITCH = 10**6
"""The same where a later start improves the fast-forward: while the gradient still turns (without end if a tight
constraint has no multiplier), or while the flow fails. Otherwise more steps only add rounding."""

MOST_EDGES_STEPPED = 500
"""Edges up to which every step to one-hot attention is taken, a few seconds; with more, `flow_to_one_hot` follows."""

FIRST_SWITCH = 1_000
"""Least number of true steps before `flow_to_one_hot`."""

CLOSE = 3e-5
"""Largest relative error of 1 - cos that `flow_to_one_hot` adds beside rounding, of which true steps have as much;
otherwise more true steps are taken."""

NEGLIGIBLE = 0.1
"""The same relative to the bound on the propagated error of the start, which grows as much under true steps. States
that this bound leaves unknown need no accuracy."""

SETTLED = 1e-9
"""Tolerance of a state from which the asymptotic law is read, relative to its distance from W*'s line."""

MOST_TRUE_STEPS = 10**7
"""Limit on the true steps of a stage without closed form or fast-forward, or before attention is one-hot."""


def no_closed_form(dataset: Dataset, optimizer: str = "ngd") -> str | None:
    """Reason why stage 1 has no closed form, or None.

    With one token W_ov stays 0 and needs no closed form.

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
    """Reason why stage 2 cannot be fast-forwarded, or None.

    Without a relation W_kq stays 0 and needs no fast-forward.

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
    """Result of stage 2.

    Attributes
    ----------
    rows : list of records
    last : Iterate
        State at the last step reached.
    law : AsymptoticLaw or None
        The asymptotic law, if the run reached a state that determines it.
    stopped : str
        Why stage 2 ends before the requested last step; "" if it does not.
    """

    rows: list[Row]
    last: Iterate
    law: "AsymptoticLaw | None"
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
    """Take true steps to `SWITCH` or `LATE_SWITCH`, or until attention is one-hot, then follow the gradient flow.

    Rows name their ``method``; their ``error`` bounds the difference from true steps. If the flow fails, or attention
    is not one-hot after `MOST_TRUE_STEPS`, the last true step is the last record.
    """
    rows: list[Row] = []
    many = _many_edges(problem)
    turns = not many and steps > SWITCH and exact.support(problem.merged).degenerate
    for least in (LATE_SWITCH,) if turns else (SWITCH, LATE_SWITCH):
        more, goal = _true_steps(problem, iterate, least, steps, at[len(rows) :], progress, done)
        rows += more
        later = at[len(rows) :]
        if iterate.moves < goal:  # rounding hides the gradient, so W does not move
            still = row(problem, iterate, goal)
            return Followed(rows + [{**still, "step": t} for t in later], iterate, None, "")
        states = [(goal, iterate.rest)] if one_hot(problem, iterate) else []
        if goal == steps:
            return Followed(rows, iterate, law_from(problem, exact, iterate.lr, states), "")
        unready = f"steps of {iterate.lr:.3g} have not made attention one-hot"
        decades = [10**k for k in range(1, 19) if goal < 10**k < steps]
        flow = _flow(problem, exact, iterate, [*later, *decades, steps]) if states else unready
        good = not isinstance(flow, str) and (many or flow.discretisation[-1] <= iterate.state_error)
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
    return Followed(rows, iterate.placed(*states[-1]), law_from(problem, exact, iterate.lr, states), "")


def _flow(problem: ReducedKQ, exact: ExactReference, iterate: Iterate, wanted: Sequence[int]) -> "Flow | str":
    """The flow from the last true step to each requested step, or the reason why it fails."""
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
    """Take true steps until attention is one-hot or rounding hides the gradient, at least ``least`` of them.

    With many edges, the last ones are replaced by `flow_to_one_hot`. Returns the records and the requested last step.
    """
    rows: list[Row] = []
    stepper, most, many = Stepper(problem), min(steps, MOST_TRUE_STEPS), _many_edges(problem)
    goal = min(steps, max(iterate.moves, FIRST_SWITCH) if many else least)
    while True:
        wanted = [t for t in at[len(rows) :] if t <= goal]
        rows += descend(stepper, iterate, goal, wanted, progress, done)
        hot = one_hot(problem, iterate)
        if goal == most or iterate.moves < goal or (hot and goal >= (LATE_SWITCH if many else least)):
            return rows, goal
        flow = accurate_flow(problem, iterate, at[len(rows) :], steps, hot and goal >= SWITCH) if many else None
        if flow is not None:
            states = zip(flow.step.tolist(), flow.rest, flow.error.tolist(), flow.distance_error.tolist(), strict=True)
            recorded = set(at)
            found = rows_at(problem, iterate, [state for state in states if state[0] in recorded], "flow")
            _go_to_the_end(problem, iterate, flow)
            if progress is not None:
                progress(done + iterate.moves)
            return rows + found, iterate.moves
        goal = min(most, 4 * goal if many else goal + goal // 2)


def _many_edges(problem: ReducedKQ) -> bool:
    return len(problem.edges) > MOST_EDGES_STEPPED and problem.compiled is not None


def accurate_flow(
    problem: ReducedKQ, iterate: Iterate, wanted: Sequence[int], steps: int, at_any_error: bool
) -> "Flow | None":
    """The flow to one-hot attention and `LATE_SWITCH`; None if it is not `CLOSE` to a known state, nor `NEGLIGIBLE`."""
    from marginaudit.training.ntp.far.flow import FlowFailure
    from marginaudit.training.ntp.far.whole_flow import flow_to_one_hot

    if problem.compiled is None:
        return None

    def accurate(found: "Flow") -> bool:
        own = found.discretisation + found.integration
        along = found.rest @ iterate.reference
        across = np.linalg.norm(found.rest - np.outer(along, iterate.reference), axis=1)
        lost = found.inherited >= np.hypot(iterate.lr * found.step + along, across)
        small = (2 * own <= CLOSE * across) | (own <= NEGLIGIBLE * found.inherited) | lost
        return at_any_error or bool(small.all())

    try:
        found = flow_to_one_hot(problem.compiled, iterate, wanted, LATE_SWITCH, steps, accurate)
    except FlowFailure:
        return None
    return found if accurate(found) else None


def _go_to_the_end(problem: ReducedKQ, iterate: Iterate, flow: "Flow") -> None:
    """Move the iterate to the end of the flow."""
    t, rest = int(flow.step[-1]), flow.rest[-1]
    error = flow.discretisation + flow.inherited + flow.integration + flow.rounding
    gradient = problem.gradient(iterate.placed(t, rest))
    iterate.move_to(t, rest, float(error[-1]), gradient.value / gradient.norm)


def law_from(
    problem: ReducedKQ, exact: ExactReference, eta: float, states: list[tuple[int, Floats]]
) -> "AsymptoticLaw | None":
    """The law, from the first late state that determines it; so do all later ones."""
    early, late, found = -1, 0, None
    while early < len(states) - 1 and found is None:
        late = min(late, len(states) - 1)
        found = _law_at(problem, exact, eta, *states[late])
        if found is None:
            early, late = late, 2 * late + 1
    if found is None:
        return None
    while late - early > 1:
        middle = (early + late) // 2
        earlier = _law_at(problem, exact, eta, *states[middle])
        if earlier is None:
            early = middle
        else:
            late, found = middle, earlier
    return found


def _law_at(problem: ReducedKQ, exact: ExactReference, eta: float, t: int, rest: Floats) -> "AsymptoticLaw | None":
    """The law from one state, or None if the state is too early or descent oscillates."""
    from marginaudit.training.ntp.far.law import asymptotic_law

    try:
        with np.errstate(over="ignore", invalid="ignore"):
            law = asymptotic_law(problem.merged, exact, eta, t, rest)
    except CertificateError:
        raise
    except (RuntimeError, ValueError):
        return None
    return law if law.log_log or law.unsettled <= SETTLED * np.linalg.norm(law.across(t)) else None


def one_hot(problem: ReducedKQ, iterate: Iterate) -> bool:
    """Whether attention on other tokens, also A times it, is below the rounding of float64 in every sentence."""
    others = class_log_weights(problem.classes, problem.log_phi(iterate), ~problem.classes.optimal)
    return bool(others.max(initial=-np.inf) + np.log(max(1.0, problem.margin_size)) < np.log(ONE_HOT))
