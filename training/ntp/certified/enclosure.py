"""A rigorous enclosure of the first steps of stage 2, in ball arithmetic."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import index
from typing import TypeAlias

import flint
import numpy as np
from numpy.typing import NDArray

from marginaudit.margins.ntp import Exact, Infeasible, MaxMargin
from marginaudit.orders import counted
from marginaudit.orders.balls import outward, upper_end
from marginaudit.orders.ntp import Dataset
from marginaudit.training.ntp.certified.balls import Alike, Pass, alike, forward, merged_sentences
from marginaudit.training.ntp.model.classes import SampleClasses, sample_classes
from marginaudit.training.ntp.model.edges import no_reduction
from marginaudit.training.ntp.model.losses import infimum_ball
from marginaudit.training.ntp.records import Progress
from marginaudit.training.ntp.start import step_sizes
from marginaudit.training.ntp.steps.iterate import Floats

Balls: TypeAlias = dict[str, flint.arb]
Row: TypeAlias = list[flint.arb]

MOST_BITS = 2**14
"""Largest precision tried, by doubling."""

ACCURATE_BITS = 53
"""A recorded ball is accurate when its radius is at most 2^-53 of its centre, or 2^-106."""

REPORTS = 200
"""Most calls of ``progress`` at each precision (and one at its end)."""

COLUMNS = (
    "norm",
    "one_minus_cos",
    "log_loss",
    "log_other_weight",
    "log_excess",
    "descent_reference",
    "descent_rest",
    "log_gradient_norm",
)


class NotEnclosable(Exception):  # noqa: N818  (a property of the dataset or the run, which the message names)
    """Stage 2 of this dataset cannot be enclosed, for the reason in the message."""


@dataclass(frozen=True, eq=False)
class Enclosure:
    """Stage 2 in exact arithmetic, enclosed at its recorded steps.

    Attributes
    ----------
    step : (records,) integer array
    columns : mapping from a name to (values, radii), two (records,) arrays
        The true quantity lies between value - radius and value + radius, also where these are computed in
        float64. Named as in `Stage2`: norm, one_minus_cos, log_loss, log_other_weight, log_excess. In addition
        descent_reference = -<grad, What>/||grad|| and descent_rest = -<grad, W - s What>/||grad||, with
        What = W*_kq/||W*_kq|| and s = t eta, and log_gradient_norm = log ||grad||. At step 0, one_minus_cos is NaN.
    radius : (records,) array
        Bound on the Euclidean distance of W_kq from the centres of its balls.
    rest : (records, pairs) array
        W - s What, rounded from the centres.
    key, query : (pairs,) integer arrays
        As in `Stage2`; all other scores stay 0.
    last : tuple of arb, one per pair
        Balls of the scores x^T W_kq q at the last recorded step.
    bits : int
        Working precision of the result.
    """

    step: NDArray[np.int64]
    columns: dict[str, tuple[Floats, Floats]]
    radius: Floats
    rest: Floats
    key: NDArray[np.int64]
    query: NDArray[np.int64]
    last: tuple[flint.arb, ...]
    bits: int


def enclose(
    dataset: Dataset,
    kq: MaxMargin,
    *,
    steps1: int,
    steps: int,
    lr1: float | None = None,
    lr2: float | None = None,
    at: Iterable[int] | None = None,
    bits: int = 128,
    most_bits: int = MOST_BITS,
    partly: bool = False,
    tolerant: bool = False,
    progress: Progress | None = None,
) -> Enclosure:
    """Enclose stage 2 of Algorithm 1 in exact arithmetic.

    Every number is a ball: a centre of ``bits`` binary digits and a radius, a bound on the distance of the true number.
    An operation on balls encloses its exact result for all numbers in its arguments, rounding included, so by induction
    each step's balls contain the true W_kq. Radii grow by a nearly constant factor per step, so the digits needed are
    proportional to the steps. If a recorded column is not accurate to float64, the run is repeated with twice the
    digits.

    All other numbers are exact: step sizes are the given float64 numbers, frequencies and W*_kq are rational, and stage
    1 ends with all margins equal to T eta0 / sqrt(V - 1), as ||W*_ov||^2 = V - 1 (`sharp.stage1`).

    Parameters
    ----------
    kq : MaxMargin
        W*_kq of that dataset.
    steps1, steps : int
        T, and the last step of stage 2.
    lr1, lr2 : float or None
        eta0 and eta; None for the paper's 0.2 / sqrt(V) and 0.05 / sqrt(V).
    at : iterable of int or None
        Recorded steps, those beyond ``steps`` left out; None: every step.
    bits, most_bits : int
        First and largest precision tried.
    partly : bool
        Return the first accurate records if the largest precision is too low for all.
    tolerant : bool
        Accept tokens that are orthonormal up to rounding, as float64 steps do.
    progress : callable or None
        Called with the number of steps done; restarts when the run is repeated.

    Raises
    ------
    NotEnclosable
        The embeddings are not exactly orthonormal, the loss has no reduced model (`no_reduction`), W*_kq is 0
        or not known exactly, stage 1 has no step, or ``most_bits`` are too few.
    CollocationError
        n is not a function on the whole vocabulary.
    ValueError
        A negative number of steps or recorded step, or none recorded; a step size that is not positive and
        finite.

    Source: arXiv 2409.17335, Algorithm 1.

    >>> from marginaudit.margins.ntp import solve_kq
    >>> from marginaudit.orders.ntp import CASES
    >>> data = CASES["example-1"]()
    >>> enclosure = enclose(data, solve_kq(data), steps1=100, steps=100, at=[1, 100])
    >>> values, radii = enclosure.columns["one_minus_cos"]
    >>> values.round(6).tolist(), bool((radii < 1e-16).all())
    ([0.035236, 0.010749], True)
    """
    recorded = _recorded(at, steps)
    if not (tolerant or exactly_orthonormal(dataset)):
        raise NotEnclosable("the embeddings are not exactly orthonormal")
    problem = _problem(dataset, kq, steps1, *step_sizes(dataset.V, lr1, lr2))
    while bits <= most_bits:
        with flint.ctx.workprec(bits):
            found = _descend(problem, recorded, progress, partly=partly and 2 * bits > most_bits)
        if found is not None:
            return found
        bits *= 2
    raise NotEnclosable(f"{most_bits} bits are too few to follow {counted(recorded[-1], 'step')}")


@dataclass(frozen=True)
class _Problem:
    """Exact data of stage 2, W*_kq by classes of pairs; methods convert them to balls at the working precision."""

    alike: Alike
    classes: SampleClasses
    weights: tuple[flint.fmpq, ...]
    V: int
    total: int
    steps1: int
    lr1: float
    lr2: float

    def margin(self) -> flint.arb:
        """A, the margin of every token after stage 1."""
        return self.steps1 * flint.arb(self.lr1) / flint.arb(self.V - 1).sqrt()

    def direction(self) -> list[flint.arb]:
        """The unit reference What on the classes of pairs."""
        squares = (many * w * w for many, w in zip(self.alike.size, self.weights, strict=True))
        norm = flint.arb(sum(squares, flint.fmpq(0))).sqrt()
        return [w / norm for w in self.weights]

    def losses(self, found: Pass, A: flint.arb, norm: flint.arb) -> Balls:
        """Loss, its gradient's norm, excess and attention; sentences of one distinct token have the least loss."""
        floor, least = infimum_ball(self.V, A), 1 + (self.V - 1) * (-A).exp()
        above = [term.count * (odds / least).log1p() for term, odds in zip(self.alike.terms, found.odds, strict=True)]
        excess = sum(above, flint.arb(0)) / self.total
        heaviest = found.other[0]
        for weight in found.other[1:]:
            heaviest = heaviest.max(weight)
        return {
            "log_loss": (floor + excess).log(),
            "log_excess": excess.log(),
            "log_other_weight": heaviest.log(),
            "log_gradient_norm": norm.log() + found.log_scale + (A / self.total).log(),
        }


