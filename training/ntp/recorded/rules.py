"""Rules of descent: the step of Algorithm 1 from given weights, and others in its place.

A rule answers with the change of the weights and a bound on the rounding in it. It may keep a state, as momentum does.
Where rounding decides a sign, the change is NaN.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from marginaudit.orders.arrays import Floats
from marginaudit.training.ntp.recorded.gradients import Gradient, Stage1Loss, Stage2Loss

Rule: TypeAlias = Callable[[Floats], tuple[Floats, float]]

ADAM = (0.9, 0.999, 1e-8)
"""Adam's beta1, beta2 and epsilon, as everybody has them by default."""


@dataclass(frozen=True, eq=False)
class Stage:
    """One stage of Algorithm 1.

    Attributes
    ----------
    loss : Stage1Loss or Stage2Loss
    lr : float
    u : float
        The unit roundoff of whoever recorded it, and float64's.
    W_ov : (V, d) array or None
        Frozen, in stage 2.
    aside : (V, d) array or None
        W_ov of a second run of stage 1, as far from it as rounding may take a run that did not record it.
    before : Stage or None
        Stage 1, in stage 2.
    """

    loss: Stage1Loss | Stage2Loss
    lr: float
    u: float
    W_ov: Floats | None = None
    aside: Floats | None = None
    before: "Stage | None" = None

    @property
    def number(self) -> int:
        """1 or 2."""
        return 1 if self.W_ov is None else 2

    def gradient(self, W: Floats, weights: Floats | None = None) -> Gradient:
        """The gradient at W; ``weights`` take the place of the mean's own."""
        if isinstance(self.loss, Stage1Loss):
            return self.loss.gradient(W, self.u, weights)
        if self.W_ov is None:
            raise TypeError("stage 2 has no W_ov")
        return self.loss.gradient(self.W_ov, W, self.u, weights)


def unit(gradient: Gradient, u: float) -> tuple[Floats, float]:
    """grad / ||grad||, and how far rounding may take it.

    Unit vectors of two gradients that are apart by a share r of one's norm enclose an angle of sine r at most, so that
    they are sqrt(2) r apart at most. The norm is a sum over all entries.
    """
    norm = float(np.linalg.norm(gradient.value))
    if norm == 0:
        return np.zeros_like(gradient.value), 2.0 if gradient.rounding.any() else 0.0
    off = np.sqrt(2) * float(np.linalg.norm(gradient.rounding)) / norm
    return gradient.value / norm, min(2.0, off) + (np.count_nonzero(gradient.value) / 2 + 4) * u


def normalised(stage: Stage, lr: float, weights: Floats | None = None, scale: float = 1.0) -> Rule:
    """W <- W - lr grad / ||grad||, the gradient taken at ``scale`` W."""

    def step(W: Floats) -> tuple[Floats, float]:
        direction, off = unit(stage.gradient(scale * W, weights), stage.u)
        return -lr * direction, lr * off

    return step


def guarded(stage: Stage, lr: float, epsilon: float) -> Rule:
    """W <- W - lr grad / (||grad|| + epsilon)."""

    def step(W: Floats) -> tuple[Floats, float]:
        gradient = stage.gradient(W)
        direction, off = unit(gradient, stage.u)
        norm = float(np.linalg.norm(gradient.value))
        share = lr * norm / (norm + epsilon)
        return -share * direction, 2 * share * off

    return step


def gradient_descent(stage: Stage, lr: float) -> Rule:
    """W <- W - lr grad."""

    def step(W: Floats) -> tuple[Floats, float]:
        value, rounding = stage.gradient(W)
        return -lr * value, lr * float(np.linalg.norm(rounding) + 4 * stage.u * np.linalg.norm(value))

    return step


def textbook(stage: Stage, T: int, dtype: np.dtype[Any], start: Floats | None = None) -> Floats:
    """W_ov after T steps of stage 1 as a textbook has them, from 0 or a start, with the rounding of a precision."""
    loss = stage.loss
    if not isinstance(loss, Stage1Loss):
        raise TypeError("stage 2 has no W_ov to train")
    E, every = loss.E.astype(dtype), np.arange(len(loss.E))
    plain_tokens = E.shape[0] == E.shape[1] and bool((np.eye(len(E)) == E).all())
    W = np.zeros_like(E) if start is None else start.astype(dtype)
    for _ in range(T):
        z = W.T if plain_tokens else E @ W.T
        P = np.exp(z - z.max(axis=1, keepdims=True))
        P /= P.sum(axis=1, keepdims=True)
        P[every, loss.answer] -= 1
        G = P.T if plain_tokens else P.T @ E
        W = W - dtype.type(stage.lr) * G / (np.linalg.norm(G) or dtype.type(1))
    return W.astype(np.float64)


