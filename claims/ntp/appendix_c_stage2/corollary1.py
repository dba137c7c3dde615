"""Corollary 1 of arXiv 2409.17335: after stage 1 all margins lie between A and 3 A."""

from dataclasses import replace
from functools import partial
from typing import Literal, TypeAlias

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded, Decided
from marginaudit.claims.judgements.bounded import Steps
from marginaudit.claims.ntp.bounds import crossings
from marginaudit.claims.ntp.quantities import label_margins, no_margin
from marginaudit.claims.ntp.run import Run
from marginaudit.claims.quotation import quoted, rederived
from marginaudit.claims.series import FORMULA_ROUNDING, series, step_from
from marginaudit.claims.standing import Severity, Standing, Weight, contradicts, proved, refuted
from marginaudit.claims.verdict import Evidence, Finding, Verdict, needed
from marginaudit.margins.ntp import Exact
from marginaudit.orders.arrays import Floats
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2

Side: TypeAlias = Literal["lower", "upper"]

FACTOR: dict[Side, int] = {"lower": 1, "upper": 3}
"""Corollary 1 puts all margins between A and 3 A."""


def decide_corollary1(run: Run, side: Side, factor: int, power: int) -> Finding:
    """Decide whether all margins of W_ov^(T) lie above, or below, ``factor`` A, A = T eta0 / (4 ||W*_ov||^2).

    For orthonormal tokens all margins are T eta0 / ||W*_ov|| = 4 ||W*_ov|| A (`sharp.stage1`) for every T:
    compare 16 ||W*_ov||^2 with factor^2, two rational numbers. Otherwise the trained margins decide, for T beyond
    the statement's threshold.
    """
    T, A = run.config.steps1, run.eta0 / (4 * run.norm_ov**2)  # A of one step
    _, start = crossings(384 * run.norm_ov**power * np.log(2 * run.dataset.V) / run.eta0, 1)
    at_T, first = _at_the_end(run, side, factor * T * A), step_from(start)
    needs = "" if start <= T else needed("T", first, T)
    truth = {Verdict.HOLDS: "true", Verdict.VIOLATED: "false"}.get(at_T.verdict, "hidden by error bars")
    at = f", at which it is {truth}" if T else ""
    range_note = f"The statement applies from T >= {start:.4g}; the run has T = {T}{at}."
    if run.departs or not isinstance(run.ov, Exact) or not run.assumption("orthonormal").holds:
        return replace(
            at_T,
            verdict=at_T.verdict if start <= T else Verdict.INCONCLUSIVE,
            worst_step=T,
            first_violation=T if start <= T and at_T.verdict is Verdict.VIOLATED else None,
            informative_from=first,
            needs=needs,
            detail=range_note,
        )
    square = 16 * run.ov.norm_squared_exact
    true = square > factor**2 if side == "lower" else square < factor**2
    witness = {"T": first, "margin": float(first * run.eta0 / run.norm_ov), "bound": float(factor * first * A)}
    return replace(
        at_T,
        verdict=Verdict.HOLDS if true else Verdict.VIOLATED,
        evidence=Evidence.EXACT,
        worst_step=T,
        first_violation=None if true else first,
        informative_from=first,
        needs=needs,
        detail=(
            f"At every T all margins are T eta0/||W*_ov|| = 4 ||W*_ov|| A (sharp.stage1), and (4 ||W*_ov||)^2 = "
            f"{square} against {factor}^2 = {factor**2}: {'true' if true else 'false'} at every T. {range_note}"
        ),
        witness=None if true else witness,
    )


def _at_the_end(run: Run, side: Side, bound: float) -> Finding:
    """Compare the trained margin nearest to its bound with the bound."""
    training = run.training
    margins = label_margins(run, training.B)
    margin = float(margins.min() if side == "lower" else margins.max())

    def limit(_: Run, __: Steps) -> Floats:
        return np.array([bound])

    return Bounded(
        measure=lambda _: series(margin, radius=training.margin_error + FORMULA_ROUNDING * abs(margin)),
        lower=limit if side == "lower" else None,
        upper=limit if side == "upper" else None,
    ).judge(run)


PRINTED = quoted(
    "appendix C.1, Corollary 1",
    "let T >= 384||W*_ov||^5 log(2|V|) log T/eta_0 .. (e_In(x) - e_i)^T W_ov^(T) x in (A, 3A), for all i != In(x)",
    "(A, 3A) is open at both ends, and every token x and every other label i is meant.",
    reconstructed="the power of ||W*_ov|| in the least T, which looks like 5",
)
REDERIVED = {
    side: rederived(
        f"ntp.corollary1.{side}",
        "The power of ||W*_ov|| in the least T is 7, as the algebra gives.",
        mended="with the exponent mended",
    )
    for side in FACTOR
}


def _claim(side: Side, suffix: str, power: int) -> Claim:
    """Claim of one of the two bounds, with ||W*_ov||^``power`` in the least T."""
    relation, limit = (">", "A") if side == "lower" else ("<", "3 A")
    return Claim(
        id=f"ntp.corollary1.{side}{suffix}",
        source="arXiv 2409.17335, Corollary 1",
        source_words=REDERIVED[side] if suffix else PRINTED,
        statement=(
            f"For T >= 384 ||W*_ov||^{power} log(2V) log T / eta0: every (e_{{n(x)}} - e_i)^T W_ov^(T) x {relation} "
            f"{limit}, A = T eta0 / (4 ||W*_ov||^2)."
        ),
        formula=(
            rf"(e_{{n(x)}}-e_i)^\top W_{{ov}}^{{(T)}}x{relation}{limit.replace(' ', '')},\quad "
            rf"A=\frac{{T\eta_0}}{{4\lVert W^*_{{ov}}\rVert^2}},\quad "
            rf"T\ge\frac{{384\lVert W^*_{{ov}}\rVert^{power}\log(2V)\log T}}{{\eta_0}}"
        ),
        assumptions=ASSUMPTION_1 + ASSUMPTION_2,
        judgement=Decided(
            partial(decide_corollary1, side=side, factor=FACTOR[side], power=power), kind=f"{side} bound"
        ),
        absent=no_margin,
    )


PROOF = "docs/proofs.md#137-ntpcorollary1upper-is-false"
LOWER = proved("docs/proofs.md#136-ntpcorollary1lower", "sharp.stage1", hunted=7)
UPPER = refuted(
    PROOF,
    "sharp.stage1",
    severity=Severity.CONSTANT,
    weight=Weight.ASIDE,
    wrong="Corollary 1's upper end 3A is off by a factor: all margins are 4 ||W*_ov|| A, at least 4A, at every T.",
    defence=(
        "Later results use that margins are Theta(A), and 'for simplicity' one A for all of them: they are one number."
    ),
    hunted=2,
    weakest="none: false on every dataset it applies to",
)


def _upper(suffix: str, power: int, standing: Standing) -> Claim:
    return replace(
        _claim("upper", suffix, power),
        standing=standing,
        implications=(contradicts("sharp.stage1", proof=PROOF),),
        instead=(
            r"All margins are $T\eta_0/\lVert W^*_{ov}\rVert=4\lVert W^*_{ov}\rVert A$ at every $T$, and "
            r"$\lVert W^*_{ov}\rVert^2=V-1$ (sharp.stage1): never below $4A$, for $V\ge2$."
        ),
    )


CLAIMS = (
    replace(_claim("lower", "", 5), standing=LOWER),
    _upper("", 5, UPPER),
    replace(_claim("lower", ".rederived", 7), standing=LOWER),
    _upper(".rederived", 7, replace(UPPER, cause="ntp.corollary1.upper")),
)
