"""One dataset under audit: everything that a claim may measure, computed once and when first asked for."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from marginaudit.margins import MaxMargin, SolverFailure, solve_kq, solve_ov
from marginaudit.orders import ASSUMPTIONS, Assumption, Dataset, check_assumption
from marginaudit.training import Progress, Training, train

EVERY_STEP_TO = 2_000
"""Stages up to this length are audited at every step; longer ones beyond it at log-spaced steps."""

MOST_SCORES = 20_000_000
"""Scores x^T W_kq q that a recorded run may hold; with more pairs fewer steps are audited one by one."""


@dataclass(frozen=True)
class Config:
    """How Algorithm 1 is run; None stands for the paper's own choice.

    Attributes
    ----------
    steps1, steps2 : int
        T of stage 1, and the length of stage 2.
    lr1, lr2 : float or None
        eta0 and eta; by default 0.2 / sqrt(V) and 0.05 / sqrt(V).
    at : tuple of int or None
        The recorded steps.
    """

    steps1: int = 900
    steps2: int = 900
    lr1: float | None = None
    lr2: float | None = None
    at: tuple[int, ...] | None = None


class Run:
    """A dataset, its two max-margin solutions and its two-stage training."""

    def __init__(self, dataset: Dataset, config: Config | None = None, progress: Progress | None = None) -> None:
        self.dataset = dataset
        self.config = config or Config()
        self._progress = progress
        self._assumptions: dict[str, Assumption] = {}

    def assumption(self, name: str) -> Assumption:
        """An assumption of the ledger, judged on the dataset."""
        if name not in self._assumptions:
            self._assumptions[name] = check_assumption(self.dataset, name)
        return self._assumptions[name]

    @property
    def assumptions(self) -> dict[str, Assumption]:
        """All assumptions of the ledger, by name."""
        return {name: self.assumption(name) for name in ASSUMPTIONS}

    @property
    def trainable(self) -> bool:
        """Whether n is a function on the whole vocabulary, as training and both solutions need."""
        return self.assumption("collocation").holds

    @property
    def eta0(self) -> float:
        """Step size of stage 1."""
        return 0.2 / np.sqrt(self.dataset.V) if self.config.lr1 is None else self.config.lr1

    @property
    def eta(self) -> float:
        """Step size of stage 2."""
        return 0.05 / np.sqrt(self.dataset.V) if self.config.lr2 is None else self.config.lr2

    @cached_property
    def ov(self) -> MaxMargin:
        """W*_ov of eq. 2."""
        return solve_ov(self.dataset)

    @cached_property
    def kq(self) -> MaxMargin:
        """W*_kq of eq. 3."""
        return solve_kq(self.dataset)

    @cached_property
    def norm_ov(self) -> float:
        """||W*_ov||.

        Raises
        ------
        ValueError
            The problem is infeasible.
        """
        return _norm(self.ov)

    @cached_property
    def norm_kq(self) -> float:
        """||W*_kq||.

        Raises
        ------
        ValueError
            The problem is infeasible.
        """
        return _norm(self.kq)

    @cached_property
    def training(self) -> Training:
        """Both stages of Algorithm 1, recorded against the two solutions."""
        config = self.config
        if config.at is None:
            pairs = sum(len(set(sample.tokens)) for sample in self.dataset.samples)
            every = min(EVERY_STEP_TO, max(100, MOST_SCORES // pairs))
            config = replace(config, at=dense_steps(max(config.steps1, config.steps2), every))
        return train_against(self.dataset, config, self.solved("ov"), self.solved("kq"), self._progress)

    def solved(self, which: Literal["ov", "kq"]) -> MaxMargin | None:
        """One of the two solutions, or None where the solver's answer proves nothing."""
        try:
            return self.ov if which == "ov" else self.kq
        except SolverFailure:
            return None


def dense_steps(last: int, every: int = EVERY_STEP_TO) -> tuple[int, ...]:
    """Every step to ``every``, beyond it 100 a decade, and the last.

    >>> len(dense_steps(900)), len(dense_steps(100_000))
    (901, 2171)
    """
    first = range(min(last, every) + 1)
    if last <= every:
        return tuple(first)
    spaced = np.geomspace(every, last, int(np.ceil(100 * np.log10(last / every))) + 1)
    return tuple(sorted({*first, *np.rint(spaced).astype(int).tolist()}))


def train_against(
    dataset: Dataset, config: Config, ov: MaxMargin | None, kq: MaxMargin | None, progress: Progress | None = None
) -> Training:
    """Algorithm 1 with direction errors against the given solutions, where there are any."""
    orthonormal = check_assumption(dataset, "orthonormal").holds

    def reference(solution: MaxMargin | None) -> NDArray[np.float64] | None:
        if solution is None:
            return None
        return solution.scores if orthonormal else solution.matrix

    return train(
        dataset,
        steps1=config.steps1,
        steps2=config.steps2,
        lr1=config.lr1,
        lr2=config.lr2,
        at=config.at,
        ov_reference=reference(ov),
        kq_reference=reference(kq),
        progress=progress,
    )


def _norm(solution: MaxMargin) -> float:
    if solution.norm_squared is None:
        raise ValueError("the max-margin problem is infeasible and has no norm")
    return float(np.sqrt(solution.norm_squared))
