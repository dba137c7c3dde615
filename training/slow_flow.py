"""Steps w_(k+1) = w_k + eta f(w_k) to far times, by the flow w' = f(w) in place of the late steps.

The bar. A step maps two points at distance e to a distance of at most e exp(eta mu), where J is the derivative of f and
mu = lambda_max(J + J^T + eta J^T J)/2, as |I + eta J|^2 = 1 + 2 eta mu. In the time eta the flow leaves a step by at
most eta/2 times the arc that f travels meanwhile, by Taylor's formula with w'' = df/dt. So the distance b of flow and
steps has

    db <= mu b dt + eta/2 |df|,    b = the error of the true steps where they part,

for the time t = eta k. Where steps do not expand distances (mu <= 0: f against the gradient of a convex function, eta
at most 2 over its largest curvature) the bar is at most eta/2 times the arc. J is that along the flow, to leading order
in b; arc and integral are sums over a grid; and the solver's error is added. So the bar is measured, not rigorous.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from marginaudit.orders.arrays import Floats
from marginaudit.training.digits import Digits
from marginaudit.training.iterates import iterated, recorded
from marginaudit.training.log_time import integrated

PER_DECADE = 50
"""Grid points, ends of the chords of the arc."""

CHORDS = 1.01
"""Ratio of the arc to its chords, no less."""

BITS, SHIFT = 256, 2.0**-80
"""Bits of the differences for J, and their length relative to the state."""

FLOOR = 1e-9
"""Size of a coordinate, relative to the state where the flow begins, below which its tolerance is absolute."""


@dataclass(frozen=True)
class SlowFlow:
    """States at recorded steps.

    Attributes
    ----------
    step : (n,) float array
    state : (n, d) array
    error : (n,) array
        Bound on the distance from the true steps.
    """

    step: Floats
    state: Floats
    error: Floats


def followed(f: Callable[[Any], Any], start: Any, eta: float, at: int | Iterable[int], true_steps: int) -> SlowFlow:
    """True steps up to ``true_steps``, then the flow; the rows of ``state`` have the entries of a state.

    Raises
    ------
    NotIntegrated
        The solver of the flow fails.
    """
    marks = recorded(at)
    near, far = [t for t in marks if t <= true_steps], [t for t in marks if t > true_steps]
    walked = sorted({*near, true_steps} if far else near)
    true = iterated(lambda w: w + eta * f(w), start, walked)
    state = np.array(true.value, dtype=float)
    error = np.array(true.error) * np.sqrt(state.shape[1]) + np.spacing(np.linalg.norm(state, axis=1))
    kept = [walked.index(t) for t in near]
    found, bars = state[kept], error[kept]
    if far:
        at_far = np.array(far, dtype=float)
        path, bar = _ahead(_Force(f, np.shape(start)), eta, true_steps, state[-1], float(error[-1]), at_far)
        found, bars = np.vstack([found, path]), np.append(bars, bar)
    return SlowFlow(np.array(marks, dtype=float), found, bars)


@dataclass(frozen=True)
class _Force:
    """f on the entries of a state."""

    f: Callable[[Any], Any]
    shape: tuple[int, ...]

    def __call__(self, w: Floats) -> Floats:
        """In float64."""
        return np.asarray(self._of(w), dtype=float)

    def derivative(self, w: Floats) -> Floats:
        """J, by differences in 256 bits."""
        import flint

        length = SHIFT * (float(np.abs(w).max()) or 1.0)
        with flint.ctx.workprec(BITS):
            here = np.array([Digits(entry) for entry in w.tolist()])
            before, columns = self._of(here), []
            for j in range(len(w)):
                moved = here.copy()
                moved[j] = moved[j] + length
                columns.append([float(Digits(x).ball) for x in ((self._of(moved) - before) / length).tolist()])
        return np.array(columns, dtype=float).T

    def _of(self, w: Any) -> Any:
        return np.ravel(np.asarray(self.f(w.reshape(self.shape) if self.shape else w[0])))


def _ahead(force: _Force, eta: float, parted: int, start: Floats, error: float, at: Floats) -> tuple[Floats, Floats]:
    """The flow at far steps, and its bar."""
    spaced = np.geomspace(parted, at[-1], int(PER_DECADE * np.log10(at[-1] / parted)) + 2)[1:-1]
    grid = np.unique([parted, *spaced, *at])
    s, scale = np.log(grid), FLOOR * (float(np.linalg.norm(start)) or 1.0)
    state, solver = integrated(lambda s, w: eta * np.exp(s) * force(w), s, start, scale=scale)
    chords = CHORDS * np.linalg.norm(np.diff([force(w) for w in state], axis=0), axis=1)
    rate = np.array([eta * t * _expansion(force.derivative(w), eta) for t, w in zip(grid, state, strict=True)])
    bar = [error]
    with np.errstate(over="ignore", invalid="ignore"):
        for arc, growth in zip(chords, np.exp(np.diff(s) * (rate[1:] + rate[:-1]) / 2), strict=True):
            bar.append(bar[-1] * growth + eta / 2 * arc * max(growth, 1.0))
    places = np.searchsorted(grid, at)
    return state[places], np.nan_to_num(np.array(bar)[places] + solver[places], nan=np.inf)


def _expansion(J: Floats, eta: float) -> float:
    """mu, in which a step expands distances by at most exp(eta mu).

    >>> _expansion(np.array([[-1.0, 0.0], [0.0, -0.5]]), 0.1)
    -0.4875
    """
    return float(np.linalg.eigvalsh(J + J.T + eta * J.T @ J)[-1]) / 2
