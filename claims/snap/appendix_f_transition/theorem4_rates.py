"""Theorem 4's insights (a) to (c): the effect of larger step sizes."""

from collections.abc import Callable

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded, Equal, Parts
from marginaudit.claims.quotation import quoted
from marginaudit.claims.series import Series, series
from marginaudit.claims.snap.appendix_d3_growth.two_stages import AFTER
from marginaudit.claims.snap.appendix_f_transition.common_token import (
    ASSUMPTIONS,
    FASTEST_KNOWN,
    PRINTED,
    fastest,
    gap,
    growth,
    no_overlap,
    no_theorem4,
)
from marginaudit.claims.snap.readings import FAST_DECODER, IN_RANGE_R, PAGE, SOURCE, variant
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import Implication, Severity, contradicts, proved, refuted
from marginaudit.orders.arrays import Floats
from marginaudit.training.approximation import Approximation, stacked
from marginaudit.training.snap.growth import snap_start

PROOF = PAGE + "76-snaptheorem4rates-for-m-at-least-6-and-not-for-5"

LEAST_M = 6
"""Least vocabulary for which the statement is true at every step size."""

ENOUGH_TOKENS = f"M >= {LEAST_M}"

SLOWER = (0.9, 0.5, 0.1)
"""Fractions of the step sizes, compared with the full ones."""


def small_vocabulary(run: ClassRun) -> str | None:
    """Reason why it is not proved that larger rates slow B, or None."""
    return None if run.M >= LEAST_M else f"M is below {LEAST_M}"


def transitions(run: ClassRun) -> Series:
    """`fastest` at eta_Y."""
    value = np.repeat(fastest(run, 1.0), len(SLOWER))
    label = tuple(f"against {part:g} eta_Y" for part in SLOWER)
    return series(value, radius=2 * FASTEST_KNOWN * value, label=label)


def grown(run: ClassRun, times: Floats, of_Y: float, of_Z: float) -> Approximation:
    """`growth` at some of the compared times, by one integration for each pair of step sizes."""
    compared = (common_times(run, part) for part in (SLOWER if of_Y == 1.0 else (of_Y,)))
    starts = [run.snap_start, snap_start(run.K, run.M, of_Y * run.eta_Y)]
    every = np.unique(np.concatenate([starts, *compared]))
    return growth(run, tuple(every.tolist()), of_Y, of_Z)[np.searchsorted(every, times)]


def at_transition(run: ClassRun, *, slower: bool) -> Series:
    """B(t_0) at fractions of both step sizes, or at the full ones."""
    sizes = [part if slower else 1.0 for part in SLOWER]
    starts = [np.array(snap_start(run.K, run.M, of * run.eta_Y)) for of in sizes]
    found = stacked([grown(run, start, of, of) for of, start in zip(sizes, starts, strict=True)])
    return series(found.value, radius=found.error, label=tuple(f"{part:g} of both step sizes" for part in SLOWER))


def common_times(run: ClassRun, part: float) -> Floats:
    """Times from the later t_0 on, that of a fraction of eta_Y."""
    return np.asarray(snap_start(run.K, run.M, part * run.eta_Y) * AFTER)


def larger(run: ClassRun, of_Y: Callable[[float], float], of_Z: Callable[[float], float], sign: int) -> Series:
    """B at the full step sizes minus B at fractions of them, or the reverse, beyond both t_0."""
    times = [common_times(run, part) for part in SLOWER]
    found = [
        (grown(run, late, 1.0, 1.0) - grown(run, late, of_Y(part), of_Z(part))) * float(sign)
        for part, late in zip(SLOWER, times, strict=True)
    ]
    return series(
        np.concatenate([x.value for x in found]),
        radius=np.concatenate([x.error for x in found]),
        step=np.concatenate(times),
        label=tuple(f"{part:g} of it" for part in SLOWER for _ in AFTER),
    )


def _positive(measure: Callable[[ClassRun], Series]) -> Bounded:
    return Bounded(measure=measure, lower=lambda run, t: np.zeros(len(t)))


