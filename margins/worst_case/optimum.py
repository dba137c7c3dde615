"""Float optimum of a performance estimation problem."""

from dataclasses import dataclass, replace

import numpy as np

from marginaudit.margins.worst_case.conic import maximise
from marginaudit.margins.worst_case.exact import Vectors, rational_basis
from marginaudit.margins.worst_case.faces import Face, equations
from marginaudit.margins.worst_case.program import Program
from marginaudit.orders.arrays import Floats

ROUGH = 1e-5
"""Largest error of a coordinate, as solved."""

FEW_ROWS = 100
"""Rows of a program that is solved at once."""

ROUNDS = 8
"""Programs solved with some of the rows."""

VIOLATED = 1e-8
"""Left side of a row that counts as violated."""

GAPS = (1e-6, 1e-5, 1e-4, 1e-3)
"""Relative gaps of a relaxed bound, tried in this order."""

NOISE = 1e-8
"""Relative size below which an eigenvalue is attributed to the solver's error."""


@dataclass(frozen=True)
class Optimum:
    """Approximate optimum: value, multipliers and slacks of the rows, Gram matrix, its multiplier S, and values."""

    value: float
    multipliers: Floats
    slacks: Floats
    gram: Floats
    residual: Floats
    values: Floats

    @property
    def strong(self) -> "np.ndarray[tuple[int], np.dtype[np.bool_]]":
        """Rows that seem to have a positive multiplier."""
        return self.multipliers > self.slacks

    def range(self, cut: float | None) -> Floats:
        """Orthonormal columns that seem to span the range of the Gram matrix.

        Eigenvalues count from ``cut`` times the largest, or, if None, where they are above those of the residual.
        """
        matrix = self.gram - self.residual if cut is None else self.gram
        sizes, vectors = np.linalg.eigh(matrix)
        return np.asarray(vectors[:, sizes > (cut or NOISE) * sizes[-1]])

    def basis(self, cut: float | None) -> Vectors | None:
        """Rational vectors that seem to span the range of the Gram matrix; None if they are not simple."""
        return rational_basis(self.range(cut), ROUGH)


def optimum(program: Program, face: Face) -> Optimum | None:
    """Solve the program numerically; None if the worst case seems to be infinite.

    A large program is solved with rows of neighbouring evaluations first, and then with those that it violates.
    """
    if len(face.rows) <= FEW_ROWS:
        return _solved(program, face)
    working = [r for r in face.rows if program.rows[r].near]
    for _ in range(ROUNDS):
        found = _solved(program, replace(face, rows=working))
        if found is None:
            break
        wrong = program.left_sides(found.gram, found.values, found.value)
        violated = [r for r in set(face.rows).difference(working) if wrong[r] > VIOLATED]
        if not violated:
            others = np.setdiff1d(face.rows, working)
            found.slacks[others] = np.maximum(-wrong[others], NOISE)
            return found
        worst = sorted(violated, key=lambda r: -wrong[r])
        working = sorted([*working, *worst[: len(working)]])
    return _solved(program, face)


def _solved(program: Program, face: Face) -> Optimum | None:
    count, m, k = len(program.rows), program.A.shape[1], program.b.shape[1]
    rows, rest = face.rows, face.rest(m)
    E, e = equations(program, face)
    U, sizes, _ = np.linalg.svd(E, full_matrices=False)
    U = U[:, sizes > 1e-9 * sizes[0]]  # independent equations
    inequality = ~program.equality[rows]
    nonnegative = np.eye(len(rows))[inequality]
    A = program.A[np.ix_(rows, rest, rest)]
    found = maximise(
        program.c[rows],
        (U.T @ E, U.T @ e),
        (nonnegative, np.zeros(len(nonnegative))),
        (A, np.zeros((len(rest), len(rest)))),
    )
    if found is None:
        return None
    free = -U @ found.equal
    multipliers, slacks = np.zeros(count), np.zeros(count)
    multipliers[rows] = found.y
    slacks[np.array(rows)[inequality]] = found.nonnegative
    gram = np.zeros((m, m))
    gram[np.ix_(rest, rest)] = found.semidefinite
    for v, w in zip(face.vectors, free[k + 1 :].reshape(-1, m), strict=True):
        gram += (np.outer(v, w) + np.outer(w, v)) / 2
    gram = _made_positive(gram, face.vectors, rest)
    residual = np.tensordot(multipliers, program.A, axes=1)
    return Optimum(-float(program.c[rows] @ found.y), multipliers, slacks, gram, residual, free[:k])


def _made_positive(gram: Floats, vectors: Floats, rest: list[int]) -> Floats:
    """The Gram matrix with a multiple of each v v^T added, which changes no row, so that it is nearly positive."""
    if not len(vectors):
        return gram
    block = gram[np.ix_(rest, rest)]
    pivots = [j for j in range(len(gram)) if j not in rest]
    cross = gram[np.ix_(rest, pivots)]
    lacking = cross.T @ np.linalg.pinv(block, rcond=1e-7) @ cross - gram[np.ix_(pivots, pivots)]
    inverse = np.linalg.inv(vectors[:, pivots])
    wanted = inverse.T @ (lacking + np.eye(len(pivots)) * (1 + abs(lacking).max())) @ inverse
    return np.asarray(gram + vectors.T @ wanted @ vectors)
