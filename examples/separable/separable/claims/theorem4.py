"""Theorem 4: where rho tends to."""

import numpy as np

from marginaudit import Claim, Limit, Series
from marginaudit.reports.source_words import corrected
from marginaudit.reports.standing import Implication, Severity, proved, refuted
from separable.claims.words import GENERIC, PAGE, SOURCE, cited
from separable.quantities import from_one, late
from separable.run import DescentRun


def to_limit(run: DescentRun) -> Series:
    """1 + |rho - w~|."""
    return from_one(run, np.linalg.norm(late(run).rho - run.limit, axis=1))


def inside(run: DescentRun) -> Series:
    """1 + |rho - w~| within the span of the support vectors."""
    apart = late(run).rho - run.limit
    return from_one(run, np.linalg.norm(apart - run.outside(apart), axis=1))


def judged_by(measure: object) -> Limit:
    """A distance of limit 0."""
    return Limit(measure, predicted=lambda run: 1.0, regime=lambda run: run.regime)  # type: ignore[arg-type]


WORDS = (
    "eta exp(-x_n.w~) = alpha_n on the support vectors, and outside their span w~ is w(0). Where duals are not unique, "
    "alpha is the dual solution that has such a w~."
)

PRINTED = Claim(
    id="separable.theorem4",
    source=f"{SOURCE}, Theorem 4",
    statement="rho(t) -> w~, where the support vectors span the data.",
    formula=r"\rho(t)\to\tilde w,\quad \eta e^{-x_n^\top\tilde w}=\alpha_n\ (n\in S),\quad \bar P(\tilde w-w(0))=0",
    assumptions=(*GENERIC, "spanned"),
    judgement=judged_by(to_limit),
    standing=proved(f"{PAGE}5-separabletheorem4", "separable.theorem3.bounded", hunted=0),
    source_words=cited("Theorem 4", WORDS),
)

UNSPANNED = Claim(
    id="separable.theorem4.unspanned",
    source=f"{SOURCE}, Theorem 4, as cited without its condition on the span",
    statement="rho(t) -> w~ for all generic data, whether the support vectors span them or not.",
    formula=r"\rho(t)\to\tilde w",
    assumptions=GENERIC,
    judgement=judged_by(to_limit),
    instead=r"Inside the span of the support vectors the limit is $\tilde w$'s; outside, points off the margin "
    r"have moved $w(0)$ by the finite $\eta\sum_t\sum_{n\notin S}|\ell'(x_n^\top w(t))|\bar Px_n$.",
    standing=refuted(
        None,
        severity=Severity.ORDINARY,
        hunted=0,
        weakest="the support vectors span the data",
    ),
    source_words=cited("Theorem 4", WORDS),
    implications=(
        Implication(
            sources=("separable.theorem4",),
            condition="the support vectors span the data",
            proof=f"{PAGE}5-separabletheorem4",
        ),
    ),
)

INSIDE = Claim(
    id="separable.theorem4.rederived",
    source="this project, on arXiv 1710.10345, Theorem 4",
    statement="The part of rho(t) in the span of the support vectors tends to that of w~, for all generic data.",
    formula=r"P\rho(t)\to P\tilde w",
    assumptions=GENERIC,
    judgement=judged_by(inside),
    standing=proved(f"{PAGE}5-separabletheorem4", "separable.theorem3.bounded", hunted=0),
    source_words=corrected("separable.theorem4.unspanned", mended="inside the span"),
)

CLAIMS = (PRINTED, UNSPANNED, INSIDE)
