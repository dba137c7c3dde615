"""What follows from proved statements about next-token prediction for one dataset, checked in ball arithmetic."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from marginaudit.margins.ntp import Exact
from marginaudit.reports.implication import Implication
from marginaudit.reports.ntp.quantities import long_step
from marginaudit.reports.ntp.run import Run
from marginaudit.reports.ntp.sharper.margins import hall_condition
from marginaudit.reports.ntp.standings import PAGE
from marginaudit.reports.verdict import Verdict

if TYPE_CHECKING:
    from flint import arb

BITS = 128

FARTHEST = 200
"""The step from which a bound lies below another is looked for up to 2 to this power."""

NOT_LATE = "its threshold is not beyond e^2"
NOT_EXACT = "||W*_kq|| is not known exactly"


@dataclass(frozen=True)
class Sizes:
    """What the bounds of stage 2 are made of, as balls: w = ||W*_kq||, rarity = log(2 L_max^3/pi_min)."""

    N: int
    L: int
    w: "arb"
    eta: "arb"
    rarity: "arb"

    def sharp(self, log_t: "arb") -> "arb":
        """The bound of `sharp.theorem1`, times t eta."""
        w = self.w
        return (2 * w**3 * self.rarity + self.eta * w**2) * (1 + log_t) + _root_two() * self.eta * w

    def printed(self, log_t: "arb") -> "arb":
        """That of `ntp.theorem1.direction`, times t eta."""
        return 54 * self.N * self.L**4 * self.w**4 * log_t**2

    def threshold(self, factor: int) -> "arb":
        """The factor of log^2 t in Theorem 2's threshold for t, ``factor`` N L_max^4 ||W*_kq||^6/eta."""
        return factor * self.N * self.L**4 * self.w**6 / self.eta


def _root_two() -> "arb":
    from flint import arb

    return arb(2).sqrt()


def sizes(run: Run) -> Sizes | None:
    """None where ||W*_kq||^2 is no rational number that is known."""
    from flint import arb, fmpq

    data, kq = run.dataset, run.kq
    if not isinstance(kq, Exact):
        return None
    square = kq.norm_squared_exact
    w = arb(fmpq(square.numerator, square.denominator)).sqrt()
    rarity = arb(fmpq(2 * data.L_max**3 * sum(data.counts), min(data.counts))).log()
    return Sizes(data.N, data.L_max, w, arb(run.eta), rarity)


def of_sizes(condition: Callable[[Sizes], str | None]) -> Callable[[Run], str | None]:
    """The condition on a run, in ball arithmetic."""

    def unmet(run: Run) -> str | None:
        import flint

        with flint.ctx.workprec(BITS):
            found = sizes(run)
            return NOT_EXACT if found is None else condition(found)

    return unmet


def above_the_sharp_direction(at: Sizes) -> str | None:
    """Why the printed bound of Theorem 1 is not that of `sharp.theorem1` or more wherever it says anything, or None.

    docs/proofs.md, section 16.3: the quotient of the two falls, so that one step t_1 answers for all beyond. Before
    it the printed bound is at least 2 if it is at 2 and at t_1.
    """
    from flint import arb

    for power in range(1, FARTHEST):
        t = arb(2) ** power
        if at.sharp(t.log()) <= at.printed(t.log()):
            vacuous = all(at.printed(early.log()) >= 2 * early * at.eta for early in (arb(2), t))
            return None if power == 1 or vacuous else "the printed bound is below 2 before it is above the other"
    return "the bound of sharp.theorem1 is not below the printed one"


def above_the_sharp_lemma7(at: Sizes) -> str | None:
    """Why the a_t of Lemma 7 is below that of `sharp.lemma7` beyond its threshold, or None: section 14.4."""
    least = 4 * _root_two() * at.L * at.w
    enough = at.rarity <= 4 * at.N * at.L**2 * at.w * (1 + (2 * at.L * least).log())
    return None if enough else "the a_t of sharp.lemma7 is not below the printed one"


def least_log_t(kappa: "arb") -> "arb | None":
    """What log t is at least wherever t >= kappa log^2 t, t >= 2, or None: section 16.4, step 1."""
    from flint import arb

    if not kappa >= 5:
        return None
    log_t = arb(2)
    for _ in range(3):
        log_t = kappa.log() + 2 * log_t.log()
    return log_t


def beyond_lemma_10_1(at: Sizes, factor: int) -> str | None:
    """Why Theorem 2 speaks, ``factor`` in its threshold for t, where Lemma 10.1 does not, or None: section 16.4."""
    kappa = at.threshold(factor)
    log_t = least_log_t(kappa)
    if log_t is None:
        return NOT_LATE
    slope, rest = 32 * at.w**5 * at.rarity + 16 * at.eta * at.w**4, 16 * _root_two() * at.eta * at.w**3
    enough = slope * (1 + log_t) + rest <= kappa * at.eta * log_t**2
    return None if enough else "its threshold is before the step from which Lemma 10.1 speaks"


