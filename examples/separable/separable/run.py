"""A run: descent on labelled points, its flow, and the solutions that claims compare them with."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from flint import fmpq, fmpq_mat

from marginaudit.claims import NotFollowed
from marginaudit.claims.run import BaseRun, Progress, once_a_run
from marginaudit.claims.settings import check, each, one_of, real, setting, whole
from marginaudit.margins.rational import Vector, root, to_float
from marginaudit.orders import Assumption, InputError, counted
from separable.descent import Floats, distance_bound, flow, log_loss, longest, newton, polynomial_flow, rounding, steps
from separable.points import POINTS, Points

FIRST = 16
"""The first recorded step of statements on large t: log log 16 = 1.02."""

LEAST_SIZE = 1e-100
"""Of sigma: the step of shorter data is that of data so long, lest its square be 0."""

PER_DECADE = 16
"""Recorded steps."""


@dataclass(frozen=True)
class DescentConfig:
    """How descent is run; ``start`` None is w(0) of the dataset, or 0."""

    loss: str = setting("logistic", one_of("logistic", "exponential"), "The loss.")
    share: float = setting(0.5, real(1e-6, 100, "share"), "Step size, as a share of 2/(beta sigma^2).")
    true_steps: int = setting(10**6, whole(1000, 10**9, "steps"), "Steps before the flow goes on.")
    until: float = setting(1e4, real(42, 1e6), "log t at which the flow ends; 41.4 is t = 1e18.")
    start: tuple[float, ...] | None = setting(
        None, each(real(-1e3, 1e3), "numbers", "coordinate"), "w(0).", none="the dataset's, or 0"
    )

    def __post_init__(self) -> None:
        check(self)


class DescentRun(BaseRun[Points]):
    """Descent on one dataset, computed when a claim first asks for it."""

    kind = POINTS

    def __init__(self, data: Points, config: DescentConfig | None = None, progress: Progress | None = None) -> None:
        super().__init__(data, progress)
        self.config = config or DescentConfig()
        start = data.start or (0.0,) * data.d
        self.w0 = np.array(start if self.config.start is None else self.config.start)
        if len(self.w0) != data.d:
            got = counted(len(self.w0), "number")
            raise InputError(f"{data.name}: start", got=got, expected=f"{data.d}, one a coordinate")
        if self.config.loss == "exponential" and (most := float(np.abs(data.signed @ self.w0).max())) > 600:
            got = f"a margin of size {most:.4g} for the exponential loss"
            raise InputError(f"{data.name}: start", got=got, expected="at most 600")

    def assumption(self, name: str) -> Assumption:
        """An assumption, judged on the dataset; of the step size, on the settings too."""
        if name != "step" or self.config.share < 1:
            return super().assumption(name)
        return Assumption(name, False, {"step_size": self.eta, "below": self.eta / self.config.share})

    @property
    def ended(self) -> str:
        """Why no flow follows the true steps, "" where one does."""
        return self.path.ended

    @cached_property
    def eta(self) -> float:
        """The step size; beta is 1/4, and for the exponential loss L(w(0)), above which L does not rise."""
        X = self.dataset.signed
        beta = 0.25 if self.config.loss == "logistic" else float(np.exp(-X @ self.w0).sum())
        return self.config.share * 2 / (beta * max(float(np.linalg.norm(X, 2)), LEAST_SIZE) ** 2)

    @cached_property
    def what(self) -> Floats:
        """The maximum-margin vector w^."""
        return np.array([*map(to_float, self.dataset.svm.w)])

    @cached_property
    def slack(self) -> Floats:
        """x_n.w^ - 1, exactly 0 on support vectors."""
        return np.array([to_float(margin - 1) for margin in self.dataset.svm.margins])

    @property
    def norm(self) -> float:
        """|w^|."""
        return root(self.dataset.svm.norm2)

    @property
    def R(self) -> float:
        """max |x_n|."""
        return longest(self.dataset.signed)

    @cached_property
    def support(self) -> tuple[Floats, Floats, Floats]:
        """U, S and V^T of the support vectors' singular value decomposition, as many as their exact rank."""
        U, S, V = np.linalg.svd(self.dataset.signed[list(self.dataset.svm.support)], full_matrices=False)
        rank = fmpq_mat(self.dataset.supports).rank()
        return U[:, :rank], S[:rank], V[:rank]

    @cached_property
    def alpha(self) -> Vector:
        """The duals of the support vectors."""
        return tuple(self.dataset.svm.alpha[n] for n in self.dataset.svm.support)

    @cached_property
    def regime(self) -> float:
        """log t from which limits show: what steps have left behind at the parting, and what the flow forgets.

        With rho there: points off the margin pull by less than exp(-40); w^ log t has 10 times the length of rho, and
        on the support vectors 10 times its margins; and rho had 10 of its slowest times, or as many as its largest
        margin. Near its limit rho moves along log t by the matrix sum alpha_n x_n x_n^T; a support vector of dual 0
        pulls like the mean until left behind.
        """
        if not np.isfinite(self.norm):
            raise NotFollowed("w^ is beyond float64")
        U, S, _ = self.support
        rho = self.path.rho[self.path.steps - 1]
        margins, off = np.abs(self.dataset.signed @ rho), self.slack > 0
        pull = np.array([root(dual if dual > 0 else mean(self.alpha)) for dual in self.alpha])
        rates = np.linalg.svd(pull[:, None] * (U * S), compute_uv=False) ** 2
        slowest = rates[-1] - 1e-14 * rates[0]
        return max(
            float(np.max((40 + margins[off]) / self.slack[off], initial=40.0)),
            10 * float(margins[~off].max()),
            10 * longest(rho[np.newaxis]) / self.norm,
            max(10.0, float(margins[~off].max())) / slowest if slowest > 0 else np.inf,
        )

    @cached_property
    def path(self) -> "DescentPath":
        """True steps, then the flow to the config's end if `separable.descent` has an error bar for it."""
        X, config = self.dataset.signed, self.config
        t, w, bar = stepped(self, self.eta, config.loss, config.true_steps)
        if self._progress is not None:
            self._progress(1)
        s = np.log(t)
        if not np.isfinite(self.norm):
            return DescentPath(s, np.full_like(w, np.nan), np.full_like(bar, np.inf), len(t), "w^ is beyond float64")
        found = DescentPath(s, w - np.outer(s, self.what), bar + np.finfo(float).eps * s * self.norm, len(t))
        L = float(np.exp(log_loss(X @ w[-1], config.loss)).sum())
        apart = distance_bound(X, to_float(self.dataset.svm.norm2), self.eta, config.loss, L)
        if not np.isfinite(apart):
            size = f"L = {L:.3g}, eta R^2 L = {self.eta * self.R**2 * L:.3g}"
            return replace(found, ended=f"no error bar is known for the flow after {config.true_steps} steps, {size}")
        evenly = np.geomspace(s[-1], config.until, int(3 * PER_DECADE * np.log10(config.until / s[-1])) + 2)
        decades = config.until / 10.0 ** np.arange(1, 4)
        to_1e18 = np.log(10.0) * np.arange(1, 18.1, 0.25)
        further = np.unique([*evenly, *(v for v in (*decades, *to_1e18) if s[-1] < v < config.until)])
        try:
            rho, solver = flow(X, self.what, self.slack, self.eta, config.loss, further, found.rho[-1])
        except ArithmeticError as reason:
            return replace(found, ended=str(reason))
        return found.then(further, rho, solver + apart + found.radius[-1])

    @cached_property
    def limit(self) -> Floats:
        """w~: eta exp(-x_n.w~) = alpha_n on the support; outside its span w(0).

        It minimises eta sum exp(-x_n.w) + alpha_n x_n.w over the span, which picks alpha where duals are not unique.
        As x_n.w^ = 1, w^ log(eta/mean alpha) is taken out; U y is the rest of the margins.
        """
        U, S, V = self.support
        share = np.array([to_float(dual / mean(self.alpha)) for dual in self.alpha])

        def slopes(y: Floats) -> tuple[Floats, Floats]:
            pull = np.exp(-U @ y)
            return (share - pull) @ U, (U.T * pull) @ U

        y = newton(lambda y: float(np.exp(-U @ y).sum() + share @ U @ y), slopes, np.zeros(len(S)))
        along = np.log(self.eta) - 2 * np.log(root(mean(self.alpha)))
        return np.asarray(self.what * along + (y / S) @ V + self.outside(self.w0))

    def outside(self, v: Floats) -> Floats:
        """The part of v (or of each row) outside the span of the support vectors."""
        V = self.support[2]
        return np.asarray(v - v @ V.T @ V)


