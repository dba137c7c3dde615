"""Margins: the two hard-margin SVMs of arXiv 2409.17335, solved exactly or with cvxpy, with certificates."""

from marginaudit.margins.certificate import Certificate
from marginaudit.margins.errors import CertificateError, NotExact, SolverFailure
from marginaudit.margins.infeasible import Cycle, Farkas
from marginaudit.margins.kq import solve_kq
from marginaudit.margins.ov import solve_ov
from marginaudit.margins.proof import certificate_document
from marginaudit.margins.solution import ClosedForm, MaxMargin, Multipliers

__all__ = [
    "Certificate",
    "CertificateError",
    "ClosedForm",
    "Cycle",
    "Farkas",
    "MaxMargin",
    "Multipliers",
    "NotExact",
    "SolverFailure",
    "certificate_document",
    "solve_kq",
    "solve_ov",
]
