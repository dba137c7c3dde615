"""Step sizes and start of both stages: W = 0, with its reference."""

from fractions import Fraction
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from marginaudit.margins.ntp import ClosedFormColumns, Exact, MaxMargin, Optimal, next_indices
from marginaudit.orders.ntp import Dataset
from marginaudit.training.ntp.model.edges import Indices
from marginaudit.training.ntp.model.reference import over_root
from marginaudit.training.ntp.records import Progress
from marginaudit.training.ntp.steps.iterate import Floats, Iterate
from marginaudit.training.ntp.steps.spaces import TokenOV, WeightSpace

PAPER = (0.2, 0.05)
"""eta0 sqrt(V) and eta sqrt(V) in section 7 of arXiv 2409.17335."""


def step_sizes(V: int, lr1: float | None, lr2: float | None) -> tuple[float, float]:
    """eta0 and eta, by default the paper's for V tokens.

    >>> step_sizes(4, None, 0.5)
    (0.1, 0.5)

    Raises
    ------
    ValueError
        A step size is not positive and finite.
    """
    found = []
    for name, given, paper in zip(("lr1", "lr2"), (lr1, lr2), PAPER, strict=True):
        size = float(paper / np.sqrt(V) if given is None else given)
        if not (np.isfinite(size) and size > 0):
            raise ValueError(f"{name}: got {size}, expected a positive finite step size")
        found.append(size)
    return found[0], found[1]


Reference: TypeAlias = ArrayLike | MaxMargin | None


class TrainingSettings(NamedTuple):
    """The settings of both stages."""

    dataset: Dataset
    normalised: bool
    orthonormal: bool
    progress: Progress | None


class Unit(NamedTuple):
    """Projection of What onto a space, as the sum of two arrays, and squared norm of the rest."""

    high: Floats
    low: Floats
    outside: float


def ov_unit(dataset: Dataset, space: WeightSpace, reference: Reference) -> Unit | None:
    """Unit of W*_ov, from the exact weights in token space."""
    if not isinstance(reference, Exact) or not isinstance(space, TokenOV):
        return unit_in(space, "ov_reference", reference)
    if not reference.norm_squared_exact:
        return None
    require_closed_form(dataset, reference)
    return closed_form_unit(next_indices(dataset))


def require_closed_form(dataset: Dataset, solution: MaxMargin) -> None:
    """Raise ValueError unless the solution is the closed form of W*_ov for the dataset's tokens."""
    columns = solution.exact().weights_exact
    if not (isinstance(columns, ClosedFormColumns) and columns.is_of(dataset)):
        raise ValueError("ov_solution: got another matrix than the exact W*_ov of orthonormal tokens")


def closed_form_unit(answer: Indices) -> Unit:
    """W*_ov / ||W*_ov|| of orthonormal tokens, V > 1: columns e_{n(x)} - 1/V over root(V-1), with n(x) = answer[x]."""
    V = len(answer)
    parts = over_root([Fraction(V - 1, V), Fraction(-1, V)], Fraction(V - 1))
    high, low = (np.where(np.arange(V)[:, np.newaxis] == answer, one, other) for one, other in parts)
    return Unit(high, low, 0.0)


def unit_in(space: WeightSpace, name: str, reference: Reference) -> Unit | None:
    """Unit of an array, or of a solution in float64; None without one, or if it is 0."""
    if isinstance(reference, Optimal):
        reference = reference.scores if isinstance(space, TokenOV) else reference.matrix
    if reference is None or isinstance(reference, MaxMargin):
        return None
    given = np.asarray(reference, dtype=np.float64)
    if given.shape != space.reference_shape:
        raise ValueError(f"{name}: got shape {given.shape}, expected {space.reference_shape}")
    if not np.isfinite(given).all():
        raise ValueError(f"{name}: got an entry that is not finite, expected finite numbers")
    largest = np.abs(given).max(initial=0.0)
    if largest == 0:
        return None
    scaled = given / largest
    inside, outside = space.enter(scaled / np.linalg.norm(scaled))
    return Unit(inside, np.zeros_like(inside), outside)


def start(space: WeightSpace, lr: float, unit: Unit | None, *, normalised: bool) -> Iterate:
    """The zero initialisation, with the reference."""
    if unit is None:
        return Iterate(space.shape, lr, None, normalised=normalised)
    return Iterate(space.shape, lr, unit.high, unit.outside, reference_low=unit.low, normalised=normalised)
