"""The two hard-margin problems of arXiv 2409.17335, as `marginaudit solve` answers them and `verify` checks them."""

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from marginaudit.margins import CertificateError
from marginaudit.margins.ntp import certificate_document, solve_kq, solve_ov
from marginaudit.margins.ntp.verify import Refused, Unreadable
from marginaudit.margins.ntp.verify import verify as checked
from marginaudit.orders import InputError, printable
from marginaudit.orders.ntp import CASES, Dataset, dataset_to_document
from marginaudit.reports.answers import Lists, Solved
from marginaudit.reports.ntp.solution_json import solution_answer
from marginaudit.reports.ntp.trainable import trainable

SOLVERS: dict[Literal["ov", "kq"], Callable[..., Any]] = {"ov": solve_ov, "kq": solve_kq}


def solve(dataset: Dataset, place: str, method: str, problems: Sequence[str]) -> Solved:
    """Both solutions, or one."""
    data = trainable(dataset, place)
    solutions = {which: solver(data, method=method) for which, solver in SOLVERS.items() if which in problems}
    answer: dict[str, Any] = {which: solution_answer(which, data, solution) for which, solution in solutions.items()}
    return Solved(
        answer,
        lambda: _weights(answer["kq"]) if "kq" in answer else (),
        lambda: certificate_document(data, **solutions),
    )


def _weights(answer: dict[str, Any]) -> Lists:
    exact = answer["weights_exact"]
    rows = [
        [query, key, value, exact[query][key] if exact else ""]
        for query, column in answer["weights"].items()
        for key, value in column.items()
    ]
    forms = [
        [query, "holds" if form["holds"] else "fails", " ".join(form["witness"] or ())]
        for query, form in answer["closed_form"].items()
    ]
    return (
        ("W*_kq: x^T W q", ("query q", "key x", "weight", "exact"), rows),
        ("Proposition 2's closed form", ("query", "", "witness S"), forms),
    )


def verify(dataset: Dataset, place: str, certificate: Path) -> list[str]:
    """Statements that the stand-alone checker confirms; it reads the dataset's file itself."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(place)
        if place in CASES:
            path = Path(folder) / "case.json"
            path.write_text(json.dumps(dataset_to_document(dataset)), encoding="utf-8")
        try:
            return checked(path, certificate)
        except Refused as reason:
            raise CertificateError(str(reason)) from None
        except Unreadable as error:
            raise InputError(printable(error.where), got=printable(error.got), expected=error.expected) from None
