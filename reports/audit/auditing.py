"""The audit: every claim judged on every dataset, and the data of the report."""

import json
import platform
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache, cached_property, partial
from importlib.metadata import version
from itertools import count
from math import inf
from threading import active_count
from typing import Any, Literal, cast

from marginaudit.claims.claim import Claim
from marginaudit.claims.paper import Figure, Paper
from marginaudit.claims.quotation import Form
from marginaudit.claims.row import ReportRow, evidence_text, names
from marginaudit.claims.run import BaseRun
from marginaudit.claims.settings import CLAIM_TIMEOUT
from marginaudit.claims.standing import Standing, Status
from marginaudit.claims.values.json_data import finite
from marginaudit.claims.values.numbers import NONE, bound
from marginaudit.claims.verdict import Evidence, Output, Verdict
from marginaudit.orders import counted
from marginaudit.orders.assumption import as_document
from marginaudit.orders.notebook import html_table
from marginaudit.reports.audit.claim_code import code_of
from marginaudit.reports.audit.claim_record import record
from marginaudit.reports.audit.plugins import Notice
from marginaudit.reports.audit.provenance import provenance, reproducible
from marginaudit.reports.audit.sources import Source, papers_of
from marginaudit.reports.counterexample import broken_without, smallest_counterexample
from marginaudit.reports.processes import Died, forkable, forked, one_thread

SCHEMA = 1
"""Version of report.json's fields, those of ``report.schema.json``; a removed or changed field raises it."""

LARGEST_DATA = 1_000_000
"""Most characters of a dataset in report.json."""

DEPENDENCIES = ("numpy", "scipy", "networkx", "cvxpy", "clarabel", "python-flint")
"""The libraries whose versions a report states."""

Progress = Callable[[str, str], Callable[[int], None]]
"""Callback with a dataset's name and the current task; returns a callback for the number of training steps done."""


def quiet(_dataset: str, _what: str) -> Callable[[int], None]:
    """Ignore progress."""
    return lambda _steps: None


@dataclass(frozen=True)
class Row:
    """One verdict: a claim on a dataset.

    Attributes
    ----------
    recorded : bool
        Whether the run was trained elsewhere; the dataset then has the run's name.
    refuted_by : str
        Name of a dataset in the audit that refutes the claim, or "".
    """

    claim: Claim
    paper: Paper
    finding: ReportRow
    refuted_by: str = ""
    recorded: bool = False

    @property
    def dataset(self) -> str:
        """Name of the dataset."""
        return self.finding.dataset

    @property
    def is_control(self) -> bool:
        """Whether the claim is false on purpose, so that a violation is a success of the audit."""
        return self.claim.form is Form.CONTROL

    @property
    def violated(self) -> bool:
        """Whether it is violated, and not carried over from a recorded run."""
        return self.finding.verdict is Verdict.VIOLATED and self.finding.premise == "met"

    @property
    def fails(self) -> bool:
        """Whether the row counts as a failure: violated, and no control."""
        return self.violated and not self.is_control

    @property
    def standing(self) -> Standing:
        """Standing of the claim over all datasets, updated by this audit's refutations."""
        known = self.claim.standing
        if not self.refuted_by or known.status is Status.REFUTED:
            return known
        return Standing(status=Status.REFUTED, dataset=self.refuted_by)

    @cached_property
    def reported(self) -> ReportRow:
        """Row of the report; the detail of a violation names the smallest known counterexample."""
        known = smallest_counterexample(self.paper, self.claim) if self.violated else None
        more: dict[str, Any] = {}
        if known is not None:
            smallest = f"Smallest dataset found to violate it: {self.paper.kind.in_words(known)}."
            document = self.paper.kind.to_document(known)
            more = {"detail": f"{self.finding.detail} {smallest}", "counterexample": document}
        if self.recorded:
            more["run"] = self.dataset
        if self.refuted_by:
            more["standing"] = self.standing.status.value
        if reproducible():
            more["seconds"] = None
        return replace(self.finding, **more) if more else self.finding

    def as_document(self, output: Output = Output.JSON) -> dict[str, Any]:
        """Row of report.json, or of another output."""
        return self.reported.as_document(output)


OnPage = Literal["shown", "once"]
"""Whether the page shows each dataset's picture, or one dataset's with links to the files of the others."""


@dataclass(frozen=True)
class Drawn:
    """Picture of a dataset, rendered.

    Attributes
    ----------
    suffix : str
        Suffix of the file name.
    claim : str
        Id of the claim that it illustrates; "" for a plot.
    files : bytes by file ending
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
    records : texts of CSV files by name of the record
    """

    pictures: tuple[Drawn, ...]
    records: Mapping[str, str]


