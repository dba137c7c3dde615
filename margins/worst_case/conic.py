"""Semidefinite programs in inequality form, solved numerically by Clarabel."""

from collections.abc import Sequence
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
    semidefinite: list[Floats]


def maximise(
    objective: Floats,
    equal: tuple[Floats, Floats],
    nonnegative: tuple[Floats, Floats],
    semidefinite: Sequence[tuple[Floats, Floats]] = (),
) -> Solution | None:
    """Maximise objective.y with E y = e, N y + n >= 0 and matrices M_0 + sum y_k M_k positive semidefinite.

    ``equal`` is (E, e), ``nonnegative`` (N, n), and ``semidefinite`` pairs of the M_k, of shape (len(y), d, d), and
    M_0. Multipliers are those of the maximum's optimality conditions. None without a solution.
    """
    import clarabel

    (E, e), (N, n) = equal, nonnegative
    blocks, right = [E, -N], [e, n]
    cones = [clarabel.ZeroConeT(len(e)), clarabel.NonnegativeConeT(len(n))]
    for M, M_0 in semidefinite:
        i, j, weight = triangle(len(M_0))
        blocks.append(-(M[:, i, j] * weight).T)
        right.append(M_0[i, j] * weight)
        cones.append(clarabel.PSDTriangleConeT(len(M_0)))
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
    matrices, at = [], len(e) + len(n)
    for _, M_0 in semidefinite:
        i, j, weight = triangle(len(M_0))
        Z = np.zeros_like(M_0)
        Z[i, j] = Z[j, i] = z[at : at + len(i)] / weight
        matrices.append(Z)
        at += len(i)
    return Solution(y, z[: len(e)], z[len(e) : len(e) + len(n)], matrices)


def triangle(size: int) -> tuple[Integers, Integers, Floats]:
    """Indices of the upper triangle, column by column, and the weights that keep scalar products."""
    j, i = np.tril_indices(size)
    return i, j, np.where(i == j, 1.0, np.sqrt(2.0))
