"""Lemmas 2 and 3 and Corollary 1 of arXiv 2409.17335: what stage 1 hands to stage 2."""

from dataclasses import replace
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from marginaudit.margins.ntp import Exact
from marginaudit.orders.ntp.assumptions import ASSUMPTION_1, ASSUMPTION_2
from marginaudit.reports.claim import Claim
from marginaudit.reports.judgements import Bounded, Decided, Equal
from marginaudit.reports.judgements.bounded import Steps
from marginaudit.reports.ntp.claims.theorem2 import last_crossing
from marginaudit.reports.ntp.quantities import margin_error, no_direction_ov, no_margin, state_error
from marginaudit.reports.ntp.run import Run
from marginaudit.reports.series import FORMULA_ROUNDING, Series, series, step_from
from marginaudit.reports.verdict import Evidence, Finding, Verdict

Floats: TypeAlias = NDArray[np.float64]
Side: TypeAlias = Literal["lower", "upper"]

ASSUMPTIONS = ASSUMPTION_1 + ASSUMPTION_2

FACTOR: dict[Side, int] = {"lower": 1, "upper": 3}
"""Corollary 1 puts all margins between A and 3 A."""


def _margins(run: Run, scores: Floats) -> Floats:
    """(e_{n(x)} - e_v)^T W x over x and v != n(x), flat, of the scores e_v^T W x."""
    n = run.dataset.collocation.require_function()
    answer = [run.dataset.index[n[x]] for x in run.dataset.vocabulary]
    tokens = np.arange(run.dataset.V)
    others = np.ones(scores.shape, dtype=bool)
    others[answer, tokens] = False
    return np.asarray((scores[answer, tokens] - scores)[others])


def _quotient(run: Run) -> Series:
    """<W^(t), grad L0> / <W*, grad L0> from t = 1 on.

    -<W, grad L0> is the sum over x and v != n(x) of P_v(x) times the margin (e_{n(x)} - e_v)^T W x. So the
    quotient is an average of the margins of W, divided by one of W*'s, which are all 1 for orthonormal tokens
    and never less; the error bar spans the smallest and largest value that it can have. It also holds what
    the error of W does to the margins, and to ||W|| on the other side.
    """
    stage = run.stage1_steps
    kept = stage.step >= 1
    largest = float(_margins(run, run.ov.optimal().scores).max())
    least, most = stage.min_margin[kept], stage.max_margin[kept]
    low, high = np.minimum(least, least / largest), np.maximum(most, most / largest)
    error = margin_error(run, stage)[kept] + state_error(stage)[kept] / run.norm_ov
    rounding = FORMULA_ROUNDING * np.maximum(np.abs(low), np.abs(high))
    return series((low + high) / 2, radius=(high - low) / 2 + error + rounding, step=stage.step[kept])


def _quotient_bound(run: Run, t: Steps) -> Steps:
    """(1 + a_t) ||W|| / ||W*|| = ||W|| / ||W*|| + 2 log(2V)."""
    stage = run.stage1_steps
    norm = np.interp(t, stage.step, stage.norm)
    return np.asarray(norm / run.norm_ov + 2 * np.log(2 * run.dataset.V))


LEMMA2 = Claim(
    id="ntp.lemma2",
    source="arXiv 2409.17335, Lemma 2",
    statement=(
        "<W^(t), grad L0> >= (1 + a_t) (||W^(t)||/||W*_ov||) <W*_ov, grad L0> at W^(t), a_t = 2 ||W*_ov|| log(2V) / "
        "||W^(t)||. <W*_ov, grad L0> < 0, so it is audited as an upper bound on the quotient of the two inner products."
    ),
    formula=(
        r"\left\langle W^{(t)},\nabla L_0\right\rangle\ge(1+a_t)\frac{\lVert W^{(t)}\rVert}{\lVert W^*_{ov}\rVert}"
        r"\left\langle W^*_{ov},\nabla L_0\right\rangle,\quad a_t=\frac{2\lVert W^*_{ov}\rVert\log(2V)}"
        r"{\lVert W^{(t)}\rVert}"
    ),
    assumptions=ASSUMPTIONS,
    judgement=Bounded(measure=_quotient, upper=_quotient_bound),
    absent=partial(no_direction_ov, first=1),
)


def _label_spread(run: Run) -> Series:
    """Largest |(e_i - e_j)^T W x| over x and i, j != n(x), from t = 1 on."""
    stage = run.stage1_steps
    kept = stage.step >= 1
    return series(stage.label_spread[kept], radius=margin_error(run, stage)[kept], step=stage.step[kept])


def _norm(run: Run) -> Floats:
    stage = run.stage1_steps
    return stage.norm[stage.step >= 1]


def _no_two_labels(run: Run) -> str | None:
    if run.dataset.V == 2:
        return "Of two tokens only one is not n(x), so there are no two labels to compare."
    return no_direction_ov(run, first=1)


