"""Semidefinite programs in inequality form, solved numerically by Clarabel."""

from dataclasses import dataclass

import numpy as np
import scipy  # its subpackages load when first used

from marginaudit.orders.arrays import Floats, Integers

TOLERANCE = 1e-11


@dataclass(frozen=True)
class Solution:
    """Maximiser y and multipliers of the constraints; all of it approximate."""

    y: Floats
    equal: Floats
    nonnegative: Floats
    semidefinite: Floats


Affine = tuple[Floats, Floats]
"""Coefficients of y and constants: (N, n) of N y + n, or the M_k, of shape (len(y), d, d), and M_0."""


def innermost(
    nonnegative: Affine, semidefinite: Affine, equal: Affine | None = None, beside: Affine | None = None
) -> Solution | None:
    """Point farthest inside: `maximise` s <= 1, which stands last, with N y + n >= s and M_0 + sum y_k M_k >= s.

    E y = e for ``equal``, and N y + n >= 0 for ``beside``.
    """
    (N, n), (M, M_0) = nonnegative, semidefinite
    count = N.shape[1]
    nothing = np.zeros((0, count)), np.zeros(0)
    (E, e), (B, b) = equal or nothing, beside or nothing
    rows = np.vstack([np.c_[N, -np.ones(len(N))], np.c_[B, np.zeros(len(B))], np.r_[np.zeros(count), -1.0]])
    return maximise(
        np.r_[np.zeros(count), 1.0],
        (np.c_[E, np.zeros(len(E))], e),
        (rows, np.r_[n, b, 1.0]),
        (np.concatenate([M, -np.eye(len(M_0))[None]]), M_0),
    )


def maximise(objective: Floats, equal: Affine, nonnegative: Affine, semidefinite: Affine) -> Solution | None:
    """Maximise objective.y with E y = e, N y + n >= 0 and the matrix M_0 + sum y_k M_k positive semidefinite.

    Multipliers are those of the maximum's optimality conditions. None without a solution.
    """
    import clarabel

    (E, e), (N, n), (M, M_0) = equal, nonnegative, semidefinite
    i, j, weight = triangle(len(M_0))
    blocks, right = [E, -N, -(M[:, i, j] * weight).T], [e, n, M_0[i, j] * weight]
    cones = [clarabel.ZeroConeT(len(e)), clarabel.NonnegativeConeT(len(n)), clarabel.PSDTriangleConeT(len(M_0))]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.chordal_decomposition_enable = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
    A = scipy.sparse.csc_matrix(np.vstack(blocks))
    P = scipy.sparse.csc_matrix((len(objective), len(objective)))
    found = clarabel.DefaultSolver(P, -objective, A, np.concatenate(right), cones, settings).solve()
    y, z = np.array(found.x), np.array(found.z)
    if not (np.isfinite(y).all() and np.isfinite(z).all()) or "Infeasible" in str(found.status):
        return None
    Z = np.zeros_like(M_0)
    Z[i, j] = Z[j, i] = z[len(e) + len(n) :] / weight
    return Solution(y, z[: len(e)], z[len(e) : len(e) + len(n)], Z)


def triangle(size: int) -> tuple[Integers, Integers, Floats]:
    """Indices of the upper triangle, column by column, and the weights that keep scalar products."""
    j, i = np.tril_indices(size)
    return i, j, np.where(i == j, 1.0, np.sqrt(2.0))
