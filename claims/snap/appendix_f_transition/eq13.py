"""Eq. 13: eq. 10 for one common token and weak overlaps."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from marginaudit.claims.claim import BeyondTheRun, Claim
from marginaudit.claims.judgements import Limit, Parts
from marginaudit.claims.quotation import quoted
from marginaudit.claims.run import once_a_run
from marginaudit.claims.series import FORMULA_ROUNDING, Series, series
from marginaudit.claims.snap.appendix_e_attention.eq10 import no_path, rates_at_start
from marginaudit.claims.snap.appendix_f_transition.common_token import ASSUMPTIONS, mean_square, no_overlap
from marginaudit.claims.snap.conditions import SETTING, first_of, no_inverse, slow_decoder
from marginaudit.claims.snap.readings import FAST_DECODER, PAGE, SOURCE, mended
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import Severity, Weight, contradicts, proved, refuted
from marginaudit.orders.snap import common_tokens, distinct_tokens, rescaled
from marginaudit.training.approximation import Approximation, stacked
from marginaudit.training.snap.attention.logits import Logits
from marginaudit.training.snap.attention.path import turned

PROOF = PAGE + "43-snapeq13rederived"

WEAKER = np.geomspace(1, 1e5, 61)
"""Factors of weakening overlaps, to test "approximately" as a limit."""


def no_weaker(run: ClassRun) -> str | None:
    """Reason why the overlaps cannot be weakened, or None; else see `no_path`."""
    own = distinct_tokens(run.dataset)
    bare = next((c.next for c in run.dataset.classes if not own[c.next]), None)
    if bare is not None:
        return f"Class {bare} has no distinct token: overlaps cannot be made weaker."
    return first_of(no_inverse, no_overlap, no_path)(run)


@once_a_run
def weaker(run: ClassRun) -> tuple[Approximation, Approximation]:
    """z-dot of the common token and mean xi of eq. 10 over gamma rho_0^-4 at Z = 0, along `WEAKER`.

    M grows with the square of the factor, so that Assumption 2 is no farther from holding.

    Raises
    ------
    BeyondTheRun
        A class's share on its distinct tokens underflows.
    """
    [common] = common_tokens(run.dataset)
    moved, xi = [], []
    for times in WEAKER:
        try:
            data = replace(rescaled(run.dataset, 1 / times), M=int(np.ceil(run.M * times**2)))
        except ValueError as error:  # squares of distinct tokens are 0 in float64
            raise BeyondTheRun(str(error)) from None
        found = rates_at_start(data, run.eta_Y)
        unit = found.gradient.gamma * mean_square(data)
        moved.append(found.z_dot[[name for _, name in Logits(data).names].index(common)] / unit)
        xi.append(found.gradient.xi.sum() / unit / float(run.K))
    return stacked(moved), stacked(xi)


def against(run: ClassRun, part: int, predicted: float) -> Series:
    """Ratio of one of `weaker` to its stated constant."""
    found = weaker(run)[part] / predicted
    return series(
        found.value, radius=found.error + FORMULA_ROUNDING * np.abs(found.value), step=WEAKER, clock="1/overlap"
    )


def tends_to(part: int, stated: Callable[[int], int]) -> Limit:
    """Claim that one of `weaker` tends to its stated constant, a function of K."""
    return Limit(
        measure=lambda run: against(run, part, stated(run.K)), predicted=lambda run: 1.0, regime=lambda run: 1.0
    )


def beside_eq_10(run: ClassRun) -> str:
    """Ratio of B of eq. 10 to that of eq. 13 as mended, along t."""
    K, t, square = run.K, run.steps, mean_square(run.dataset)
    mended = np.log1p(4 * K * (K - 1) * square * turned(t, K, run.M, run.eta_Y, run.eta_Z).value) / (4 * K)
    parts = (run.path.B.value.mean(axis=1) / mended).tolist()
    marks = {"t_0'": run.transition, "t_0": run.snap_start, "the last step": float(t[-1])}
    found = [f"{parts[int(np.argmin(np.abs(np.log(t / at))))]:.4g} at {name}" for name, at in marks.items()]
    return (
        f"Mean B_n of eq. 10 over that of the mended eq. 13, on this dataset: {', '.join(found)}. Normalizations grow "
        "with the distinct tokens, so it is no constant."
    )


EQ13 = Claim(
    id="snap.eq13",
    source=f"{SOURCE}, eq. 13",
    source_words=quoted(
        "section 6, eq. 13",
        "Under these approximations, its dynamics (Eqn. 10) can be written as .. ~= -C_0^{-1} eta_Z gamma "
        "e^{4z_ml}, xi_n(t) ~= C_0^{-1} gamma e^{4z_ml}",
        "Approximately is in the limit of weak overlaps, at Z = 0; rho_0^-4 is the mean of (f_n^T f_n')^2. "
        f"{FAST_DECODER}",
    ),
    statement=(
        "One common token, one query: where overlaps are weak, eq. 10 is approximately z-dot = -C0^{-1} eta_Z gamma "
        "exp(4z) and xi_n = C0^{-1} gamma exp(4z), C0 = rho_0^4/K. Judged at Z = 0 as the limit of weak overlaps, "
        "rho_0^-4 the mean of (f_n^T f_n')^2, xi the mean over n."
    ),
    formula=r"\dot z_{ml}\approx-C_0^{-1}\eta_Z\gamma e^{4z_{ml}},\quad\xi_n\approx C_0^{-1}\gamma e^{4z_{ml}},\quad "
    r"C_0=\rho_0^4/K",
    assumptions=ASSUMPTIONS,
    setting=SETTING,
    standing=refuted(
        PROOF,
        "snap.eq13.rederived",
        severity=Severity.CONSTANT,
        weight=Weight.STEP,
        cause="snap.lemma4",
        wrong="Eq. 13 is off by factors of K: a class meets K - 1 others, and z adds up K where a step draws one.",
        defence="A qualitative estimation: with eq. 10's factor K in eta_Z both constants have K where K - 1 is.",
        hunted=6,
        weakest="none: K - 1 is not K",
        relied_on_by=("snap.theorem4.closed-form",),
        remains="Theorem 4 assumes the equation with a constant C0: it stays a statement on that equation, and C0 is "
        "another.",
    ),
    implications=(contradicts("snap.eq13.rederived", condition="K - 1 is not K", proof=PROOF),),
    judgement=Parts({"z-dot": tends_to(0, lambda K: -K), "xi": tends_to(1, lambda K: K)}, note=beside_eq_10),
    absent=lambda run: slow_decoder(run) or no_weaker(run),
    instead=(
        r"$\dot z=-K(K-1)\rho_0^{-4}\eta_Z\gamma e^{4z}$ and $\xi_n=(K-1)\rho_0^{-4}\gamma e^{4z}$: a class meets "
        "$K-1$ others, and $z$ sums over $K$ classes (snap.eq13.rederived)."
    ),
)

EQ13_REDERIVED = mended(
    EQ13,
    "M >= 5; K (K-1) for z and K-1 for xi, in place of K for both.",
    source=f"{EQ13.source} with its constants re-derived",
    statement=(
        "One common token, one query: where overlaps are weak, eq. 10 is approximately z-dot = -K (K-1) rho_0^-4 eta_Z "
        "gamma exp(4z) and xi_n = (K-1) rho_0^-4 gamma exp(4z). Judged as snap.eq13 is."
    ),
    formula=r"\dot z_{ml}\approx-\frac{K(K-1)}{\rho_0^4}\eta_Z\gamma e^{4z_{ml}},\quad\xi_n\approx"
    r"\frac{K-1}{\rho_0^4}\gamma e^{4z_{ml}}",
    standing=proved(PROOF, "snap.theorem1.form.rederived", hunted=4),
    judgement=Parts(
        {"z-dot": tends_to(0, lambda K: -K * (K - 1)), "xi": tends_to(1, lambda K: K - 1)}, note=beside_eq_10
    ),
    absent=no_weaker,
)

CLAIMS: tuple[Claim, ...] = (EQ13, EQ13_REDERIVED)
