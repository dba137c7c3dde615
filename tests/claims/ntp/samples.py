"""Small datasets and runs, and runs that something is changed of."""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any, NoReturn, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from marginaudit.claims.ntp import Config, Run
from marginaudit.claims.ntp.theorems import CLAIMS
from marginaudit.claims.row import ReportRow
from marginaudit.claims.verdict import Verdict
from marginaudit.margins import SolverFailure
from marginaudit.orders.ntp import CASES, Dataset, Sample, dataset_from_document, free_dataset
from marginaudit.reports.ntp.paper import PAPER
from marginaudit.training.ntp import stage1_loss_gradient

Floats: TypeAlias = NDArray[np.float64]


SKEW = replace(CASES["example-1"](), embedding=np.eye(4) + np.triu(np.full((4, 4), 0.3), 1))
"""Tokens that are not orthonormal, so that the margins of W_ov are not one A."""

CYCLING = dataset_from_document(
    {
        "samples": [{"tokens": ["o", "o", "a", "a", "b"], "next": "a"}],
        "next_token": {"o": "a", "a": "b", "b": "o"},
    }
)
"""Steps longer than about 4.9 end in a cycle of two: docs/proofs.md, 9.6."""


@cache
def run(case: str, **config: Any) -> Run:
    """A built-in case, trained once."""
    return Run(CASES[case](), Config(**config))


def judged(claim: str, on: Run) -> ReportRow:
    """The verdict of a claim by measurement, without what is proved of it."""
    return CLAIMS[claim].judge(on)


def unbroken(on: Run) -> dict[str, ReportRow]:
    """What every claim says of a run; none breaks."""
    found = {claim.id: claim.judge(on) for claim in PAPER.claims}
    assert {name: one.detail for name, one in found.items() if one.verdict is Verdict.BROKEN} == {}
    return found


def pair(count: int = 1) -> Dataset:
    """One relation: the optimum of [b a] is b."""
    return Dataset("pair", ("a", "b"), (Sample(("b", "a"), "a"),), (count,), next_token={"a": "b", "b": "a"})


def with_copies() -> Dataset:
    """Assumption 3 with equality: two optimal positions and two of another token."""
    sample = Sample(("o", "o", "x", "x", "q"), "x")
    return Dataset("copies", ("o", "x", "q"), (sample,), (1,), next_token={"o": "x", "x": "q", "q": "o"})


def textbook_stage1(data: Dataset, steps: int, eta0: float) -> Iterator[tuple[Floats, Floats]]:
    """W_ov and the gradient of L0 at each step from 0 on, as eq. 5 prints it."""
    W = np.zeros((data.V, data.V))
    for _ in range(steps + 1):
        G = stage1_loss_gradient(data, W)
        yield W, G
        W = W - eta0 * G / np.linalg.norm(G)


def solver_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on nothing is proved of W*_kq."""

    def failing(_: Dataset) -> NoReturn:
        raise SolverFailure("no")

    monkeypatch.setattr("marginaudit.claims.ntp.run.solve_kq", failing)


def retrained(on: Run, **members: Any) -> Run:
    """A run of the same data and settings whose training has other members."""
    other = Run(on.dataset, on.config)
    other.__dict__["trained"] = replace(on.trained, **members)
    return other


def changed(on: Run, **columns: Any) -> Run:
    """The run with other columns of stage 2."""
    return retrained(on, stage2=replace(on.trained.stage2, **columns))


@cache
def small(error: float = 0.0) -> Run:
    """A small run whose state is stated to be off by so much, relative."""
    on = Run(free_dataset(V=5, N=9, L=4, seed=1, max_count=50), Config(steps1=30, steps2=6, lr2=0.3))
    step = on.training.stage2.step
    return changed(on, distance_error=np.where(step > 0, error * step, np.nan)) if error else on


# For tables

COUNTED = {
    "name": "counted",
    "vocabulary": ["a", "b", "c", "d", "q"],
    "samples": [
        {"tokens": ["a", "b", "q"], "next": "a", "count": 3},
        {"tokens": ["a", "c"], "next": "a"},
        {"tokens": ["b", "d", "d"], "next": "d", "count": 2},
    ],
    "next_token": {x: x for x in "abcdq"},
}
"""k = 1, m = 2 under q; 1 and 1 under c and d. N = 3, L_max = 3, pi_min = 1/6, ||W*_kq||^2 = 2/3 + 1/2 + 1/2."""

LENGTH = 120


@cache
def counted(steps2: int = LENGTH) -> Run:
    return Run(dataset_from_document(COUNTED), Config(steps1=LENGTH, steps2=steps2, lr1=0.07, lr2=0.03))


GENERAL: dict[str, Any] = {
    "samples": [{"tokens": ["a", "b", "q"], "next": "a"}],
    "next_token": {x: x for x in "abq"},
    "embedding": [[1, 0.5, 0], [0, 1, 0], [0.25, 0, 1]],
}
"""Assumption 2 fails; both problems have solutions, found numerically."""

CYCLE = {"name": "cycle", "sentences": [["a", "b", "b", "a"], ["b", "a"]]}

PLAIN = {"name": "plain", "sentences": [["a", "b"], ["b", "a"]]}
