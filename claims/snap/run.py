"""Sequence classes under audit: the long-sequence limit at the run's step sizes."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.run import BaseRun, Progress
from marginaudit.claims.snap.config import ClassConfig
from marginaudit.orders.snap import CLASSES, SequenceClasses
from marginaudit.orders.snap.exactly import only_to_rounding
from marginaudit.training import log_spaced
from marginaudit.training.log_time import NotIntegrated
from marginaudit.training.snap.attention.logits import Logits
from marginaudit.training.snap.attention.path import AttentionPath, follow, turned
from marginaudit.training.snap.growth import scan_end, snap_start
from marginaudit.training.snap.limit.overlap import Overlap, overlap
from marginaudit.training.snap.recorded.mean_steps import MeanSteps
from marginaudit.training.snap.recorded.trajectory import ClassTrajectory


def evenly_spaced(count: int, most: int) -> NDArray[np.int64]:
    """At most ``most`` of ``count`` positions, evenly spaced, including the first and the last.

    >>> evenly_spaced(11, 3).tolist(), evenly_spaced(2, 3).tolist(), evenly_spaced(0, 3).tolist()
    ([0, 5, 10], [0, 1], [])
    """
    return np.unique(np.rint(np.linspace(0, count - 1, min(count, most))).astype(np.int64))


class ClassRun(BaseRun[SequenceClasses]):
    """Sequence classes and their overlaps at Z = 0.

    Attributes
    ----------
    used_noise : bool
        Whether the current claim has used error bars for the draw of a recorded run's sequences.
    """

    kind = CLASSES
    between = 10.0
    used_noise = False

    def __init__(
        self, dataset: SequenceClasses, config: ClassConfig | None = None, progress: Progress | None = None
    ) -> None:
        super().__init__(dataset, progress)
        self.config = config or ClassConfig()

    def reservation(self, assumptions: Sequence[str]) -> str:
        """Note on assumptions that hold only up to rounding; "" for none."""
        granted = [name for name in assumptions if only_to_rounding(self.dataset, name)]
        return f"To rounding: {', '.join(granted)}." if granted else ""

    @property
    def M(self) -> int:
        """Tokens in the vocabulary."""
        return self.dataset.M

    @property
    def K(self) -> int:
        """Classes."""
        return self.dataset.K

    @property
    def eta_Y(self) -> float:
        """Step size of Y."""
        return self.config.eta_Y

    @property
    def eta_Z(self) -> float:
        """Step size of Z."""
        return self.config.eta_Z

    @property
    def known_rates(self) -> bool:
        """Whether both step sizes are known."""
        return True

    @cached_property
    def overlap(self) -> Overlap:
        """F, E and E' at Z = 0."""
        return overlap(self.dataset.overlap.F)

    @cached_property
    def logits(self) -> Logits:
        """The (query, token) pairs of the attention logits z."""
        return Logits(self.dataset)

    @property
    def recorded(self) -> ClassTrajectory | None:
        """The trajectory of a recorded run; None for our own."""
        return None

    @property
    def mean_steps(self) -> MeanSteps | None:
        """Mean steps of a recorded run of a declared rule, else None."""
        return None

    @cached_property
    def steps(self) -> NDArray[np.int64]:
        """The recorded steps t, from 1 on."""
        at = log_spaced(self.config.steps) if self.config.at is None else self.config.at
        return np.array([t for t in at if t >= 1], dtype=np.int64)

    @property
    def drawn_steps(self) -> NDArray[np.int64]:
        """The recorded steps of SGD, each of which draws a class."""
        return self.steps

    @property
    def lengths(self) -> tuple[int, ...]:
        """The steps t if chosen by ``at``."""
        return () if self.config.at is None else (self.config.steps,)

    @property
    def transition(self) -> float:
        """t_0' = K ln M/eta_Y, the end of the scan in Lemma 9."""
        return scan_end(self.K, self.M, self.eta_Y)

    @cached_property
    def snap_start(self) -> float:
        """t_0 of Theorem 4, for M of at least 4."""
        return snap_start(self.K, self.M, self.eta_Y)

    @property
    def path(self) -> AttentionPath:
        """z and B along eq. 10, at the recorded steps.

        Raises
        ------
        NotIntegrated
            The solver gave up, now or on the first request for the path.
        """
        if isinstance(self._integrated, NotIntegrated):
            raise self._integrated
        return self._integrated

    @cached_property
    def _integrated(self) -> AttentionPath | NotIntegrated:
        try:
            return follow(self.dataset, turned(self.steps, self.K, self.M, self.eta_Y, self.eta_Z).value)
        except NotIntegrated as fault:
            return fault
