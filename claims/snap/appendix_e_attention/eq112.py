"""Eq. 112: growth of the most probable distinct token relative to another along eq. 10."""

from dataclasses import replace

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded, Equal, Parts
from marginaudit.claims.quotation import quoted, rederived
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import FORMULA_ROUNDING, Series, series
from marginaudit.claims.snap.appendix_e_attention.eq10 import EQ_10, FLOW, above_zero, no_path, rates_along
from marginaudit.claims.snap.appendix_e_attention.theorem3_gain import MOST_PAIRS, require_powers, squared_ratio
from marginaudit.claims.snap.appendix_e_attention.token_gains import EQUAL, not_equal
from marginaudit.claims.snap.conditions import THEOREM_5, slow_decoder
from marginaudit.claims.snap.readings import PAGE, ROUNDED, SOURCE
from marginaudit.claims.snap.run import ClassRun, evenly_spaced
from marginaudit.claims.standing import Severity, Weight, contradicts, proved, refuted
from marginaudit.orders.snap import distinct_tokens, dominant_tokens
from marginaudit.training.approximation import Approximation, stacked

PROOF = PAGE + "87-snapeq112rederived"

KNOWN = 4e-10
"""Largest relative error bar of a side for judging equality."""


def dominated(run: ClassRun) -> list[tuple[int, str, str]]:
    """A class, its dominant token l_0, and another distinct one."""
    own, dominant, found = distinct_tokens(run.dataset), dominant_tokens(run.dataset), []
    for n, c in enumerate(run.dataset.classes):
        first = dominant.get(c.next)
        found += [(n, first, l) for l in own[c.next] if first not in (None, l)]  # noqa: E741
    return [found[i] for i in evenly_spaced(len(found), MOST_PAIRS)] if found else []


def no_dominance(run: ClassRun) -> str | None:
    """Reason why no distinct token outgrows another, or None; else see `no_path`."""
    if not dominated(run):
        return "No class has two distinct tokens of which one is more probable than all others."
    return no_path(run)


@once_a_run
def both_sides(run: ClassRun) -> tuple[Series, Series]:
    """The rate of r_{l_0/l'} along eq. 10, and r(0) exp(2 z_{l_0}) times z-dot of l_0.

    The rate is that of f_l0^2/f_l'^2, which is 2 (z-dot_l0 - z-dot_l') times itself.

    Raises
    ------
    BeyondTheRun
        Powers of z, or of a ratio of probabilities, leave float64.
    """
    seen, left, right, label = rates_along(run), [], [], []
    z, step = seen.path.z, seen.step
    require_powers(z)
    for n, l, other in dominated(run):  # noqa: E741
        i, j = (run.path.logits.position(n, token) for token in (l, other))
        squared, rate = squared_ratio(run, n, l, other), seen.z_dot(np.array([i, j])) * run.eta_Z
        left.append((rate[:, 0] - rate[:, 1]) * power(z[:, i] - z[:, j], 2 * squared))
        first = Approximation(np.array(squared - 1), np.array(FORMULA_ROUNDING * (squared + 1)))
        right.append(rate[:, 0] * power(z[:, i], 1.0) * first)
        label += [f"{l} over {other} of {run.dataset.next_tokens[n]}, t = {t}" for t in step]
    place = np.tile(step, len(left))
    sides = [
        series(np.ravel(x.value), radius=np.ravel(x.error), step=place, label=tuple(label))
        for x in (stacked(left), stacked(right))
    ]
    return sides[0], sides[1]


def power(z: Approximation, factor: float) -> Approximation:
    """exp(2 z) times a factor with a few roundings."""
    value = factor * np.exp(2 * z.value)
    return Approximation(value, value * (np.expm1(2 * z.error) + FORMULA_ROUNDING * (1 + np.abs(z.value))))


def well_known(run: ClassRun) -> tuple[Series, Series]:
    """The rate and twice the other of `both_sides`, at entries with small error bars, or at all if none are small."""
    rate, half = both_sides(run)
    kept = np.logical_and(*(side.radius <= KNOWN * np.abs(side.value) for side in (rate, half)))
    kept = kept if kept.any() else np.ones(len(rate), dtype=bool)
    return rate.taken(kept), replace(half, value=2 * half.value, radius=2 * half.radius).taken(kept)


EQ112 = Claim(
    id="snap.eq112",
    source=f"{SOURCE}, Theorem 3's proof, eq. 112",
    source_words=quoted(
        "appendix E, Theorem 3's proof, eq. 112",
        "r-dot_{l_0/l'|n} = r_{l_0/l'|n}(0) e^{2(z_{l_0}(t) - z_{l_0}(0))} z-dot_{l_0} > 0",
        f"Under eq. 10. {FLOW}",
    ),
    statement=(
        "Under eq. 10 from z = 0, l_0 the most probable distinct token of a class, none as probable, and l' another: "
        f"the rate of r_(l0/l') is r_(l0/l')(0) exp(2 z_l0) z-dot_l0, and is positive at every t >= 1; {EQ_10}."
    ),
    formula=r"\dot r_{l_0/l'|n}=r_{l_0/l'|n}(0)e^{2(z_{l_0}(t)-z_{l_0}(0))}\dot z_{l_0}\gt0",
    assumptions=(*THEOREM_5, "dominant_distinct"),
    standing=refuted(
        PROOF,
        "snap.eq112.rederived",
        severity=Severity.SLIP,
        weight=Weight.ASIDE,
        wrong="Eq. 112 is off by a factor 2, that of the derivative of exp(2z).",
        defence="A slip: the proof uses the sign of the rate alone, which is right.",
        hunted=25,
        weakest="none: 1 is not 2",
    ),
    implications=(
        contradicts(
            "snap.eq112.rederived",
            condition=f"1 is not 2, as {EQUAL}",
            proof=PROOF,
            unmet=not_equal,
            unseen=ROUNDED,
        ),
    ),
    judgement=Parts(
        {
            "The rate": Equal(measure=lambda run: both_sides(run)[0], expected=lambda run: both_sides(run)[1]),
            "Above 0": Bounded(measure=lambda run: replace(both_sides(run)[0], step=None), lower=above_zero),
        }
    ),
    absent=lambda run: slow_decoder(run) or no_dominance(run),
    instead=(
        r"It is twice that, as the derivative of $e^{2z}$ is $2e^{2z}\dot z$ (snap.eq112.rederived). It has the sign "
        r"of $\xi_n$, and the proof needs no more."
    ),
)

EQ112_REDERIVED = Claim(
    id="snap.eq112.rederived",
    source=f"{EQ112.source} with its constant re-derived",
    source_words=rederived(EQ112.id, "Twice that; it is positive where xi_n is."),
    statement=(
        "Under eq. 10 from z = 0, l_0 the most probable distinct token of a class, none as probable, and l' another: "
        f"the rate of r_(l0/l') is 2 r_(l0/l')(0) exp(2 z_l0) z-dot_l0, which has the sign of xi_n; {EQ_10}."
    ),
    formula=r"\dot r_{l_0/l'|n}=2r_{l_0/l'|n}(0)e^{2(z_{l_0}(t)-z_{l_0}(0))}\dot z_{l_0}",
    assumptions=("uniform_classes",),
    standing=proved(PROOF, "snap.theorem3.gain", hunted=5),
    judgement=Equal(measure=lambda run: well_known(run)[0], expected=lambda run: well_known(run)[1]),
    absent=no_dominance,
)

CLAIMS: tuple[Claim, ...] = (EQ112, EQ112_REDERIVED)
