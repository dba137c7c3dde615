"""Theorem 4: where rho tends to."""

from marginaudit import Series
from marginaudit.reports.standing import Implication, Severity, proved, refuted
from separable.claims.words import GENERIC, PAGE, SPANNED, printed, rederived, tends
from separable.quantities import from_one, late
from separable.run import DescentRun


def to_limit(run: DescentRun) -> Series:
    """1 + |rho - w~|/|w^|."""
    return from_one(run, late(run).rho - run.limit)


def inside(run: DescentRun) -> Series:
    """1 + |rho - w~|/|w^| within the span of the support vectors."""
    apart = late(run).rho - run.limit
    return from_one(run, apart - run.outside(apart))


WORDS = (
    "eta exp(-x_n.w~) = alpha_n on the support vectors, and outside their span w~ is w(0). Where duals are not unique, "
    "alpha is the dual solution that has such a w~."
)

PROOF = proved(f"{PAGE}5-separabletheorem4", "separable.theorem3.bounded", hunted=0)

PRINTED = printed(
    "theorem4",
    "Theorem 4",
    "rho(t) -> w~, where the support vectors span the data.",
    r"\rho(t)\to\tilde w,\quad \eta e^{-x_n^\top\tilde w}=\alpha_n\ (n\in S),\quad \bar P(\tilde w-w(0))=0",
    tends(to_limit, lambda run: 1.0),
    assumptions=SPANNED,
    standing=PROOF,
    readings=[WORDS],
)

UNSPANNED = printed(
    "theorem4.unspanned",
    "Theorem 4, as cited without its condition on the span/Theorem 4",
    "rho(t) -> w~ for all generic data, whether the support vectors span them or not.",
    r"\rho(t)\to\tilde w",
    tends(to_limit, lambda run: 1.0),
    assumptions=GENERIC,
    instead=r"Inside the span of the support vectors the limit is $\tilde w$'s; outside, points off the margin "
    r"have moved $w(0)$ by the finite $\eta\sum_t\sum_{n\notin S}|\ell'(x_n^\top w(t))|\bar Px_n$.",
    standing=refuted(
        None,
        severity=Severity.ORDINARY,
        wrong="Points off the margin move w for good outside the span of the support vectors.",
        hunted=0,
        weakest="the support vectors span the data",
    ),
    readings=[WORDS],
    implications=(
        Implication(
            sources=("separable.theorem4",),
            condition="the support vectors span the data",
            proof=f"{PAGE}5-separabletheorem4",
        ),
    ),
)

INSIDE = rederived(
    "theorem4",
    "theorem4.unspanned",
    ", Theorem 4",
    "The part of rho(t) in the span of the support vectors tends to that of w~, for all generic data.",
    r"P\rho(t)\to P\tilde w",
    tends(inside, lambda run: 1.0),
    mended="inside the span",
    assumptions=GENERIC,
    standing=PROOF,
)

CLAIMS = (PRINTED, UNSPANNED, INSIDE)