@dataclass(frozen=True)
class Audited:
    """One dataset and its findings.

    Source, config and run are left out of the pickle, so that unpickling needs no paper.

    Attributes
    ----------
    findings : by id of the claim, in the ledger's order, with their curves
    document : the dataset's part of the report, plain JSON data
    shown : Shown or None
        None if not drawn.
    run_here : BaseRun or None
        Run behind the findings, if made and kept in this process.
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
        """Run behind the findings, or a new run of the same dataset and settings."""
        return self.source.run(self.config, lambda _: None) if self.run_here is None else self.run_here

    @property
    def name(self) -> str:
        """Unique name of the dataset."""
        return str(self.source.dataset.name)


@dataclass(frozen=True, repr=False)
class Audit:
    """All verdicts on all datasets.

    Attributes
    ----------
    claims : the audited claims
    configs : training settings by paper
    audited : one per dataset, in the given order
    made : provenance: date, command, processor, commit
    claims_file : path of the claims file as given, unescaped; None without one
    """

    claims: tuple[Claim, ...]
    configs: Mapping[str, Any]
    audited: tuple[Audited, ...]
    made: Mapping[str, Any] = field(default_factory=provenance)
    claims_file: str | None = None

    @property
    def sources(self) -> tuple[Source, ...]:
        """Datasets with their origins."""
        return tuple(one.source for one in self.audited)

    @property
    def runs(self) -> tuple[BaseRun[Any], ...]:
        """Run of each dataset; made anew if another process judged it."""
        return tuple(one.run for one in self.audited)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """One row per dataset and claim, both in the given order."""
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
        """Papers of the datasets."""
        return papers_of(self.sources)

    @property
    def illustrations(self) -> list[tuple[Paper, Figure]]:
        """Figures, each with its paper, that illustrate a claim applicable to some dataset."""
        applied = {row.claim.id for row in self.rows if row.finding.verdict is not Verdict.NOT_APPLICABLE}
        return [
            (paper, figure)
            for paper in self.papers
            for figure in paper.figures_of("paper", "text").values()
            if figure.beside in applied
        ]

    @property
    def counts(self) -> dict[Verdict, int]:
        """Number of rows by verdict, worst first, without controls."""
        found = [row.finding.verdict for row in self.rows if not row.is_control]
        return {verdict: found.count(verdict) for verdict in Verdict if verdict in found}

    @property
    def controls(self) -> dict[str, bool]:
        """Whether a dataset violates each control, by id; those applicable to no dataset are left out."""
        found: dict[str, bool] = {}
        for row in self.rows:
            if row.is_control and row.finding.verdict is not Verdict.NOT_APPLICABLE:
                found[row.claim.id] = found.get(row.claim.id, False) or row.violated
        return found

    @property
    def controls_in_words(self) -> str:
        """Sentence on the controls; "" without any."""
        found = self.controls
        unused = len({row.claim.id for row in self.rows if row.is_control} - set(found))
        beside = f"{counted(unused, 'control')} not applicable" if unused else ""
        missed = ", ".join(name for name, noticed in found.items() if not noticed)
        notice = counted(len(found), "control notices", "controls notice")
        told = f"{sum(found.values())} of {notice} the mistake" + (f"; not {missed}" if missed else "")
        return "; ".join(part for part in (told if found else "", beside) if part)

    @property
    def certified_in_words(self) -> str:
        """Sentence on the enclosures, which proofs hide; "" without such."""
        beside = sum(row.finding.measurement is Evidence.CERTIFIED for row in self.rows)
        count = beside + sum(row.finding.evidence is Evidence.CERTIFIED for row in self.rows)
        enclosed = (
            f"Enclosed rigorously: the measurements of {counted(count, 'verdict')}, {beside} of them beside a proof"
        )
        return enclosed if beside else ""

    @property
    def carried_over(self) -> int:
        """Number of rows on recorded weights not known to come from the paper's algorithm."""
        return sum(row.finding.premise != "met" for row in self.rows)

    def _repr_html_(self) -> str:
        header = names(Output.TABLE)
        bad = Verdict.VIOLATED, Verdict.BROKEN
        failed = [row for row in self.rows if row.finding.verdict in bad and not row.is_control]
        read = [row | {"evidence": evidence_text(row)} for row in (row.as_document(Output.FRAME) for row in failed)]
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
        """Title, header and rows of the verdict matrix: claims, worst first, by datasets."""
        counts = ", ".join(f"{count} {verdict}" for verdict, count in self.counts.items())
        names = [one.name for one in self.audited]
        counts += f"; {self.carried_over} carried over" if self.carried_over else ""
        counts += f"; {self.controls_in_words}" if self.controls_in_words else ""
        found: dict[str, dict[str, str]] = {}
        for row in sorted(self.rows, key=lambda row: list(Verdict).index(row.finding.verdict)):
            premise = "" if row.finding.premise == "met" else f" ({row.finding.premise})"
            premise += " (control)" if row.is_control else ""
            found.setdefault(row.claim.id, {})[row.dataset] = f"{row.finding.verdict}{premise}"
        rows: list[Sequence[str | None]] = [
            (claim, *(verdicts.get(name) for name in names)) for claim, verdicts in found.items()
        ]
        return f"{counted(sum(self.counts.values()), 'verdict')}: {counts}", ("claim", *names), rows

    def as_document(self) -> dict[str, Any]:
        """Content of report.json, without the files."""
        known = {row.claim.id: row for row in self.rows}
        claims = [claim_document(row) for row in known.values()]
        return {**self.preamble(), "claims": claims, "verdicts": [row.as_document() for row in self.rows]}

    def preamble(self) -> dict[str, Any]:
        """Content of report.json before the claims and the verdicts."""
        return {
            "schema": SCHEMA,
            "marginaudit": version("marginaudit"),
            "made": dict(self.made),
            "environment": environment(),
            "config": {paper.name: config_document(paper, self.configs[paper.name]) for paper in self.papers},
            "papers": [paper_document(paper) for paper in self.papers],
            "datasets": [dict(one.document) for one in self.audited],
        }


