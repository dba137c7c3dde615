"""The part of the cone in which all proofs lie: multipliers that are 0 and vectors v with S v = 0 in every proof.

Found by facial reduction (Borwein, Wolkowicz 1981): where no multipliers have S and themselves positive definite, the
dual of the search for them names such vectors and multipliers.
"""

from dataclasses import dataclass, field

import numpy as np
from flint import fmpq

from marginaudit.margins.worst_case.conic import Solution, innermost
from marginaudit.margins.worst_case.exact import Vectors, floats, rational_basis
from marginaudit.margins.worst_case.program import Program
from marginaudit.orders.arrays import Floats

INTERIOR = 1e-6
"""Least room of a point inside the cone."""

TOLERANCES = (1e-5, 1e-3)
"""Errors of a vector of the dual, which the solver may find to few digits."""

STEPS = 4
"""Reductions tried; one is usually enough."""


@dataclass(frozen=True)
class Face:
    """Rational vectors v with S v = 0, and the rows whose multipliers need not be 0."""

    rows: list[int]
    kernel: Vectors = field(default_factory=list)

    @property
    def vectors(self) -> Floats:
        """The kernel vectors as rows."""
        return floats(self.kernel)

    def rest(self, size: int) -> list[int]:
        """Points whose block of S decides whether S is positive semidefinite: all but a pivot of each vector."""
        left, pivots = self.vectors.copy(), []
        for k in range(len(left)):
            j = int(np.argmax(abs(left[k])))
            pivots.append(j)
            left[k + 1 :] -= np.outer(left[k + 1 :, j], left[k] / left[k, j])
        return [j for j in range(size) if j not in pivots]


def equations(program: Program, face: Face) -> tuple[Floats, Floats]:
    """Linear equations of a proof's multipliers: values cancel, the metrics' sum to 1, S v = 0 by vector and point."""
    A = program.A[face.rows]
    rows = [program.b[face.rows].T, program.metric[face.rows][None].astype(float)]
    rows += [(A @ v).T for v in face.vectors]
    E = np.vstack(rows)
    e = np.zeros(len(E))
    e[program.b.shape[1]] = 1
    return E, e


def centre(program: Program, face: Face, largest: float) -> Solution | None:
    """Multipliers >= s of a proof of at most ``largest`` with S >= s, for the largest s <= 1, which stands last."""
    rows, rest = face.rows, face.rest(program.A.shape[1])
    inequality = ~program.equality[rows]
    return innermost(
        (np.eye(len(rows))[inequality], np.zeros(inequality.sum())),
        (program.A[np.ix_(rows, rest, rest)], np.zeros((len(rest), len(rest)))),
        equal=equations(program, face),
        beside=(program.c[rows][None], np.array([largest])),
    )


def smallest_face(program: Program, largest: float) -> Face:
    """A face of the cone that contains all proofs, with one of at most ``largest`` in its interior."""
    face = Face(list(range(len(program.rows))))
    m = program.A.shape[1]
    for _ in range(STEPS):
        found = centre(program, face, largest)
        if found is None or found.y[-1] > INTERIOR:
            break
        rest = face.rest(m)
        kernel = face.kernel
        if rest:
            sizes, vectors = np.linalg.eigh(found.semidefinite)
            some = vectors[:, sizes > 1e-3 * max(sizes[-1], 0.01)]
            guesses = (rational_basis(some, tolerance) for tolerance in TOLERANCES if some.size)
            for v in next(filter(None, guesses), []):
                full = [fmpq(0)] * m
                for j, c in zip(rest, v, strict=True):
                    full[j] = c
                kernel = [*kernel, full]
        inequality = [r for r in face.rows if not program.equality[r]]
        zero = {r for r, z in zip(inequality, found.nonnegative, strict=False) if z > 1e-3}
        smaller = Face([r for r in face.rows if r not in zero], kernel)
        if smaller == face:
            break
        face = smaller
    return face
