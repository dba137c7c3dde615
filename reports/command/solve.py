"""`marginaudit solve`."""

from pathlib import Path

import click

from marginaudit.claims.paper import Paper
from marginaudit.margins import NotExact, SolverFailure
from marginaudit.orders import InputError, shown, shown_path
from marginaudit.reports.audit.sources import Source, load
from marginaudit.reports.command.arguments import DATASET, JSON, ONE_PAPER, papers
from marginaudit.reports.command.options import FilePath
from marginaudit.reports.command.output import check_output, notify, print_json, write_json
from marginaudit.reports.command.usage import OneOf
from marginaudit.reports.processes import one_thread

HEADER = ("problem", "status", "method", "‖W*‖²", "duality gap", "largest violation", "direction error at most")


def with_problems(name: str, known: tuple[Paper, ...]) -> Source:
    """Load a dataset of a paper with hard-margin problems.

    Raises
    ------
    InputError
        No such dataset, or no such paper.
    """
    having = [paper for paper in known if paper.problems]
    if not having:
        expected = f"one of {', '.join(paper.name for paper in papers() if paper.problems)}"
        raise InputError("--paper", got=f"{known[0].name}, which has no hard-margin problems", expected=expected)
    return load(name, having)


@click.command()
@DATASET
@click.option(
    "--method",
    type=OneOf(["auto", "exact", "cvxpy"]),
    default="auto",
    show_default=True,
    help="exact: rational arithmetic; cvxpy: numerical quadratic program; auto: exact if possible.",
)
@click.option("--only", metavar="NAME", help="Solve one problem only, such as kq of sentences.")
@click.option(
    "--certificate",
    type=FilePath(),
    help="File for the exact primal and dual solutions as fractions, for `marginaudit verify`.",
)
@ONE_PAPER
@JSON
def solve(
    dataset: str, method: str, only: str | None, certificate: Path | None, known: tuple[Paper, ...], as_json: bool
) -> int:
    """Solve the hard-margin problems of a DATASET, with certificates."""
    source = with_problems(dataset, known)
    problems = source.paper.problems if only is None else [only]
    if not {*problems} <= {*source.paper.problems}:
        expected = f"one of {', '.join(source.paper.problems)} for {source.paper.kind.name}"
        raise InputError("--only", got=shown(only), expected=expected)
    if certificate is not None:
        check_output(certificate, "--certificate", reads=[dataset])
    try:
        with one_thread():
            solved = source.paper.solve(source.dataset, source.place, method, problems)
        document = None if certificate is None else solved.certificate()
    except NotExact as error:
        if method == "cvxpy":
            expected = "--method exact or auto: a certificate is of exact solutions"
            raise InputError("--certificate", got="--method cvxpy", expected=expected) from None
        expected = "a dataset that has exact solutions, for --method exact and --certificate"
        raise InputError(shown_path(dataset), got=f"no exact solution ({error})", expected=expected) from None
    except SolverFailure as error:
        expected = "one on which the solver proves its answer"
        raise InputError(shown_path(dataset), got=f"a dataset without a solution: {error}", expected=expected) from None
    if certificate is not None:
        write_json(certificate, document, "--certificate")
        notify(f"certificate of {' and '.join(solved.answer)}: {certificate}; `marginaudit verify` checks it")
    if as_json:
        print_json(solved.answer)
        return 0
    from marginaudit.reports.command.console import (
        print_line,
        print_summary,
        print_table,
        upper_bound,
    )  # and with it rich

    rows = []
    for which, found in solved.answer.items():
        norm_squared = found["norm_squared_exact"] or found["norm_squared"]
        proved = (found["certificate"]["gap"], found["certificate"]["max_violation"], found["direction_radius"])
        rows.append([which, found["status"], found["method"], norm_squared, *map(upper_bound, proved)])
    print_table(f"{source.dataset.name}: hard-margin solutions", HEADER, rows)
    for which, found in solved.answer.items():
        if found["note"]:
            print_line(f"{which}: {found['note']}")
    for title, header, lines in solved.tables():
        print_summary(title, header, lines)
    return 0
