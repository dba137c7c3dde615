"""The audit: every claim on every dataset, and the report's data."""

import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import count
from typing import Any, Literal

from marginaudit.orders.ntp import Dataset, dataset_to_document
from marginaudit.reports.answers import assumptions_answer, finite
from marginaudit.reports.audit.containment import HandedOut, judge
from marginaudit.reports.audit.ledger import LEDGER
from marginaudit.reports.claim import Claim
from marginaudit.reports.counterexample import in_words, smallest_counterexample
from marginaudit.reports.ntp.rates import rates_answer
from marginaudit.reports.ntp.run import Config, Run
from marginaudit.reports.ntp.tables import direction_table, proposition2_table
from marginaudit.reports.verdict import Finding, Verdict

DEPENDENCIES = ("numpy", "scipy", "networkx", "cvxpy", "clarabel", "python-flint")
"""The libraries whose versions a report states."""

CLAIM_TIMEOUT = 600.0
"""Seconds that a claim of the user's may take on a dataset."""

Notice = Callable[[str], None]


@dataclass(frozen=True)
class Source:
    """A dataset under audit, with where it came from.

    Attributes
    ----------
    dataset : Dataset
    origin : str
        The path, control characters written out, or the case's name.
    sha256 : str or None
        Of the bytes that were read; None for a built-in case.
    """

    dataset: Dataset
    origin: str
    sha256: str | None = None


@dataclass(frozen=True)
class Row:
    """One verdict: a claim on a dataset."""

    claim: Claim
    run: Run
    finding: Finding

    def as_document(self) -> dict[str, Any]:
        """The row as the JSON of the report has it."""
        found = self.finding
        return {
            "claim": self.claim.id,
            "dataset": self.run.dataset.name,
            "verdict": found.verdict.value,
            "evidence": found.evidence.value,
            "measured": finite(found.measured),
            "bound": finite(found.bound),
            "slack": finite(found.slack),
            "worst_step": found.worst_step,
            "first_violation": found.first_violation,
            "informative_from": found.informative_from,
            "detail": found.detail,
            "constant": finite(found.constant),
            "witness": finite(found.witness),
            "counterexample": self._counterexample_document,
            "kind": self.claim.judgement.kind,
            "source": self.claim.source,
        }

    @property
    def _counterexample_document(self) -> dict[str, Any] | None:
        """The smallest dataset known to violate the claim, where it is violated, as a dataset file has it."""
        known = _counterexample(self.claim, self.finding)
        return None if known is None else dataset_to_document(known)


@dataclass(frozen=True)
class Audit:
    """All verdicts on all datasets.

    Attributes
    ----------
    sources : the datasets with their origins
    runs : one run a dataset
    rows : one verdict per dataset and claim, datasets and claims in the order given
    config : how training was run
    """

    sources: tuple[Source, ...]
    runs: tuple[Run, ...]
    rows: tuple[Row, ...]
    config: Config

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many verdicts there are of each kind, worst first."""
        found = [row.finding.verdict for row in self.rows]
        return {verdict: found.count(verdict) for verdict in Verdict if verdict in found}

    def as_document(self) -> dict[str, Any]:
        """The JSON of the report, files not included."""
        return {
            "marginaudit": version("marginaudit"),
            "environment": environment(),
            "config": {name: getattr(self.config, name) for name in ("steps1", "steps2", "optimizer", "certify")},
            "datasets": [dataset_document(source, run) for source, run in zip(self.sources, self.runs, strict=True)],
            "verdicts": [row.as_document() for row in self.rows],
        }


def environment() -> dict[str, str]:
    """Python's and the libraries' versions."""
    return {"python": platform.python_version()} | {name: version(name) for name in DEPENDENCIES}


def audit(
    sources: Sequence[Source],
    claims: Iterable[Claim],
    config: Config,
    progress: Callable[[Dataset, str], Callable[[int], None]],
    claim_timeout: float = CLAIM_TIMEOUT,
) -> Audit:
    """Judge every claim on every dataset.

    Claims that are not built in work on a copy of the data, for ``claim_timeout`` seconds at most (`containment`).
    ``progress`` is told what is under way (the dataset, and a claim's id or "training") and returns
    a function that takes the number of training steps done on that dataset.
    """
    ledger = tuple(claims)
    runs, rows = [], []
    for source in sources:
        run = Run(source.dataset, config, progress(source.dataset, "training"))
        runs.append(run)
        handed_out = None
        for claim in ledger:
            progress(source.dataset, claim.id)
            if LEDGER.get(claim.id) is claim:
                finding = claim.judge(run)
            else:
                handed_out = handed_out or HandedOut(run)
                finding = judge(claim, handed_out, claim_timeout)
            rows.append(Row(claim, run, _with_the_smallest(claim, finding)))
    return Audit(tuple(sources), tuple(runs), tuple(rows), config)


def _counterexample(claim: Claim, finding: Finding) -> Dataset | None:
    return smallest_counterexample(claim.id) if finding.verdict is Verdict.VIOLATED else None


def _with_the_smallest(claim: Claim, finding: Finding) -> Finding:
    """A violation's detail names the smallest dataset that is known to violate the claim."""
    known = _counterexample(claim, finding)
    if known is None:
        return finding
    return replace(finding, detail=f"{finding.detail} Smallest dataset found to violate it: {in_words(known)}.")


def dataset_document(source: Source, run: Run) -> dict[str, Any]:
    """What the report says of a dataset: sizes, assumptions with witnesses, the two solutions, training."""
    data = run.dataset
    trained = run.trainable
    return {
        "name": data.name,
        "origin": source.origin,
        "sha256": source.sha256,
        "V": data.V,
        "N": data.N,
        "L_max": data.L_max,
        "samples": sum(data.counts),
        "relations": len(data.relations),
        "assumptions": finite(assumptions_answer(run.assumptions)),
        "lr1": run.eta0,
        "lr2": run.eta,
        "steps2": run.steps2 if trained else None,
        "rates": finite(rates_answer(run)) if trained else None,
        "stopped": run.stopped if trained else None,
        "form": run.trained.form if trained else None,
        "enclosed": None if not trained or run.enclosure is None else int(run.enclosure.step[-1]),
        "not_enclosed": run.not_enclosed if trained else None,
        "ov": _solution(run, "ov") if trained else None,
        "kq": _solution(run, "kq") if trained else None,
        "direction": direction_table(run),
        "proposition2": proposition2_table(run),
    }


def _solution(run: Run, which: Literal["ov", "kq"]) -> dict[str, Any]:
    solution = run.solved(which)
    if solution is None:
        return {"status": "not solved", "method": "cvxpy"} | dict.fromkeys(
            ("norm_squared", "norm_squared_exact", "direction_radius")
        )
    exact = solution.norm_squared_exact
    return {
        "status": solution.status,
        "method": solution.method,
        "norm_squared": finite(solution.norm_squared),
        "norm_squared_exact": None if exact is None else str(exact),
        "direction_radius": finite(solution.direction_radius),
    }


def distinct_names(sources: Sequence[Source], notice: Notice) -> list[Source]:
    """The sources, a free number appended to every name that was seen already."""
    taken = {source.dataset.name for source in sources}
    seen: set[str] = set()
    result = []
    for source in sources:
        name = source.dataset.name
        if name in seen:
            renamed = next(f"{name}-{i}" for i in count(2) if f"{name}-{i}" not in taken)
            taken.add(renamed)
            notice(f"{source.origin}: a dataset named {name} is there already; this one is reported as {renamed}")
            source = replace(source, dataset=replace(source.dataset, name=renamed))
        seen.add(name)
        result.append(source)
    return result
