"""Remark 2 of arXiv 2305.16380: the lag l with h*(s) = h(s + l)."""

import numpy as np

from marginaudit.claims.claim import Claim, NotFollowed
from marginaudit.claims.judgements import Bounded, HiddenConstant, Parts
from marginaudit.claims.quotation import quoted, rederived
from marginaudit.claims.series import FORMULA_ROUNDING, Series, series
from marginaudit.claims.snap.conditions import no_recorded_growth, no_zeros
from marginaudit.claims.snap.readings import PAGE
from marginaudit.claims.snap.run import ClassRun
from marginaudit.claims.standing import Severity, Weight, contradicts, proved, refuted
from marginaudit.orders.arrays import Floats
from marginaudit.training.snap.limit.recursion import TAKEN, Recursion, h_star

PROOF = PAGE + "11-snapremark2rederived"


def proved_lag(run: ClassRun) -> Series:
    """Lower bound on the lag, (ln(eta_Y s/2) - eta_Y)/2, along ln s: docs/proofs-snap.md, section 1.1.

    Proved for eta_Y s >= 4 ln M + 8. The first s satisfies this and makes the bound at least 1.
    """
    shift = np.log(run.eta_Y / 2) - run.eta_Y
    first = max(np.log((4 * np.log(run.M) + 8) / run.eta_Y), 2 - shift)
    log_s = first * np.geomspace(1, 1e5, 101)
    value = (log_s + shift) / 2
    return series(value, radius=FORMULA_ROUNDING * (log_s + abs(shift)), step=log_s, clock="ln s")


def _seen_lag(run: ClassRun) -> str:
    found = h_star(run.steps, run.M, run.eta_Y)
    if not len(found.step):
        return ""
    return (
        f"On this run the lag is {found.lag.value[-1]:.4g} at s = {int(found.step[-1])}, "
        f"{found.lag.value[-1] / np.log(run.M):.3g} times ln M."
    )


REMARK2 = Claim(
    id="snap.remark2",
    source="arXiv 2305.16380, Remark 2",
    statement=(
        "eta_Y = O(1): h*(s) <= h(s + c) with one c = O(ln M) for all s > s_1 = 2 ln(1+omega_1)/eta_Y; audited by the "
        "least lag that is proved, as s grows."
    ),
    formula=r"h^*(s)\le h(s+c),\quad c=O(\ln M),\quad s>\frac{2\ln(1+\omega_1)}{\eta_Y}",
    assumptions=(),
    judgement=Parts(
        {
            "One c serves every s": HiddenConstant(
                measure=proved_lag, shape=lambda run, at: np.full(len(at), np.log(run.M))
            )
        },
        note=_seen_lag,
    ),
    absent=lambda run: no_zeros(run) or no_recorded_growth(run),
    instead=(
        r"$h^*$ is $h$, later by a lag that grows without end, like $\ln(\eta_Ys)/2$: it lies between "
        r"$(\ln(1+u)-\eta_Y)/2$ and $e^{\eta_Y}\ln(1+u)/2$, where $1+u=(M-1+e^{Mh^*(s)})/M$ (snap.remark2.rederived)."
    ),
    standing=refuted(
        PROOF,
        "snap.remark2.rederived",
        severity=Severity.EVERYWHERE,
        weight=Weight.ASIDE,
        wrong=(
            "Remark 2's constant c needs a limit to s: the recursion runs ahead of its continuous form by a lag that "
            "grows without end, like ln(eta_Y s)/2."
        ),
        defence=(
            "A qualitative estimate: for s up to M^C/eta_Y, c is about C e^eta_Y ln(M)/2, and for the rest h for h* is "
            "as good (snap.lemma7.limit)."
        ),
        hunted=1,
        weakest="s <= M^C/eta_Y for a C, where c = O(ln M) serves (snap.remark2.rederived)",
        relied_on_by=("snap.lemma12", "snap.theorem5"),
        remains="They write h for h* because of it; read as h* they are true at every step size "
        "(snap.theorem5.rederived).",
    ),
    source_words=quoted(
        "appendix D.3, Remark 2",
        "if eta_Y = O(1), then there exists some constant c = O(ln M) such that h(s) <= h*(s) <= h(s+c) for all "
        "s > s_1",
        "One c serves every s > s_1; it may grow with M like ln M. s_1 has Lemma 8's omega_1, so M >= 4.",
    ),
    implications=(contradicts("snap.remark2.rederived", proof=PROOF),),
)


def _near(run: ClassRun) -> Recursion:
    """h* at the recorded steps within reach of single steps."""
    return h_star(run.steps[run.steps <= TAKEN], run.M, run.eta_Y)


def lag(run: ClassRun) -> Series:
    """Delay of h behind h*."""
    found = _near(run)
    return series(found.lag.value, radius=found.lag.error, step=found.step, clock="s")


def _integral(run: ClassRun) -> Floats:
    """ln((M - 1 + exp(M h*))/M), the integral of exp(x)/(M - 1 + exp(x)) from 0 to M h*."""
    return np.log1p(np.expm1(_near(run).level.logit.value) / run.M)


def no_step_near(run: ClassRun) -> str | None:
    """Reason for skipping the comparison of lags, or None."""
    if reason := no_recorded_growth(run):
        return reason
    if run.steps[0] > TAKEN:
        raise NotFollowed(f"no step up to {TAKEN} was recorded, and beyond the lag is known by this alone")
    return None


REMARK2_REDERIVED = Claim(
    id="snap.remark2.rederived",
    source="arXiv 2305.16380, Remark 2, corrected (docs/proofs-snap.md)",
    statement=(
        "h*(s) = h(s + lag) with (I - eta_Y)/2 <= lag <= exp(eta_Y) I/2, I = ln((M-1+exp(M h*(s)))/M), for all s; "
        "audited up to 1e6 steps, which are taken one by one."
    ),
    formula=(
        r"h^*(s)=h(s+\ell),\quad\frac{I-\eta_Y}{2}\le\ell\le\frac{e^{\eta_Y}}{2}I,\quad "
        r"I=\ln\frac{M-1+\exp(Mh^*(s))}{M}"
    ),
    assumptions=(),
    judgement=Bounded(
        measure=lag,
        lower=lambda run, _: (_integral(run) - run.eta_Y) / 2,
        upper=lambda run, _: np.exp(run.eta_Y) * _integral(run) / 2,
    ),
    absent=no_step_near,
    standing=proved(PROOF, "snap.lemma6", hunted=16),
    source_words=rederived("snap.remark2", "The lag as it is, between two bounds that grow with s."),
)

CLAIMS: tuple[Claim, ...] = (REMARK2, REMARK2_REDERIVED)