def earlier_reading(run: ClassRun) -> str:
    """Note on B of a smaller eta_Y at the t_0 of the larger one."""
    whole, small = (float(grown(run, np.array(run.snap_start), of_Y, 1.0).value) for of_Y in (1.0, min(SLOWER)))
    return (
        f"At t_0 of the whole eta_Y, before that of {min(SLOWER):g} of it, B is {whole:.4g} and {small:.4g}: (c) is "
        f"about times beyond the t_0 of both. {gap(run)}"
    )


RATES = Claim(
    id="snap.theorem4.rates",
    source=f"{SOURCE}, Theorem 4, insights (a) to (c), and fig. 9",
    source_words=quoted(
        "section 6, after Theorem 4; appendix F",
        "larger learning rate eta_Y .. shorter phase transition time .. scaling up both .. larger B_n(t) .. "
        "small learning rate eta_Y leads to larger B_n(t)",
        "Earlier is where gamma is largest. Statements on large t are judged beyond the t_0 of both step sizes. nu is "
        f"eta_Y/eta_Z; the caption of figure 9 has it inverted. {IN_RANGE_R} (Remark 3). {FAST_DECODER}",
    ),
    statement=(
        "Under eq. 13's ODE: at larger eta_Y gamma is largest earlier; at fixed eta_Y/eta_Z, B_n(t_0) does not depend "
        "on eta_Z; both step sizes larger: larger B_n(t); at fixed eta_Z, smaller eta_Y: larger B_n(t); the latter two "
        f"beyond the t_0 of both. Compared at {', '.join(f'{part:g}' for part in SLOWER)} of the step sizes."
    ),
    formula=r"t_0\downarrow\text{ in }\eta_Y;\quad B_n(t_0)\text{ depends on }\eta_Y/\eta_Z\text{ alone};\quad "
    r"B_n(t)\uparrow\text{ in }(\eta_Y,\eta_Z);\quad B_n(t)\downarrow\text{ in }\eta_Y,\ t\ge t_0",
    assumptions=PRINTED,
    standing=proved(PROOF, "snap.theorem4.closed-form.rederived", "snap.theorem1.b.rederived", hunted=2),
    judgement=Parts(
        {
            "Earlier transition": Bounded(
                measure=transitions, upper=lambda run, _: np.array([fastest(run, part) for part in SLOWER])
            ),
            "B(t_0) at fixed ratio": Equal(
                measure=lambda run: at_transition(run, slower=True),
                expected=lambda run: at_transition(run, slower=False),
            ),
            "Both larger": _positive(lambda run: larger(run, lambda part: part, lambda part: part, 1)),
            "Smaller eta_Y": _positive(lambda run: larger(run, lambda part: part, lambda _: 1.0, -1)),
        },
        note=earlier_reading,
    ),
    absent=no_theorem4,
)

RATES_ANY_M = variant(
    RATES,
    "any-M",
    "For every M >= 5 and eta_Y.",
    source=f"{RATES.source}, for every M",
    assumptions=ASSUMPTIONS,
    standing=refuted(
        PROOF,
        "snap.theorem4.closed-form.rederived",
        severity=Severity.ORDINARY,
        wrong="Theorem 4's rates need M >= 6: with five tokens a slightly larger eta_Y has a larger B just beyond t_0.",
        hunted=7,
        weakest=ENOUGH_TOKENS,
    ),
    implications=(
        contradicts(
            "snap.theorem4.closed-form.rederived",
            condition="M is 5",
            proof=PROOF,
            unmet=lambda run: None if run.M == 5 else "M is not 5",
        ),
        Implication(
            sources=("snap.theorem4.closed-form.rederived", "snap.theorem1.b.rederived"),
            condition=ENOUGH_TOKENS,
            proof=PROOF,
            unmet=small_vocabulary,
        ),
    ),
    absent=no_overlap,
    instead=f"From $M={LEAST_M}$ on it is true at every step size (docs/proofs-snap.md section 7.6).",
)

CLAIMS: tuple[Claim, ...] = (RATES, RATES_ANY_M)
