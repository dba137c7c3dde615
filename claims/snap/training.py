"""Limit dynamics of the decoder and self-attention, for `marginaudit train`."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from marginaudit.claims.answers.results import Trained
from marginaudit.claims.claim import NotFollowed
from marginaudit.claims.run import Progress
from marginaudit.claims.snap.conditions import no_inverse
from marginaudit.claims.snap.config import ClassConfig
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.values.json_data import finite
from marginaudit.orders import InputError
from marginaudit.orders.arrays import Floats
from marginaudit.orders.snap import SequenceClasses, distinct_tokens
from marginaudit.training.approximation import Approximation, stacked
from marginaudit.training.log_time import NotIntegrated
from marginaudit.training.snap.attention.logits import Logits
from marginaudit.training.snap.attention.rates import features, mean_counts
from marginaudit.training.snap.limit.backpropagated import xi_along
from marginaudit.training.snap.limit.continuous import continuous, gamma
from marginaudit.training.snap.limit.level import LARGEST_RATE
from marginaudit.training.snap.limit.recursion import h_star

COLUMNS = ("step", "h", "h_star", "gamma", "share")

CLASSES_SHOWN = 3
"""Most classes in a table of growth and B."""


def dominant(dataset: SequenceClasses) -> dict[str, str]:
    """The most probable distinct token of each class by its next token, without classes that have none."""
    own = distinct_tokens(dataset)
    return {c.next: max(own[c.next], key=lambda token: c.probabilities[token]) for c in dataset.classes if own[c.next]}


def rows(run: ClassRun) -> list[dict[str, Any]]:
    """One row per recorded step t: h(t/K), h*(ceil(t/K)), gamma(t), and attention along eq. 10.

    ``share`` is 1/(M - 1 + exp(M h)), alpha's share of every other token. ``growth`` is chi of each query's distinct
    tokens, ``xi`` and ``B`` are each class's. If `not_followed`, all three are null after the start.
    """
    data, M, K, eta_Y = run.dataset, run.M, run.K, run.eta_Y
    t = np.concatenate([[0], run.steps])
    level = continuous(t / K, M, eta_Y)
    discrete, speed = h_star(-(-t // K), M, eta_Y).level, gamma(t, K, M, eta_Y)
    chi, xi, B = _attention(run)
    logits = Logits(data)
    own = {(c.query, token) for c in data.classes for token in distinct_tokens(data)[c.next]}

    def growth(i: int) -> dict[str, dict[str, Any]]:
        found: dict[str, dict[str, Any]] = {query: {} for query in data.queries}
        for (query, token), value in zip(logits.names, finite(chi[i]), strict=True):
            if (query, token) in own:
                found[query][token] = value
        return found

    return [
        {
            "step": int(t[i]),
            "h": finite(level.h.value[i]),
            "h_star": finite(discrete.h.value[i]),
            "gamma": finite(speed.value[i]),
            "share": finite(level.share.value[i]),
            "growth": growth(i),
            "xi": dict(zip(data.next_tokens, finite(xi[i]), strict=True)),
            "B": dict(zip(data.next_tokens, finite(B[i]), strict=True)),
        }
        for i in range(len(t))
    ]


def not_followed(run: ClassRun) -> str | None:
    """Reason why xi, B and growth are unknown after the start, or None."""
    try:
        if reason := no_inverse(run):
            return reason
        _ = run.path
    except (NotFollowed, NotIntegrated) as fault:
        return str(fault)
    return None


def _attention(run: ClassRun) -> tuple[Floats, Floats, Floats]:
    """chi of each pair, xi and B of each class, at the start and the recorded steps; NaN if unavailable."""
    logits, K = Logits(run.dataset), run.K
    records = len(run.steps) + 1
    chi, xi, B = (np.full((records, columns), np.nan) for columns in (len(logits.names), K, K))
    chi[0], xi[0], B[0] = 1.0, 0.0, 0.0
    if not_followed(run):
        return chi, xi, B
    path = run.path
    with np.errstate(over="ignore"):  # shown as null
        chi[1:] = np.exp(2 * path.z.value)
    B[1:] = path.B.value
    overlaps: dict[int, Approximation] = {}
    for i in range(len(run.steps)):
        with suppress(ValueError):  # attention that is linearly dependent, up to rounding
            overlaps[i] = features(logits, path.z[i])[1].E_prime
    if known := [*overlaps]:
        at = mean_counts(continuous(run.steps[known] / K, run.M, run.eta_Y), K)
        xi[1 + np.array(known)] = xi_along(stacked([*overlaps.values()]), at).value
    return chi, xi, B


def train(
    dataset: SequenceClasses, config: ClassConfig, progress: Progress, notify: Callable[[str], None], origin: str
) -> Trained:
    """The rows of `rows`.

    Raises
    ------
    InputError
        h(t/K) is undefined (the classes are not uniform, or M is below 2), or the step size is too large for it.
    """
    if dataset.M < 2:
        raise InputError(f"{origin}: M", got=str(dataset.M), expected="at least 2 tokens to train on")
    if config.eta_Y > LARGEST_RATE:
        raise InputError(
            "--lr-y", got=f"{config.eta_Y:g}", expected=f"at most {LARGEST_RATE:g}, for exp of it to be a float64"
        )
    run = ClassRun(dataset, config)
    if not run.assumption("uniform_classes").holds:
        raise InputError(origin, got="classes of different frequencies", expected="uniform ones, as h(t/K) requires")
    found = rows(run)
    if reason := not_followed(run):
        notify(f"{origin}: xi, B and growth are null after the start: {reason.rstrip('.')}")
    progress(config.steps)
    shown = [(c.next, c.query) for c in dataset.classes[:CLASSES_SHOWN]]
    top = dominant(dataset)
    columns: tuple[str | tuple[str, ...], ...] = (
        *COLUMNS,
        *(("growth", query, top[name]) for name, query in shown if name in top),
        *(("B", name) for name, _ in shown),
    )
    return Trained({"rows": found}, {"rows": ("the limit of long sequences by Lemma 3's gradient and eq. 10", columns)})