def momentum(rule: Rule, beta: float, *, share: float = 1.0, nesterov: bool = False) -> Rule:
    """v <- beta v + ``share`` times the change by a rule, W <- W + v; Nesterov's looks one step ahead."""
    v: Floats | float = 0.0
    error = 0.0

    def step(W: Floats) -> tuple[Floats, float]:
        nonlocal v, error
        change, off = rule(W)
        v, error = beta * v + share * change, abs(beta) * error + abs(share) * off
        return (change + beta * v, off + abs(beta) * error) if nesterov else (v, error)

    return step


def decayed(rule: Rule, lr: float, strength: float) -> Rule:
    """Weight decay beside a rule: W <- W - lr ``strength`` W + the rule's change."""

    def step(W: Floats) -> tuple[Floats, float]:
        change, off = rule(W)
        return change - lr * strength * W, off

    return step


def transposed(rule: Rule) -> Rule:
    """The rule of a square W whose transpose is recorded."""

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


def adam(stage: Stage, lr: float) -> Rule:
    """Adam on the gradient, with its usual constants.

    The mean m of gradients is off by the mean of their roundings, and the root of the mean square by the root of their
    mean square at most.
    """
    beta1, beta2, epsilon = ADAM
    m, v, m_off, v_off = np.zeros((4, 1, 1))
    t = 0

    def step(W: Floats) -> tuple[Floats, float]:
        nonlocal m, v, m_off, v_off, t
        value, rounding = stage.gradient(W)
        m, m_off = (beta1 * mean + (1 - beta1) * x for mean, x in ((m, value), (m_off, rounding)))
        v, v_off = (beta2 * mean + (1 - beta2) * x**2 for mean, x in ((v, value), (v_off, rounding)))
        t += 1
        ahead, ahead_off = (x / (1 - beta1**t) for x in (m, m_off))
        spread, spread_off = (np.sqrt(x / (1 - beta2**t)) for x in (v, v_off))
        known = (spread_off < spread) | (rounding == 0) & (value == 0)
        change = ahead / (spread + epsilon)
        off = np.where(known, (ahead_off + abs(change) * spread_off) / (spread + epsilon), 0)
        rounded = 32 * stage.u * np.sqrt(value.size)
        return np.where(known, -lr * change, np.nan), lr * (float(np.linalg.norm(off)) + rounded)

    return step


def by_column(stage: Stage, lr: float) -> Rule:
    """W <- W - lr grad / ||grad||, column by column."""

    def step(W: Floats) -> tuple[Floats, float]:
        value, rounding = stage.gradient(W)
        change, off = np.zeros_like(value), 0.0
        for j in np.flatnonzero(value.any(axis=0)).tolist():
            column, error = unit(Gradient(value[:, j], rounding[:, j]), stage.u)
            change[:, j] = -lr * column
            off += lr * error
        return change, off

    return step


def with_ov_moving(stage: Stage, lr: float, ov_change: Callable[[Floats, Floats], Floats]) -> Rule:
    """Steps of W_kq with a W_ov that moves too, by ``ov_change`` of W_ov and W_kq."""
    now = stage.W_ov

    def step(W: Floats) -> tuple[Floats, float]:
        nonlocal now
        found = normalised(replace(stage, W_ov=now), lr)(W)
        now = None if now is None else now + ov_change(now, W)
        return found

    return step


def together(stage: Stage, loss: Stage2Loss) -> Rule:
    """W_ov and W_kq take one step on Loss, normalised by the norm of both gradients together."""
    now = np.zeros(0) if stage.W_ov is None else stage.W_ov

    def step(W: Floats) -> tuple[Floats, float]:
        nonlocal now
        value, rounding = loss.gradient(now, W, stage.u)
        ov = loss.ov_gradient(now, W, stage.u)
        both = Gradient(np.append(value, ov.value), np.append(rounding, ov.rounding))
        direction, off = unit(both, stage.u)
        now = now - stage.lr * direction[value.size :].reshape(now.shape)
        return -stage.lr * direction[: value.size].reshape(W.shape), stage.lr * off

    return step
