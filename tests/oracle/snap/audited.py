"""The product's side of a comparison, as plain data: what an audit reported, and numbers that its claims use."""

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from marginaudit.claims.claim import BeyondTheRun, NotFollowed
from marginaudit.claims.snap import ClassConfig, ClassRun
from marginaudit.claims.snap.appendix_c_gradients import lemma18
from marginaudit.claims.snap.appendix_d4_sampled_classes import lemma10
from marginaudit.claims.snap.appendix_e_attention import eq10
from marginaudit.claims.snap.appendix_f_transition import common_token
from marginaudit.claims.snap.chances import LEVELS
from marginaudit.claims.snap.conditions import no_growth, no_inverse
from marginaudit.orders.snap import classes_from_document, classes_to_document
from marginaudit.reports.audit import auditing
from marginaudit.reports.audit.sources import Source
from marginaudit.reports.snap.paper import PAPER
from marginaudit.training.approximation import Approximation
from marginaudit.training.log_time import NotIntegrated
from marginaudit.training.snap.attention.path import turned
from marginaudit.training.snap.limit.continuous import continuous, gamma
from marginaudit.training.snap.limit.recursion import gap, h_star
from tests.oracle.snap.random_classes import Settings

SEEN = 5
"""Recorded steps at which numbers are taken, the first and the last among them."""

CHANCES = 12
"""Chances of each kind that are taken."""

LONGEST = 10**6
"""Steps up to which the recursion's own numbers are taken; beyond, the oracle knows less."""


@dataclass(frozen=True)
class Number:
    """A value with its error bar.

    Attributes
    ----------
    what : the quantity
    of : what it is a function of
    scale : what the width of the bar is relative to
    """

    what: str
    of: tuple[Any, ...]
    value: float
    error: float
    scale: float


@dataclass(frozen=True)
class Audited:
    """One audit.

    Attributes
    ----------
    document : the dataset as it was read
    rows : the report's rows, by claim
    assumptions : whether each holds
    steps : the recorded ones, from 1 on
    numbers : of what claims use
    """

    document: Mapping[str, Any]
    settings: Settings
    rows: Mapping[str, Mapping[str, Any]]
    assumptions: Mapping[str, bool]
    steps: tuple[int, ...]
    numbers: tuple[Number, ...]


