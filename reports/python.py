"""Python interface of the audit."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from marginaudit.claims.answers.conformity import Conformity
from marginaudit.claims.claim import Claim
from marginaudit.claims.instances.instance import Instance
from marginaudit.claims.instances.together import ALL_INSTANCES, together
from marginaudit.claims.paper import Paper
from marginaudit.claims.row import ReportRow, names
from marginaudit.claims.settings import CLAIM_TIMEOUT, EXPORTS, JOBS, SECONDS, settings_of
from marginaudit.claims.verdict import Output
from marginaudit.orders import InputError, printable, shown
from marginaudit.reports.audit.auditing import Audit, distinct_names
from marginaudit.reports.audit.check_bars import with_checked_bars
from marginaudit.reports.audit.ledger import all_papers, configs_of, matching_ids
from marginaudit.reports.audit.plugins import warn
from marginaudit.reports.audit.sources import (
    Source,
    cases_of,
    comparing,
    is_frame,
    is_sentences,
    made_in_python,
    once_each,
    papers_of,
    papers_with,
    some_judged,
    source_of,
    with_trajectories,
)
from marginaudit.reports.audit.user_claims import accepted, all_claims
from marginaudit.reports.compare.changes import compare
from marginaudit.reports.compare.reading import read_sides, side_of
from marginaudit.reports.compare.worse import Change
from marginaudit.reports.page.exports import tables_of
from marginaudit.reports.plots.measured import curve_title, measured_figure
from marginaudit.reports.plots.style import fit_titles, plot_settings
from marginaudit.reports.study.audit import audit_datasets, write_audit
from marginaudit.reports.study.executor import Executor

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

    from marginaudit.training.weight_files.run_file import RunFile


class Report(Audit):
    """Verdicts on datasets, as `audit` returns them."""

    def verdict(self, claim: str, dataset: str | None = None) -> ReportRow:
        """Verdict on a claim, with its numbers.

        Parameters
        ----------
        claim : id of the claim
        dataset : name of the dataset; optional if the report has one dataset

        Raises
        ------
        KeyError
            No such claim or dataset, or no verdict of that claim on that dataset.
        """
        names = [one.name for one in self.audited]
        if dataset is None and len(names) > 1:
            raise KeyError(f"got no dataset, expected one of {', '.join(names)}")
        if dataset is not None and dataset not in names:
            raise KeyError(f"dataset {shown(dataset)}: expected one of {', '.join(names)}")
        findings = self.audited[0 if dataset is None else names.index(dataset)].findings
        if claim not in findings:
            near = get_close_matches(claim, findings, n=3)
            such_as = f", such as {', '.join(near)}" if near else ""
            raise KeyError(f"claim {shown(claim)}: expected one that was audited{such_as}")
        return findings[claim]

    def plot(self, claim: str, dataset: str | None = None) -> "Figure":
        """Plot the measured quantity of a row against the steps, with its bounds or predicted limit.

        Parameters
        ----------
        claim, dataset : see `verdict`

        Raises
        ------
        KeyError
            No such claim or dataset, or no verdict of that claim on that dataset.
        InputError
            The row has no series over steps.
        """
        finding = self.verdict(claim, dataset)
        name = dataset or self.audited[0].name
        if finding.curve is None:
            expected = "a bound or a limit along steps"
            raise InputError(f"{claim} on {printable(name)}", got="no values along steps", expected=expected)
        figure = measured_figure(curve_title(name, claim), finding.curve, finding)
        with plot_settings():
            fit_titles(figure)
        return figure

    def to_dataframe(self) -> "DataFrame":
        """One row per verdict."""
        from pandas import DataFrame

        rows, columns = [row.as_document(Output.FRAME) for row in self.rows], list(names(Output.FRAME))
        return DataFrame([[row[column] for column in columns] for row in rows], columns=columns)

    def table(self, name: str) -> "DataFrame":
        """Table of all datasets, such as ``"direction"``, with the rows and columns of the CSV file of that name.

        Raises
        ------
        KeyError
            No paper of the report has such a table.
        """
        found = {table.name: (table, of) for table, of in tables_of(self.papers, self.as_document())}
        if name not in found:
            raise KeyError(f"table {shown(name)}: expected one of {', '.join(found) or 'none'}")
        table, of = found[name]
        return table.frame(of)

    def compare(self, other: "Audit | str | PathLike[str]") -> "DataFrame":
        """Changes from another report to this one, as in ``marginaudit compare OTHER THIS``.

        Parameters
        ----------
        other : a report, or the path of its folder or report.json

        Raises
        ------
        InputError
            No report at the path, or no row in common.
        """
        from pandas import DataFrame

        old = side_of(other.as_document(), "other") if isinstance(other, Audit) else read_sides(Path(other))[0]
        found = compare(old, side_of(self.as_document(), "this report"))
        found.require_rows()
        return DataFrame([vars(change) for change in found.changes], columns=[field.name for field in fields(Change)])

    def save(self, folder: str | PathLike[str], exports: str | Sequence[str] = ()) -> Path:
        """Write the report into a folder, as ``marginaudit audit --out``, and return the path of its page.

        Parameters
        ----------
        exports : one or more of "latex", "markdown", "parquet", "pdf" and "logbook"

        Raises
        ------
        InputError
            The folder is not writable or holds files but no report, or an export is unknown.
        """
        wanted = [exports] if isinstance(exports, str) else exports
        for name in wanted:
            if name not in EXPORTS:
                raise InputError("exports", got=shown(name), expected=f"of {', '.join(EXPORTS)}")
        write_audit(self, Path(folder), Executor(), exports=wanted)
        return Path(folder) / "report.html"


def audit(
    data: Any = None,
    claims: str | Claim | Iterable[str | Claim] | None = None,
    config: Any = None,
    *,
    trajectory: str | PathLike[str] | Mapping[str, str | PathLike[str]] | None = None,
    map: str | Iterable[str] = (),
    head: str = "",
    jobs: int = 1,
    claim_timeout: float = CLAIM_TIMEOUT,
    check_bars: bool = False,
) -> Report:
    """Judge datasets by the statements of their papers, as ``marginaudit audit``.

    Parameters
    ----------
    data : a dataset, any input of `dataset`, an `instance`, or an iterable of these
        A list of lists of tokens is one dataset; a list of texts holds paths and names. None for the built-in cases of
        the claims' papers.
    claims : ids, patterns such as ``"ntp.theorem2.*"``, and `Claim` objects of your own
        None for all built-in and installed claims.
    config : settings by name such as ``{"steps2": 2000}``, or a paper's config such as `marginaudit.claims.ntp.Config`
        Defaults are those of ``marginaudit audit``.
    trajectory : path, or mapping from names to paths
        Your own runs of the only dataset, in files as `conform` reads them. Each is judged beside the built-in run, as
        a dataset of its name.
    map : rules such as ``"W_kq = k.weight.T @ q.weight"``
        How matrices are computed from the tensors of these files; by default the map saved beside each.
    head : "trained", "given" or "joint"
        How W_ov of these files was trained: by stage 1, not at all, or jointly with W_kq; "" for what they show.
    jobs : int
        Datasets judged at a time. Above 1, workers judge them; the report repeats a worker's run if you access it.
    claim_timeout : float
        Time limit in seconds for each of your own claims on a dataset.
    check_bars : bool
        Rerun the measures of your own claims about instances with the instances' floats in 256 bits. A row with a wrong
        error bar is broken; the detail of the others says whether the bar is confirmed.

    Raises
    ------
    InputError
        One line: the value got, the value expected.

    >>> report = audit("example-1", claims="ntp.prop2.*", config={"steps2": 10})
    >>> report.verdict("ntp.prop2.closed-form").verdict
    <Verdict.HOLDS: 'holds'>
    """
    papers = all_papers(warn)
    loaded: list[Source] = []
    if data is not None:
        data = list(data) if isinstance(data, Iterator) else data
        several = isinstance(data, Iterable) and not isinstance(data, str | bytes | PathLike | Mapping)
        several = several and not is_frame(data) and not is_sentences(data)
        loaded = [source_of(one, papers) for one in once_each(data if several else [data])]
        if not loaded:
            raise InputError("data", got="no dataset", expected="one or more, or None for the built-in cases")
    chosen = _claims(claims, loaded, papers)
    found = loaded or cases_of([paper for paper in papers if any(paper.judges(one) for one in chosen)], warn)
    instances = [source.dataset for source in found if isinstance(source.dataset, Instance)]
    found = [made_in_python(one, ALL_INSTANCES) for one in together(instances, chosen)] + found
    sources = distinct_names(found, lambda _: None)
    some_judged(chosen, sources, "claims")
    for name, values, given in (("jobs", JOBS, jobs), ("claim_timeout", SECONDS, claim_timeout)):
        values.accept(given, name)
    configs = configs_of(config, {paper.name: paper for paper in papers_of(sources)})
    named = trajectory if isinstance(trajectory, Mapping) else {} if trajectory is None else {"": trajectory}
    recorded = [(name or Path(path).stem, _run_file(path, map, head)) for name, path in named.items()]
    sources = distinct_names(with_trajectories(sources, recorded, configs), lambda _: None)
    judged = audit_datasets(sources, chosen, configs, Executor(jobs), claim_timeout=claim_timeout)
    if check_bars:
        judged, _ = with_checked_bars(judged, claim_timeout)
    return Report(judged.claims, judged.configs, judged.audited)


def _run_file(file: str | PathLike[str], rules: str | Iterable[str], head: str) -> "RunFile":
    from marginaudit.training.weight_files.run_file import RunFile

    if head not in ("", "trained", "given", "joint"):
        raise InputError("head", got=shown(head), expected="trained, given or joint")
    return RunFile(Path(file), (rules,) if isinstance(rules, str) else tuple(rules), head)


def conform(
    data: Any, file: str | PathLike[str], *, map: str | Iterable[str] = (), head: str = "", **settings: Any
) -> Conformity:
    """Compare a recorded run with the algorithm of its dataset's paper, as ``marginaudit conform``.

    Parameters
    ----------
    data : a dataset, or any input of `dataset`
    file : path
        An .npz file of `marginaudit.record.Recorder`, a .safetensors file, a checkpoint of PyTorch, or a folder of
        checkpoints.
    map : rules such as ``"W_kq = k.weight.T @ q.weight"``
        How matrices are computed from the file's tensors; by default the map saved beside the file.
    head : "trained", "given" or "joint"
        How W_ov was trained: by stage 1, not at all, or jointly with W_kq; "" for what the file shows.
    settings : options of ``marginaudit conform`` by name, such as ``lr1``
        Defaults are the file's settings, or else the paper's.

    Returns
    -------
    Conformity
        ``conforms``, ``departs_at``, and ``line``, the result in one line.

    Raises
    ------
    InputError
        One line: the value got, the value expected.
    """
    source = source_of(data, all_papers(warn))
    compare, known = comparing(source), source.paper.usual("conform")
    for name in settings:
        if name not in settings_of(type(known)):
            got, expected = "no setting of that name", ", ".join(settings_of(type(known)))
            raise InputError(f"conform {shown(name)}", got=got, expected=expected)
    return compare(_run_file(file, map, head), replace(known, **settings), lambda _: None)


def _claims(
    wanted: str | Claim | Iterable[str | Claim] | None, sources: Sequence[Source], papers: tuple[Paper, ...]
) -> list[Claim]:
    if wanted is None:
        return list(all_claims(papers_with((), sources, papers), None, warn).values())
    given = list(wanted) if isinstance(wanted, Iterable) and not isinstance(wanted, str) else [wanted]
    ids = [one for one in given if isinstance(one, str)]
    of_ids = len(ids) == len(given)  # the id of a Claim may be taken in any paper
    known = all_claims(papers_with(ids, sources, papers) if of_ids else papers, None, warn)
    found: dict[str, Claim] = {}
    originals: dict[str, Claim] = {}
    of_instances = bool(sources) and all(isinstance(source.dataset, Instance) for source in sources)
    for one in given:
        if isinstance(one, Claim):
            if one.id in known and known[one.id] is not one:
                raise InputError(f"claim {one.id}", got="an id that another claim has", expected="one of its own")
            if originals.setdefault(one.id, one) is not one:
                raise InputError(f"claim {one.id}", got="two claims of that id", expected="an id of its own for each")
            own = one.id not in known
            found[one.id] = accepted(one, f"claim {one.id}", papers, beside_instances=of_instances) if own else one
            continue
        if not isinstance(one, str):
            raise InputError("claims", got=shown(one), expected="ids, patterns or Claims")
        found |= {name: known[name] for name in matching_ids(one, known, "claim")}
    if not found:
        raise InputError("claims", got="none", expected="one or more, or None for all")
    return list(found.values())
