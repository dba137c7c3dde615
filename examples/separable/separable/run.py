"""A run: descent on labelled points, its flow, and the solutions that claims compare them with."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from marginaudit.orders import Assumption, InputError, counted
from marginaudit.reports.run import BaseRun, Progress, once_a_run
from marginaudit.reports.settings import Values, check, one_of, real, setting, whole
from separable.descent import Floats, distance_bound, flow, log_loss, polynomial_flow, rounding, steps
from separable.points import POINTS, Points

FIRST = 16
"""The first recorded step of statements on large t: log log 16 = 1.02."""

PER_DECADE = 16
"""Recorded steps."""


def _vector(value: Any) -> tuple[float, ...] | None:
    found = [real(-1e3, 1e3)(one) for one in value] if isinstance(value, tuple | list) else [None]
    return None if None in found else tuple(found)


def _numbers(text: str) -> list[float]:
    return [float(part) for part in text.split(",")]


@dataclass(frozen=True)
class DescentConfig:
    """How descent is run; ``start`` None is w(0) = 0."""

    loss: str = setting("logistic", one_of("logistic", "exponential"), "The loss.")
    share: float = setting(
        0.5, Values("share", "a number from 1e-6 to 100", real(1e-6, 100)), "Step size, as a share of 2/(beta sigma^2)."
    )
    true_steps: int = setting(
        10**6, Values("steps", "a whole number from 1000 to 1e9", whole(1000, 10**9)), "Steps before the flow goes on."
    )
    until: float = setting(
        1e4,
        Values("number", "a number from 42 to 1e6", real(42, 1e6)),
        "log t at which the flow ends; 41.4 is t = 1e18.",
    )
    start: tuple[float, ...] | None = setting(
        None, Values("numbers", "numbers from -1000 to 1000, with commas between", _vector, _numbers), "w(0).", none="0"
    )

    def __post_init__(self) -> None:
        check(self)


class DescentRun(BaseRun[Points]):
    """Descent on one dataset, computed when a claim first asks for it."""

    kind = POINTS

    def __init__(self, data: Points, config: DescentConfig | None = None, progress: Progress | None = None) -> None:
        super().__init__(data, progress)
        self.config = config or DescentConfig()
        if self.config.start is not None and len(self.config.start) != data.d:
            got = counted(len(self.config.start), "number")
            raise InputError(f"{data.name}: start", got=got, expected=f"{data.d}, one a coordinate")

    def assumption(self, name: str) -> Assumption:
        """An assumption, judged on the dataset; of the step size, on the settings too."""
        if name != "step" or self.config.share < 1:
            return super().assumption(name)
        return Assumption(name, False, {"step_size": self.eta, "below": self.eta / self.config.share})

    @cached_property
    def w0(self) -> Floats:
        """w(0)."""
        return np.array(self.config.start or [0.0] * self.dataset.d)

    @cached_property
    def beta(self) -> float:
        """Of the loss: 1/4; for the exponential loss L(w(0)), above which L does not rise."""
        if self.config.loss == "logistic":
            return 0.25
        return float(np.exp(-self.dataset.signed @ self.w0).sum())

    @cached_property
    def eta(self) -> float:
        """The step size."""
        return self.config.share * 2 / (self.beta * float(np.linalg.norm(self.dataset.signed, 2)) ** 2)

    @cached_property
    def what(self) -> Floats:
        """The maximum-margin vector w^."""
        return np.array([float(v) for v in self.dataset.svm.w])

    @cached_property
    def slack(self) -> Floats:
        """x_n.w^ - 1, exactly 0 on support vectors."""
        return np.array([float(margin - 1) for margin in self.dataset.svm.margins])

    @property
    def norm(self) -> float:
        """|w^|."""
        return float(np.linalg.norm(self.what))

    @cached_property
    def R(self) -> float:
        """max |x_n|."""
        return float(np.linalg.norm(self.dataset.signed, axis=1).max())

    @cached_property
    def regime(self) -> float:
        """log t from which limits show: points off the margin pull by exp(-40), and rho had 10 of its slowest times.

        Near its limit rho moves along log t by the matrix sum alpha_n x_n x_n^T over the support vectors.
        """
        svm = self.dataset.svm
        pulls = np.linalg.eigvalsh(
            (self.dataset.signed.T * np.array([float(a) for a in svm.alpha])) @ self.dataset.signed
        )
        slowest = pulls[pulls > 1e-12 * pulls.max()].min()
        return max(40.0, 40 / (svm.next_margin - 1), 10 / float(slowest))

    @cached_property
    def path(self) -> "Path":
        """Steps, then the flow."""
        return path(self, self.config.true_steps)

    @cached_property
    def limit(self) -> Floats:
        """w~: eta exp(-x_n.w~) = alpha_n on the support, by Newton; outside its span w(0).

        It minimises eta sum exp(-x_n.w) + w^.w over the span, which picks the alpha where duals are not unique.
        """
        X = self.dataset.signed[list(self.dataset.svm.support)]
        basis = np.linalg.svd(X, full_matrices=False)[2][: np.linalg.matrix_rank(X)]
        A, target = X @ basis.T, basis @ self.what
        z = np.zeros(len(basis))

        def value(z: Floats) -> float:
            return float(self.eta * np.exp(-A @ z).sum() + target @ z)

        for _ in range(500):
            pull = self.eta * np.exp(-A @ z)
            gradient = target - pull @ A
            move = -np.linalg.solve((A.T * pull) @ A, gradient)
            size = min(1.0, 5 / float(np.abs(A @ move).max() + 1e-300))
            while size > 1e-12 and value(z + size * move) > value(z) + size * gradient @ move / 4 + 1e-14 * abs(
                value(z)
            ):
                size /= 2
            z = z + size * move
            if np.abs(A @ move).max() < 1e-13:
                break
        return np.asarray(z @ basis + self.outside(self.w0))

    def outside(self, v: Floats) -> Floats:
        """The part of v (or of each row) outside the span of the support vectors."""
        X = self.dataset.signed[list(self.dataset.svm.support)]
        basis = np.linalg.svd(X, full_matrices=False)[2][: np.linalg.matrix_rank(X)]
        return np.asarray(v - v @ basis.T @ basis)


@dataclass(frozen=True)
class Path:
    """Descent along s = log t: w = w^ s + rho.

    Attributes
    ----------
    s, radius : (entries,)
    rho : (entries, d)
    steps : how many entries are true steps
    """

    s: Floats
    rho: Floats
    radius: Floats
    steps: int

    def since(self, first: float) -> "Path":
        """From log t on."""
        keep = self.s >= first
        return Path(self.s[keep], self.rho[keep], self.radius[keep], int(keep[: self.steps].sum()))


def marks(last: int) -> np.ndarray:
    """Whole steps from 1 to the last one, as even in log t as whole numbers allow."""
    count = int(PER_DECADE * np.log10(last)) + 1
    return np.unique(np.append(np.round(np.geomspace(1, last, count)).astype(np.int64), last))


def path(run: DescentRun, parting: int) -> Path:
    """True steps to the parting, then the flow to the config's end; error bars as `separable.descent` derives them."""
    X, config = run.dataset.signed, run.config
    t = marks(parting)
    w = steps(X, run.w0, run.eta, config.loss, t)
    if run._progress is not None:
        run._progress(1)
    s = np.log(t.astype(float))
    rho, bar = w - np.outer(s, run.what), rounding(t.astype(float), w)
    further = np.geomspace(s[-1], config.until, int(3 * PER_DECADE * np.log10(config.until / s[-1])) + 2)
    decades = config.until / 10.0 ** np.arange(1, 4)
    to_1e18 = np.log(10.0) * np.arange(1, 18.1, 0.25)
    further = np.unique([*further, *(v for v in (*decades, *to_1e18) if s[-1] < v < config.until)])
    later, solver = flow(X, run.what, run.slack, run.eta, config.loss, further, rho[-1])
    L = float(np.exp(log_loss(X @ w[-1], config.loss)).sum())
    apart = distance_bound(X, float(run.dataset.svm.norm2), run.eta, config.loss, L)
    late = solver[1:] + apart + bar[-1]
    return Path(np.append(s, further[1:]), np.vstack([rho, later[1:]]), np.append(bar, late), len(t))