LEMMA3 = Claim(
    id="ntp.lemma3",
    source="arXiv 2409.17335, Lemma 3",
    statement="(e_i - e_j)^T W_ov^(t) x = 0 for all i, j != n(x); differences are relative to ||W_ov^(t)||.",
    formula=r"(e_i-e_j)^\top W_{ov}^{(t)}x=0\quad\text{for all }i,j\ne n(x)",
    assumptions=ASSUMPTIONS,
    judgement=Equal(
        measure=_label_spread,
        expected=lambda run: series(np.zeros(len(_norm(run))), radius=0.0),
        scale=_norm,
    ),
    absent=_no_two_labels,
)


def decide_corollary1(run: Run, side: Side, factor: int, power: int) -> Finding:
    """Whether all margins of W_ov^(T) lie above, or below, ``factor`` A, A = T eta0 / (4 ||W*_ov||^2).

    For orthonormal tokens they are all T eta0 / ||W*_ov|| = 4 ||W*_ov|| A (`sharp.stage1`), whatever T is:
    16 ||W*_ov||^2 against factor^2, two rational numbers. Otherwise the trained margins decide, where T is
    beyond the statement's threshold.
    """
    T, training = run.config.steps1, run.training
    start = last_crossing(384 * run.norm_ov**power * np.log(2 * run.dataset.V) / run.eta0, 1)
    margins = _margins(run, training.B)
    margin = float(margins.min() if side == "lower" else margins.max())
    A = run.eta0 / (4 * run.norm_ov**2)

    def bound(_: Run, __: Steps) -> Floats:
        return np.array([factor * T * A])

    at_T = Bounded(
        measure=lambda _: series(margin, radius=training.margin_error + FORMULA_ROUNDING * abs(margin)),
        lower=bound if side == "lower" else None,
        upper=bound if side == "upper" else None,
    ).judge(run)
    at = f", at which it is {_in_words(at_T)}" if T else ""
    speaks = f"The statement speaks from T >= {start:.4g}; the run has T = {T}{at}."
    if not isinstance(run.ov, Exact) or not run.assumption("orthonormal").holds:
        return replace(
            at_T,
            verdict=at_T.verdict if start <= T else Verdict.INCONCLUSIVE,
            worst_step=T,
            first_violation=T if start <= T and at_T.verdict is Verdict.VIOLATED else None,
            informative_from=step_from(start),
            detail=speaks,
        )
    square = run.ov.norm_squared_exact
    true = 16 * square > factor**2 if side == "lower" else 16 * square < factor**2
    first = step_from(start)
    return replace(
        at_T,
        verdict=Verdict.HOLDS if true else Verdict.VIOLATED,
        evidence=Evidence.EXACT,
        worst_step=T,
        first_violation=None if true else first,
        informative_from=first,
        detail=(
            f"At every T all margins are T eta0/||W*_ov|| = 4 ||W*_ov|| A (sharp.stage1), and (4 ||W*_ov||)^2 = "
            f"{16 * square} against {factor}^2 = {factor**2}: {'true' if true else 'false'} at every T. {speaks}"
        ),
        witness=None
        if true
        else {"T": first, "margin": float(first * run.eta0 / run.norm_ov), "bound": float(factor * first * A)},
    )


def _in_words(finding: Finding) -> str:
    return {Verdict.HOLDS: "true", Verdict.VIOLATED: "false"}.get(finding.verdict, "hidden by error bars")


def _corollary1(side: Side, suffix: str, power: int) -> Claim:
    relation, limit = (">", "A") if side == "lower" else ("<", "3 A")
    return Claim(
        id=f"ntp.corollary1.{side}{suffix}",
        source="arXiv 2409.17335, Corollary 1",
        statement=(
            f"For T >= 384 ||W*_ov||^{power} log(2V) log T / eta0: every (e_{{n(x)}} - e_i)^T W_ov^(T) x {relation} "
            f"{limit}, A = T eta0 / (4 ||W*_ov||^2)."
        ),
        formula=(
            rf"(e_{{n(x)}}-e_i)^\top W_{{ov}}^{{(T)}}x{relation}{limit.replace(' ', '')},\quad "
            rf"A=\frac{{T\eta_0}}{{4\lVert W^*_{{ov}}\rVert^2}},\quad "
            rf"T\ge\frac{{384\lVert W^*_{{ov}}\rVert^{power}\log(2V)\log T}}{{\eta_0}}"
        ),
        assumptions=ASSUMPTIONS,
        judgement=Decided(
            partial(decide_corollary1, side=side, factor=FACTOR[side], power=power), kind=f"{side} bound"
        ),
        absent=no_margin,
        instead=(
            r"All margins are $T\eta_0/\lVert W^*_{ov}\rVert=4\lVert W^*_{ov}\rVert A$ at every $T$, and "
            r"$\lVert W^*_{ov}\rVert^2=V-1$ (sharp.stage1): never below $4A$, for $V\ge2$."
        )
        if side == "upper"
        else "",
    )


CLAIMS = (
    LEMMA2,
    LEMMA3,
    *(_corollary1(side, suffix, power) for suffix, power in (("", 5), (".rederived", 7)) for side in FACTOR),
)
