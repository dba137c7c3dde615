"""Rows of a performance estimation problem, as floats and as rationals."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from flint import fmpq, fmpq_mat

from marginaudit.margins.worst_case.exact import flint
from marginaudit.margins.worst_case.verify import ONE, Evaluation, Linear, Place, Problem, ends, product
from marginaudit.orders.arrays import Floats

ZERO = Fraction(0)


@dataclass(frozen=True)
class ConstraintRow:
    """A row: <A, G> + b.F + c <= 0, plus t for a metric, or = 0.

    ``owner`` is the number of the metric, constraint or function, the ``group``.
    """

    group: str
    owner: int
    equality: bool
    place: Place = ("", 0, 0)

    @property
    def near(self) -> bool:
        """Whether the row is of one evaluation, of two neighbours, or of the first (often the solution) and another."""
        _, i, j = self.place
        return abs(i - j) <= 1 or i == 0 or j == 0


class Program:
    """maximise t over Gram matrices G of the points and values F, subject to all rows.

    The points in ``fixed`` are 0: a common translation of points changes no row. The others, ``free``, are the basis.
    Enclosed data are taken at their middle; ``stated`` is the problem with them.
    """

    def __init__(self, stated: Problem) -> None:
        """Write down all rows that are not empty."""
        self.stated = stated
        self.problem = problem = middle(stated) if stated.enclosed else stated
        self._exact: dict[int, Linear] = {}
        self._matrices: dict[int, fmpq_mat] = {}
        rows, flat = self._every_row()
        some = [k for k, values in enumerate(flat) if np.any(values[:-1])]
        self.rows = [rows[k] for k in some]
        m, k = len(problem.points), len(problem.values)
        kept = np.array([flat[k] for k in some])
        self.A, self.b, self.c = kept[:, : m * m].reshape(-1, m, m), kept[:, m * m : -1], kept[:, -1]
        self.free = _without_translations(self.A)
        self.A = self.A[np.ix_(range(len(self.rows)), self.free, self.free)]
        self.used = [v for v in range(k) if np.any(self.b[:, v])]
        self.b = self.b[:, self.used]
        self.metric = np.array([row.group == "metric" for row in self.rows])
        self.equality = np.array([row.equality for row in self.rows])

    def _every_row(self) -> tuple[list[ConstraintRow], list[Floats]]:
        points, values = self.problem.points, self.problem.values
        where = {name: k for k, name in enumerate(points)}
        m, size = len(points), len(points) ** 2
        entry = {(): size + len(values)} | {(name,): size + k for k, name in enumerate(values)}

        def vector(combination: Linear) -> Floats:
            v = np.zeros(m)
            for name, c in combination.items():
                v[where[name]] = float(c)
            return v

        def dot(u: Floats, v: Floats) -> Floats:
            half = np.outer(u, v) / 2
            return np.concatenate([(half + half.T).ravel(), np.zeros(len(values) + 1)])

        def expression(terms: Linear) -> Floats:
            e = np.zeros(size + len(values) + 1)
            for term, c in terms.items():
                if len(term) == 2:
                    i, j = where[term[0]], where[term[1]]
                    e[i * m + j] += float(c) / 2
                    e[j * m + i] += float(c) / 2
                else:
                    e[entry[term]] += float(c)
            return e

        one = expression(ONE)
        rows = [ConstraintRow("metric", k, equality=False) for k in range(len(self.problem.metrics))]
        flat = [-expression(metric) for metric in self.problem.metrics]
        for k, (relation, terms) in enumerate(self.problem.constraints):
            rows.append(ConstraintRow("constraint", k, equality=relation == "=="))
            flat.append(expression(terms))
        for k, function in enumerate(self.problem.functions):
            p = {key: float(value) for key, value in function.parameters.items()}
            known = [Evaluation(vector(e.x), vector(e.g), expression(e.f)) for e in function.evaluations]
            placed = function._replace(parameters=p, evaluations=known)
            for place in function.places():
                equality = function.relation(place) == "=="
                rows.append(ConstraintRow("function", k, equality=equality, place=place))
                flat.append(placed.left_side(place, dot, one))
        return rows, flat

    def exact(self, row: int) -> Linear:
        """The row as an expression, without t."""
        if row not in self._exact:
            self._exact[row] = self._derived(self.problem, row)
        return self._exact[row]

    def least_constant(self, row: int) -> Fraction:
        """The row's constant, or the least one for enclosed data."""
        terms = self._derived(self.stated, row) if self.stated.enclosed else self.exact(row)
        return ends(terms.get((), ZERO))[0]

    def left_sides(self, gram: Floats, values: Floats, t: float) -> Floats:
        """The rows' left sides."""
        return np.asarray(np.tensordot(self.A, gram, axes=2) + self.b @ values + self.c + self.metric * t)

    def matrix(self, row: int) -> fmpq_mat:
        """The row's matrix of products of free points."""
        if row not in self._matrices:
            where, m = {name: k for k, name in enumerate(self.names)}, len(self.names)
            entries = [[fmpq(0)] * m for _ in range(m)]
            for term, c in self.exact(row).items():
                if len(term) == 2 and term[0] in where and term[1] in where:
                    i, j, half = where[term[0]], where[term[1]], flint(c) / 2
                    entries[i][j] += half
                    entries[j][i] += half
            self._matrices[row] = fmpq_mat(entries)
        return self._matrices[row]

    def value_row(self, row: int) -> list[fmpq]:
        """The row's coefficients of the values in some row."""
        terms = self.exact(row)
        return [flint(terms.get((name,), ZERO)) for name in self.value_names]

    def constant(self, row: int) -> fmpq:
        """The row's constant."""
        return flint(self.exact(row).get((), ZERO))

    def _derived(self, problem: Problem, row: int) -> Linear:
        known = self.rows[row]
        if known.group == "metric":
            return Fraction(-1) * problem.metrics[known.owner]
        if known.group == "constraint":
            return problem.constraints[known.owner][1]
        return problem.functions[known.owner].left_side(known.place, product, ONE)  # type: ignore[no-any-return]

    @cached_property
    def names(self) -> list[str]:
        """Names of the free points."""
        return [self.problem.points[k] for k in self.free]

    @cached_property
    def value_names(self) -> list[str]:
        """Names of the values in some row."""
        return [self.problem.values[k] for k in self.used]


