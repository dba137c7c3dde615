"""`marginaudit solve`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import click

from marginaudit.margins import NotExact, SolverFailure
from marginaudit.margins.ntp import certificate_document, solve_kq, solve_ov
from marginaudit.orders import InputError, shown_path
from marginaudit.reports.command.arguments import DATASET, JSON
from marginaudit.reports.command.console import print_line, print_table
from marginaudit.reports.command.options import FilePath
from marginaudit.reports.command.output import check_output, print_json, write_json
from marginaudit.reports.command.streams import tell
from marginaudit.reports.command.usage import OneOf
from marginaudit.reports.json_data import finite
from marginaudit.reports.ntp.commands.datasets import load_trainable
from marginaudit.reports.ntp.solution_json import solution_answer
from marginaudit.reports.processes import one_thread


@click.command()
@DATASET
@click.option(
    "--method",
    type=OneOf(["auto", "exact", "cvxpy"]),
    default="auto",
    show_default=True,
    help="exact: rational arithmetic; cvxpy: the quadratic program; auto: exact where it exists.",
)
@click.option("--only", type=OneOf(["ov", "kq"]), help="Solve one of the two problems.")
@click.option(
    "--certificate",
    type=FilePath(),
    help="Write the exact primal and dual as fractions, for `marginaudit verify`.",
)
@JSON
def solve(dataset: str, method: str, only: str | None, certificate: Path | None, as_json: bool) -> int:
    """Solve the two hard-margin problems, with certificates."""
    data = load_trainable(dataset)
    if certificate is not None:
        check_output(certificate, "--certificate", reads=[dataset])
    solvers: dict[Literal["ov", "kq"], Callable[..., Any]] = {"ov": solve_ov, "kq": solve_kq}
    try:
        with one_thread():
            solutions = {
                which: solver(data, method=method) for which, solver in solvers.items() if only in (None, which)
            }
        document = None if certificate is None else certificate_document(data, **solutions)
    except NotExact as error:
        expected = "a dataset that has exact solutions, for --method exact and --certificate"
        raise InputError(shown_path(dataset), got=f"a problem without ({error})", expected=expected) from None
    except SolverFailure as error:
        expected = "one on which the solver proves its answer"
        raise InputError(shown_path(dataset), got=f"a dataset without a solution: {error}", expected=expected) from None
    if certificate is not None:
        write_json(certificate, document, "--certificate")
        tell(f"certificate of {' and '.join(solutions)}: {certificate}; `marginaudit verify` checks it")
    answer = {which: finite(solution_answer(which, data, solution)) for which, solution in solutions.items()}
    if as_json:
        print_json(answer)
        return 0
    rows = []
    for which, found in answer.items():
        proof = found["certificate"]
        exact = found["norm_squared_exact"]
        norm_squared = exact or found["norm_squared"]
        checks = (proof["gap"], proof["max_violation"], found["direction_radius"])
        rows.append([which, found["status"], found["method"], norm_squared, *checks])
    header = (
        "problem",
        "status",
        "method",
        "‖W*‖²",
        "duality gap",
        "largest violation",
        "direction error at most",
    )
    print_table(f"{data.name}: hard-margin solutions", header, rows)
    for which, found in answer.items():
        if found["note"]:
            print_line(f"{which}: {found['note']}")
    if "kq" in answer:
        _print_weights(answer["kq"])
    return 0


def _print_weights(answer: dict[str, Any]) -> None:
    exact = answer["weights_exact"]
    rows = [
        [query, key, value, exact[query][key] if exact else ""]
        for query, column in answer["weights"].items()
        for key, value in column.items()
    ]
    print_table("W*_kq: x^T W q", ("query q", "key x", "weight", "exact"), rows)
    forms = [
        [query, "holds" if form["holds"] else "fails", " ".join(form["witness"] or ())]
        for query, form in answer["closed_form"].items()
    ]
    print_table("Proposition 2's closed form", ("query", "", "witness S"), forms)
