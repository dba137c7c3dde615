"""Rules of descent: the step of Algorithm 1 from given weights, and others in its place.

A rule returns the change of the weights and a bound on its rounding. It may keep a state, such as momentum. The change
is NaN where rounding decides a sign.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import exp, inf, sqrt
from typing import TypeAlias

import numpy as np

from marginaudit.orders.arrays import Floats
from marginaudit.training.ntp.recorded.gradients import Stage1Loss, Stage2Loss, TextbookGradient
from marginaudit.training.recorded_weights import Recorded

Rule: TypeAlias = Callable[[Floats], tuple[Floats, float]]

ADAM = (0.9, 0.999, 1e-8)
"""Default beta1, beta2 and epsilon of Adam, and of AdamW."""

RMSPROP, ADAGRAD = (0.0, 0.99, 1e-8), (0.0, 1.0, 1e-10)
"""The same for RMSprop and for Adagrad, which adds squares."""


@dataclass(eq=False)
class PerStep:
    """What a run has recorded for each step of stage 2, at the step after ``t``.

    Attributes
    ----------
    W_ov : Recorded or None
        W_ov at the steps of stage 2, if it is trained jointly.
    samples : (steps, classes) array or None
        Weights of the classes of samples in the minibatch of each step.
    t : int
    """

    W_ov: Recorded | None
    samples: Floats | None = None
    t: int = 0

    def ov(self) -> Floats | None:
        """W_ov after ``t`` steps, or the last recorded one before."""
        if self.W_ov is None:
            return None
        i = int(np.searchsorted(self.W_ov.step, self.t, side="right")) - 1
        return np.asarray(self.W_ov.weights[max(i, 0)], dtype=np.float64)

    def weights(self) -> Floats | None:
        """Weights of the classes in the step after ``t``."""
        return None if self.samples is None else self.samples[self.t]


@dataclass(frozen=True, eq=False)
class Stage:
    """One stage of Algorithm 1.

    Attributes
    ----------
    u : float
        Unit roundoff of the recorded precision, plus float64's.
    least : float
        Least normal number of that precision.
    W_ov : (V, d) array or None
        Frozen, in stage 2.
    distance : float
        Error bound of a W_ov that was not recorded.
    before : Stage or None
        Stage 1, in stage 2.
    per_step : PerStep or None
        W_ov and samples of each step, in place of the frozen W_ov and of all samples.
    """

    loss: Stage1Loss | Stage2Loss
    lr: float
    u: float
    least: float = 0.0
    W_ov: Floats | None = None
    distance: float = 0.0
    before: "Stage | None" = None
    per_step: PerStep | None = None

    @property
    def number(self) -> int:
        """1 or 2."""
        return 1 if self.W_ov is None else 2

    def gradient(self, W: Floats, weights: Floats | None = None) -> TextbookGradient:
        """The gradient at W, with other ``weights`` of the mean if given."""
        if isinstance(self.loss, Stage1Loss):
            return self.loss.gradient(W, self.u, weights)
        W_ov, weights = self.now(weights)
        return self.loss.gradient(W_ov, W, self.u, weights, self.distance)

    def now(self, weights: Floats | None) -> tuple[Floats, Floats | None]:
        """W_ov, and the weights of the mean if not given, at this step."""
        W_ov = self.W_ov
        if self.per_step is not None:
            W_ov = self.W_ov if (found := self.per_step.ov()) is None else found
            weights = self.per_step.weights() if weights is None else weights
        if W_ov is None:
            raise TypeError("stage 2 has no W_ov")
        return W_ov, weights

    def at(self, t: int) -> "Stage":
        """The same stage at the step after ``t``."""
        return self if self.per_step is None else replace(self, per_step=replace(self.per_step, t=t))

    def length_rounding(self, W: Floats, gradient: TextbookGradient, weights: Floats | None = None) -> float:
        """`length_rounding` of the gradient at W; W_ov within ``distance`` may make it smaller.

        Each logit is off by the distance times the longest token at most, a share of a sample by the exponential of
        twice that, and squares of the gradient by that of four times.
        """
        return length_rounding(gradient, self.u, self.least, self._left(W, weights) if self.distance else None)

    def unit(self, W: Floats, weights: Floats | None = None) -> tuple[Floats, float]:
        """`unit` of the gradient at W."""
        left = self._left(W, weights) if self.distance else None
        return unit(self.gradient(W, weights), self.u, self.least, left)

    def _left(self, W: Floats, weights: Floats | None) -> float:
        own = replace(self, distance=0.0).gradient(W, weights)
        longest = float(np.linalg.norm(self.loss.E, axis=1).max())
        return squares_left(own) * exp(-4 * min(self.distance * longest, 100.0))


def unit(gradient: TextbookGradient, u: float, least: float = 0.0, left: float | None = None) -> tuple[Floats, float]:
    """grad / ||grad||, and a bound on its rounding.

    Two gradients at relative distance r enclose an angle of sine at most r, so their unit vectors are at most sqrt(2) r
    apart. The norm is a sum over all entries, in which squares below ``least`` may be lost.
    """
    if not gradient.value.any():
        return np.zeros_like(gradient.value), 2.0 if gradient.rounding.any() else 0.0
    value, rounding = (one / np.abs(gradient.value).max() for one in gradient)  # squares of which do not underflow
    norm = float(np.linalg.norm(value))
    off = np.sqrt(2) * float(np.linalg.norm(rounding)) / norm
    return value / norm, min(2.0, off) + length_rounding(gradient, u, least, left)


def length_rounding(gradient: TextbookGradient, u: float, least: float, left: float | None = None) -> float:
    """Bound on the rounding of the length of grad / ||grad||: a sum of squares, of which small ones underflow.

    ``left`` is a lower bound on that sum after rounding, by default the gradient's `squares_left`.
    """
    k = np.count_nonzero(gradient.value)
    left, lost = squares_left(gradient) if left is None else left, k * least
    return (k / 2 + 4) * u + (inf if lost >= left and lost > 0 else 1 / sqrt(1 - lost / left) - 1 if lost else 0.0)


def squares_left(gradient: TextbookGradient) -> float:
    """Lower bound on the sum of squares of a rounded gradient."""
    return float(np.sum(np.maximum(np.abs(gradient.value) - gradient.rounding, 0.0) ** 2))


def normalised(stage: Stage, lr: float, weights: Floats | None = None, scale: float = 1.0) -> Rule:
    """W <- W - lr grad / ||grad||, the gradient taken at ``scale`` W."""

    def step(W: Floats) -> tuple[Floats, float]:
        direction, off = stage.unit(scale * W, weights)
        return -lr * direction, lr * off

    return step


def guarded(stage: Stage, lr: float, epsilon: float) -> Rule:
    """W <- W - lr grad / (||grad|| + epsilon)."""

    def step(W: Floats) -> tuple[Floats, float]:
        gradient = stage.gradient(W)
        direction, off = unit(gradient, stage.u, stage.least)
        norm = float(np.linalg.norm(gradient.value))
        share = lr * norm / (norm + epsilon)
        return -share * direction, share * off * (1 + epsilon / (norm + epsilon))

    return step


def gradient_descent(stage: Stage, lr: float) -> Rule:
    """W <- W - lr grad."""

    def step(W: Floats) -> tuple[Floats, float]:
        value, rounding = stage.gradient(W)
        return -lr * value, lr * float(np.linalg.norm(rounding) + 4 * stage.u * np.linalg.norm(value))

    return step


def textbook(stage: Stage, T: int, start: Floats | None = None) -> Floats:
    """W_ov after T steps of stage 1 in float64, from 0 or a start."""
    loss = stage.loss
    if not isinstance(loss, Stage1Loss):
        raise TypeError("stage 2 has no W_ov to train")
    E, every = loss.E, np.arange(len(loss.E))
    W = np.zeros_like(E) if start is None else start
    for _ in range(T):
        z = E @ W.T
        P = np.exp(z - z.max(axis=1, keepdims=True))
        P /= P.sum(axis=1, keepdims=True)
        P[every, loss.answer] -= 1
        G = P.T @ E
        W = W - stage.lr * G / (np.linalg.norm(G) or 1.0)
    return W


def stage1_rounding(stage: Stage, T: int) -> float:
    """Bound on the rounding of W_ov in T steps of stage 1, to first order.

    Each step adds its own rounding and multiplies the error so far by exp(arc), arc the angle by which the unit
    gradient turns, and by lr lambda / ||grad|| - 1 if that exceeds 1, lambda the largest eigenvalue of the Hessian
    (derived in `Iterate.direction`). lambda is at most 2 max P_y(1 - P_y) ||E||^2.
    """
    loss = stage.loss
    if not isinstance(loss, Stage1Loss):
        raise TypeError("stage 2 has no W_ov to train")
    W, last, found, size = np.zeros_like(loss.E), None, 0.0, float(np.linalg.norm(loss.E, 2)) ** 2
    for _ in range(T):
        gradient = stage.gradient(W)
        direction, off = unit(gradient, stage.u, stage.least)
        curvature = stage.lr * loss.curvature(W) * size / np.linalg.norm(gradient.value)
        arc = 0.0 if last is None else float(np.linalg.norm(direction - last))
        W = W - stage.lr * direction
        found = found * np.exp(arc) * max(1.0, curvature - 1) + stage.lr * off + stage.u * float(np.linalg.norm(W))
        last = direction
    return float(found)


def momentum(rule: Rule, beta: float, *, share: float = 1.0, nesterov: bool = False) -> Rule:
    """v <- beta v + ``share`` times a rule's change, W <- W + v; Nesterov's momentum looks one step ahead."""
    v: Floats | float = 0.0
    error = 0.0

    def step(W: Floats) -> tuple[Floats, float]:
        nonlocal v, error
        change, off = rule(W)
        v, error = beta * v + share * change, abs(beta) * error + abs(share) * off
        return (change + beta * v, off + abs(beta) * error) if nesterov else (v, error)

    return step


def decayed(rule: Rule, lr: float, strength: float) -> Rule:
    """Decoupled weight decay: W <- (1 - lr ``strength``) W + the rule's change."""

    def step(W: Floats) -> tuple[Floats, float]:
        change, off = rule(W)
        return change - lr * strength * W, off

    return step


