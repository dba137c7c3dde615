"""Lemma 17: distance of E' from E."""

from functools import partial

import networkx as nx
import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded, Decided
from marginaudit.claims.quotation import quoted
from marginaudit.claims.series import Series, series
from marginaudit.claims.snap.appendix_d5_theorem1.overlap import largest_eigenvalue, pairs_of_classes
from marginaudit.claims.snap.readings import PAGE, SOURCE, variant
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import Implication, Severity, Weight, proved, refuted
from marginaudit.claims.verdict import Evidence, Finding, Verdict, not_applicable
from marginaudit.orders.snap.assumptions import dependent

PROOF = PAGE + "31-snaplemma17"

BELOW_ONE = "|lambda_1| < 1"


def not_below_one(run: ClassRun) -> str | None:
    """Reason for |lambda_1| >= 1, or None."""
    return None if run.assumption("overlap_below_one").holds else "|lambda_1| is not below 1"


def differences(run: ClassRun) -> Series:
    """|E'_nn' - E_nn'| of all pairs, including n' = n. The error bars include that of |lambda_1| in the bound."""
    largest, e = largest_eigenvalue(run)
    difference = run.overlap.E_prime - run.overlap.E
    moved = 2 * (largest + e) * e / (1 - largest - e) ** 2
    radius = difference.error.ravel() + moved
    return series(np.abs(difference.value).ravel(), radius=radius, label=pairs_of_classes(run))


def bound(run: ClassRun) -> float:
    """|lambda_1|^2/(1-|lambda_1|)."""
    largest, _ = largest_eigenvalue(run)
    return largest**2 / (1 - largest)


LEMMA17_BOUND = Bounded(measure=differences, upper=lambda run, _: np.full(run.K**2, bound(run)))


def lambda_1_is_minus_one(run: ClassRun) -> bool:
    """Whether -1 is an eigenvalue of E as large as any, in exact arithmetic.

    1 + lambda is an eigenvalue of a Gram matrix, so lambda >= -1, and -1 is attained iff the classes' attention is
    linearly dependent. If the graph of overlapping classes is bipartite, -lambda is an eigenvalue with lambda (Perron
    and Frobenius, E >= 0), so that none has a larger absolute value.
    """
    occurs = (run.dataset.P > 0).astype(float)
    overlapping = nx.from_numpy_array(occurs @ occurs.T - np.diag(occurs.sum(axis=1)) > 0)
    if not nx.is_bipartite(overlapping):
        return False
    return dependent(run.dataset)


def judged(run: ClassRun, bound: Bounded) -> Finding:
    """Lemma 17's bound for lambda_1 < 1, lambda_1 the eigenvalue of largest absolute value."""
    assumption = run.assumption("overlap_below_one")
    if assumption.holds:
        return bound.judge(run)
    if lambda_1_is_minus_one(run):
        return Finding(
            Verdict.VIOLATED,
            Evidence.EXACT,
            detail=(
                "lambda_1 = -1 is below 1 and no eigenvalue is larger in absolute value, but I + E is singular: there "
                "is no E', and the bound divides by 0."
            ),
            witness={"lambda_1": -1},
        )
    witness = assumption.witness or {}
    if witness.get("undecided"):
        return Finding(Verdict.INCONCLUSIVE, detail=f"Whether lambda_1 is below 1 is not decided: {dict(witness)}.")
    return not_applicable(f"lambda_1 is not below 1: {dict(witness)}.", witness)


LEMMA17 = Claim(
    id="snap.lemma17",
    source=f"{SOURCE}, Lemma 17",
    source_words=quoted(
        "appendix D.5, Lemma 17",
        "If lambda_1 < 1, then |E'_nn' - E_nn'| <= |lambda_1|^2 (1 - |lambda_1|)^{-1}",
        "lambda_1 is largest in absolute value. E has no negative entry (Lemma 16), so by Perron and Frobenius "
        "|lambda_1| is itself an eigenvalue: lambda_1 is that one, and the condition is on |lambda_1|, as in Lemma 14, "
        "from which the proof starts.",
    ),
    statement=f"Where {BELOW_ONE}, every |E'_nn' - E_nn'| is at most |lambda_1|^2/(1-|lambda_1|).",
    formula=r"\lvert\lambda_1\rvert\lt 1\ \Rightarrow\ \lvert E'_{nn'}-E_{nn'}\rvert\le"
    r"\frac{\lvert\lambda_1\rvert^2}{1-\lvert\lambda_1\rvert}",
    assumptions=("overlap_below_one",),
    standing=proved(PROOF, "snap.lemma14", hunted=1127),
    judgement=LEMMA17_BOUND,
)

LITERAL = variant(
    LEMMA17,
    "literal",
    "The letter lambda_1 with its sign, either one where two eigenvalues of opposite sign are largest.",
    statement=(
        "Where lambda_1 < 1, every |E'_nn' - E_nn'| is at most |lambda_1|^2/(1-|lambda_1|); lambda_1 is the eigenvalue "
        "of E of largest absolute value, either one where two of opposite sign are."
    ),
    formula=LEMMA17.formula.replace(r"\lvert\lambda_1\rvert\lt", r"\lambda_1\lt", 1),
    assumptions=(),
    standing=refuted(
        PROOF,
        severity=Severity.SLIP,
        weight=Weight.ASIDE,
        wrong=(
            "Lemma 17 needs |lambda_1| < 1, a letter: two classes of the same attention have the eigenvalue -1 beside "
            "1, and there is no E'."
        ),
        hunted=19,
        weakest=BELOW_ONE,
    ),
    implications=(Implication(sources=("snap.lemma17",), condition=BELOW_ONE, proof=PROOF, unmet=not_below_one),),
    judgement=Decided(partial(judged, bound=LEMMA17_BOUND), LEMMA17_BOUND.kind),
    instead=r"it is true where $\lvert\lambda_1\rvert<1$: snap.lemma17.",
)

CLAIMS: tuple[Claim, ...] = (LEMMA17, LITERAL)
