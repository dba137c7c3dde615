"""The statements of arXiv 2409.17335 without Assumption 2: orthonormality as a dial.

One arm of the dial goes from one-hot tokens, at 0, to an embedding that is random or a user's, at 1. At each place
both max-margin problems are solved in embedding space, training is run, and every statement is judged as if it did not
assume orthonormal tokens.
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
"""Places on an arm that are tried first."""

WIDE = 0.01
"""Error bars beyond this, relative, call for an enclosure where one is asked for."""

HALVINGS = 6
"""Bisections of the stretch in which a statement starts to be violated."""

STAGES = {"stage1": proposition1.DIRECTION, "stage2": theorem1.DIRECTION}
"""The claims whose measured quantity and bound a row has."""


@dataclass(eq=False)
class Arm:
    """The dial from one-hot tokens to one embedding.

    Attributes
    ----------
    dataset : Dataset
        Its own embedding plays no part.
    kind : str
        What the embedding at 1 is: "unit", "gaussian" or "given".
    end : (tokens, dimension) array
        The embedding at 1.
    certify : bool
        Directions whose error bars leave more than `WIDE` of them open are enclosed in ball arithmetic, where that
        can be done.
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
        """Both solutions and training at a place."""
        if share not in self._runs:
            self._runs[share] = Run(embedded(self.dataset, between(self.end, share)), self.config)
        return self._runs[share]

    def forget(self) -> None:
        """Drop the runs, which hold records of every step."""
        self._runs.clear()

    def coherence(self, share: float) -> float:
        """The largest |cos| between two tokens there."""
        return coherence(between(self.end, share))

    def judged(self, claim: Claim, share: float) -> Finding:
        """The verdict there, whether or not tokens are orthonormal."""
        if (share, claim.id) not in self._findings:
            assumed = tuple(name for name in claim.assumptions if name not in ASSUMPTION_2)
            self._findings[share, claim.id] = replace(claim, assumptions=assumed).judge(self.run(share))
        return self._findings[share, claim.id]

    def row(self, share: float) -> dict[str, Any]:
        """Embeddings, solutions and direction errors at a place, as plain data."""
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
    """1 - cos at the last step, None under an unbounded error bar, with that bar and the bound; or None of each."""
    nothing: dict[str, float | None] = dict.fromkeys(("error", "bar", "bound"))
    try:
        if claim.absent(run) is not None:
            return nothing
    except BeyondTheRun:
        return nothing
    judgement: Any = claim.judgement
    series = judgement.measured(run)
    value = float(series.value[-1]) if series.bounded[-1] else None
    return {"error": value, "bar": float(series.radius[-1]), "bound": bound_at(run, claim, series.step[-1])}


def wide(found: Mapping[str, float | None]) -> bool:
    """Whether the error bar leaves much of a direction error open."""
    error, bar = found["error"], found["bar"]
    return bar is not None and (error is None or not bar <= WIDE * error)


def _enclosed(run: Run, last: Mapping[str, dict[str, float | None]]) -> bool:
    """Whether both stages' last directions could be enclosed; they then stand in ``last``."""
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
    """The first place tried where the statement is violated, refined by bisection towards the one before it.

    Returns
    -------
    tuple of float, or None
        The places next to each other without a violation and with one; None where it is violated nowhere, or
        already for one-hot tokens.
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
    """How a statement fares on one arm: at its ends, and where it breaks, by shares and by coherences."""

    kind: str
    dimension: int
    seed: int | None
    one_hot: Verdict
    end: Verdict
    share: float | None
    coherence: float | None
    without_violation: float | None


def seen_on(arm: Arm, claim: Claim) -> Seen:
    """How the statement fares on the arm."""
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
    """How a statement fares over all arms, and the least coherence of its first violations, as plain data."""
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