def audited(document: Mapping[str, Any], settings: Settings) -> Audited:
    """Audit every claim of the paper on a document; a warning is a fault of the claim."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        data = classes_from_document(document)
        config = ClassConfig(
            lr_y=settings.lr_y,
            lr_z=settings.lr_z,
            steps=settings.steps,
            at=settings.at,
            seeds=settings.seeds,
            seed=settings.seed,
        )
        one = auditing.audited(Source(data, PAPER, data.name), PAPER.claims, config, lambda *_: lambda _: None)
        run = one.run
        assert isinstance(run, ClassRun)
        PAPER.facts(run)
        PAPER.records(run)
        return Audited(
            document=classes_to_document(data),
            settings=settings,
            rows={row.claim.id: row.as_document() for row in auditing.Audit(PAPER.claims, {}, (one,)).rows},
            assumptions={name: one.holds for name, one in run.assumptions.items()},
            steps=tuple(run.steps.tolist()),
            numbers=tuple(_numbers(run)),
        )


def _numbers(run: ClassRun) -> Iterator[Number]:
    yield from _overlaps(run)
    yield from _chances(run)
    if run.M < 2 or not len(run.steps):
        return
    try:
        if no_growth(run):
            return
    except BeyondTheRun:
        return
    yield from _growth(run)
    yield from _attention(run)


def _seen(count: int, most: int) -> list[int]:
    return sorted({round(i) for i in np.linspace(0, count - 1, min(most, count)).tolist()})


def _of(what: str, places: list[tuple[Any, ...]], found: Approximation, scale: float | None = None) -> Iterator[Number]:
    value, error = np.ravel(found.value).tolist(), np.ravel(found.error).tolist()
    for place, x, bar in zip(places, value, error, strict=True):
        yield Number(what, place, x, bar, abs(x) if scale is None else scale)


def _overlaps(run: ClassRun) -> Iterator[Number]:
    own, K = run.dataset.overlap, run.K
    pairs = [(i, j) for i in range(min(K, SEEN)) for j in range(min(K, SEEN))]
    for i, j in pairs:
        bar = own.relative_error * own.E[i, j] + own.norm_error
        yield Number("E", (i, j), float(own.E[i, j]), float(bar), 1.0)
    for i in _seen(K, SEEN):
        yield Number("eigenvalue", (i,), float(own.eigenvalues[i]), own.eigenvalue_error, 1.0)
    try:
        if no_inverse(run) is not None:
            return
    except NotFollowed:
        return
    limit = run.overlap.E_prime
    scale = float(1 / (1 + own.eigenvalues[0])) ** 2
    for i, j in pairs:
        # its bar is about the E that float64 holds
        yield Number(
            "E'", (i, j), float(limit.value[i, j]), float(limit.error[i, j]) + 4 * scale * own.norm_error, scale
        )


def _chances(run: ClassRun) -> Iterator[Number]:
    found = lemma10.counts(run)
    exact = lemma10.frequencies(run.dataset)
    nearest = {float(p): p for p in exact}
    per_level = len(found.N) // len(LEVELS)
    p = np.tile(np.repeat(sorted(nearest), per_level // len(nearest)), len(LEVELS))
    rng = np.random.default_rng(0)
    for i in rng.choice(len(found.N), min(CHANCES, len(found.N)), replace=False).tolist():
        place = (float(found.delta[i]), nearest[float(p[i])], int(found.N[i]))
        for what, missed in zip(("count", "count, wide"), found.missed, strict=True):
            yield Number(what, place, float(missed.value[i]), float(missed.radius[i]), 1.0)
    missed, delta = lemma18.misses(run).missed, lemma18.misses(run).delta
    for i in rng.choice(len(delta), min(CHANCES, len(delta)), replace=False).tolist():
        shown, length = missed.label[i].split("P(l|n) = ")[1].split(", T - 1 = ")
        [*_, P] = sorted(set(run.dataset.P[run.dataset.P > 0].tolist()), key=lambda x: -abs(x - float(shown)))
        if f"{P:.4g}" == shown and sum(f"{x:.4g}" == shown for x in set(run.dataset.P.ravel().tolist())) == 1:
            place = (float(delta[i]), Fraction(P), int(length))
            yield Number("token", place, float(missed.value[i]), float(missed.radius[i]), 1.0)


def _growth(run: ClassRun) -> Iterator[Number]:
    t = run.steps[_seen(len(run.steps), SEEN)]
    M, K, eta_Y = run.M, run.K, run.eta_Y
    places = [(int(x),) for x in t]
    level = continuous(t / K, M, eta_Y)
    yield from _of("M h(t/K)", places, level.logit)
    yield from _of("share", places, level.share)
    yield from _of("gamma", places, gamma(t, K, M, eta_Y))
    yield from _of("Gamma", places, turned(t, K, M, eta_Y, run.eta_Z))
    star = h_star(t, M, eta_Y)
    yield from _of("M h*(t)", places, star.level.logit)
    yield from _of("share*", places, star.level.share)
    near = t <= LONGEST
    steps = [place for place, one in zip(places, near, strict=True) if one]
    yield from _of("lag", steps, star.lag[near])
    yield from _of("gap", steps, gap(star, eta_Y)[near])


def _attention(run: ClassRun) -> Iterator[Number]:
    if run.M < 4:
        return
    try:
        if eq10.no_path(run):
            return
    except BeyondTheRun:
        return
    seen, logits = eq10.rates_along(run), run.path.logits
    for i in _seen(len(seen.step), SEEN):
        t = int(seen.step[i])
        z, B, rate = seen.path.z[i], seen.path.B[i], seen.found[i]
        pairs = [(t, *name) for name in logits.names]
        largest = max(1e-300, float(np.abs(z.value).max(initial=0.0)))
        yield from _of("z", pairs, z, largest)
        yield from _of("B", [(t, n) for n in run.dataset.next_tokens], B, max(1e-300, float(np.abs(B.value).max())))
        yield from _of("z-dot", pairs, rate.z_dot, max(1e-300, float(np.abs(rate.z_dot.value).max(initial=0.0))))
        xi = rate.gradient.xi
        yield from _of("xi", [(t, n) for n in run.dataset.next_tokens], xi, max(1e-300, float(np.abs(xi.value).max())))
    if run.assumption("single_common").holds and run.assumption("single_query").holds:
        try:
            if not common_token.no_overlap(run):
                times = run.steps[_seen(len(run.steps), SEEN)].tolist()
                B = common_token.growth(run, tuple(map(float, times)))
                yield from _of("B of eq. 13", [(time,) for time in times], B)
        except (BeyondTheRun, NotIntegrated):
            return
