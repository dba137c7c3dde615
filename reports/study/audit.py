"""Audit datasets in parallel, with a cache."""

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import version
from itertools import chain
from typing import Any, TypeVar

from marginaudit.claims.claim import Claim
from marginaudit.claims.paper import Figure, Paper
from marginaudit.claims.row import ReportRow
from marginaudit.claims.settings import CLAIM_TIMEOUT
from marginaudit.claims.values.json_data import finite
from marginaudit.claims.verdict import Verdict
from marginaudit.orders import InputError, counted, printable
from marginaudit.reports.audit.auditing import (
    Audit,
    Audited,
    Drawn,
    Progress,
    Shown,
    audited,
    config_document,
)
from marginaudit.reports.audit.sources import Source, papers_of
from marginaudit.reports.page.pictures import drawn, rendered_as
from marginaudit.reports.page.proofs import proof_pages, proof_sources
from marginaudit.reports.plots.style import load_drawing
from marginaudit.reports.processes import forkable, one_thread
from marginaudit.reports.statements import graph_figures
from marginaudit.reports.study.pool import Local
from marginaudit.reports.study.store import Store, digest, identity
from marginaudit.reports.study.task import Task, computed, packed

T = TypeVar("T", bound=Task)

PAGE_MAKERS = ("jinja2", "latex2mathml", "markdown-it-py", "mdit-py-plugins")
"""The libraries that make the pages of proofs."""

Document = Mapping[str, Any]
"""A dataset's audit as JSON data, without its curves, which are drawn."""

Done = Callable[[str, str], None]
"""Takes a dataset's name, and how its findings were obtained."""


@dataclass(frozen=True, eq=False)
class AuditTask(Task):
    """A dataset to be audited: a study of one cell.

    Attributes
    ----------
    config : how its run is made
    exports : names of `marginaudit.claims.settings.EXPORTS`
    claim_timeout : float
        Seconds that a claim of the user's may take.
    """

    source: Source
    claims: tuple[Claim, ...]
    config: Any
    exports: tuple[str, ...]
    claim_timeout: float

    @property
    def name(self) -> str:
        """The dataset's name."""
        return str(self.source.dataset.name)

    @property
    def key(self) -> str | None:
        """Cache key; None where users' claims judge, as their code may depend on anything."""
        source, paper = self.source, self.source.paper
        judged_by = [claim for claim in self.claims if paper.judges(claim)]
        if not all(map(paper.has, judged_by)):
            return None
        dataset = [source.dataset.name, source.origin, source.sha256, paper.kind.to_document(source.dataset)]
        claims, config = [claim.id for claim in judged_by], config_document(paper, self.config)
        return key_of(paper, self.exports, dataset=dataset, claims=claims, config=config)

    def compute(self) -> Document:
        """Judge and draw the dataset."""
        return judged(self, lambda *_: ignored)


@dataclass(frozen=True, eq=False)
class FigureTask(Task):
    """A paper's own figure to be drawn."""

    paper: Paper
    figure: Figure
    exports: tuple[str, ...]

    @property
    def key(self) -> str:
        """Cache key."""
        return key_of(self.paper, self.exports, figure=self.figure.name)

    def compute(self) -> Mapping[str, str]:
        """Train and draw the figure on one thread."""
        with one_thread():
            return _texts(rendered_as(self.figure.draws(), self.exports))


def audit_datasets(
    sources: Sequence[Source],
    claims: Sequence[Claim],
    configs: Mapping[str, Any],
    *,
    jobs: int,
    progress: Progress,
    done: Done,
    exports: Sequence[str] = (),
    claim_timeout: float = CLAIM_TIMEOUT,
    store: Store,
) -> Audit:
    """Judge every dataset, ``jobs`` at a time, with the result of `audited` to the last digit, ready to be written.

    Parameters
    ----------
    progress : takes what is under way, of datasets that are judged in this process
    store : keeps what is found, and has it of earlier audits; without a folder figures and proofs are not made

    Raises
    ------
    InputError
        A dataset ends the processes that judge it.
    """
    papers, exported = papers_of(sources), tuple(exports)
    datasets = [
        AuditTask(source, tuple(claims), configs[source.paper.name], exported, claim_timeout) for source in sources
    ]
    figures = _figure_tasks(papers, claims, exported) if store.folder else []
    keys: dict[Task, str | None] = {task: task.key for task in (*datasets, *figures) if store.folder}
    found: dict[Task, Document] = {task: document for task, key in keys.items() if (document := store.read(key))}
    before, waiting = [task for task in datasets if task in found], [task for task in datasets if task not in found]
    away: Mapping[Task, bytes] = largest_first(waiting) if min(jobs, len(waiting)) > 1 else {}
    calls = {**away}
    if away:  # the figures last: they fill what time the longest dataset leaves
        calls |= largest_first(task for task in figures if task not in found)
    if away and forkable():  # before anything is told: what shows it may have a thread
        load_drawing()
        for paper in papers:
            paper.load()
    died: list[Task] = []
    with Local(min(jobs, len(calls))) as pool:
        sent = pool.results(computed, calls)
        here = ((task, judged(task, progress)) for task in waiting if task not in away)
        if away:
            progress(counted(len(away), "dataset"), "under way")
        for known in before:
            done(known.name, "as it was audited before (--fresh audits it anew)")
        proofs = _proofs(papers, store) if store.folder else None
        graphs = _graphs(papers, store) if store.folder else {}
        for task, document in chain(sent, here):
            if document is None:
                died.append(task)
                continue
            found[task] = document
            findings = document.get("findings", {}).values()
            if all(finding["verdict"] != Verdict.BROKEN for finding in findings):
                store.write(keys.get(task), document)  # what is broken may be so for want of memory
            if isinstance(task, AuditTask):
                done(task.name, "audited")
    if names := [task.name for task in died if isinstance(task, AuditTask)]:
        got = "processes that were ended at their work, by the system or by a claim's code"
        raise InputError(f"the audit of {printable(', '.join(names))}", got=got, expected="one that ends by itself")
    whole = Audit(
        tuple(claims), configs, tuple(audited_again(task.source, found[task]) for task in datasets), proofs=proofs
    )
    beside = {figure.name for _, figure in whole.illustrations}
    shown = [task for task in figures if task.figure.name in beside]
    for one in shown:
        if one not in found:
            progress(f"figure {one.figure.name}", "drawing")
            found[one] = one.compute()
            store.write(keys[one], found[one])
    return replace(whole, figures=graphs | {one.figure.name: _bytes(found[one]) for one in shown})