def claim_document(row: Row) -> dict[str, Any]:
    """A claim in report.json, with its code, and the standing and the counterexample known after this audit."""
    smallest = smallest_counterexample(row.paper, row.claim)
    data = row.claim.standing.formula or None if smallest is None else row.paper.kind.to_document(smallest)
    code = code_of(row.claim)
    more = {"without": broken_without(row.paper, row.claim), "code": code and asdict(code)}
    return record(row.claim, data, row.standing).as_document() | more


def paper_document(paper: Paper) -> dict[str, Any]:
    """A paper in report.json; ``ours``: whether it has statements and proofs of this project."""
    title = re.search(r"\btitle = \{(.*)\}", paper.bibtex)
    return {
        "name": paper.name,
        "source": paper.source,
        "title": title[1] if title else None,
        "ours": paper.ours and bool(paper.claims),
    }


def config_document(paper: Paper, config: Any) -> dict[str, Any]:
    """Settings of a run as plain data."""
    return {known.name: finite(getattr(config, known.name)) for known in fields(paper.config)}


@cache  # versions are read from files
def environment() -> dict[str, str]:
    """Versions of Python and the libraries."""
    return {"python": platform.python_version()} | {name: version(name) for name in DEPENDENCIES}


def audited(
    source: Source,
    claims: Sequence[Claim],
    config: Any,
    progress: Progress,
    claim_timeout: float = CLAIM_TIMEOUT,
    *,
    isolated: bool = False,
) -> Audited:
    """Judge a dataset by each claim about its kind, on one thread.

    Each user's claim is judged in a forked worker with a timeout of ``claim_timeout`` seconds, or in this process
    without a timeout if forking is unsafe; if ``isolated``, every other claim too is judged in a forked worker.
    ``progress`` is called with the dataset's name and the current task (a claim's id, or "training"), and returns a
    callback for the number of training steps done on that dataset.
    """
    paper, name = source.paper, source.dataset.name
    judged = [claim for claim in claims if paper.judges(claim)]
    apart = {claim.id for claim in judged if isolated or not paper.has(claim)}
    if apart and not forkable(ours=active_count()):  # one_thread hides BLAS's
        apart = set()
    with one_thread():
        run = source.run(config, progress(name, "training"))
        findings: dict[str, ReportRow] = {}
        for claim in judged:
            if not paper.about(claim, run):
                continue
            progress(name, claim.id)
            if claim.id in apart:
                run.prepare()
                seconds = inf if paper.has(claim) else claim_timeout
                findings[claim.id] = judged_apart(claim, run, seconds)
            else:
                findings[claim.id] = claim.judge(run)
        return Audited(source, config, findings, dataset_document(source, run), run_here=run)


def judged_apart(claim: Claim, run: BaseRun[Any], seconds: float) -> ReportRow:
    """`Claim.judge` in a forked worker; a `broken` row if it dies, or takes longer."""
    found = forked(partial(Claim.judge, claim, run), seconds)
    if isinstance(found, Died):
        return claim.row(run, verdict=Verdict.BROKEN, detail=f"Its process {found}.")
    return cast(ReportRow, found)


def dataset_document(source: Source, run: BaseRun[Any]) -> dict[str, Any]:
    """Dataset in report.json: origin, the data unless large, assumptions with witnesses, facts and tables."""
    data = finite(source.paper.kind.to_document(source.dataset))
    document = {
        "name": source.dataset.name,
        "paper": source.paper.name,
        "origin": source.origin,
        "sha256": source.sha256,
        "data": data if len(json.dumps(data)) <= LARGEST_DATA else None,
        "assumptions": as_document(run.assumptions),
        **source.paper.facts(run),
        **{table.name: table.of(run) for table in source.paper.tables},
    }
    plain: dict[str, Any] = json.loads(json.dumps(finite(document)))
    return plain


def distinct_names(sources: Sequence[Source], notice: Notice) -> list[Source]:
    """Sources with unique names: a repeated name gets a number."""
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
