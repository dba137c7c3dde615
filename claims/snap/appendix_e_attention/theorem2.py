"""Theorem 2: under eq. 10 distinct tokens gain attention (a), and a common token loses it (b)."""

from marginaudit.claims.claim import Claim
from marginaudit.claims.quotation import quoted
from marginaudit.claims.snap.appendix_e_attention.eq10 import (
    AT_THE_TIME,
    EQ_10,
    FROM_ZERO,
    IN_THE_MEAN,
    OF_RUNS,
    assumption_2_never_met,
    common_beside_distinct,
    distinct_pairs,
    no_rule,
)
from marginaudit.claims.snap.appendix_e_attention.token_gains import (
    gain,
    gain_of_the_run,
    lose,
    loss_of_the_run,
    no_common_gains,
    no_distinct_gains,
    positive_along_eq_10,
)
from marginaudit.claims.snap.conditions import THEOREM_5, not_three_classes, slow_decoder
from marginaudit.claims.snap.readings import PAGE, SOURCE, variant
from marginaudit.claims.standing import Implication, proved, unsettled

PROOF = PAGE + "77-snaptheorem2distinct-snaptheorem2common-and-snaptheorem3growth"

ONE_COMMON = ("single_common", "distinct_beside_common")

THREE_CLASSES = Implication(
    sources=("snap.theorem1.form.rederived",),
    condition="there are three classes",
    proof=PAGE + "710-snaptheorem2distinctfrom-zero-and-snaptheorem3growthfrom-zero-for-three-classes",
    unmet=not_three_classes,
)
"""All xi_n > 0 along eq. 10 from Z = 0."""

FOUR_CLASSES = (
    "whether xi_n > 0 for four classes or more beyond the t to which section 7.9 of docs/proofs-snap.md proves it (for "
    "two or three, symmetric ones and one common token it is proved at every t): tried was that -ln det(I+E), or it "
    "less 1/M of the sum of (I+E)^-1, never rises, but near their stationary points both do, and missing is a bound on "
    "all such rises together"
)
"""The open question behind a statement on every t."""

DISTINCT = Claim(
    id="snap.theorem2.distinct",
    source=f"{SOURCE}, Theorem 2 (a), eq. 98",
    source_words=quoted(
        "section 5, Theorem 2 (a); appendix E, eq. 98",
        "if Assumption 2 holds, under the self-attention dynamics (Eqn. 10), we have: (a) for any distinct token "
        "l .. z-dot_ml > 0",
        AT_THE_TIME,
    ),
    statement=(
        "Under eq. 10 from Z = 0 every distinct token gains, z-dot > 0, at every t > 0 at which attention, as it is "
        f"then, meets Assumption 2; {EQ_10}."
    ),
    formula=r"l\in G_{DT}(n)\ \Rightarrow\ \dot z_{\psi(n)l}=\eta_Zf_{nl}^2\xi_n\gt 0",
    assumptions=("uniform_classes",),
    standing=proved(PROOF, "snap.theorem1.form.rederived", "snap.lemma16", hunted=7),
    judgement=gain("Distinct tokens", from_zero=False),
    absent=lambda run: slow_decoder(run) or no_distinct_gains(run) or assumption_2_never_met(run),
)

DISTINCT_FROM_ZERO = variant(
    DISTINCT,
    "from-zero",
    FROM_ZERO,
    source=f"{SOURCE}, Theorem 2 (a) with Assumption 2 at Z = 0 alone",
    statement=(
        "Where Assumption 2 holds at Z = 0, under eq. 10 from there every distinct token gains, z-dot > 0, at every t "
        f"from 1 to the last that is recorded; {EQ_10}."
    ),
    assumptions=THEOREM_5,
    standing=unsettled(FOUR_CLASSES, hunted=28),
    implications=(*positive_along_eq_10("72-snaptheorem2distinctfrom-zero-where-71-applies"), THREE_CLASSES),
    judgement=gain("Distinct tokens", from_zero=True),
    absent=no_distinct_gains,
)

