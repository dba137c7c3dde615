"""Audits and their pages as tasks, with a cache."""

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

from marginaudit.claims.claim import Claim
from marginaudit.claims.paper import Figure, Paper
from marginaudit.claims.settings import CLAIM_TIMEOUT
from marginaudit.claims.verdict import Verdict
from marginaudit.reports.audit.auditing import Audit, Audited, Progress, audited, config_document, quiet
from marginaudit.reports.audit.sources import Source
from marginaudit.reports.logbook.logbook import UNREGISTERED
from marginaudit.reports.logbook.registry import Registry
from marginaudit.reports.page.pictures import drawn, rendered_as
from marginaudit.reports.page.proofs import proof_pages, proof_sources
from marginaudit.reports.page.write import PaperContent, write_report
from marginaudit.reports.plots.style import load_drawing
from marginaudit.reports.processes import one_thread
from marginaudit.reports.statements import graph_figures
from marginaudit.reports.study.executor import Executor, Task
from marginaudit.reports.study.store import digest, identity

PAGE_MAKERS = ("jinja2", "latex2mathml", "markdown-it-py", "mdit-py-plugins")
"""The libraries that make the pages of proofs."""


@dataclass(frozen=True, eq=False)
class AuditTask(Task):
    """Audit of one dataset: a study of one cell.

    Attributes
    ----------
    config : settings of the run
    exports : names of `marginaudit.claims.settings.EXPORTS`; None to leave drawing to the writer of a page
    claim_timeout : float
        Time limit in seconds for each user's claim.
    isolated : bool
        Whether a built-in claim too is judged in a worker of its own, whose death costs this claim alone.
    """

    source: Source
    claims: tuple[Claim, ...]
    config: Any
    exports: tuple[str, ...] | None
    claim_timeout: float
    isolated: bool = False

    @property
    def name(self) -> str:
        """Name in error messages."""
        return f"the audit of {self.source.dataset.name}"

    @property
    def key(self) -> str | None:
        """Cache key; None with users' claims, as their code may depend on anything."""
        source, paper = self.source, self.source.paper
        judged_by = [claim for claim in self.claims if paper.judges(claim)]
        if self.exports is None or not all(map(paper.has, judged_by)):
            return None
        dataset = [source.dataset.name, source.origin, source.sha256, paper.kind.to_document(source.dataset)]
        claims, config = [claim.id for claim in judged_by], config_document(paper, self.config)
        return key_of(paper, self.exports, dataset=dataset, claims=claims, config=config)

    @property
    def size(self) -> int:
        """Size of the dataset."""
        return len(pickle.dumps(self.source.dataset))

    def load(self) -> None:
        """Import the drawing library and the dependencies of the paper's runs."""
        load_drawing()
        self.source.paper.load()

    def retry(self) -> Self:
        """The same audit with each claim in a worker of its own."""
        return replace(self, isolated=True)

    def compute(self, progress: Progress = quiet) -> Audited:
        """Judge and draw the dataset; once drawn, drop its run."""
        found = audited(self.source, self.claims, self.config, progress, self.claim_timeout, isolated=self.isolated)
        if self.exports is None:
            return found
        progress(found.name, "figures")
        return replace(found, shown=drawn(found, self.exports), run_here=None)

    def lasting(self, result: Audited) -> bool:
        """Whether no row is broken: a broken row may be due to low memory."""
        return all(finding.verdict is not Verdict.BROKEN for finding in result.findings.values())


@dataclass(frozen=True, eq=False)
class FigureTask(Task):
    """Drawing of one figure of a paper."""

    paper: Paper
    figure: Figure
    exports: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name in error messages."""
        return f"figure {self.figure.name}"

    @property
    def key(self) -> str:
        """Cache key."""
        return key_of(self.paper, self.exports, figure=self.figure.name)

    def load(self) -> None:
        """Import the drawing library."""
        load_drawing()

    def compute(self, progress: Progress = quiet) -> Mapping[str, bytes]:
        """Train and draw the figure on one thread; return its files by ending."""
        progress(self.name, "drawing")
        with one_thread():
            return rendered_as(self.figure.draws(), self.exports)


@dataclass(frozen=True, eq=False)
class ProofsTask(Task):
    """HTML of a paper's pages of proofs."""

    paper: Paper

    @property
    def name(self) -> str:
        """Name in error messages."""
        return f"proofs of {self.paper.name}"

    @property
    def key(self) -> str:
        """Cache key."""
        made_by = {name: version(name) for name in PAGE_MAKERS}
        return key_of(self.paper, (), proofs=proof_sources([self.paper]), made_by=made_by)

    def compute(self, _: Progress = quiet) -> Mapping[str, str]:
        """HTML of each page by name."""
        return proof_pages([self.paper])


