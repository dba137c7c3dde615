"""The audit: every claim on every dataset, and the report's data."""

import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from importlib.metadata import version
from itertools import count
from typing import Any

from marginaudit.orders.assumption import as_document
from marginaudit.reports.audit.by_proof import by_proof
from marginaudit.reports.audit.containment import HandedOut, judge
from marginaudit.reports.audit.ledger import about
from marginaudit.reports.audit.sources import Source
from marginaudit.reports.claim import Claim
from marginaudit.reports.counterexample import smallest_counterexample
from marginaudit.reports.paper import Paper
from marginaudit.reports.plain import finite
from marginaudit.reports.run import BaseRun
from marginaudit.reports.verdict import Finding, Verdict

DEPENDENCIES = ("numpy", "scipy", "networkx", "cvxpy", "clarabel", "python-flint")
"""The libraries whose versions a report states."""

CLAIM_TIMEOUT = 600.0
"""Seconds that a claim of the user's may take on a dataset."""

Notice = Callable[[str], None]


@dataclass(frozen=True)
class Row:
    """One verdict: a claim on a dataset."""

    claim: Claim
    paper: Paper
    run: BaseRun[Any]
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
            "side": found.side,
            "repeats_within": finite(found.repeats_within),
            "witness": finite(found.witness),
            "counterexample": self._counterexample_document,
            "kind": self.claim.judgement.kind,
            "source": self.claim.source,
        }

    @property
    def _counterexample_document(self) -> dict[str, Any] | None:
        """The smallest dataset known to violate the claim, where it is violated, as a dataset file has it."""
        known = _counterexample(self.paper, self.claim, self.finding)
        return None if known is None else self.paper.kind.to_document(known)


@dataclass(frozen=True)
class Audit:
    """All verdicts on all datasets.

    Attributes
    ----------
    sources : the datasets with their origins
    runs : one run a dataset
    rows : one verdict per dataset and claim, datasets and claims in the order given
    configs : how training was run, by paper
    """

    sources: tuple[Source, ...]
    runs: tuple[BaseRun[Any], ...]
    rows: tuple[Row, ...]
    configs: Mapping[str, Any]

    @property
    def papers(self) -> tuple[Paper, ...]:
        """The papers of the datasets."""
        return tuple({source.paper.name: source.paper for source in self.sources}.values())

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
            "config": {
                paper.name: {
                    field.name: finite(getattr(self.configs[paper.name], field.name)) for field in fields(paper.config)
                }
                for paper in self.papers
            },
            "datasets": [dataset_document(source, run) for source, run in zip(self.sources, self.runs, strict=True)],
            "verdicts": [row.as_document() for row in self.rows],
        }


def environment() -> dict[str, str]:
    """Python's and the libraries' versions."""
    return {"python": platform.python_version()} | {name: version(name) for name in DEPENDENCIES}


def audit(
    sources: Sequence[Source],
    claims: Iterable[Claim],
    configs: Mapping[str, Any],
    progress: Callable[[str, str], Callable[[int], None]],
    claim_timeout: float = CLAIM_TIMEOUT,
) -> Audit:
    """Judge every dataset by each of the claims that are about its kind.

    Claims that are not built in work on a copy of the data, for ``claim_timeout`` seconds at most (`containment`).
    ``configs`` holds how each paper's runs are made, by its name. ``progress`` is told what is under way (the
    dataset's name, and a claim's id or "training") and returns a function that takes the number of training steps
    done on that dataset.
    """
    ledger = tuple(claims)
    runs, rows = [], []
    for source in sources:
        paper, name = source.paper, source.dataset.name
        run = paper.run(source.dataset, configs[paper.name], progress(name, "training"))
        runs.append(run)
        handed_out = None
        for claim in about(paper, ledger):
            progress(name, claim.id)
            if paper.has(claim):
                finding = by_proof(paper, claim, run, claim.judge(run))
            else:
                handed_out = handed_out or HandedOut(run)
                finding = judge(claim, handed_out, claim_timeout)
            rows.append(Row(claim, paper, run, _with_the_smallest(paper, claim, finding)))
    return Audit(tuple(sources), tuple(runs), tuple(rows), configs)


def _counterexample(paper: Paper, claim: Claim, finding: Finding) -> Any | None:
    return smallest_counterexample(paper, claim) if finding.verdict is Verdict.VIOLATED else None


def _with_the_smallest(paper: Paper, claim: Claim, finding: Finding) -> Finding:
    """A violation's detail names the smallest dataset that is known to violate the claim."""
    known = _counterexample(paper, claim, finding)
    if known is None:
        return finding
    smallest = f"Smallest dataset found to violate it: {paper.kind.in_words(known)}."
    return replace(finding, detail=f"{finding.detail} {smallest}")


def dataset_document(source: Source, run: BaseRun[Any]) -> dict[str, Any]:
    """What the report says of a dataset: where it is from, its assumptions with witnesses, facts and tables."""
    return {
        "name": source.dataset.name,
        "paper": source.paper.name,
        "origin": source.origin,
        "sha256": source.sha256,
        "assumptions": finite(as_document(run.assumptions)),
        **source.paper.facts(run),
        **{table.name: table.of(run) for table in source.paper.tables},
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