def mean(numbers: Vector) -> fmpq:
    """Their mean, exactly."""
    return sum(numbers, fmpq(0)) / len(numbers)


@dataclass(frozen=True)
class DescentPath:
    """Descent along s = log t: w = w^ s + rho.

    Attributes
    ----------
    s, radius : (entries,)
    rho : (entries, d)
    steps : how many entries are true steps
    ended : why no flow follows them, "" where one does
    """

    s: Floats
    rho: Floats
    radius: Floats
    steps: int
    ended: str = ""

    def since(self, first: float) -> "DescentPath":
        """From log t on."""
        keep = self.s >= first
        return DescentPath(self.s[keep], self.rho[keep], self.radius[keep], int(keep[: self.steps].sum()))

    def then(self, s: Floats, rho: Floats, radius: Floats) -> "DescentPath":
        """Followed by the flow, which begins with the last step."""
        whole = np.append(self.s, s[1:]), np.vstack([self.rho, rho[1:]]), np.append(self.radius, radius[1:])
        return DescentPath(*whole, self.steps)


def stepped(run: DescentRun, eta: float, loss: str, last: int) -> tuple[Floats, Floats, Floats]:
    """Train step by step; t evenly spaced in log t, w(t) and its rounding error.

    Raises
    ------
    NotFollowed
        float64 loses w.
    """
    count = int(PER_DECADE * np.log10(last)) + 1
    t = np.unique(np.append(np.round(np.geomspace(1, last, count)).astype(np.int64), last))
    w = steps(run.dataset.signed, run.w0, eta, loss, t)
    if not np.isfinite(w).all():
        raise NotFollowed(f"{loss} descent leaves float64's range")
    return t.astype(float), w, rounding(t.astype(float), w)


@once_a_run
def normalized(run: DescentRun) -> tuple[Floats, Floats, Floats]:
    """Normalised descent, exponential loss, eta_t = 1/sqrt(t+1): t, w(t) and an estimate of the rounding."""
    return stepped(run, 0.0, "normalized", run.config.true_steps)


@once_a_run
def polynomial(run: DescentRun) -> DescentPath:
    """Descent with the tail 1/u; ``rho`` is w/t^(1/3), its bar from a flow that parts ten times earlier too."""
    X, last = run.dataset.signed, 10**5
    eta = 1 / (2 * max(float(np.linalg.norm(X, 2)), LEAST_SIZE) ** 2)
    t, w, bar = stepped(run, eta, "polynomial", last)
    s = np.log(t)
    found = DescentPath(s, w / np.cbrt(t)[:, None], bar, len(t))
    early = int(np.argmin(np.abs(t - last // 10)))
    further = np.geomspace(s[-1], run.config.until, 100)
    try:
        late, solver = polynomial_flow(X, eta, further, found.rho[-1])
        before, _ = polynomial_flow(X, eta, np.append(s[early], further), found.rho[early])
    except ArithmeticError:
        return found
    return found.then(further, late, np.linalg.norm(late - before[1:], axis=1) + solver)