def _recorded(at: Iterable[int] | None, steps: int) -> tuple[int, ...]:
    if steps < 0:
        raise ValueError(f"steps: got {steps}, expected at least 0")
    recorded = tuple(range(steps + 1)) if at is None else tuple(sorted({t for t in map(index, at) if t <= steps}))
    if not recorded or recorded[0] < 0:
        raise ValueError(f"at: got {recorded or 'no step'}, expected steps from 0 to {steps}")
    return recorded


def _problem(dataset: Dataset, kq: MaxMargin, steps1: int, lr1: float, lr2: float) -> _Problem:
    classes = sample_classes(dataset)
    reason = _obstacle(classes, kq, steps1)
    if reason is not None:
        raise NotEnclosable(reason)
    names, weights = dataset.vocabulary, kq.exact().weights_exact
    pairs = zip(classes.key.tolist(), classes.pair_query.tolist(), strict=True)
    exact = [weights.get(names[q], {}).get(names[x], Fraction(0)) for x, q in pairs]
    found = alike(merged_sentences(dataset, classes), exact)
    of_class = dict(zip(found.number, exact, strict=True))
    return _Problem(
        alike=found,
        classes=classes,
        weights=tuple(flint.fmpq(w.numerator, w.denominator) for _, w in sorted(of_class.items())),
        V=dataset.V,
        total=sum(dataset.counts),
        steps1=steps1,
        lr1=lr1,
        lr2=lr2,
    )


