"""The papers: those built in, and those of installed packages."""

from collections.abc import Callable, Iterable
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from marginaudit.orders import InputError, printable
from marginaudit.reports.audit.built_in import BUILT_IN
from marginaudit.reports.claim import Claim, Ledger, message
from marginaudit.reports.paper import Paper

GROUP = "marginaudit.papers"
"""Entry points of this group have the value ``module:PAPER``."""


def _built_in() -> tuple[Paper, ...]:
    return tuple(import_module(module).PAPER for module in BUILT_IN.values())


PAPERS = _built_in()
"""The built-in papers, in the order of the reports."""

LEDGER = Ledger(claim for paper in PAPERS for claim in paper.claims)
"""Their claims."""


def all_papers(notice: Callable[[str], None]) -> tuple[Paper, ...]:
    """The built-in papers and those of installed packages; ``notice`` is told of each that cannot be had."""
    papers = {paper.name: paper for paper in PAPERS}
    for point in entry_points(group=GROUP):
        where = printable(f"entry point {point.name} = {point.value}")
        try:
            paper = point.load()
        except Exception as error:
            notice(f"{where}: got {type(error).__name__}: {message(error)}; the paper is left out")
            continue
        if not isinstance(paper, Paper) or paper.name in papers:
            notice(f"{where}: got {printable(repr(paper))[:60]}, expected a Paper of a new name; it is left out")
            continue
        papers[paper.name] = paper
    return tuple(papers.values())


def chosen(papers: Iterable[Paper], name: str) -> tuple[Paper, ...]:
    """The papers of a name, or all.

    Raises
    ------
    InputError
        There is none.
    """
    known = tuple(papers)
    found = tuple(paper for paper in known if name in ("all", paper.name))
    if not found:
        expected = f"{', '.join(paper.name for paper in known)} or all"
        raise InputError(f"--paper {printable(name)}", got="no paper of that name", expected=expected)
    return found


def paper_of(data: Any, papers: Iterable[Paper]) -> Paper:
    """The paper that a dataset's kind belongs to.

    Raises
    ------
    InputError
        There is none.
    """
    known = tuple(papers)
    for paper in known:
        if isinstance(data, paper.kind.data):
            return paper
    raise InputError("the dataset", got=type(data).__name__, expected=" or ".join(p.kind.name for p in known))


def about(paper: Paper, claims: Iterable[Claim]) -> tuple[Claim, ...]:
    """Those claims that the paper's datasets are judged by."""
    return tuple(claim for claim in claims if paper.judges(claim))
