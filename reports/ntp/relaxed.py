"""Statements of arXiv 2409.17335 without Assumption 2, for interpolated embeddings.

An arm interpolates from one-hot tokens (share 0) to a random or given embedding (share 1). At each share both
max-margin problems are solved in embedding space, training is run, and every statement is judged without the assumption
of orthonormal tokens.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from marginaudit.claims.claim import BeyondTheRun, Claim
from marginaudit.claims.ntp.appendix_b_stage1 import proposition1
from marginaudit.claims.ntp.appendix_c_stage2 import theorem1
from marginaudit.claims.ntp.config import Config
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.values.json_data import finite
from marginaudit.claims.verdict import Finding, Verdict
from marginaudit.margins.ntp import Optimal
from marginaudit.orders.ntp import Dataset
from marginaudit.orders.ntp.assumptions import ASSUMPTION_2
from marginaudit.orders.ntp.embed import between, coherence, embedded
from marginaudit.reports.ntp.tables.direction import bound_at, ratio

SHARES = (1e-3, 1e-2, 0.1, 0.3, 1.0)
"""Initial grid of shares."""

WIDE = 0.01
"""Relative error bar above which a direction is enclosed, if ``certify``."""

HALVINGS = 6
"""Bisection steps for the onset of a violation."""

STAGES = {"stage1": proposition1.DIRECTION, "stage2": theorem1.DIRECTION}
"""Claims with the measured quantities and bounds of a row."""


@dataclass(eq=False)
class Arm:
    """Interpolation from one-hot tokens to one embedding.

    Attributes
    ----------
    dataset : Dataset
        Its own embedding is ignored.
    kind : str
        Kind of the embedding at share 1: "unit", "gaussian" or "given".
    end : (tokens, dimension) array
        The embedding at share 1.
    certify : bool
        Enclose directions with relative error bars above `WIDE` in ball arithmetic, if possible.
    """

    dataset: Dataset
    kind: str
    dimension: int
    seed: int | None
    end: Any
    config: Config
    certify: bool = False
    _runs: dict[float, Run] = field(default_factory=dict)
    _findings: dict[tuple[float, str], Finding] = field(default_factory=dict)

    def run(self, share: float) -> Run:
        """Run at a share, cached."""
        if share not in self._runs:
            self._runs[share] = Run(embedded(self.dataset, between(self.end, share)), self.config)
        return self._runs[share]

    def forget(self) -> None:
        """Free the cached runs, which hold records of every step."""
        self._runs.clear()

    def coherence(self, share: float) -> float:
        """Largest |cos| between two tokens at a share."""
        return coherence(between(self.end, share))

    def judged(self, claim: Claim, share: float) -> Finding:
        """Verdict at a share, without the assumption of orthonormal tokens."""
        if (share, claim.id) not in self._findings:
            assumed = tuple(name for name in claim.assumptions if name not in ASSUMPTION_2)
            self._findings[share, claim.id] = replace(claim, assumptions=assumed).judge(self.run(share))
        return self._findings[share, claim.id]

    def row(self, share: float) -> dict[str, Any]:
        """Embedding, solutions and direction errors at a share, as plain data."""
        run, embedding = self.run(share), between(self.end, share)
        norms = np.linalg.norm(embedding, axis=1)
        row = {
            "kind": self.kind,
            "dimension": self.dimension,
            "seed": self.seed,
            "share": share,
            "coherence": self.coherence(share),
            "shortest": norms.min(),
            "longest": norms.max(),
        }
        for which, solution in (("ov", run.solved("ov")), ("kq", run.solved("kq"))):
            found = solution if isinstance(solution, Optimal) else None
            row |= {
                which: "not solved" if solution is None else solution.status,
                f"{which}_norm": None if found is None else np.sqrt(found.norm_squared),
                f"{which}_radius": None if found is None else found.direction_radius,
            }
        last = {stage: _last(run, claim) for stage, claim in STAGES.items()}
        row["certified"] = self.certify and any(wide(found) for found in last.values()) and _enclosed(run, last)
        for stage, of in last.items():
            slack = ratio(of["bound"], of["error"])
            row |= {f"{stage}_error": of["error"], f"{stage}_bar": of["bar"], f"{stage}_slack": slack}
        return {name: finite(value) for name, value in row.items()}


def _last(run: Run, claim: Claim) -> dict[str, float | None]:
    """1 - cos at the last step (None if its error bar is infinite), error bar, and bound; all None if absent."""
    missing: dict[str, float | None] = dict.fromkeys(("error", "bar", "bound"))
    try:
        if claim.absent(run) is not None:
            return missing
    except BeyondTheRun:
        return missing
    judgement: Any = claim.judgement
    series = judgement.measured(run)
    value = float(series.value[-1]) if series.bounded[-1] else None
    return {"error": value, "bar": float(series.radius[-1]), "bound": bound_at(run, claim, series.step[-1])}


def wide(found: Mapping[str, float | None]) -> bool:
    """Whether the relative error bar of a direction error exceeds `WIDE`."""
    error, bar = found["error"], found["bar"]
    return bar is not None and (error is None or not bar <= WIDE * error)


def _enclosed(run: Run, last: Mapping[str, dict[str, float | None]]) -> bool:
    """Enclose the last directions of both stages and store them in ``last``; False if that is not possible."""
    from marginaudit.training.ntp.certified.embedded import last_distances
    from marginaudit.training.ntp.certified.enclosure import NotEnclosable

    config = run.config
    try:
        found = last_distances(
            run.dataset, run.ov, run.kq, steps1=config.steps1, steps2=run.steps2, lr1=config.lr1, lr2=config.lr2
        )
    except NotEnclosable:
        return False
    for stage, distance in zip(last.values(), found, strict=True):
        stage |= {"error": distance.one_minus_cos, "bar": distance.radius}
    return True


def first_break(arm: Arm, claim: Claim) -> tuple[float, float] | None:
    """Onset of the violation of a statement along an arm, by bisection between grid shares.

    Returns
    -------
    tuple of float, or None
        The last share without and the first with a violation; None if it is never violated, or already for one-hot
        tokens.
    """

    def violated(share: float) -> bool:
        return arm.judged(claim, share).verdict is Verdict.VIOLATED

    places = (0.0, *SHARES)
    first = next((number for number, share in enumerate(places) if violated(share)), 0)
    if first == 0:
        return None
    low, high = places[first - 1], places[first]
    for _ in range(HALVINGS):
        middle = (low * high) ** 0.5 if low > 0 else high / 10
        low, high = (low, middle) if violated(middle) else (middle, high)
    return low, high


@dataclass(frozen=True)
class Seen:
    """Verdicts on a statement at both ends of an arm, and its first violation by share and coherence."""

    kind: str
    dimension: int
    seed: int | None
    one_hot: Verdict
    end: Verdict
    share: float | None
    coherence: float | None
    without_violation: float | None


def seen_on(arm: Arm, claim: Claim) -> Seen:
    """Judge a statement along an arm."""
    holds, violated = first_break(arm, claim) or (None, None)
    return Seen(
        kind=arm.kind,
        dimension=arm.dimension,
        seed=arm.seed,
        one_hot=arm.judged(claim, 0.0).verdict,
        end=arm.judged(claim, 1.0).verdict,
        share=violated,
        coherence=None if violated is None else arm.coherence(violated),
        without_violation=None if holds is None else arm.coherence(holds),
    )


def statement(claim: Claim, arms: Sequence[Seen]) -> dict[str, Any]:
    """Verdicts on a statement over all arms, and its violation at the least coherence, as plain data."""
    broken = [seen for seen in arms if seen.coherence is not None]
    first = min(broken, key=lambda seen: seen.coherence or 0.0, default=None)
    ends = [seen.end for seen in arms]
    where = ("coherence", "without_violation", "share", "kind", "dimension", "seed")
    return {
        "claim": claim.id,
        "assumed": any(name in ASSUMPTION_2 for name in claim.assumptions),
        "one_hot": arms[0].one_hot.value,
        "ends": {verdict.value: ends.count(verdict) for verdict in Verdict if verdict in ends},
        "broken_on": len(broken),
        **{name: None if first is None else getattr(first, name) for name in where},
    }
