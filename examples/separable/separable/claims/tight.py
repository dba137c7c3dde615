"""After Theorem 5: all its rates are attained; with the constants."""

from typing import Any

import numpy as np

from marginaudit import Claim
from marginaudit.claims import Parts, Verdict
from marginaudit.claims.standing import Implication, Severity, proved, refuted, unsettled
from marginaudit.margins.rational import combined, to_float
from separable.claims.theorem5 import RATES
from separable.claims.words import GENERIC, PAGE, SPANNED, order, printed, rederived, tends
from separable.descent import longest
from separable.quantities import direction, loss_times_t, margin_gap, times
from separable.run import DescentRun

ATTAINED = {name: order(*rate, "lower") for name, rate in RATES.items()}

ONE = f"{PAGE}8-separabletightexample"

PROOF = proved(f"{PAGE}7-rates", "separable.theorem4")


def across(run: DescentRun) -> float:
    """The length of w~ across w^, over |w^|: what direction times log t tends to."""
    w = run.limit
    unit = run.what / run.norm
    return longest((w - unit * (w @ unit))[np.newaxis]) / run.norm


def lag(run: DescentRun) -> float:
    """Limit of margin gap times log t: mean of x_n.w~ under alpha less its least, over |w^|."""
    support = run.dataset.signed[list(run.dataset.svm.support)]
    return float(run.limit @ (run.what / run.norm) / run.norm - (support @ run.limit).min()) / run.norm


def even(run: DescentRun) -> str | None:
    """Why a dataset does not exhibit the rate of the margin gap: equal duals are a solution, exactly."""
    svm, supports = run.dataset.svm, run.dataset.supports
    same = combined([svm.norm2 / len(supports)] * len(supports), supports) == svm.w
    return "x_n.w~ is the same on all support vectors: on such data the margin is faster" if same else None


def leaves(run: DescentRun) -> bool:
    """Whether w(0) leaves the span of the support vectors, beyond rounding."""
    return bool(np.linalg.norm(run.outside(run.w0)) > 1e-9 * np.linalg.norm(run.w0))


def no_such_point(run: DescentRun) -> str | None:
    """Why a run is not of appendix B's kind."""
    return None if run.dataset.N == 1 and leaves(run) else "the example has one point, and w(0) not along it"


def parallel(run: DescentRun) -> str | None:
    """Why a dataset does not exhibit the rate of the direction: neither does w(0) leave the span, up to rounding."""
    return "w~ is parallel to w^: on such data the direction is faster" if even(run) and not leaves(run) else None


def attained(name: str, formula: str, absent: Any = lambda run: None) -> Claim:
    """A lower bound of the same order."""
    return printed(
        f"tight.{name}",
        "after Theorem 5/section 3",
        f"The rate of the {name} is attained: bounded from below by c > 0 times the same order.",
        formula,
        ATTAINED[name],
        "Tight rates are read as attained by some data; here by all but those with a reason.",
        quote="A simple construction (also in Appendix B) shows that the rates in the above equations are tight.",
        assumptions=SPANNED,
        absent=absent,
        standing=PROOF,
    )


def constant(name: str, measure: Any, predicted: Any, statement: str, formula: str, **more: Any) -> Claim:
    """Limit of a rate's constant."""
    own = {"assumptions": SPANNED, "standing": PROOF, **more}
    judgement = tends(measure, predicted)
    return rederived(
        f"tight.{name}", f"theorem5.{name}", ", Theorem 5", statement, formula, judgement, "With the constant.", **own
    )


CLAIMS = (
    attained("direction", r"\sin\angle(w(t),\hat w)\ge\frac c{\log t}", parallel),
    attained("angle", r"1-\cos\angle(w(t),\hat w)\ge\frac c{\log^2t}", parallel),
    attained("margin", r"\gamma-\gamma(w(t))\ge\frac c{\log t}", even),
    attained("loss", r"\mathcal{L}(w(t))\ge\frac ct"),
    printed(
        "tight.example",
        "Appendix B",
        "On one point, from w(0) not along it, the rates of direction, angle, margin and loss are attained.",
        r"\sin\angle(w(t),\hat w),\ \gamma-\gamma(w(t))\ge\frac c{\log t},\quad \mathcal{L}(w(t))\ge\frac ct",
        Parts(ATTAINED),
        "The source has x = (1, 0), the exponential loss and the limit of small steps; here steps and losses are any.",
        quote="Using this example with w_2(0) > 0, it is easy to see that the above upper bounds are strict.",
        absent=no_such_point,
        instead=r"$\log^2t$ times the margin gap tends to $\lVert x\rVert^3\lVert w_\perp(0)\rVert^2/2$.",
        implications=(Implication(sources=(), condition="w(0) stays across x", proof=ONE, verdict=Verdict.VIOLATED),),
        standing=refuted(
            ONE,
            severity=Severity.EVERYWHERE,
            weakest="the part on the margin left out",
            wrong="the margin gap of one point is of order 1/log^2 t, and not of its bound's, 1/log t",
        ),
    ),
    printed(
        "tight.direction.all",
        "after Theorem 5",
        "Where a support vector has no positive dual, |w/|w| - w^/|w^|| >= c log log t/log t.",
        r"\sin\angle(w(t),\hat w)\ge c\,\frac{\log\log t}{\log t}",
        order(direction, lambda run, s: np.log(s) / s, "lower"),
        "The rate for all data is attained by data that are not generic.",
        absent=lambda run: None if run.dataset.svm.zero else "every support vector has a positive dual",
        standing=unsettled("the rate at which rho grows, of which only that it is unbounded is proved"),
    ),
    constant(
        "direction",
        times(direction),
        lambda run: across(run) or np.nan,
        "log t |w/|w| - w^/|w^|| -> |(I - w^ w^T/|w^|^2) w~|/|w^|.",
        r"\log t\,\Bigl\lVert\frac{w(t)}{\lVert w(t)\rVert}-\frac{\hat w}{\lVert\hat w\rVert}\Bigr\rVert"
        r"\to\frac{\lVert\tilde w_\perp\rVert}{\lVert\hat w\rVert}",
        absent=parallel,
    ),
    constant(
        "margin",
        times(margin_gap),
        lambda run: lag(run) or np.nan,
        "log t times the margin gap -> (sum alpha_n x_n.w~/sum alpha_n - min x_n.w~)/|w^|, n in S.",
        r"\log t\,(\gamma-\gamma(w(t)))\to\frac1{\lVert\hat w\rVert}"
        r"\Bigl(\frac{\hat w^\top\tilde w}{\lVert\hat w\rVert^2}-\min_{n\in S}x_n^\top\tilde w\Bigr)",
        absent=even,
    ),
    constant(
        "loss",
        loss_times_t,
        lambda run: to_float(run.dataset.svm.norm2) / run.eta,
        "t L(w(t)) -> |w^|^2/eta.",
        r"t\,\mathcal{L}(w(t))\to\frac{\lVert\hat w\rVert^2}{\eta}",
        assumptions=GENERIC,
        standing=proved(f"{PAGE}5-separabletheorem4", "separable.theorem4"),
    ),
)