DISTINCT_OF_RUNS = variant(
    DISTINCT,
    "sgd",
    IN_THE_MEAN,
    source=f"{SOURCE}, Theorem 2 (a), for a recorded run by batches",
    statement=(
        "In the mean over the draw of a recorded run's batches, summed over its steps, z of every distinct token "
        "gains, whether or not Assumptions 1 (c) and 2 hold."
    ),
    formula=r"l\in G_{DT}(n)\ \Rightarrow\ \sum_t\mathbb E_t[z_{\psi(n)l}(t+1)-z_{\psi(n)l}(t)]\gt 0",
    standing=unsettled(OF_RUNS),
    judgement=gain_of_the_run(distinct_pairs),
    absent=lambda run: no_rule(run) or no_distinct_gains(run),
)

COMMON = Claim(
    id="snap.theorem2.common",
    source=f"{SOURCE}, Theorem 2 (b), eq. 100",
    source_words=quoted(
        "section 5, Theorem 2 (b); appendix E, eq. 100",
        "if |G_CT| = 1 and at least one next token .. has at least one distinct token, then .. z-dot_ml < 0",
        f"Judged, query by query, where one of its classes has a distinct token. {AT_THE_TIME}",
    ),
    statement=(
        "Where one token is common, under eq. 10 from Z = 0 it loses, z-dot < 0, under every query of which some class "
        f"has a distinct token, at every t > 0 at which attention, as it is then, meets Assumption 2; {EQ_10}."
    ),
    formula=r"\lvert G_{CT}\rvert=1,\ l\in G_{CT}\ \Rightarrow\ "
    r"\dot z_{ml}=-\eta_Z\sum_{n\in\psi^{-1}(m)}(1-f_{nl}^2)\xi_n\lt 0",
    assumptions=("uniform_classes", *ONE_COMMON),
    standing=proved(PROOF, "snap.theorem2.distinct", hunted=25),
    judgement=lose("The common token", common_beside_distinct, from_zero=False),
    absent=lambda run: slow_decoder(run) or no_common_gains(run) or assumption_2_never_met(run),
)

COMMON_FROM_ZERO = variant(
    COMMON,
    "from-zero",
    "Assumption 2 at Z = 0 alone, and then for ever.",
    source=f"{SOURCE}, Theorem 2 (b) with Assumption 2 at Z = 0 alone",
    statement=(
        "Where one token is common and Assumption 2 holds at Z = 0, under eq. 10 from there it loses, z-dot < 0, under "
        f"every query of which some class has a distinct token, at every t > 0; {EQ_10}."
    ),
    assumptions=(*THEOREM_5, *ONE_COMMON),
    standing=proved(PAGE + "78-snaptheorem2commonfrom-zero", "snap.theorem1.form.rederived", "snap.lemma16", hunted=18),
    judgement=lose("The common token", common_beside_distinct, from_zero=True),
    absent=no_common_gains,
)

COMMON_OF_RUNS = variant(
    COMMON,
    "sgd",
    IN_THE_MEAN,
    source=f"{SOURCE}, Theorem 2 (b), for a recorded run by batches",
    statement=(
        "In the mean over the draw of a recorded run's batches, summed over its steps, every common token loses, z, "
        "under every query of which some class has a distinct token, whether or not Assumptions 1 (c) and 2 hold."
    ),
    formula=r"l\in G_{CT}\ \Rightarrow\ \sum_t\mathbb E_t[z_{ml}(t+1)-z_{ml}(t)]\lt 0",
    assumptions=("uniform_classes", "distinct_beside_common"),
    standing=unsettled(OF_RUNS),
    judgement=loss_of_the_run(common_beside_distinct),
    absent=lambda run: no_rule(run) or no_common_gains(run),
)

CLAIMS: tuple[Claim, ...] = (DISTINCT, DISTINCT_FROM_ZERO, DISTINCT_OF_RUNS, COMMON, COMMON_FROM_ZERO, COMMON_OF_RUNS)
