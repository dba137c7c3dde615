"""The ways in which a hard-margin problem can go unanswered."""


class NotExact(ValueError):  # noqa: N818
    """There is no exact solution to be had: the message names the assumption that fails, and its witness."""


class SolverFailure(RuntimeError):  # noqa: N818
    """The solver's arrays prove neither a solution nor infeasibility: the message gives its residuals."""


class CertificateError(RuntimeError):
    """An answer did not pass its own check."""
