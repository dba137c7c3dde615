"""Class overlaps at Z = 0: eigenvalues with error bars, and signs of E' in exact arithmetic."""

from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
import scipy  # its subpackages load when first used

from marginaudit.claims.run import once_a_run
from marginaudit.claims.snap.conditions import one_class
from marginaudit.claims.snap.run import ClassRun
from marginaudit.orders.snap.overlap import eigenpairs

if TYPE_CHECKING:
    import flint

BITS = 256

MOST_CLASSES = 100
"""Most classes for enclosing E' and det(I+E)."""


def pairs_of_classes(run: ClassRun) -> tuple[str, ...]:
    """Names of a matrix's entries, row by row."""
    names = run.dataset.next_tokens
    return tuple(f"{n}, {other}" for n in names for other in names)


def largest_eigenvalue(run: ClassRun) -> tuple[float, float]:
    """|lambda_1| of E, and its error bar."""
    L, _, error = eigenpairs(run.overlap.E)
    return float(np.abs(L).max()), error


def largest_eigenvalue_of_inverse(run: ClassRun) -> tuple[float, float]:
    """The largest |lambda_i(E')|, and its error bar."""
    found = run.overlap.E_prime
    L, _, error = eigenpairs((found.value + found.value.T) / 2)
    return float(np.abs(L).max()), error + float(np.linalg.norm(found.error))


def gram(run: ClassRun) -> "flint.arb_mat":
    """I + E at Z = 0, in balls."""
    from marginaudit.training.snap.balls.matrices import features

    F = features(run.dataset.P)
    return F.transpose() * F


@once_a_run
def all_positive(run: ClassRun) -> bool | None:
    """Whether E'_nk > 0 for every pair n != k at Z = 0; None without E' or with too many classes.

    E'_nk is 0 for classes not connected by shared tokens. Entries of I - E' are, up to positive factors, those of the
    inverse of P P^T, which are rational. Balls decide the sign, or rational arithmetic if a ball contains 0.
    """
    import flint
    from flint import fmpq, fmpq_mat

    if not joined_by_tokens(run):
        return False
    if run.K > MOST_CLASSES:
        return None
    P = fmpq_mat([[fmpq(*p.as_integer_ratio()) for p in row] for row in run.dataset.P.tolist()])
    products, pairs = P * P.transpose(), list(combinations(range(run.K), 2))
    try:
        with flint.ctx.workprec(BITS):
            near = flint.arb_mat(products).inv()
        if all(near[n, k] < 0 for n, k in pairs):
            return True
        if any(near[n, k] > 0 for n, k in pairs):
            return False
    except ZeroDivisionError:
        pass
    try:
        inverse = products.inv()
    except ZeroDivisionError:
        return None
    return all(inverse[n, k] < 0 for n, k in pairs)


def joined_by_tokens(run: ClassRun) -> bool:
    """Whether the graph of classes with a shared token is connected."""
    present = (run.dataset.P > 0).astype(int)
    count, _ = scipy.sparse.csgraph.connected_components(present @ present.T, directed=False)
    return bool(count == 1)


def no_pair(run: ClassRun) -> str | None:
    """Reason for having no E'_nk with n != k, or not computing it; or None."""
    if reason := one_class(run):
        return reason
    if all_positive(run) is None:
        return f"E' of more than {MOST_CLASSES} classes is not enclosed" if run.K > MOST_CLASSES else "there is no E'"
    return None


POSITIVE = "every E'_nk off the diagonal is positive"

NOT_POSITIVE = "some E'_nk off the diagonal is not positive"


def some_not_positive(run: ClassRun) -> str | None:
    """Reason why some off-diagonal E'_nk at Z = 0 is not known to be positive, or None."""
    return no_pair(run) or (None if all_positive(run) else NOT_POSITIVE)


def no_known_nonpositive(run: ClassRun) -> str | None:
    """Reason why no off-diagonal E'_nk at Z = 0 is known to be 0 or below, or None."""
    return no_pair(run) or (None if all_positive(run) is False else POSITIVE)
