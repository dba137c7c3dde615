"""A problem min |w| s.t. x_n.w >= 1 and e_m.w = b_m: its rows, labels and norm."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal, get_args

from flint import fmpq

from marginaudit.margins.rational import Matrix, names

Norm = Literal["euclidean", "largest-entry", "nuclear", "spectral"]
"""Norms to minimise: of a matrix, the nuclear one is the sum, the spectral one the largest of its singular values."""


@dataclass(frozen=True)
class HardMargin:
    """The problem min |w| s.t. x_n.w >= 1 for all rows x_n and e_m.w = b_m for all equalities, in rational numbers.

    Attributes
    ----------
    rows : the x_n
    equalities : the e_m
    values : the b_m; () for zeros
    labels : distinct names of the rows, then of the equalities, shown by `solve` and `verify`; () for numbers
    norm : "euclidean", solved exactly, or "largest-entry", "nuclear", "spectral", solved with cvxpy between proved
        bounds
    shape : rows and columns of w as a matrix, for the nuclear and spectral norms; w has its entries row by row

    Raises
    ------
    ValueError
        The parts do not fit together.
    """

    rows: Matrix
    equalities: Matrix = ()
    values: Sequence[fmpq] = ()
    labels: Sequence[str] = ()
    norm: Norm = "euclidean"
    shape: tuple[int, int] | None = None

    def __post_init__(self) -> None:
        count, sizes = len(self.rows) + len(self.equalities), {len(row) for row in (*self.rows, *self.equalities)}
        of_matrix = self.norm in ("nuclear", "spectral")
        _demand(
            "rows", f"of {sorted(sizes)} coordinates", len(sizes) == 1 and 0 not in sizes, "at least one, all alike"
        )
        _demand("values", len(self.values), len(self.values) in (0, len(self.equalities)), "one of each equality")
        _demand("labels", len(self.labels), len(self.labels) in (0, count), f"{count}, one of each row and equality")
        _demand("labels", "one twice", len(set(self.labels)) == len(self.labels), "distinct ones")
        _demand("norm", self.norm, self.norm in get_args(Norm), f"one of {', '.join(get_args(Norm))}")
        fits = prod(self.shape) in sizes if self.shape is not None else not of_matrix
        _demand("shape", self.shape, fits, f"rows and columns of a matrix of {max(sizes)} entries")

    @property
    def targets(self) -> list[fmpq]:
        """Right-hand sides of the equalities."""
        return list(self.values) or [fmpq(0)] * len(self.equalities)

    @property
    def names(self) -> Sequence[str]:
        """Labels, or numbers, of the rows, then of the equalities."""
        return names(self.labels, len(self.rows) + len(self.equalities))


def _demand(what: str, got: object, holds: bool, expected: str) -> None:
    if not holds:
        raise ValueError(f"{what}: got {got}, expected {expected}")
