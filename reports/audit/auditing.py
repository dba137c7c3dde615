"""The audit: every claim on every dataset, and the report's data."""

import json
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from importlib.metadata import version
from itertools import count
from threading import active_count
from typing import Any, Literal

from marginaudit.claims.claim import Claim
from marginaudit.claims.paper import Figure, Paper
from marginaudit.claims.row import ReportRow, evidence_text, names
from marginaudit.claims.run import BaseRun
from marginaudit.claims.settings import CLAIM_TIMEOUT
from marginaudit.claims.standing import Standing, Status
from marginaudit.claims.values.json_data import finite
from marginaudit.claims.values.numbers import NONE, bound
from marginaudit.claims.verdict import Output, Verdict
from marginaudit.orders import counted
from marginaudit.orders.assumption import as_document
from marginaudit.orders.notebook import html_table
from marginaudit.reports.audit.claim_worker import judged_in_worker
from marginaudit.reports.audit.plugins import Notice
from marginaudit.reports.audit.provenance import provenance
from marginaudit.reports.audit.sources import Source, papers_of
from marginaudit.reports.counterexample import smallest_counterexample
from marginaudit.reports.processes import forkable, one_thread

DEPENDENCIES = ("numpy", "scipy", "networkx", "cvxpy", "clarabel", "python-flint")
"""The libraries whose versions a report states."""

Progress = Callable[[str, str], Callable[[int], None]]
"""Takes a dataset's name and what is under way; the function that it returns takes the training steps done."""


def quiet(_dataset: str, _what: str) -> Callable[[int], None]:
    """Ignore progress."""
    return lambda _steps: None


@dataclass(frozen=True)
class Row:
    """One verdict: a claim on a dataset.

    Attributes
    ----------
    recorded : bool
        Whether it is of a run that was trained elsewhere, by whose name the dataset goes.
    refuted_by : str
        A dataset of the audit that refutes the claim; "" for none.
    """

    claim: Claim
    paper: Paper
    finding: ReportRow
    refuted_by: str = ""
    recorded: bool = False

    @property
    def dataset(self) -> str:
        """Its name."""
        return self.finding.dataset

    @property
    def fails(self) -> bool:
        """Whether the row counts as a failure: violated, and not carried over."""
        return self.finding.verdict is Verdict.VIOLATED and self.finding.premise == "met"

    @property
    def standing(self) -> Standing:
        """The claim's standing for every dataset, with this audit's refutations taken into account."""
        known = self.claim.standing
        if not self.refuted_by or known.status is Status.REFUTED:
            return known
        return Standing(status=Status.REFUTED, dataset=self.refuted_by)

    @cached_property
    def reported(self) -> ReportRow:
        """The row as a report has it; a violation's detail names the smallest dataset known to violate the claim."""
        known = smallest_counterexample(self.paper, self.claim) if self.fails else None
        more: dict[str, Any] = {}
        if known is not None:
            smallest = f"Smallest dataset found to violate it: {self.paper.kind.in_words(known)}."
            document = self.paper.kind.to_document(known)
            more = {"detail": f"{self.finding.detail} {smallest}", "counterexample": document}
        if self.recorded:
            more["run"] = self.dataset
        if self.refuted_by:
            more["standing"] = self.standing.status.value
        return replace(self.finding, **more) if more else self.finding

    def as_document(self) -> dict[str, Any]:
        """The row as the JSON of the report has it."""
        return self.reported.as_document()


OnPage = Literal["shown", "once"]
"""Whether the page shows each dataset's picture, or one dataset's with links to the files of the others."""


@dataclass(frozen=True)
class Drawn:
    """A drawn picture of a dataset.

    Attributes
    ----------
    suffix : str
        What its file's name ends with.
    claim : str
        The id of the claim beside which it stands; "" where it stands among the plots.
    files : its bytes by the ending of a file's name
    """

    suffix: str
    caption: str
    claim: str
    files: Mapping[str, bytes]
    on_page: OnPage = "shown"


