"""Margins: hard-margin problems min ||W|| s.t. every row A w >= 1, solved exactly or with cvxpy, with certificates.

The engine is independent of papers; each paper's problems are in its own sub-package.
"""

from marginaudit.margins.certificate import Certificate, Certified
from marginaudit.margins.errors import CertificateError, NotExact, SolverFailure
from marginaudit.margins.farkas import Farkas
from marginaudit.margins.linear import HardMargin
from marginaudit.margins.rational import ExactMargin, exact_hard_margin

__all__ = [
    "Certificate",
    "CertificateError",
    "Certified",
    "ExactMargin",
    "Farkas",
    "HardMargin",
    "NotExact",
    "SolverFailure",
    "exact_hard_margin",
]
