"""Corollary 2: common tokens of symmetric classes with one query lose attention."""

import numpy as np

from marginaudit.claims.claim import Claim
from marginaudit.claims.quotation import quoted
from marginaudit.claims.snap.appendix_d5_theorem1.overlap import BITS, no_pair
from marginaudit.claims.snap.appendix_e_attention.eq10 import EQ_10, FLOW, common_beside_distinct, common_pairs
from marginaudit.claims.snap.appendix_e_attention.token_gains import (
    SYMMETRIC,
    lose,
    no_common_gains,
    not_equal,
    symmetric,
)
from marginaudit.claims.snap.conditions import THEOREM_5, slow_decoder
from marginaudit.claims.snap.readings import PAGE, SOURCE, variant
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import Implication, Severity, contradicts, proved, refuted
from marginaudit.orders.snap import common_tokens

PROOF = PAGE + "73-snapcorollary2"

ANY_CLASSES_PROOF = PAGE + "42-snapcorollary2any-classes"


def no_common_gain(run: ClassRun) -> str | None:
    """Reason why no common token is known to gain at Z = 0, or None: eq. 10 over eta_Z gamma in ball arithmetic."""
    import flint
    from flint import arb

    from marginaudit.training.snap.balls.matrices import features

    if reason := no_pair(run):
        return reason
    data, K, M = run.dataset, run.K, run.M
    common = [data.contextual.index(token) for token in common_tokens(data)]
    with flint.ctx.workprec(BITS):
        F = features(data.P)
        I_E = F.transpose() * F
        left = I_E.inv()  # I - E'
        q_1, q_0 = arb(M) / (M - 1), -arb(M) / (M - 1) ** 2
        sums = [sum(row, arb(0)) for row in left.tolist()]
        beta = flint.arb_mat(
            [[-(q_1 - q_0) * left[n, k] - q_0 * sums[k] if k != n else arb(0) for k in range(K)] for n in range(K)]
        )
        xi = [sum((beta[n, k] * I_E[n, k] for k in range(K)), arb(0)) for n in range(K)]
        heard = F * beta.transpose()
        for members in data.queries.values():
            for l in common:  # noqa: E741
                if sum((F[l, n] * (F[l, n] * xi[n] - heard[l, n]) for n in members), arb(0)) > 0:
                    return None
    return "at Z = 0 no common token is known to gain"


def no_constant_common(run: ClassRun) -> str | None:
    """Reason why no query is known to have a constant common token, or None.

    Under a query whose classes have single tokens, or the same tokens in every class, attention is constant.
    """
    data, common = run.dataset, set(common_tokens(run.dataset))
    for members in data.queries.values():
        supports = [np.flatnonzero(data.P[n]) for n in members]
        if all((data.P[:, own] == data.P[:, own[:1]]).all() for own in supports) and any(
            data.contextual[token] in common for own in supports for token in own
        ):
            return None
    return "no query with common tokens has constant attention"


def not_as_in_corollary_2(run: ClassRun) -> str | None:
    """Reason why Corollary 2 and Theorem 2 (b) for two classes do not apply to common tokens, or None."""
    beside = len(common_beside_distinct(run)) == len(common_pairs(run))
    single = run.K == 2 and run.assumption("single_common").holds and beside
    if symmetric(run) or single:
        return not_equal(run)
    return "the classes do not meet Corollary 2's conditions, and are not two with one common token"


COROLLARY2 = Claim(
    id="snap.corollary2",
    source=f"{SOURCE}, Corollary 2",
    source_words=quoted(
        "appendix E, Corollary 2",
        "Single query token .. Symmetry .. Global common tokens with shared conditional probability .. Then for "
        "any common token l in G_CT, z-dot_{m_0,l} < 0",
        FLOW,
    ),
    statement=(
        "With one query, symmetric classes, P(l|n) of common tokens l the same for all n, and Z(0) = 0, under eq. 10 "
        f"every common token loses at every t > 0; {EQ_10}."
    ),
    formula=r"l\in G_{CT}\ \Rightarrow\ \dot z_{m_0l}\lt 0",
    assumptions=(*THEOREM_5, *SYMMETRIC),
    standing=proved(PROOF, "snap.theorem1.form.rederived", hunted=5),
    judgement=lose("Common tokens", common_pairs, from_zero=True),
    absent=lambda run: slow_decoder(run) or no_common_gains(run),
)

ANY_CLASSES = variant(
    COROLLARY2,
    "any-classes",
    "Without its conditions (1) to (3).",
    source=f"{COROLLARY2.source} without its conditions (1) to (3)",
    statement=f"From Z(0) = 0, under eq. 10 every common token loses at every t > 0, whatever the classes; {EQ_10}.",
    assumptions=THEOREM_5,
    absent=no_common_gains,
    standing=refuted(
        ANY_CLASSES_PROOF,
        severity=Severity.ORDINARY,
        wrong=(
            "Corollary 2 needs its conditions: a common token that is rare in one of two classes is nearly distinct, "
            "and gains."
        ),
        hunted=414,
        weakest="conditions (1) to (3) of Corollary 2 (snap.corollary2)",
    ),
    implications=(
        contradicts(
            "snap.lemma14",
            condition="where Z = 0 a common token gains",
            proof=ANY_CLASSES_PROOF,
            unmet=no_common_gain,
            unseen="float64 hides the sign at Z = 0",
        ),
        contradicts(
            condition="under a query with a common token each class's tokens are alike in every class: none moves",
            proof=ANY_CLASSES_PROOF,
            unmet=no_constant_common,
            unseen="float64 cannot separate 0 from nearby values",
        ),
        Implication(
            sources=("snap.theorem1.form.rederived",),
            condition="classes are as in Corollary 2, or two with one common token",
            proof=PROOF,
            unmet=not_as_in_corollary_2,
        ),
    ),
    instead=(
        "with two classes of one query, at first those and only those gain for which "
        r"$f_1^\top f_2\,(f_{1l}^2+f_{2l}^2)>2f_{1l}f_{2l}$ (docs/proofs-snap.md section 4.2)."
    ),
)

CLAIMS: tuple[Claim, ...] = (COROLLARY2, ANY_CLASSES)
