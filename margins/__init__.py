"""Margins: hard-margin problems min ||W|| s.t. every row A w >= 1, solved exactly or with cvxpy, with certificates.

The engine is independent of papers; each paper's problems are in its own sub-package.
"""

from marginaudit.margins.certificate import Certificate, Certified
from marginaudit.margins.errors import CertificateError, NotExact, SolverFailure
from marginaudit.margins.farkas import Farkas

__all__ = ["Certificate", "CertificateError", "Certified", "Farkas", "NotExact", "SolverFailure"]