def judged(task: AuditTask, progress: Progress) -> Document:
    """Judge and draw the task's dataset in this process."""
    name = task.source.dataset.name
    found = audited(task.source, task.claims, task.config, progress, task.claim_timeout)
    with one_thread():
        shown = drawn(found, task.exports, lambda text: ignored(progress(name, text.removeprefix(f"{name}: "))))
    return {
        "findings": {claim: vars(finding) | {"curve": None} for claim, finding in found.findings.items()},
        "document": finite(found.document),
        "pictures": [vars(picture) | {"files": _texts(picture.files)} for picture in shown.pictures],
        "records": dict(shown.records),
    }


def ignored(_: object) -> None:
    """Do nothing with a value."""


def audited_again(source: Source, document: Document) -> Audited:
    """Read back the JSON of `judged`, which has no curves."""
    findings = {
        claim: ReportRow(**found | {"headroom": tuple(found["headroom"])})
        for claim, found in document["findings"].items()
    }
    pictures = tuple(Drawn(**picture | {"files": _bytes(picture["files"])}) for picture in document["pictures"])
    return Audited(source, findings, document["document"], shown=Shown(pictures, document["records"]))


def _proofs(papers: Sequence[Paper], store: Store) -> Mapping[str, str]:
    made_by = {name: version(name) for name in PAGE_MAKERS}
    key = digest({"proofs": proof_sources(papers), "made by": made_by, "computed by": identity(__name__)})
    found: Mapping[str, str] = store.once(key, lambda: proof_pages(papers))
    return found


def _graphs(papers: Sequence[Paper], store: Store) -> dict[str, Mapping[str, bytes]]:
    """The graphs of the papers' statements."""
    tasks = [FigureTask(paper, figure, ()) for paper, figure in graph_figures(papers)]
    return {task.figure.name: _bytes(store.once(task.key, task.compute)) for task in tasks}


def _figure_tasks(papers: Sequence[Paper], claims: Sequence[Claim], exports: tuple[str, ...]) -> list[FigureTask]:
    """The papers' own figures that stand beside claims of an audit."""
    names = {claim.id for claim in claims}
    figures = ((paper, figure) for paper in papers for figure in paper.figures_of("paper", "text").values())
    return [FigureTask(paper, figure, exports) for paper, figure in figures if figure.beside in names]


def key_of(paper: Paper, exports: Sequence[str], **settings: Any) -> str:
    """A hash of settings, versions and code."""
    makes = {"paper": paper.name, "pdf": "pdf" in exports, "matplotlib": version("matplotlib")}
    return digest(settings | makes | {"computed by": identity(type(paper).__module__, paper.run.__module__)})


def _texts(files: Mapping[str, bytes]) -> dict[str, str]:
    return {ending: data.decode("latin-1") for ending, data in files.items()}


def _bytes(texts: Mapping[str, str]) -> dict[str, bytes]:
    return {ending: text.encode("latin-1") for ending, text in texts.items()}


def largest_first(tasks: Iterable[T]) -> dict[T, bytes]:
    """The pickled tasks, largest first, as these take longest; those that cannot be pickled are left out."""
    found = {}
    for task in tasks:
        with suppress(pickle.PicklingError, TypeError, AttributeError, ValueError, RecursionError):
            found[task] = packed(task)
    return dict(sorted(found.items(), key=lambda item: -len(item[1])))
