"""Certificates of rational rows as documents: written from a solution, checked by the stand-alone checker."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from flint import fmpq

from marginaudit.margins.errors import CertificateError
from marginaudit.margins.linear.problem import HardMargin
from marginaudit.margins.linear.verify import FORMAT, PROBLEM, Refused, Unreadable, confirmed
from marginaudit.margins.rational import ExactMargin, Matrix
from marginaudit.orders import InputError, printable, shown


def certificate(dataset: str, parts: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The document of a dataset's problems, each with its solution."""
    return {"format": FORMAT, "dataset": dataset, **parts}


def problem_document(problem: HardMargin) -> dict[str, Any]:
    """The problem with its labels, numbers as "p/q" in lowest terms."""
    return {
        "norm": problem.norm,
        "shape": None if problem.shape is None else list(problem.shape),
        "rows": texts_of_rows(problem.rows),
        "equalities": texts_of_rows(problem.equalities),
        "values": texts(problem.targets),
        "labels": list(problem.labels),
    }


def exact_document(problem: HardMargin, found: ExactMargin | Sequence[fmpq]) -> dict[str, Any]:
    """Certificate of the optimum, or of infeasibility by multipliers of rows, then of equalities."""
    optimal = isinstance(found, ExactMargin)
    duals = (*found.alpha, *found.beta) if isinstance(found, ExactMargin) else found
    document: dict[str, Any] = {
        "problem": problem_document(problem),
        "status": "optimal" if optimal else "infeasible",
        "multipliers": {str(n): text(value) for n, value in enumerate(duals) if value != 0},
    }
    if isinstance(found, ExactMargin):
        document |= {"norm_squared": text(found.norm2), "weights": texts(found.w)}
    return document


def statement(problem: HardMargin, document: Any, where: str) -> str:
    """The statement that the checker confirms of the problem.

    Raises
    ------
    CertificateError
        The certificate is of another problem, or does not prove its statement.
    InputError
        The document is not a certificate.
    """
    try:
        confirmed_statement = confirmed(document, where)
    except Refused as reason:
        raise CertificateError(str(reason)) from None
    except Unreadable as error:
        raise InputError(printable(error.where), got=printable(error.got), expected=error.expected) from None
    if difference := _difference(problem_document(problem), document["problem"]):
        raise CertificateError(f"the certificate is of another problem: {difference}")
    return confirmed_statement


def _difference(own: Mapping[str, Any], stated: Mapping[str, Any]) -> str:
    """The first part that differs from the dataset's."""
    key = next((key for key in PROBLEM if own[key] != stated[key]), None)
    if key is None:
        return ""
    mine, theirs = own[key], stated[key]
    if not isinstance(mine, list) or not isinstance(theirs, list):
        return f"{key} is {shown(theirs)}, the dataset's is {shown(mine)}"
    if len(mine) != len(theirs):
        return f"it has {len(theirs)} {key}, the dataset's {len(mine)}"
    n = next(n for n, (a, b) in enumerate(zip(mine, theirs, strict=True)) if a != b)
    return f"{key}, entry {n} is {shown(theirs[n])}, the dataset's is {shown(mine[n])}"


def text(value: fmpq) -> str:
    """The fraction "p/q" in lowest terms."""
    return f"{value.p}/{value.q}"


def texts(values: Iterable[fmpq]) -> list[str]:
    """A fraction of each value."""
    return [text(fmpq(value)) for value in values]


def texts_of_rows(rows: Matrix) -> list[list[str]]:
    """Fractions by row."""
    return [texts(row) for row in rows]
