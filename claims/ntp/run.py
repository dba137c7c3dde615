"""Audit of one dataset: its solutions and its training, lazy and cached."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from marginaudit.claims.claim import BeyondTheRun, NotJudged
from marginaudit.claims.ntp.algorithm1 import dense_steps, enclosed_steps, recorded_steps, train_against
from marginaudit.claims.ntp.config import FARTHEST, PAPER_STEPS, Config
from marginaudit.claims.run import BaseRun
from marginaudit.claims.verdict import Evidence
from marginaudit.margins import SolverFailure
from marginaudit.margins.ntp import MaxMargin, TooDenseError, solve_kq, solve_ov, too_dense
from marginaudit.orders.ntp import SENTENCES, Dataset, gram_deviation
from marginaudit.training.ntp import Progress, Stage1, Training
from marginaudit.training.ntp.far.horizon import MOST_TRUE_STEPS, no_closed_form, no_fast_forward
from marginaudit.training.ntp.stage1 import LAW_ROUNDING, stage1_law
from marginaudit.training.ntp.start import step_sizes

if TYPE_CHECKING:
    from marginaudit.training.ntp.certified.enclosure import Enclosure


ENCLOSED_STEPS = 300
MOST_ENCLOSED_TOKENS = 64
"""Number of `first_steps`, and largest total of tokens over samples. The digits grow with both numbers."""


class NotAlgorithm1(NotJudged):
    """A statement about Algorithm 1 was applied to another optimizer's run."""


class NotSolved(BeyondTheRun, SolverFailure):
    """The solver gave no proof for a max-margin problem, so statements about its solution are undecided."""