def transposed(rule: Rule) -> Rule:
    """The rule for a square W recorded transposed."""

    def step(W: Floats) -> tuple[Floats, float]:
        change, off = rule(W.T)
        return change.T, off

    return step


def sign(stage: Stage, lr: float) -> Rule:
    """W <- W - lr sign(grad)."""

    def step(W: Floats) -> tuple[Floats, float]:
        value, rounding = stage.gradient(W)
        known = (value == 0) & (rounding == 0) | (rounding < abs(value))
        return np.where(known, -lr * np.sign(value), np.nan), 4 * stage.u * lr * np.sqrt(value.size)

    return step


def adaptive(
    stage: Stage, lr: float, constants: tuple[float, float, float] = ADAM, decay: float = 0.0, *, corrected: bool = True
) -> Rule:
    """W <- (1 - lr decay) W - lr m / (sqrt(v) + epsilon), m and v running means of gradients and of their squares.

    With beta2 = 1 squares are added. Adam's means are ``corrected`` for their start at 0. The error of m is at most the
    mean of the gradients' roundings, that of the root of v the root of their mean square.
    """
    beta1, beta2, epsilon = constants
    share = 1 - beta2 if beta2 < 1 else 1.0
    m, v, m_off, v_off = np.zeros((4, 1, 1))
    t = 0

    def step(W: Floats) -> tuple[Floats, float]:
        nonlocal m, v, m_off, v_off, t
        value, rounding = stage.gradient(W)
        m, m_off = (beta1 * mean + (1 - beta1) * x for mean, x in ((m, value), (m_off, rounding)))
        v, v_off = (beta2 * mean + share * x**2 for mean, x in ((v, value), (v_off, rounding)))
        t += 1
        first, second = (1 - beta1**t, 1 - beta2**t) if corrected else (1.0, 1.0)
        ahead, ahead_off = m / first, m_off / first
        spread, spread_off = np.sqrt(v / second), np.sqrt(v_off / second)
        known = (spread_off < spread) | (rounding == 0) & (value == 0)
        change = ahead / (spread + epsilon)
        off = np.where(known, (ahead_off + abs(change) * spread_off) / (spread + epsilon), 0)
        rounded = 32 * stage.u * np.sqrt(value.size)
        return np.where(known, -lr * (change + decay * W), np.nan), lr * (float(np.linalg.norm(off)) + rounded)

    return step