def middle(problem: Problem) -> Problem:
    """The problem with the middle of each enclosure."""

    def exact(expression: Linear) -> Linear:
        return Linear({term: sum(ends(c), ZERO) / 2 for term, c in expression.items()})

    return problem._replace(
        functions=[
            f._replace(evaluations=[Evaluation(*map(exact, e)) for e in f.evaluations]) for f in problem.functions
        ],
        constraints=[(relation, exact(expression)) for relation, expression in problem.constraints],
        metrics=[exact(metric) for metric in problem.metrics],
    )


def _without_translations(A: Floats) -> list[int]:
    """Points that remain if one point of each common kernel vector of the rows is fixed at 0."""
    rng = np.random.default_rng(0)
    m = A.shape[1]
    mixed = np.tensordot(rng.standard_normal((3, len(A))), A, axes=1).reshape(-1, m)
    _, sizes, V = np.linalg.svd(mixed)
    kernel = V[sum(sizes > 1e-9 * max(sizes[0], 1)) :]
    fixed: list[int] = []
    for k in range(len(kernel)):  # a pivot of each, eliminated from the others
        pivot = next(p for p in range(m) if abs(kernel[k, p]) > abs(kernel[k]).max() / 2)
        fixed.append(pivot)
        kernel[k + 1 :] -= np.outer(kernel[k + 1 :, pivot], kernel[k] / kernel[k, pivot])
    return [k for k in range(m) if k not in fixed]
