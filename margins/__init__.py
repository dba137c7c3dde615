"""Margins: hard-margin problems min ||W|| s.t. every row A w >= 1, solved exactly or with cvxpy, with certificates.

The engine knows no paper; what a paper asks of it lies in the room of its name.
"""

from marginaudit.margins.certificate import Certificate, Certified
from marginaudit.margins.errors import CertificateError, NotExact, SolverFailure
from marginaudit.margins.farkas import Farkas

__all__ = ["Certificate", "CertificateError", "Certified", "Farkas", "NotExact", "SolverFailure"]
