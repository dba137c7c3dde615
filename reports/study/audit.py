"""Audits and their pages as tasks, with a cache."""

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from marginaudit.claims.claim import Claim
from marginaudit.claims.paper import Figure, Paper
from marginaudit.claims.settings import CLAIM_TIMEOUT
from marginaudit.claims.verdict import Verdict
from marginaudit.reports.audit.auditing import Audit, Audited, Progress, audited, config_document, quiet
from marginaudit.reports.audit.sources import Source
from marginaudit.reports.logbook.logbook import UNREGISTERED
from marginaudit.reports.logbook.registry import Registry
from marginaudit.reports.page.html import formula_html
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


def audit_task(
    source: Source,
    claims: Sequence[Claim],
    config: Any,
    exports: Sequence[str] | None = None,
    claim_timeout: float = CLAIM_TIMEOUT,
) -> Task:
    """Task to audit one dataset: a study of one cell.

    It is not cached with users' claims, as their code may depend on anything. The retry judges built-in claims too in
    workers of their own, whose death costs their claim alone.

    Parameters
    ----------
    config : settings of the run
    exports : names of `marginaudit.claims.settings.EXPORTS`; None to leave drawing to the writer of a page
    claim_timeout : time limit in seconds for each user's claim
    """
    dataset, paper = source.dataset, source.paper
    judged_by = [claim for claim in claims if paper.judges(claim)]

    def key() -> str:
        data = [dataset.name, source.origin, source.sha256, paper.kind.to_document(dataset)]
        settings = {"claims": [claim.id for claim in judged_by], "config": config_document(paper, config)}
        return key_of(paper, exports or (), dataset=data, **settings)

    def load() -> None:
        load_drawing()
        paper.load()

    compute = partial(_audited, source, claims, config, exports, claim_timeout)
    known = exports is not None and all(map(paper.has, judged_by))
    return Task(
        f"the audit of {dataset.name}",
        compute,
        key if known else None,
        load,
        retry=partial(compute, isolated=True),
        lasting=_lasting,
    )


def _audited(
    source: Source,
    claims: Sequence[Claim],
    config: Any,
    exports: Sequence[str] | None,
    claim_timeout: float,
    progress: Progress = quiet,
    *,
    isolated: bool = False,
) -> Audited:
    """Judge and draw a dataset; once drawn, drop its run."""
    found = audited(source, claims, config, progress, claim_timeout, isolated=isolated)
    if exports is None:
        return found
    progress(found.name, "figures")
    return replace(found, shown=drawn(found, exports), run_here=None)


def _lasting(audit: Audited) -> bool:
    """Whether no row is broken: a broken row may be due to low memory."""
    return all(finding.verdict is not Verdict.BROKEN for finding in audit.findings.values())


def figure_task(paper: Paper, figure: Figure, exports: Sequence[str]) -> Task:
    """Task to draw a figure of a paper, as files by ending."""
    key = partial(key_of, paper, exports, figure=figure.name)
    return Task(f"figure {figure.name}", partial(_figure, figure, exports), key, load_drawing)


def _figure(figure: Figure, exports: Sequence[str], progress: Progress = quiet) -> Mapping[str, bytes]:
    """Train and draw a figure on one thread; return its files by ending."""
    progress(f"figure {figure.name}", "drawing")
    with one_thread():
        return rendered_as(figure.draws(), exports)


def proofs_task(paper: Paper) -> Task:
    """Task to make the HTML of a paper's pages of proofs, by name."""

    def key() -> str:
        made_by = {name: version(name) for name in PAGE_MAKERS}
        return key_of(paper, (), proofs=proof_sources([paper]), made_by=made_by)

    return Task(f"proofs of {paper.name}", lambda _=quiet: proof_pages([paper]), key)


def formulas_task(paper: Paper) -> Task:
    """Task to make the MathML of the formulas of a paper's claims, by id."""

    def key() -> str:
        texts = [[claim.id, claim.formula, claim.statement] for claim in paper.claims]
        return key_of(paper, (), formulas=texts, made_by={"latex2mathml": version("latex2mathml")})

    return Task(f"formulas of {paper.name}", lambda _=quiet: {one.id: formula_html(one) for one in paper.claims}, key)


class PageTasks:
    """Tasks of a report that depend on its papers alone, and their results once they are computed.

    Attributes
    ----------
    graphs : source of the paper by task, one graph of statements per paper
    proofs, formulas : one per paper
    results : by task
    """

    def __init__(self, papers: Sequence[Paper]) -> None:
        self.graphs = {figure_task(paper, figure, ()): paper.source for paper, figure in graph_figures(papers)}
        self.proofs = [proofs_task(paper) for paper in papers]
        self.formulas = [formulas_task(paper) for paper in papers]
        self.results: dict[Task, Any] = {}

    @property
    def missing(self) -> list[Task]:
        """Tasks without a result."""
        return [task for task in (*self.graphs, *self.proofs, *self.formulas) if task not in self.results]


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
    exports : see `audit_task`
    pages : tasks for workers that have no dataset left

    Raises
    ------
    InputError
        A dataset's training or drawing kills its workers.
    """
    tasks = {audit_task(one, claims, configs[one.paper.name], exports, claim_timeout): one for one in sources}
    beside = [] if pages is None or len(tasks) == 1 else pages.missing  # one dataset's progress is told as it goes
    order = [*tasks]
    if executor.jobs > 1:  # the largest dataset starts first
        order.sort(key=lambda task: len(pickle.dumps(tasks[task].dataset)), reverse=True)

    def told(task: Task, stored: bool) -> None:
        if task in tasks:
            how = "as it was audited before (--fresh audits it anew)" if stored else "audited"
            done(tasks[task].dataset.name, how)

    found = executor.all([*order, *beside], progress, told)
    if pages is not None:
        pages.results |= {task: found[task] for task in beside}
    every = (replace(found[task], source=one, config=configs[one.paper.name]) for task, one in tasks.items())
    return Audit(tuple(claims), configs, tuple(every))


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
    figures = {figure_task(paper, figure, exports): figure.name for paper, figure in audit.illustrations}
    pages = pages or PageTasks(audit.papers)
    made = pages.results | executor.all([*figures, *pages.missing], progress)
    texts = {name: text for task in pages.proofs for name, text in made[task].items()}
    beside = PaperContent(
        {name: made[task] for task, name in figures.items()},
        [(source, made[task][".svg"]) for task, source in pages.graphs.items()],
        dict(sorted(texts.items())),
        {name: text for task in pages.formulas for name, text in made[task].items()},
    )
    write_report(audit, beside, folder, progress, exports, registry, executor.together)


def key_of(paper: Paper, exports: Sequence[str], **settings: Any) -> str:
    """Hash of settings, versions and code."""
    makes = {"paper": paper.name, "pdf": "pdf" in exports, "matplotlib": version("matplotlib")}
    return digest(settings | makes | {"computed by": identity(type(paper).__module__, paper.run.__module__)})