def coupled(stage: Stage, lr: float, strength: float, *, normal: bool = True) -> Rule:
    """W <- W - lr g / ||g||, or - lr g, with weight decay in the gradient: g = grad + ``strength`` W."""

    def step(W: Floats) -> tuple[Floats, float]:
        value, rounding = stage.gradient(W)
        found = TextbookGradient(value + strength * W, rounding + 2 * stage.u * abs(strength * W))
        if not normal:
            return -lr * found.value, lr * float(np.linalg.norm(found.rounding + 4 * stage.u * abs(found.value)))
        direction, off = unit(found, stage.u, stage.least)
        return -lr * direction, lr * off

    return step


def clipped(stage: Stage, lr: float, most: float) -> Rule:
    """W <- W - lr grad, the gradient no longer than ``most``."""

    def step(W: Floats) -> tuple[Floats, float]:
        gradient = stage.gradient(W)
        direction, off = unit(gradient, stage.u, stage.least)
        norm = float(np.linalg.norm(gradient.value))
        length = lr * min(norm, most)
        return -length * direction, length * off + lr * float(np.linalg.norm(gradient.rounding)) * (norm < most)

    return step


def over_norm(stage: Stage, lr: float, norm: Callable[[Floats], float]) -> Rule:
    """W <- W - lr grad / ``norm(grad)``, another norm or function of the gradient's size."""

    def step(W: Floats) -> tuple[Floats, float]:
        gradient = stage.gradient(W)
        direction, off = unit(gradient, stage.u, stage.least)
        length = lr * float(np.linalg.norm(gradient.value) / norm(gradient.value))
        return -length * direction, (3 + gradient.value.size**0.5) * length * off

    return step