def beyond_large_loss(at: Sizes, factor: int) -> str | None:
    """Why eq. 4 speaks, ``factor`` in its threshold for t, where the loss may be large, or None: section 16.6."""
    kappa = at.threshold(factor)
    log_t = least_log_t(kappa)
    if log_t is None:
        return NOT_LATE
    from flint import arb

    theta = 4 * arb(at.L).log() + arb("3.1")
    enough = kappa * at.eta * log_t**2 > 4 * theta * at.w**3 + 2 * at.eta * at.w**2
    return None if enough else "its threshold is before the step from which the loss is proved to be small"


def no_majority(run: Run) -> str | None:
    """Why Assumption 3 is not met, or None."""
    return None if run.assumption("optimal_majority").holds else "Assumption 3 fails"


def long(run: Run) -> str | None:
    """Why the step size is not proved to be short enough for `sharp.rate`, or None; in rational arithmetic."""
    return (long_step(run) or "").rstrip(".") or None if isinstance(run.kq, Exact) else NOT_EXACT


def not_beaten_enough(run: Run) -> str | None:
    """A query without the condition of `sharp.prop2`, or None."""
    return next((f"query {q!r} fails it" for q, order in run.dataset.orders.items() if not hall_condition(order)), None)


BEATEN = "|N(S)| k >= |S| m for every set S of optimal tokens"
DIRECTION = ("sharp.lemma6", "sharp.theorem1")
EITHER = ("", ".any-step")
FACTORS = (("", 1696), (".rederived", 864))
"""Of Theorem 2's threshold for t: printed, and re-derived."""

IMPLICATIONS = (
    *(
        Implication(
            sources=("sharp.theorem1",),
            target=f"ntp.theorem1.direction{step}",
            condition="its bound is below the printed one from some t_1 on, and before t_1 the printed one is above 2",
            proof=PAGE + "163-ntptheorem1direction-where-the-sharp-one-is-below-it",
            unmet=of_sizes(above_the_sharp_direction),
        )
        for step in EITHER
    ),
    Implication(
        sources=("sharp.lemma6", "sharp.lemma7"),
        target="ntp.lemma7",
        condition="its a_t is below the printed one at the least norm beyond the threshold, and so at every larger one",
        proof=PAGE + "144-ntplemma7-where-the-sharp-one-is-below-it",
        unmet=of_sizes(above_the_sharp_lemma7),
    ),
    *(
        Implication(
            sources=(*DIRECTION, "sharp.stage1"),
            target=f"ntp.theorem2.weight{suffix}{step}",
            condition="16 ||W*_kq||^2 times its bound is at most 1 at the threshold for t, and so beyond",
            proof=PAGE + "164-theorem-2-where-its-thresholds-lie-beyond-that-of-lemma-101",
            unmet=of_sizes(partial(beyond_lemma_10_1, factor=factor)),
        )
        for suffix, factor in FACTORS
        for step in EITHER
    ),
    *(
        Implication(
            sources=("ntp.lemma5", "sharp.stage1", "sharp.lemma6"),
            target=f"ntp.theorem2.loss{suffix}.any-step",
            condition="the loss is proved to be small before the threshold for t",
            proof=PAGE + "166-ntptheorem2loss-for-every-frequency",
            unmet=of_sizes(partial(beyond_large_loss, factor=factor)),
        )
        for suffix, factor in FACTORS
    ),
    *(
        Implication(
            sources=DIRECTION,
            target=f"ntp.theorem3.order{step}",
            condition="Assumption 3 holds",
            proof=PAGE + "151-ntptheorem3order-under-assumption-3",
            unmet=no_majority,
        )
        for step in EITHER
    ),
    *(
        Implication(
            sources=(f"sharp.{name}",),
            target=f"sharp.{name}.any-step",
            condition="eta <= 1/(4 ||W*_kq||)",
            proof=PAGE + place,
            unmet=long,
        )
        for name, place in (("floor", "8-sharpfloor"), ("rate", "9-sharprate"))
    ),
    *(
        Implication(
            sources=("sharp.prop2",),
            target=f"ntp.prop2.{name}",
            condition=BEATEN,
            proof=PAGE + "2-sharpprop2",
            unmet=not_beaten_enough,
        )
        for name in ("closed-form", "corollary")
    ),
    *(
        Implication(
            sources=("sharp.stage1",),
            target=f"ntp.{name}{suffix}",
            proof=PAGE + place,
            verdict=Verdict.VIOLATED,
        )
        for name, place in (
            ("corollary1.upper", "137-ntpcorollary1upper-is-false"),
            ("theorem3.prediction", "153-ntptheorem3prediction-is-false-wherever-it-speaks"),
        )
        for suffix in ("", ".rederived")
    ),
    Implication(
        sources=("sharp.floor", "sharp.stage1"),
        target="ntp.theorem2.floor",
        proof=PAGE + "162-ntptheorem2floor-is-false",
        verdict=Verdict.VIOLATED,
    ),
)
