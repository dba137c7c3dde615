"""Bounds on an expectation."""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite
from typing import Any, Literal

import numpy as np

from marginaudit.claims.judgements.bounded import Formula
from marginaudit.claims.judgements.sampled.drawing import CONFIDENCE, N, Sampler, drawn, require_sampling, verdict
from marginaudit.claims.judgements.sampled.intervals import Interval, chebyshev, empirical_bernstein, hoeffding
from marginaudit.claims.series import real
from marginaudit.claims.verdict import Curve, Evidence, Finding, Verdict
from marginaudit.orders.arrays import Floats


@dataclass(frozen=True)
class InExpectation:
    """E x <= upper, or E x >= lower; of trajectories E x_t <= upper(t) at every step, or at the last.

    The number of samples is fixed beforehand, as is the interval: empirical Bernstein, or Hoeffding, for values in a
    stated range, Chebyshev for a stated variance. Without either no interval is valid, and the verdict is inconclusive.
    At several steps each interval has a share of the error, so that all cover together. The statement holds, or is
    violated, only where the interval lies on one side of the bound.

    Attributes
    ----------
    sample : from a run or an instance, a NumPy generator and n, to (n,) values, or (n, T) of steps 1, .., T
    upper, lower : from a run and float steps to the bound; exactly one. A single value is at step 1
    within : from a run to the least and the largest value that x can take, or None
        A sample outside makes the claim broken.
    variance : from a run to a bound on the variance, used without a range, or None
    method : "bernstein" or "hoeffding"
    last : bool
        Whether the statement is about the last step only.
    """

    sample: Sampler
    upper: "Formula | None" = None
    lower: "Formula | None" = None
    within: "Callable[[Any], tuple[float, float]] | None" = None
    variance: "Callable[[Any], float] | None" = None
    method: Literal["bernstein", "hoeffding"] = "bernstein"
    last: bool = False
    n: int = N
    confidence: float = CONFIDENCE
    seed: int = 0

    quantifier = "expectation"

    def __post_init__(self) -> None:
        require_sampling(self.n, self.confidence)
        if (self.upper is None) == (self.lower is None):
            raise ValueError("InExpectation: expected exactly one of upper and lower")
        if self.method not in ("bernstein", "hoeffding"):
            raise ValueError(f"InExpectation: got the method {self.method!r}, expected bernstein or hoeffding")

    @property
    def side(self) -> Literal["upper", "lower"]:
        """The side of the bound."""
        return "lower" if self.upper is None else "upper"

    @property
    def kind(self) -> str:
        """Name of the kind of statement for reports."""
        return f"{self.side} bound in expectation"

    def judge(self, run: Any) -> Finding:
        """Verdict on a run or an instance, by the step with the least room."""
        values = drawn(self.sample, run, self.n, self.seed)
        values = real(values).reshape(self.n, -1)
        step = np.arange(1.0, values.shape[1] + 1)
        if self.last:
            values, step = values[:, -1:], step[-1:]
        formula = self.upper or self.lower
        bound = np.broadcast_to(real(formula(run, step) if formula else inf), step.shape)
        share = 1 - (1 - self.confidence) / len(step)
        intervals = [self._interval(run, column, share) for column in values.T]
        verdicts = [verdict(*ends, limit, self.side) for ends, limit in zip(intervals, bound.tolist(), strict=True)]
        return self._found(values.mean(axis=0), step, bound, intervals, verdicts)

    def _interval(self, run: Any, values: Floats, confidence: float) -> Interval:
        if self.within is not None:
            low, high = map(float, self.within(run))
            if values.min() < low or values.max() > high:
                got = f"values from {values.min():.6g} to {values.max():.6g}"
                raise ValueError(f"sample: got {got}, expected {low:.6g} to {high:.6g}")
            if isfinite(high - low):
                method = hoeffding if self.method == "hoeffding" else empirical_bernstein
                return method(values, low, high, confidence)
        if self.variance is not None:
            return chebyshev(values, float(self.variance(run)), confidence)
        return -inf, inf

    def _found(
        self, mean: Floats, step: Floats, bound: Floats, intervals: list[Interval], verdicts: list[Verdict]
    ) -> Finding:
        order = list(Verdict)
        room = (bound - mean) * (1 if self.side == "upper" else -1)
        at = min(range(len(step)), key=lambda i: (order.index(verdicts[i]), room[i]))
        low, high = intervals[at]
        valid = isfinite(low) or isfinite(high)
        told = (
            f"the mean is in [{low:.6g}, {high:.6g}] with confidence {self.confidence:g}"
            if valid
            else "no interval is valid: neither a range nor a variance is stated"
        )
        several = len(step) > 1
        violated = [int(t) for t, one in zip(step, verdicts, strict=True) if one is Verdict.VIOLATED]
        large, small = (bound[at], mean[at]) if self.side == "upper" else (mean[at], bound[at])
        return Finding(
            verdicts[at],
            Evidence.SAMPLED,
            measured=float(mean[at]),
            bound=float(bound[at]),
            slack=float(large / small) if min(large, small) > 0 else None,
            side=self.side,
            worst_step=int(step[at]) if several else None,
            first_violation=violated[0] if violated and several else None,
            repeats_within=(high - low) / abs(mean[at]) if mean[at] and isfinite(high - low) else inf,
            confidence=self.confidence,
            samples=self.n,
            seed=self.seed,
            detail=f"{self.n} samples{f', t = {int(step[at])}' if several else ''}: {told}.",
            curve=Curve(step.astype(int).tolist(), mean.tolist(), **{self.side: bound.tolist()}) if several else None,
        )