@dataclass(frozen=True)
class Shown:
    """Pictures and CSV records of a dataset for the report.

    Attributes
    ----------
    records : texts of CSV files by the names of what they record
    """

    pictures: tuple[Drawn, ...]
    records: Mapping[str, str]


@dataclass(frozen=True)
class Audited:
    """One dataset and its findings.

    It is pickled without its source, config and run, so that reading it back needs no paper.

    Attributes
    ----------
    findings : by claim's id, in the ledger's order, with their curves
    document : what the report says of the dataset: plain JSON data
    shown : Shown or None
        None where it has not been drawn.
    run_here : BaseRun or None
        What measured them, if that was in this process and is kept.
    """

    source: Source
    config: Any
    findings: Mapping[str, ReportRow]
    document: Mapping[str, Any]
    shown: Shown | None = None
    run_here: BaseRun[Any] | None = field(default=None, compare=False, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("findings", "document", "shown")}

    @cached_property
    def run(self) -> BaseRun[Any]:
        """What measured the findings, or a new run of the same dataset and settings."""
        return self.source.run(self.config, lambda _: None) if self.run_here is None else self.run_here

    @property
    def name(self) -> str:
        """The dataset's name, which no other has."""
        return str(self.source.dataset.name)


@dataclass(frozen=True, repr=False)
class Audit:
    """All verdicts on all datasets.

    Attributes
    ----------
    claims : those that were audited
    configs : how training was run, by paper
    audited : one for each dataset, in the order given
    made : the provenance: date, command, processor, commit
    claims_file : the path of the file of claims as it was given, whatever its characters; None where there is none
    """

    claims: tuple[Claim, ...]
    configs: Mapping[str, Any]
    audited: tuple[Audited, ...]
    made: Mapping[str, Any] = field(default_factory=provenance)
    claims_file: str | None = None

    @property
    def sources(self) -> tuple[Source, ...]:
        """The datasets with their origins."""
        return tuple(one.source for one in self.audited)

    @property
    def runs(self) -> tuple[BaseRun[Any], ...]:
        """The run of each dataset, made anew where another process judged it."""
        return tuple(one.run for one in self.audited)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """One verdict per dataset and claim, datasets and claims in the order given."""
        known = {claim.id: claim for claim in self.claims}
        refuted_by: dict[str, str] = {}
        for one in self.audited:
            for name, finding in one.findings.items():
                if finding.refutes:
                    refuted_by.setdefault(name, one.name)
        return tuple(
            Row(known[name], one.source.paper, finding, refuted_by.get(name, ""), bool(one.source.trajectory))
            for one in self.audited
            for name, finding in one.findings.items()
        )

    @property
    def papers(self) -> tuple[Paper, ...]:
        """The papers of the datasets."""
        return papers_of(self.sources)

    @property
    def illustrations(self) -> list[tuple[Paper, Figure]]:
        """Paper and figure of every figure of a paper that stands beside a claim that applies to a dataset."""
        applied = {row.claim.id for row in self.rows if row.finding.verdict is not Verdict.NOT_APPLICABLE}
        return [
            (paper, figure)
            for paper in self.papers
            for figure in paper.figures_of("paper", "text").values()
            if figure.beside in applied
        ]

    @property
    def counts(self) -> dict[Verdict, int]:
        """How many verdicts there are of each kind, worst first."""
        found = [row.finding.verdict for row in self.rows]
        return {verdict: found.count(verdict) for verdict in Verdict if verdict in found}

    @property
    def carried_over(self) -> int:
        """How many verdicts are of recorded weights that are not known to be the paper's algorithm's."""
        return sum(row.finding.premise != "met" for row in self.rows)

    def _repr_html_(self) -> str:
        header = names(Output.TABLE)
        failed = [row for row in self.rows if row.finding.verdict in (Verdict.VIOLATED, Verdict.BROKEN)]
        read = [row | {"evidence": evidence_text(row)} for row in (row.as_document() for row in failed)]
        rows = [[bound(row) if name == "bound" else row[name] for name in header] for row in read]
        title, columns, matrix = self._matrix()
        return html_table(title, header, rows) if rows else html_table(title, columns, matrix)

    def __repr__(self) -> str:
        title, header, rows = self._matrix()
        lines = [header, *([cell or NONE for cell in row] for row in rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        padded = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]
        return "\n".join([title, *padded])

    def _matrix(self) -> tuple[str, Sequence[str], list[Sequence[str | None]]]:
        """A title, a header, and the verdicts: a row a claim, worst first, and a column a dataset."""
        counts = ", ".join(f"{count} {verdict}" for verdict, count in self.counts.items())
        names = [one.name for one in self.audited]
        counts += f"; {self.carried_over} carried over" if self.carried_over else ""
        found: dict[str, dict[str, str]] = {}
        for row in sorted(self.rows, key=lambda row: list(Verdict).index(row.finding.verdict)):
            premise = "" if row.finding.premise == "met" else f" ({row.finding.premise})"
            found.setdefault(row.claim.id, {})[row.dataset] = f"{row.finding.verdict}{premise}"
        rows: list[Sequence[str | None]] = [
            (claim, *(verdicts.get(name) for name in names)) for claim, verdicts in found.items()
        ]
        return f"{counted(len(self.rows), 'verdict')}: {counts}", ("claim", *names), rows

    def as_document(self) -> dict[str, Any]:
        """The JSON of the report, files not included."""
        return {
            "marginaudit": version("marginaudit"),
            "made": dict(self.made),
            "environment": environment(),
            "config": {paper.name: config_document(paper, self.configs[paper.name]) for paper in self.papers},
            "datasets": [dict(one.document) for one in self.audited],
            "verdicts": [row.as_document() for row in self.rows],
        }


def config_document(paper: Paper, config: Any) -> dict[str, Any]:
    """The settings of a run as plain data."""
    return {known.name: finite(getattr(config, known.name)) for known in fields(paper.config)}


@cache  # a library's version is read from files
def environment() -> dict[str, str]:
    """Python's and the libraries' versions."""
    return {"python": platform.python_version()} | {name: version(name) for name in DEPENDENCIES}


def audited(
    source: Source, claims: Sequence[Claim], config: Any, progress: Progress, claim_timeout: float = CLAIM_TIMEOUT
) -> Audited:
    """Judge a dataset by each of the claims that are about its kind, on one thread.

    Claims that do not come with the paper are judged in a worker each, for ``claim_timeout`` seconds at most; in this
    process, without a limit, where none can be forked safely. ``progress`` takes the dataset's name and the task under
    way (a claim's id, or "training") and returns a function that takes the number of training steps done on that
    dataset.
    """
    paper, name = source.paper, source.dataset.name
    judged = [claim for claim in claims if paper.judges(claim)]
    forks = not all(map(paper.has, judged)) and forkable(ours=active_count())  # one_thread hides BLAS's
    with one_thread():
        run = source.run(config, progress(name, "training"))
        findings: dict[str, ReportRow] = {}
        for claim in judged:
            progress(name, claim.id)
            if paper.has(claim) or not forks:
                findings[claim.id] = claim.judge(run)
            else:
                run.prepare()
                findings[claim.id] = judged_in_worker(claim, run, claim_timeout)
        return Audited(source, config, findings, dataset_document(source, run), run_here=run)


def dataset_document(source: Source, run: BaseRun[Any]) -> dict[str, Any]:
    """A dataset in report.json: its origin, its assumptions with witnesses, facts and tables."""
    document = {
        "name": source.dataset.name,
        "paper": source.paper.name,
        "origin": source.origin,
        "sha256": source.sha256,
        "assumptions": as_document(run.assumptions),
        **source.paper.facts(run),
        **{table.name: table.of(run) for table in source.paper.tables},
    }
    plain: dict[str, Any] = json.loads(json.dumps(finite(document)))
    return plain


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