class PageTasks:
    """Tasks of a report that depend on its papers alone, and their results once they are computed.

    Attributes
    ----------
    graphs : one graph of statements per paper
    proofs : one per paper
    results : by task
    """

    def __init__(self, papers: Sequence[Paper]) -> None:
        self.graphs = [FigureTask(paper, figure, ()) for paper, figure in graph_figures(papers)]
        self.proofs = [ProofsTask(paper) for paper in papers]
        self.results: dict[Task, Any] = {}

    @property
    def missing(self) -> list[Task]:
        """Tasks without a result."""
        return [task for task in (*self.graphs, *self.proofs) if task not in self.results]


def audit_datasets(
    sources: Sequence[Source],
    claims: Sequence[Claim],
    configs: Mapping[str, Any],
    executor: Executor,
    *,
    progress: Progress = quiet,
    done: Callable[[str, str], None] = lambda *_: None,
    exports: Sequence[str] | None = None,
    claim_timeout: float = CLAIM_TIMEOUT,
    pages: PageTasks | None = None,
) -> Audit:
    """Judge every dataset, in this process or in workers, or read it from the executor's store.

    Parameters
    ----------
    progress : callback with the current task, for datasets judged in this process
    done : callback with a dataset's name and the origin of its findings
    exports : see `AuditTask`
    pages : tasks for workers that have no dataset left

    Raises
    ------
    InputError
        A dataset's training or drawing kills its workers.
    """
    exported = None if exports is None else tuple(exports)
    tasks = [AuditTask(one, tuple(claims), configs[one.paper.name], exported, claim_timeout) for one in sources]
    beside = [] if pages is None or len(tasks) == 1 else pages.missing  # one dataset's progress is told as it goes

    def told(task: Task, stored: bool) -> None:
        if isinstance(task, AuditTask):
            how = "as it was audited before (--fresh audits it anew)" if stored else "audited"
            done(task.source.dataset.name, how)

    every: list[Task] = [*tasks, *beside]
    found = dict(zip(every, executor.all(every, progress, told), strict=True))
    if pages is not None:
        pages.results |= {task: found[task] for task in beside}
    return Audit(
        tuple(claims), configs, tuple(replace(found[task], source=task.source, config=task.config) for task in tasks)
    )


def write_audit(
    audit: Audit,
    folder: Path,
    executor: Executor,
    *,
    progress: Progress = quiet,
    exports: Sequence[str] = (),
    registry: Registry = UNREGISTERED,
    pages: PageTasks | None = None,
) -> None:
    """Write an audit's report, with the figures, graphs of statements and proof pages of its papers.

    ``pages`` are those of the audit's papers; what is missing of them is computed.

    Raises
    ------
    InputError
        The folder is not writable, or holds files that belong to no earlier report.
    """
    figures = [FigureTask(paper, figure, tuple(exports)) for paper, figure in audit.illustrations]
    pages = pages or PageTasks(audit.papers)
    tasks = [*figures, *pages.missing]
    made = pages.results | dict(zip(tasks, executor.all(tasks, progress), strict=True))
    texts = {name: text for task in pages.proofs for name, text in made[task].items()}
    beside = PaperContent(
        {task.figure.name: made[task] for task in figures},
        [(task.paper.source, made[task][".svg"]) for task in pages.graphs],
        dict(sorted(texts.items())),
    )
    write_report(audit, beside, folder, progress, exports, registry)


def key_of(paper: Paper, exports: Sequence[str], **settings: Any) -> str:
    """Hash of settings, versions and code."""
    makes = {"paper": paper.name, "pdf": "pdf" in exports, "matplotlib": version("matplotlib")}
    return digest(settings | makes | {"computed by": identity(type(paper).__module__, paper.run.__module__)})