def several(rule: Rule, number: int) -> Rule:
    """``number`` steps of a rule for each step."""

    def step(W: Floats) -> tuple[Floats, float]:
        changed, bar = np.zeros_like(W), 0.0
        for _ in range(number):
            change, off = rule(W + changed)
            changed, bar = changed + change, bar + off
        return changed, bar

    return step


def once(other: Rule, rule: Rule) -> Rule:
    """One step by ``other``, the next ones by ``rule``."""
    begun = False

    def step(W: Floats) -> tuple[Floats, float]:
        nonlocal begun
        now, begun = rule if begun else other, True
        return now(W)

    return step


def by_column(stage: Stage, lr: float) -> Rule:
    """W <- W - lr grad / ||grad||, column by column."""

    def step(W: Floats) -> tuple[Floats, float]:
        value, rounding = stage.gradient(W)
        change, off = np.zeros_like(value), 0.0
        for j in np.flatnonzero(value.any(axis=0)).tolist():
            column, error = unit(TextbookGradient(value[:, j], rounding[:, j]), stage.u, stage.least)
            change[:, j] = -lr * column
            off += lr * error
        return change, off

    return step


def with_ov_moving(stage: Stage, lr: float, ov_change: Callable[[Floats, Floats], Floats]) -> Rule:
    """Steps of W_kq while W_ov moves by ``ov_change`` of W_ov and W_kq."""
    now = stage.W_ov

    def step(W: Floats) -> tuple[Floats, float]:
        nonlocal now
        found = normalised(replace(stage, W_ov=now), lr)(W)
        now = None if now is None else now + ov_change(now, W)
        return found

    return step


def together(stage: Stage, loss: Stage2Loss) -> Rule:
    """Joint steps of W_ov and W_kq on Loss, normalised by the norm of the joint gradient."""
    now = np.zeros(0) if stage.W_ov is None else stage.W_ov

    def step(W: Floats) -> tuple[Floats, float]:
        nonlocal now
        value, rounding = loss.gradient(now, W, stage.u, distance=stage.distance)
        ov = loss.ov_gradient(now, W, stage.u, stage.distance)
        both = TextbookGradient(np.append(value, ov.value), np.append(rounding, ov.rounding))
        direction, off = unit(both, stage.u, stage.least)
        now = now - stage.lr * direction[value.size :].reshape(now.shape)
        return -stage.lr * direction[: value.size].reshape(W.shape), stage.lr * off

    return step
