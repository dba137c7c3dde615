"""Statements with probability at least 1 - delta."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marginaudit.claims.judgements.bounded import Formula
from marginaudit.claims.judgements.sampled.drawing import CONFIDENCE, N, Sampler, drawn, require_sampling, verdict
from marginaudit.claims.judgements.sampled.intervals import clopper_pearson, of_quantile
from marginaudit.claims.series import real
from marginaudit.claims.verdict import Evidence, Finding, Verdict


@dataclass(frozen=True)
class WithProbability:
    """An event has at least the stated probability: x <= upper, for all t <= T at once or at the last step.

    The verdict is by the exact interval of Clopper and Pearson, for a number of samples that is fixed beforehand: the
    statement holds, or is violated, only where the interval lies on one side of the probability.

    Attributes
    ----------
    sample : from a run or an instance, a NumPy generator and n, to (n,) values, or (n, T) of steps 1, .., T
        Booleans say themselves whether the event, or its part at a step, happened.
    at_least : from a run to the stated probability, such as 1 - delta; one of 0 or less makes the verdict vacuous
    upper, lower : from a run and float steps to the bound on a value; None for booleans
    last : bool
        Whether the event is about the last step only; by default about all steps at once.
    """

    sample: Sampler
    at_least: Callable[[Any], float]
    upper: "Formula | None" = None
    lower: "Formula | None" = None
    last: bool = False
    n: int = N
    confidence: float = CONFIDENCE
    seed: int = 0

    kind = "bound with a probability"
    quantifier = "probability"

    def __post_init__(self) -> None:
        require_sampling(self.n, self.confidence)

    def judge(self, run: Any) -> Finding:
        """Verdict on a run or an instance."""
        values = drawn(self.sample, run, self.n, self.seed).reshape(self.n, -1)
        happened = self._happened(run, values)
        successes, stated = int(happened.sum()), float(self.at_least(run))
        if not stated <= 1:
            raise ValueError(f"at_least: got {stated!r}, expected a probability")
        low, high = clopper_pearson(successes, self.n, self.confidence)
        frequency = successes / self.n
        return Finding(
            verdict(low, high, stated, "lower") if stated > 0 else Verdict.VACUOUS,
            Evidence.SAMPLED,
            measured=frequency,
            bound=stated,
            slack=frequency / stated if stated > 0 else None,
            side="lower",
            repeats_within=(high - low) / frequency if frequency else np.inf,
            confidence=self.confidence,
            samples=self.n,
            seed=self.seed,
            detail=(
                f"The event in {successes} of {self.n} samples: its probability is in [{low:.6g}, {high:.6g}] with "
                f"confidence {self.confidence:g}.{self._quantile(values, stated)}"
            ),
        )

    def _happened(self, run: Any, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether the event happened, by sample."""
        step = np.arange(1.0, values.shape[1] + 1)
        if values.dtype == bool:
            if self.upper is not None or self.lower is not None:
                raise ValueError("sample: got booleans beside a bound, expected numbers")
            parts = values
        elif self.upper is None and self.lower is None:
            raise ValueError("sample: got numbers without a bound, expected booleans, or upper or lower")
        else:
            parts = np.ones(values.shape, dtype=bool)
            for formula, sign in ((self.upper, 1), (self.lower, -1)):
                if formula is not None:
                    parts &= sign * values <= sign * np.broadcast_to(real(formula(run, step)), step.shape)
        return np.asarray(parts[:, -1] if self.last else parts.all(axis=1))

    def _quantile(self, values: NDArray[Any], stated: float) -> str:
        """Sentence on the quantile that the bound would have to reach, for one value a sample."""
        if values.dtype == bool or values.shape[1] > 1 or self.upper is None or not 0 < stated < 1:
            return ""
        low, high = of_quantile(values[:, 0], stated, self.confidence)
        return f" The {stated:g} quantile is in [{low:.6g}, {high:.6g}], by order statistics."
