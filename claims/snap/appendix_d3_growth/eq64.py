"""Eq. 64 of arXiv 2305.16380, in the proof of Lemma 11: the rate of decay of the share g of h."""

from collections.abc import Callable
from dataclasses import dataclass

import flint
from flint import arb

from marginaudit.claims.claim import Claim
from marginaudit.claims.judgements import Bounded, Equal, Parts
from marginaudit.claims.quotation import quoted
from marginaudit.claims.series import Series, enclosing
from marginaudit.claims.snap.conditions import RANGE_R, no_recorded_growth, outside_range_r
from marginaudit.claims.snap.readings import IN_RANGE_R, NO_REFUGE, PAGE, ROUNDED, SOURCE, mended
from marginaudit.claims.snap.run import ClassRun, evenly_spaced
from marginaudit.claims.standing import Severity, Weight, contradicts, proved, refuted
from marginaudit.orders.arrays import Floats
from marginaudit.orders.balls import ball_around
from marginaudit.training.snap.balls.matrices import BITS
from marginaudit.training.snap.limit.continuous import continuous

PROOF = PAGE + "82-snapeq64rederived"

RECORDS = 40
"""Number of recorded steps to differentiate g at."""


@dataclass(frozen=True)
class Share:
    """M h(s), its share g(s) = 1/(M-1+exp(M h(s))), and the derivatives of h and g, in balls."""

    x: arb
    g: arb
    h_dot: arb
    g_dot: arb


def _along(entry: Callable[[Share, int, arb], arb]) -> Callable[[ClassRun], Series]:
    """An entry of `Share`, M and eta_Y at recorded s; g is differentiated as a power series of h."""

    def measure(run: ClassRun) -> Series:
        M, step, found = run.M, run.steps[evenly_spaced(len(run.steps), RECORDS)], []
        levels = continuous(step.astype(float), M, run.eta_Y).logit
        with flint.ctx.workprec(BITS):
            eta = ball_around(run.eta_Y)
            for value, error in zip(levels.value, levels.error, strict=True):
                x = ball_around(value, error)
                h_dot = eta / (M - 1 + x.exp())
                g = 1 / (M - 1 + (flint.arb_series([x / M, h_dot], 2) * M).exp())
                found.append(entry(Share(x, g[0], h_dot, g[1]), M, eta))
            return enclosing(found, step=step, clock="s")

    return measure


def _steepest(run: ClassRun, _: Floats) -> Floats:
    """g M/(M-1) eta_Y/4."""
    return _along(lambda at, M, eta: at.g * M / (M - 1) * eta / 4)(run).value


def _eq64(sign: int) -> Parts:
    return Parts(
        {
            "The derivative": Equal(
                measure=_along(lambda at, M, eta: at.g_dot),
                expected=_along(lambda at, M, eta: sign * M * at.x.exp() * at.g**2 * at.h_dot),
            ),
            "Its size": Bounded(measure=_along(lambda at, M, eta: abs(at.g_dot)), upper=_steepest),
        }
    )


EQ64 = Claim(
    id="snap.eq64",
    source=f"{SOURCE}, Lemma 11's proof, eq. 64",
    statement=(
        "g(s) = 1/(M-1+exp(M h(s))), h the continuous one, has dg/ds = M exp(Mh)/(M-1+exp(Mh))^2 dh/ds, which is at "
        "most g M/(M-1) eta_Y/4."
    ),
    formula=r"\frac{dg}{ds}=\frac{M\exp(Mh)}{(M-1+\exp(Mh))^2}\cdot\frac{dh}{ds}\le g\cdot\frac M{M-1}\cdot"
    r"\frac{\eta_Y}4",
    assumptions=(RANGE_R,),
    judgement=_eq64(1),
    absent=lambda run: outside_range_r(run) or no_recorded_growth(run),
    instead=r"$g$ falls: $dg/ds$ is minus that. Its size is what eq. 65 uses, and is right (snap.eq64.rederived).",
    standing=refuted(
        PROOF,
        "snap.eq64.rederived",
        severity=Severity.SLIP,
        weight=Weight.ASIDE,
        wrong="Eq. 64 is off by a sign: g falls. Its size is right.",
        defence="A slip: eq. 65 uses the size of dg/ds alone, which the formula has.",
        hunted=1,
        weakest=NO_REFUGE,
    ),
    source_words=quoted(
        "appendix D.4, Lemma 11's proof, eq. 64",
        "dg/ds = (M exp(M h(s))/(M-1+exp(M h(s)))^2) dh/ds",
        f"{IN_RANGE_R} (Remark 3). g is about the continuous h, which alone has a derivative.",
    ),
    implications=(contradicts("snap.eq64.rederived", proof=PROOF, unseen=ROUNDED),),
)

EQ64_REDERIVED = mended(
    EQ64,
    "A minus sign: g falls.",
    source=f"{SOURCE}, Lemma 11's proof, eq. 64 with its sign re-derived",
    statement=EQ64.statement.replace("= M exp(Mh)", "= -M exp(Mh)").replace("which is", "whose size is"),
    formula=EQ64.formula.replace(r"\frac{dg}{ds}=", r"-\frac{dg}{ds}="),
    judgement=_eq64(-1),
    assumptions=(),
    absent=no_recorded_growth,
    standing=proved(PROOF, hunted=98),
)

CLAIMS: tuple[Claim, ...] = (EQ64, EQ64_REDERIVED)