class Run(BaseRun[Dataset]):
    """A dataset, its two max-margin solutions and its two-stage training."""

    kind = SENTENCES
    takes_own_steps = True

    def __init__(self, dataset: Dataset, config: Config | None = None, progress: Progress | None = None) -> None:
        super().__init__(dataset, progress)
        self.config = config or Config()
        self._asked: set[int] = set()

    def with_steps1(self, steps1: int) -> "Run":
        """Untrained copy with the same data and solutions but another T, for formulas."""
        config = copy(self.config)
        object.__setattr__(config, "steps1", steps1)  # may exceed the limit on a run's steps
        other = Run(self.dataset, config)
        other.__dict__ |= {name: self.__dict__[name] for name in ("ov", "kq") if name in self.__dict__}
        other._assumptions = self._assumptions
        return other

    @property
    def lengths(self) -> tuple[int, ...]:
        """T, t, or both: the lengths of the current claim's stages, if ``at`` chose the steps."""
        if self.config.at is None or not self.trainable:
            return ()
        lengths = {1: self.config.steps1, 2: self.steps2}
        return tuple(length for stage, length in lengths.items() if stage in (self._asked or lengths))

    def begin(self) -> None:
        """Reset the stages and weights used by the last claim."""
        super().begin()
        self._asked = set()

    @property
    def not_as_given(self) -> str:
        """Note on embeddings that are orthonormal only to rounding, replaced by exactly orthonormal ones.

        "" for others. Long steps can amplify any difference, however small.
        """
        if not self.assumption("orthonormal").holds or not (deviation := gram_deviation(self.dataset)):
            return ""
        return (
            "Of the nearest orthonormal embedding, from which long steps may lead elsewhere: the Gram matrix of the "
            f"given one is within about {deviation:.1e} of I."
        )

    def reservation(self, assumptions: Sequence[str]) -> str:
        """`not_as_given`, for statements about orthonormal tokens or measured on the run."""
        return self.not_as_given if self.used_weights or "orthonormal" in assumptions else ""

    def surest(self, assumptions: Sequence[str]) -> Evidence:
        """Float64 under a `reservation`: certificates of another embedding do not apply to the given one."""
        return Evidence.FLOAT64 if self.reservation(assumptions) else super().surest(assumptions)

    def prepare(self) -> None:
        """Train, and enclose if requested."""
        if self.trainable:
            self.trained, self.enclosure  # noqa: B018  (computed and kept)

    @property
    def solvable(self) -> bool:
        """Whether n is a function on the whole vocabulary, as training and both solutions need."""
        return self.assumption("collocation").holds

    @property
    def not_trained(self) -> str | None:
        """Reason for not training, or None."""
        if not self.solvable:
            return "n is not a function on the whole vocabulary"
        return self._too_dense or self._too_long

    @property
    def _too_dense(self) -> str | None:
        dense = too_dense(self.dataset)
        return None if dense is None else f"W_ov is not computed: {dense} none of which is zero"

    @property
    def _too_long(self) -> str | None:
        steps = self.config.steps1
        if steps <= MOST_TRUE_STEPS or not self.takes_own_steps:
            return None
        reason = no_closed_form(self.dataset, self.config.optimizer)
        return reason and f"stage 1 of {steps} steps, above {MOST_TRUE_STEPS}, has no closed form: {reason}"

    @property
    def trainable(self) -> bool:
        """Whether the dataset can be trained."""
        return self.not_trained is None

    def require_dense(self) -> None:
        """Raise if arrays of all pairs of tokens would be too large.

        Raises
        ------
        BeyondTheRun
            There are too many tokens.
        """
        if self.solvable and self._too_dense is not None:
            raise BeyondTheRun(self._too_dense)

    @property
    def eta0(self) -> float:
        """Step size of stage 1."""
        return self._step_sizes[0]

    @property
    def eta(self) -> float:
        """Step size of stage 2."""
        return self._step_sizes[1]

    @cached_property
    def _step_sizes(self) -> tuple[float, float]:
        return step_sizes(self.dataset.V, self.config.lr1, self.config.lr2)

    @cached_property
    def ov(self) -> MaxMargin:
        """W*_ov of eq. 2.

        Raises
        ------
        NotSolved
        """
        return _solution(solve_ov, self.dataset)

    @cached_property
    def kq(self) -> MaxMargin:
        """W*_kq of eq. 3.

        Raises
        ------
        NotSolved
        """
        return _solution(solve_kq, self.dataset)

    @cached_property
    def norm_ov(self) -> float:
        """||W*_ov||.

        Raises
        ------
        ValueError
            The problem is infeasible.
        """
        return float(np.sqrt(self.ov.optimal().norm_squared))

    @cached_property
    def norm_kq(self) -> float:
        """||W*_kq||.

        Raises
        ------
        ValueError
            The problem is infeasible.
        """
        return float(np.sqrt(self.kq.optimal().norm_squared))

    @cached_property
    def no_fast_forward(self) -> str | None:
        """Reason why stage 2 cannot be fast-forwarded, or None."""
        return no_fast_forward(self.dataset, self.solved("kq"), self.config.optimizer)

    @cached_property
    def steps2(self) -> int:
        """The length of stage 2: the requested one, or the longest possible if that is less."""
        asked = self.config.steps2
        if asked is None and self.config.certify:
            return self.config.certify
        if self.no_fast_forward is None:
            return FARTHEST if asked is None else asked
        return PAPER_STEPS if asked is None or asked > MOST_TRUE_STEPS else asked

    @property
    def stopped(self) -> str | None:
        """Reason why stage 2 ends before the requested length, or None."""
        if self.config.steps2 != self.steps2 and self.no_fast_forward is not None:
            return f"no fast-forward beyond true steps: {self.no_fast_forward}"
        return self.trained.stopped or None

    def recorded_steps(self, stage: Literal[1, 2]) -> tuple[int, ...] | None:
        """The steps chosen for recording, possibly beyond the stage's end; None for the default."""
        del stage
        return self.config.at

    @property
    def departs(self) -> bool:
        """Whether the optimizer is plain gradient descent."""
        return self.config.optimizer != "ngd"

    def ask_premise(self) -> None:
        """Raise unless the optimizer is normalised gradient descent.

        Raises
        ------
        NotAlgorithm1
            The run is one of plain gradient descent.
        """
        super().ask_premise()
        if self.config.optimizer != "ngd":
            raise NotAlgorithm1("the statement is about normalised gradient descent, and this run is plain")

    def require_recorded(self, stage: Literal[1, 2]) -> None:
        """Check the premise, and raise unless the stage exists, as it does except in recorded runs."""
        self.ask_premise()
        self._asked.add(stage)

    @property
    def training(self) -> Training:
        """Training by both stages of Algorithm 1.

        Raises
        ------
        NotAlgorithm1
            The run is one of plain gradient descent.
        """
        self.ask_premise()
        return self.trained

    @property
    def stage1_steps(self) -> Stage1:
        """Stage 1 up to its last step T.

        If the closed form t eta0 W*/||W*|| is proved (docs/proofs.md, section 1), the error of each record is its
        distance from the closed form, regardless of how steps amplify rounding errors.
        """
        ran = self.training.stage1
        if not self._stage1_law:
            return ran
        length = np.where(ran.step > 0, ran.step * self.eta0, 1.0)
        off = np.where(ran.step > 0, ran.distance + np.abs(ran.norm / length - 1) + LAW_ROUNDING, np.nan)
        return replace(ran, distance_error=off)

    @cached_property
    def stage1(self) -> Stage1:
        """Stage 1, continued beyond its T steps by its closed form, if any.

        A statement for every t is independent of T, the step at which stage 2 takes W_ov over.
        """
        ran = self.stage1_steps
        if self.config.at is not None or not self._stage1_law:
            return ran
        beyond = [t for t in dense_steps(FARTHEST) if t > self.config.steps1]
        law = stage1_law(self.dataset, self.eta0, beyond, self.ov)
        columns = ran.columns()
        return Stage1(**{name: np.concatenate([columns[name], later]) for name, later in law.columns().items()})

    @property
    def _stage1_law(self) -> bool:
        return self.dataset.V > 1 and self.assumption("orthonormal").holds

    @cached_property
    def trained(self) -> Training:
        """Both stages by the configured optimizer, recorded against the two solutions.

        Raises
        ------
        BeyondTheRun
            There are too many tokens, or stage 1 is too long.
        """
        if self.solvable and self.not_trained is not None:
            raise BeyondTheRun(self.not_trained)
        at = recorded_steps(self.dataset, self.config, self.steps2)
        config = replace(self.config, steps2=self.steps2, at=at)
        return train_against(self.dataset, config, self.solved("ov"), self.solved("kq"), self._progress)

    @property
    def enclosure(self) -> "Enclosure | None":
        """Rigorous enclosure of stage 2's first steps, if requested or needed; None if unavailable."""
        if not isinstance(self._enclosed, str):
            return self._enclosed
        found = self.trained.enclosed
        if found is None:
            return None
        from marginaudit.training.ntp.certified.enclosure import exactly_orthonormal

        return found if exactly_orthonormal(self.dataset) else None

    @property
    def not_enclosed(self) -> str | None:
        """Reason for the lack of an enclosure, or None."""
        return self._enclosed if isinstance(self._enclosed, str) else None

    @cached_property
    def _enclosed(self) -> "Enclosure | str":
        if not self.config.certify:
            return "not asked for"
        certify, step = self.config.certify, self.trained.stage2.step
        recorded = step[step <= certify].tolist()
        if not recorded:
            return f"no step up to {certify} is recorded"
        return enclosed_steps(self.dataset, self.config, self.solved("kq"), min(self.steps2, certify), recorded)

    @cached_property
    def first_steps(self) -> "Enclosure | None":
        """Enclosure of each of the first steps of stage 2, for step sizes beyond float64's precision.

        None unless the dataset is small and has an enclosure.
        """
        if sum(len(set(sample.tokens)) for sample in self.dataset.samples) > MOST_ENCLOSED_TOKENS:
            return None
        steps = min(self.steps2, ENCLOSED_STEPS)
        found = enclosed_steps(self.dataset, self.config, self.solved("kq"), steps, None)
        return None if isinstance(found, str) else found

    def solved(self, which: Literal["ov", "kq"]) -> MaxMargin | None:
        """One of the two solutions, or None without a proof of it."""
        try:
            return self.ov if which == "ov" else self.kq
        except SolverFailure:
            return None


def _solution(solve: Callable[[Dataset], MaxMargin], dataset: Dataset) -> MaxMargin:
    try:
        return solve(dataset)
    except (SolverFailure, TooDenseError) as failure:
        raise NotSolved(str(failure)) from failure
