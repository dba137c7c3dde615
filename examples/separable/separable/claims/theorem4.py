"""Theorem 4: where rho tends to."""

from dataclasses import replace
from functools import partial

from flint import fmpq

from marginaudit.claims import Decided, Finding, Verdict
from marginaudit.claims.standing import Implication, Severity, proved, refuted
from marginaudit.margins.rational import balanced, combined
from separable.claims.words import GENERIC, PAGE, SPANNED, printed, rederived, tends
from separable.quantities import to_limit
from separable.run import DescentRun

TO_LIMIT = tends(to_limit, lambda run: 1.0)


def within_the_span(run: DescentRun) -> Finding:
    """The limit as measured; not decided where it seems w~ but points off the margin lie outside the support's span."""
    found = TO_LIMIT.judge(run)
    if found.verdict is Verdict.HOLDS and not run.assumption("spanned").holds:
        return replace(found, verdict=Verdict.INCONCLUSIVE)
    return found


def cancels(run: DescentRun) -> str | None:
    """Why pulls > 0 might move w(0) by 0 outside the span, in rational arithmetic; None where some v shows the motion.

    v has v.x_n = 0 on the support vectors, v.x_n >= 0 on all others, and more on one.
    """
    svm, supports = run.dataset.svm, run.dataset.supports
    off = [x for x, margin in zip(run.dataset.exact, svm.margins, strict=True) if margin > 1]
    both = [*supports, *([-value for value in x] for x in supports)]
    vectors = [*off, combined([fmpq(1)] * len(off), off), *both]
    multipliers, _ = balanced(vectors, [0] * len(off) + [1] + [0] * len(both))
    return None if multipliers is None else "what points off the margin have moved may cancel outside the span"


WORDS = (
    "eta exp(-x_n.w~) = alpha_n on the support vectors, and outside their span w~ is w(0). Where duals are not unique, "
    "alpha is the dual solution that has such a w~."
)

PLACE = f"{PAGE}5-separabletheorem4"

PROOF = proved(PLACE, "separable.theorem3.bounded")

CLAIMS = (
    printed(
        "theorem4",
        "Theorem 4",
        "rho(t) -> w~, where the support vectors span the data.",
        r"\rho(t)\to\tilde w,\quad \eta e^{-x_n^\top\tilde w}=\alpha_n\ (n\in S),\quad \bar P(\tilde w-w(0))=0",
        TO_LIMIT,
        WORDS,
        quote="if, in addition the support vectors span the data .. then lim ρ(t) = w̃, where w̃ is unique, given w(0)",
        assumptions=SPANNED,
        standing=PROOF,
    ),
    printed(
        "theorem4.unspanned",
        "Theorem 4, as cited without its condition on the span",
        "rho(t) -> w~ for all generic data, whether the support vectors span them or not.",
        r"\rho(t)\to\tilde w",
        Decided(within_the_span, TO_LIMIT.kind),
        WORDS,
        assumptions=GENERIC,
        instead=r"Inside the span of the support vectors the limit is $\tilde w$'s; outside, points off the margin "
        r"have moved $w(0)$ by the finite $\eta\sum_t\sum_{n\notin S}|\ell'(x_n^\top w(t))|\bar Px_n$.",
        standing=refuted(
            PLACE,
            severity=Severity.ORDINARY,
            wrong="Points off the margin move w for good outside the span of the support vectors.",
            weakest="the support vectors span the data",
        ),
        implications=(
            Implication(sources=("separable.theorem4",), condition="the support vectors span the data", proof=PLACE),
            Implication(
                sources=("separable.theorem4.rederived",),
                condition="what points off the margin moved outside the span does not cancel, whatever their pulls",
                proof=PLACE,
                unmet=cancels,
                verdict=Verdict.VIOLATED,
                unseen="the distance of the limits is below its error bars",
            ),
        ),
    ),
    rederived(
        "theorem4",
        "theorem4.unspanned",
        ", Theorem 4",
        "The part of rho(t) in the span of the support vectors tends to that of w~, for all generic data.",
        r"P\rho(t)\to P\tilde w",
        tends(partial(to_limit, inside=True), lambda run: 1.0),
        mended="inside the span",
        assumptions=GENERIC,
        standing=PROOF,
    ),
)
