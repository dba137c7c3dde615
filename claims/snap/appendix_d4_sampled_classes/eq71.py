"""The first equality of eq. 71 in arXiv 2305.16380: e_n - alpha_n by the rows of W."""

from functools import partial

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Equal
from marginaudit.claims.quotation import quoted
from marginaudit.claims.series import Series
from marginaudit.claims.snap.appendix_d4_sampled_classes.decoder import counts, entries, residuals, size_of
from marginaudit.claims.snap.conditions import RANGE_R, THEOREM_5, outside_range_r
from marginaudit.claims.snap.readings import H_STAR, NO_REFUGE, PAGE, ROUNDED, SOURCE, variant
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import Severity, contradicts, proved, refuted
from marginaudit.training.snap.balls.coefficients import enclosures, rows_of
from marginaudit.training.snap.limit.fluctuation import FluctuationLaw, continuous_fluctuation, fluctuation

PROOF = PAGE + "85-snapeq71"


def with_shares(run: ClassRun, law: FluctuationLaw) -> Series:
    """(M-1)/(M-1+exp(M h(N_n))) zeta_n of each class, h of the law."""
    return entries(run, rows_of(enclosures(law(counts(run), run.M, run.eta_Y).rows.share), run.M))


def _eq71(law: FluctuationLaw) -> Equal:
    return Equal(measure=residuals, expected=partial(with_shares, law=law), scale=size_of(residuals))


EQ71 = Claim(
    id="snap.eq71",
    source=f"{SOURCE}, Corollary 1, the first equality of eq. 71",
    statement=(
        "Range R, after N >> K^2 steps of eq. 26 from zero: e_n - alpha_n = (M-1)/(M-1+exp(M h(N_n))) zeta_n for every "
        "class n, h standing for the recursion's h*."
    ),
    formula=r"e_n-\alpha_n=\frac{M-1}{M-1+\exp(Mh(N_n))}\zeta_n",
    assumptions=(*THEOREM_5, RANGE_R),
    judgement=_eq71(fluctuation),
    absent=outside_range_r,
    standing=proved(PROOF, "snap.lemma5", hunted=89),
    source_words=quoted(
        "appendix D.4, Corollary 1, eq. 71, its first line",
        "for all n in [K], we have (x_{T+1} - alpha_n) = (M-1)/((M-1) + exp(Mh(N_n))) zeta_n",
        f"{H_STAR} e_n - alpha_n is that after N steps.",
    ),
)

EQ71_CONTINUOUS = variant(
    EQ71,
    "continuous",
    "The continuous h of Lemma 6 in place of h*.",
    source=f"{SOURCE}, Corollary 1, the first equality of eq. 71, with the continuous h",
    statement=EQ71.statement.replace("h standing for the recursion's h*", "with the continuous h of Lemma 6"),
    judgement=_eq71(continuous_fluctuation),
    instead="With $h^*$ for $h$ it is exact (snap.eq71): $h^*(s)>h(s)$ after every step.",
    standing=refuted(
        PROOF,
        "snap.eq71",
        severity=Severity.EVERYWHERE,
        cause="snap.lemma12.any-step",
        wrong=(
            "The recursion is ahead of the continuous h after every step, so the error is smaller than the "
            "formula says."
        ),
        hunted=1,
        weakest=NO_REFUGE,
    ),
    implications=(
        contradicts(
            "snap.eq71",
            condition="h* is above h after every step",
            proof=PROOF,
            unseen=ROUNDED,
        ),
    ),
)

CLAIMS: tuple[Claim, ...] = (EQ71, EQ71_CONTINUOUS)