def _obstacle(classes: SampleClasses, kq: MaxMargin, steps1: int) -> str | None:
    if isinstance(kq, Infeasible):
        return "W*_kq does not exist"
    if not isinstance(kq, Exact):
        return "W*_kq is not known exactly"
    if not kq.norm_squared_exact:
        return "no sample relates two tokens, so W*_kq is 0"
    if steps1 < 1:
        return "stage 1 has no step, so stage 2 has no gradient"
    return no_reduction(classes)


def exactly_orthonormal(dataset: Dataset) -> bool:
    """E E^T = I in rational arithmetic."""
    if dataset.embedding is None:
        return True
    E = flint.fmpq_mat([[flint.fmpq(*x.as_integer_ratio()) for x in row] for row in dataset.embedding.tolist()])
    one = flint.fmpq_mat(dataset.V, dataset.V, [int(i == j) for i in range(dataset.V) for j in range(dataset.V)])
    return bool(E * E.transpose() == one)


def _descend(problem: _Problem, at: Sequence[int], progress: Progress | None, *, partly: bool) -> Enclosure | None:
    """Enclose the run at the working precision, or ``partly`` up to the first inaccurate record; None on failure."""
    A, what, eta = problem.margin(), problem.direction(), flint.arb(problem.lr2)
    size, number = problem.alike.size, problem.alike.number
    W = last = [flint.arb(0)] * len(what)
    rows: list[dict[str, tuple[float, float]]] = []
    rest: list[list[float]] = []
    radii: list[float] = []
    every = -(-at[-1] // REPORTS)
    for t in range(at[-1] + 1):
        found = forward(problem.alike, W, A)
        norm = _norm(found.gradient, size)
        if norm.rel_accuracy_bits() < ACCURATE_BITS:
            break
        unit = [g / norm for g in found.gradient]
        if t == at[len(rows)]:
            balls = problem.losses(found, A, norm) | _directions(t * eta, W, unit, what, size)
            if not all(accurate(ball) for ball in balls.values()):
                break
            rows.append({name: outward(ball) for name, ball in balls.items()})
            last = W
            rest.append([float(w - t * eta * r) for w, r in zip(W, what, strict=True)])
            radii.append(upper_end(_norm([w.rad() for w in W], size)))
        if t < at[-1]:
            W = [w - eta * v for w, v in zip(W, unit, strict=True)]
            if progress is not None and ((t + 1) % every == 0 or t + 1 == at[-1]):
                progress(t + 1)
    if len(rows) < len(at) and not (partly and rows):
        return None
    return Enclosure(
        step=np.array(at[: len(rows)], dtype=np.int64),
        columns={name: _column([row.get(name, (np.nan, np.nan)) for row in rows]) for name in COLUMNS},
        radius=np.array(radii),
        rest=np.array(rest)[:, number],
        key=problem.classes.key,
        query=problem.classes.pair_query,
        last=tuple(last[c] for c in number),
        bits=flint.ctx.prec,
    )


def _directions(s: flint.arb, W: Row, unit: Row, what: Row, size: list[int]) -> Balls:
    """Records of W and the unit gradient against the reference; at W = 0 there is no cosine.

    With c = <W, What>, u = W - c What and R = ||W||: 1 - cos = |u|^2 / (R (R + c)).
    """
    norm, c = _norm(W, size), _inner(W, what, size)
    downhill = -_inner(unit, what, size)
    balls = {"norm": norm, "descent_reference": downhill, "descent_rest": -_inner(unit, W, size) - s * downhill}
    if s != 0:
        across = [w - c * r for w, r in zip(W, what, strict=True)]
        balls["one_minus_cos"] = _inner(across, across, size) / (norm * (norm + c))
    return balls


def accurate(ball: flint.arb) -> bool:
    """Whether the radius is at most 2^-53 of the centre, or 2^-106."""
    return bool(ball.rel_accuracy_bits() >= ACCURATE_BITS or ball.rad() <= flint.arb(2) ** (-2 * ACCURATE_BITS))


def _column(entries: list[tuple[float, float]]) -> tuple[Floats, Floats]:
    values, radii = zip(*entries, strict=True)
    return np.array(values), np.array(radii)


def _inner(a: Row, b: Row, size: list[int]) -> flint.arb:
    """Inner product over pairs, given by class; ``size`` is the number of pairs in each class."""
    return sum((many * x * y for many, x, y in zip(size, a, b, strict=True)), flint.arb(0))


def _norm(a: Row, size: list[int]) -> flint.arb:
    return _inner(a, a, size).sqrt()
