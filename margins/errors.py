"""Errors of hard-margin problems."""


class NotExact(ValueError):  # noqa: N818
    """No exact solution: the message names the assumption that fails, and its witness."""


class SolverFailure(RuntimeError):  # noqa: N818
    """The solver's arrays prove neither a solution nor infeasibility; the message gives the residuals."""


class CertificateError(RuntimeError):
    """A result fails its own check."""
