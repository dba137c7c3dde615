"""Comparison of a recorded run with a paper's algorithm: record by record, and the first that departs."""

from dataclasses import dataclass

AGREES = 0.01
"""A record this close to the algorithm's, as a share of its step, is taken for it whatever rounding may explain."""

CLEAR = 10
"""Factor by which a departure exceeds its bar where a cause is named: nearer, many others would fit too."""


@dataclass(frozen=True)
class Departure:
    """The first record that departs.

    Attributes
    ----------
    stage : int or str
        The stage, or which weights.
    step : int
    error, bar : float
        The distance from the algorithm's weights, in the Frobenius norm, and how much of it rounding explains; where it
        explains any direction, the same of the step's length.
    token : str
        Where it is largest.
    cause : str or None
        Under which these steps and the next ones conform.
    value : float or None
        The number in it.
    explained : str
        What explains the bar.
    """

    stage: int | str
    step: int
    error: float
    bar: float
    token: str
    cause: str | None
    value: float | None
    explained: str = "rounding"


@dataclass(frozen=True)
class Compared:
    """One stage, record by record up to the first that departs.

    Attributes
    ----------
    stage : int or str
    lr : float
    records : int
    decided : int
        Those at which rounding does not explain everything, or that agree with the algorithm to 1 %.
    departs_at : Departure or None
    """

    stage: int | str
    lr: float
    records: int
    decided: int
    departs_at: Departure | None

    @property
    def premise_met(self) -> bool:
        """Whether every record is decided to be the algorithm's."""
        return self.departs_at is None and self.decided == self.records