@once_a_run
def normalized(run: DescentRun) -> tuple[Floats, Floats, Floats]:
    """Steps t, w(t) and radii of normalised descent on the exponential loss, eta_t = 1/sqrt(t+1), from w(0)."""
    t = marks(run.config.true_steps)
    w = steps(run.dataset.signed, run.w0, 0.0, "normalized", t)
    return t, w, rounding(t.astype(float), w)


@once_a_run
def polynomial(run: DescentRun) -> Path:
    """Descent with the tail 1/u; ``rho`` is w/t^(1/3), its bar from a flow that parts ten times earlier too."""
    X, last = run.dataset.signed, 10**5
    eta = 1 / (2 * float(np.linalg.norm(X, 2)) ** 2)
    t = marks(last)
    w = steps(X, run.w0, eta, "polynomial", t)
    s = np.log(t.astype(float))
    early = int(np.argmin(np.abs(t - last // 10)))
    further = np.geomspace(s[-1], run.config.until, 100)
    late, solver = polynomial_flow(X, eta, further, w[-1] / last ** (1 / 3))
    before, _ = polynomial_flow(X, eta, np.append(s[early], further), w[early] / t[early] ** (1 / 3))
    bar = np.linalg.norm(late - before[1:], axis=1) + solver
    q = w / np.cbrt(t.astype(float))[:, None]
    own = rounding(t.astype(float), w)
    return Path(np.append(s, further[1:]), np.vstack([q, late[1:]]), np.append(own, bar[1:]), len(t))


@once_a_run
def polynomial_limit(run: DescentRun) -> Sequence[float]:
    """The direction v/|v| to which the tail 1/u leads: v = argmin sum 1/(x_n.v) + |v|^2/6, by Newton."""
    X = run.dataset.signed
    v = run.what * 3

    def value(v: Floats) -> float:
        return float((1 / (X @ v)).sum() + v @ v / 6) if (X @ v > 0).all() else np.inf

    for _ in range(200):
        gradient = v / 3 - X.T @ (X @ v) ** -2.0
        move = -np.linalg.solve(np.eye(len(v)) / 3 + 2 * (X.T * (X @ v) ** -3.0) @ X, gradient)
        size = 1.0
        while size > 1e-12 and value(v + size * move) > value(v) + size * gradient @ move / 4 + 1e-15:
            size /= 2
        v = v + size * move
        if np.linalg.norm(move) < 1e-14 * np.linalg.norm(v):
            break
    return tuple(v / np.linalg.norm(v))
