"""The product's side of a comparison, as plain data: what an audit reported and recorded."""

import warnings
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.ntp.config import Config
from marginaudit.claims.ntp.quantities import stage2_log_loss, stage2_log_other_weight
from marginaudit.claims.ntp.run import Run
from marginaudit.margins.ntp import Exact, Optimal
from marginaudit.orders.ntp import dataset_from_document
from marginaudit.reports.audit import auditing
from marginaudit.reports.audit.sources import Source
from marginaudit.reports.ntp.paper import PAPER
from tests.oracle.random_audits import Settings

Floats = NDArray[np.float64]

LOGARITHMS = {"log_loss": stage2_log_loss, "log_other_weight": stage2_log_other_weight}


@dataclass(frozen=True)
class Solved:
    """||W*||^2 of a max-margin problem, in float64 and exactly, and W* by (row, column); None where not known."""

    status: str
    value: float | None
    exact: Fraction | None
    weights: Mapping[tuple[str, str], Fraction] | None


@dataclass(frozen=True)
class Audited:
    """One audit.

    Attributes
    ----------
    rows : the report's rows, by claim
    assumptions : whether each holds
    classes : under each query with a relation: optimal, non-optimal, confused, non-comparable tokens
    eta0, eta, steps1, steps2 : how it was trained
    stage1, stage1_continued, stage2 : recorded steps; empty where nothing was trained
    columns : of stage 2: norm, one_minus_cos, error, distance_error
    logarithms : of stage 2 from step 1 on, each with its error bars, as claims use them
    solved : by "ov" and "kq"; empty where n is no function
    """

    rows: Mapping[str, Mapping[str, Any]]
    assumptions: Mapping[str, bool]
    classes: Mapping[str, tuple[tuple[str, ...], ...]]
    eta0: float
    eta: float
    steps1: int
    steps2: int
    stage1: tuple[int, ...]
    stage1_continued: tuple[int, ...]
    stage2: tuple[int, ...]
    columns: Mapping[str, Floats]
    logarithms: Mapping[str, tuple[Floats, Floats]]
    solved: Mapping[str, Solved]


def audited(document: Mapping[str, Any], settings: Settings) -> Audited:
    """Audit every built-in claim on a document."""
    config = Config(**asdict(settings))
    data = dataset_from_document(document)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one = auditing.audited(Source(data, PAPER, data.name), PAPER.claims, config, _quiet)
        rows = auditing.Audit(PAPER.claims, {}, (one,)).rows
        assert isinstance(one.run, Run)
        return _plain(one.run, {row.claim.id: row.as_document() for row in rows})


def _quiet(dataset: str, what: str) -> Any:
    return lambda steps: None


def _plain(run: Run, rows: Mapping[str, Mapping[str, Any]]) -> Audited:
    trained = run.trained if run.trainable else None
    stage2 = None if trained is None else trained.stage2
    columns, logarithms = {}, {}
    if stage2 is not None and run.dataset.orders:
        shown = stage2.columns()
        columns = {name: shown[name] for name in ("norm", "one_minus_cos", "error", "distance_error")}
        found = {name: series(run, first=1) for name, series in LOGARITHMS.items()}
        logarithms = {name: (one.value.astype(float), one.radius.astype(float)) for name, one in found.items()}
    return Audited(
        rows=rows,
        assumptions={name: found.holds for name, found in run.assumptions.items()},
        classes={
            q: (order.optimal, order.non_optimal, order.confused, order.non_comparable)
            for q, order in run.dataset.orders.items()
        },
        eta0=float(run.eta0),
        eta=float(run.eta),
        steps1=run.config.steps1,
        steps2=run.steps2 if run.trainable else 0,
        stage1=() if trained is None else tuple(trained.stage1.step.tolist()),
        stage1_continued=() if trained is None else tuple(run.stage1.step.tolist()),
        stage2=() if stage2 is None else tuple(stage2.step.tolist()),
        columns=columns,
        logarithms=logarithms,
        solved={which: _solved(run, which) for which in ("ov", "kq")} if run.trainable else {},
    )


def _solved(run: Run, which: Any) -> Solved:
    solution = run.solved(which)
    if solution is None:
        return Solved("not solved", None, None, None)
    norm_squared = solution.norm_squared if isinstance(solution, Optimal) else None
    if not isinstance(solution, Exact):
        return Solved(solution.status, norm_squared, None, None)
    weights = {(x, q): w for q, column in solution.weights_exact.items() for x, w in column.items() if w}
    return Solved(solution.status, norm_squared, solution.norm_squared_exact, weights)
