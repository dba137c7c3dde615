"""After Theorem 5: all its rates are attained; with the constants."""

from typing import Any

import numpy as np

from marginaudit import Claim, HiddenConstant, Limit
from marginaudit.reports.source_words import corrected
from marginaudit.reports.standing import proved
from separable.claims.words import ALL, GENERIC, PAGE, SOURCE, cited, not_settled
from separable.quantities import angle, direction, loss_times_t, margin_gap, times
from separable.run import DescentRun

SPANNED = (*GENERIC, "spanned")

PROOF = proved(f"{PAGE}7-rates", "separable.theorem4", hunted=0)

LEAST = 1e-6
"""Below, w~ counts as parallel to w^."""


def across(run: DescentRun) -> float:
    """The length of w~ across w^, over |w^|: what direction times log t tends to."""
    w = run.limit
    return float(np.linalg.norm(w - run.what * (w @ run.what) / run.norm**2)) / run.norm


def lag(run: DescentRun) -> float:
    """What margin gap times log t tends to: mean of x_n.w~ under alpha less its least, over |w^|."""
    support = run.dataset.signed[list(run.dataset.svm.support)]
    return float(run.limit @ run.what / run.norm**2 - (support @ run.limit).min()) / run.norm


def parallel(run: DescentRun) -> str | None:
    """Why a dataset does not exhibit the rate of the direction."""
    return None if across(run) > LEAST else "w~ is parallel to w^: on such data the direction is faster"


def even(run: DescentRun) -> str | None:
    """Why a dataset does not exhibit the rate of the margin gap."""
    return None if lag(run) > LEAST else "x_n.w~ is the same on all support vectors: on such data the margin is faster"


def attained(name: str, measure: Any, shape: Any, formula: str, absent: Any = lambda run: None) -> Claim:
    """A lower bound of the same order."""
    return Claim(
        id=f"separable.tight.{name}",
        source=f"{SOURCE}, after Theorem 5",
        statement=f"The rate of the {name} is attained: bounded from below by c > 0 times the same order.",
        formula=formula,
        assumptions=SPANNED,
        judgement=HiddenConstant(measure, shape, side="lower", regime=lambda run: run.regime),
        absent=absent,
        standing=PROOF,
        source_words=cited(
            "after Theorem 5",
            "That rates are tight is read as: some data attain them, here all but those that say why.",
        ),
    )


def constant(name: str, measure: Any, predicted: Any, statement: str, formula: str, absent: Any) -> Claim:
    """What the constant of a rate tends to."""
    return Claim(
        id=f"separable.tight.{name}.rederived",
        source="this project, on arXiv 1710.10345, Theorem 5",
        statement=statement,
        formula=formula,
        assumptions=SPANNED if name != "loss" else GENERIC,
        judgement=Limit(measure, predicted=predicted, regime=lambda run: run.regime),
        absent=absent,
        standing=PROOF if name != "loss" else proved(f"{PAGE}5-separabletheorem4", "separable.theorem4", hunted=0),
        source_words=corrected(f"separable.theorem5.{name}", "With the constant."),
    )


CLAIMS = (
    attained("direction", direction, lambda run, s: 1 / s, r"\sin\angle(w(t),\hat w)\ge\frac c{\log t}", parallel),
    attained("angle", angle, lambda run, s: 1 / s**2, r"1-\cos\angle(w(t),\hat w)\ge\frac c{\log^2t}", parallel),
    attained("margin", margin_gap, lambda run, s: 1 / s, r"\gamma-\gamma(w(t))\ge\frac c{\log t}", even),
    attained("loss", loss_times_t, lambda run, s: np.ones_like(s), r"\mathcal{L}(w(t))\ge\frac ct"),
    Claim(
        id="separable.tight.direction.all",
        source=f"{SOURCE}, after Theorem 5",
        statement="Where a support vector has no positive dual, |w/|w| - w^/|w^|| >= c log log t/log t.",
        formula=r"\sin\angle(w(t),\hat w)\ge c\,\frac{\log\log t}{\log t}",
        assumptions=ALL,
        judgement=HiddenConstant(direction, lambda run, s: np.log(s) / s, side="lower", regime=lambda run: run.regime),
        absent=lambda run: None if run.dataset.svm.zero else "every support vector has a positive dual",
        standing=not_settled("the rate at which rho grows, of which only that it is unbounded is proved"),
        source_words=cited("after Theorem 5", "The rate for all data is attained by data that are not generic."),
    ),
    constant(
        "direction",
        times(direction),
        across,
        "log t |w/|w| - w^/|w^|| -> |(I - w^ w^T/|w^|^2) w~|/|w^|.",
        r"\log t\,\Bigl\lVert\frac{w(t)}{\lVert w(t)\rVert}-\frac{\hat w}{\lVert\hat w\rVert}\Bigr\rVert"
        r"\to\frac{\lVert\tilde w_\perp\rVert}{\lVert\hat w\rVert}",
        parallel,
    ),
    constant(
        "margin",
        times(margin_gap),
        lag,
        "log t times the margin gap -> (sum alpha_n x_n.w~/sum alpha_n - min x_n.w~)/|w^|, n in S.",
        r"\log t\,(\gamma-\gamma(w(t)))\to\frac1{\lVert\hat w\rVert}"
        r"\Bigl(\frac{\hat w^\top\tilde w}{\lVert\hat w\rVert^2}-\min_{n\in S}x_n^\top\tilde w\Bigr)",
        even,
    ),
    constant(
        "loss",
        loss_times_t,
        lambda run: run.norm**2 / run.eta,
        "t L(w(t)) -> |w^|^2/eta.",
        r"t\,\mathcal{L}(w(t))\to\frac{\lVert\hat w\rVert^2}{\eta}",
        lambda run: None,
    ),
)
