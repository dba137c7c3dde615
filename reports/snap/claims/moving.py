"""How attention moves along eq. 10 at recorded steps, and how long Assumption 2 keeps holding there."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from marginaudit.orders.snap import common_tokens, distinct_tokens, overlap_of
from marginaudit.orders.snap.assumptions import largest_below, spread_beyond
from marginaudit.reports.claim import BeyondTheRun
from marginaudit.reports.run import once_a_run
from marginaudit.reports.snap.claims.growth import not_defined
from marginaudit.reports.snap.evenly import evenly
from marginaudit.reports.snap.run import ClassRun
from marginaudit.training.snap.attention import Path, Rates, mean_counts, rates, scan_end, snap_start
from marginaudit.training.snap.attention.solver import NotIntegrated
from marginaudit.training.snap.limit import Approximation, continuous

EQ_10 = (
    "eq. 10 has gamma(t) of h(t/K) (Lemma 9), E and beta of attention as it is at t, beta of what the gradient has "
    "(eq. 88 with its sign mended), and theta = sigma = 0"
)
"""What the statements on eq. 10 are judged with."""

RECORDS = 60
"""Recorded steps at which rates are computed, at most."""

ENTRIES = 4_000_000
"""Numbers that they take together, at most, or those of one."""


@dataclass(frozen=True)
class Moving:
    """Eq. 10 at some recorded steps.

    Attributes
    ----------
    record : (records,) array
        Their positions in the run's steps.
    step : (records,) array
    path : Path
        At these steps.
    found : tuple of Rates
        Per unit of eta_Z, at each.
    """

    record: NDArray[np.int64]
    step: NDArray[np.int64]
    path: Path
    found: tuple[Rates, ...]

    def z_dot(self, pairs: NDArray[np.int64]) -> Approximation:
        """Of some pairs, shape (records, pairs)."""
        return stacked([rate.z_dot[pairs] for rate in self.found])


def stacked(rows: list[Approximation]) -> Approximation:
    """Approximations of one shape as one."""
    return Approximation(np.array([row.value for row in rows]), np.array([row.error for row in rows]))


def no_path(run: ClassRun) -> str | None:
    """Why eq. 10 says nothing of the run, or None.

    Raises
    ------
    BeyondTheRun
        It has no steps, or float64 cannot follow it.
    """
    if run.M < 4:
        return "M is below 4, and there is no t_0."
    if reason := not_defined(run):
        return reason
    try:
        _ = run.path
    except ValueError:
        return "The classes' attention is linearly dependent: there is no E'."
    except NotIntegrated as fault:
        raise BeyondTheRun(str(fault)) from fault
    return None


@once_a_run
def moving(run: ClassRun) -> Moving:
    """Eq. 10 at up to `RECORDS` of the recorded steps, evenly through them, the first and the last among them.

    Raises
    ------
    BeyondTheRun
        On its way the classes' attention becomes linearly dependent, as far as float64 can tell.
    """
    one = len(run.path.logits.names) + run.K**2 * len(run.dataset.contextual)
    record = evenly(len(run.steps), min(RECORDS, max(2, ENTRIES // one)))
    path = Path(run.path.logits, run.path.z[record], run.path.B[record])
    found = []
    for i, t in enumerate(run.steps[record]):
        at = mean_counts(continuous(np.array(t / run.K), run.M, run.eta_Y), run.K)
        try:
            found.append(rates(path.logits, path.z[i], at))
        except ValueError as fault:
            raise BeyondTheRun(f"at t = {t} the classes' attention is linearly dependent, up to rounding") from fault
    return Moving(record, run.steps[record], path, tuple(found))


def distinct_pairs(run: ClassRun) -> NDArray[np.int64]:
    """Positions of z of each class's distinct tokens."""
    own, logits = distinct_tokens(run.dataset), run.path.logits
    return np.array(
        [logits.position(n, token) for n, c in enumerate(run.dataset.classes) for token in own[c.next]], dtype=np.int64
    )


def common_pairs(run: ClassRun) -> NDArray[np.int64]:
    """Positions of z of each query and common token that occurs in one of its classes."""
    common = set(common_tokens(run.dataset))
    return np.array([i for i, (_, token) in enumerate(run.path.logits.names) if token in common], dtype=np.int64)


def kept(run: ClassRun) -> str:
    """Until when Assumption 2 keeps holding, and where the phases lie."""
    seen, data = moving(run), run.dataset
    where = [overlap_of(seen.path.logits.attended(z)) for z in seen.path.z.value]
    broken = {
        "|lambda_1| < 1/K": [largest_below(own, Fraction(1, run.K)) is not None for own in where],
        "|lambda_i| >= 6/sqrt(M)": [spread_beyond(own, data.M) is not None for own in where],
    }
    last = int(seen.step[-1])
    ends = [
        f"{name} is not met from t = {int(seen.step[int(np.argmax(fails))])} on"
        for name, fails in broken.items()
        if any(fails)
    ]
    phases = (
        f"t_0' = {scan_end(run.K, run.M, run.eta_Y):.4g}, t_0 = {snap_start(run.K, run.M, run.eta_Y):.4g}, "
        f"eta_Y/eta_Z = {run.eta_Y / run.eta_Z:.4g}"
    )
    if not ends:
        return f"Assumption 2 keeps holding along the path to t = {last}; {phases}."
    return f"Along the path {' and '.join(ends)}; {phases}."
